// Values against mpmath's. Single precision is rounded once from double, so half an ulp is all it may lose;
// double stays within the maximum error that the CUDA C++ programming guide lists for each function.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "call.h"

namespace fullwarp::libdevice {
namespace {

struct Reference {
  const char* name;
  double x, y;
  long double value;
};
const Reference kReferences[] = {
#include "references.inc"
};

// Maximum error in ulp, "Mathematical Functions" of the CUDA C++ programming guide, double precision.
const std::map<std::string, double> kDocumentedUlp = {{"sin", 2},
                                                      {"cos", 2},
                                                      {"tan", 2},
                                                      {"sinpi", 2},
                                                      {"cospi", 2},
                                                      {"asin", 2},
                                                      {"acos", 2},
                                                      {"atan", 2},
                                                      {"sinh", 2},
                                                      {"cosh", 1},
                                                      {"tanh", 1},
                                                      {"asinh", 3},
                                                      {"acosh", 3},
                                                      {"atanh", 2},
                                                      {"exp", 1},
                                                      {"exp2", 1},
                                                      {"exp10", 1},
                                                      {"expm1", 1},
                                                      {"log", 1},
                                                      {"log2", 1},
                                                      {"log10", 1},
                                                      {"log1p", 1},
                                                      {"sqrt", 0.5},
                                                      {"rsqrt", 1},
                                                      {"cbrt", 1},
                                                      {"rcbrt", 1},
                                                      {"erf", 2},
                                                      {"erfc", 5},
                                                      {"erfcx", 4},
                                                      {"erfinv", 5},
                                                      {"erfcinv", 6},
                                                      {"normcdf", 5},
                                                      {"normcdfinv", 8},
                                                      {"tgamma", 10},
                                                      {"lgamma", 4},
                                                      {"j0", 7},
                                                      {"j1", 7},
                                                      {"y0", 7},
                                                      {"y1", 7},
                                                      {"cyl_bessel_i0", 6},
                                                      {"cyl_bessel_i1", 6},
                                                      {"pow", 2},
                                                      {"atan2", 2},
                                                      {"hypot", 2},
                                                      {"rhypot", 1}};

template <class T>
long double ulp_of(long double value) {
  const T at = static_cast<T>(std::fabs(value));
  return static_cast<long double>(std::nextafter(at, std::numeric_limits<T>::infinity())) - at;
}

template <class T>
long double error_in_ulp(const Reference& r) {
  const Function* f = find(r.name);
  if (f == nullptr) return -1;
  const T got = f->parameter_count == 2 ? call<T>(r.name, static_cast<T>(r.x), static_cast<T>(r.y))
                                        : call<T>(r.name, static_cast<T>(r.x));
  return std::fabs(got - r.value) / ulp_of<T>(r.value);
}

TEST(Accuracy, SinglePrecisionIsRoundedOnce) {
  for (const Reference& r : kReferences) {
    const Function* f = find(r.name);
    ASSERT_NE(f, nullptr) << r.name;
    if (f->result != Type::kF32) continue;
    // rsqrtf and the like are no exception: correctly rounded lies within CUDA's bound.
    EXPECT_LE(error_in_ulp<float>(r), 0.5001L) << r.name << "(" << r.x << ", " << r.y << ")";
  }
}

TEST(Accuracy, DoublePrecisionIsWithinCudasBounds) {
  unsigned seen = 0;
  for (const Reference& r : kReferences) {
    const Function* f = find(r.name);
    ASSERT_NE(f, nullptr) << r.name;
    if (f->result != Type::kF64) continue;
    const auto bound = kDocumentedUlp.find(std::string(r.name).substr(5));
    ASSERT_NE(bound, kDocumentedUlp.end()) << r.name;
    // The Bessel functions are bounded absolutely: 5e-16 of 1 near their zeros.
    const bool bessel = r.name[5] == 'j' || r.name[5] == 'y';
    const long double error = error_in_ulp<double>(r);
    EXPECT_TRUE(error <= bound->second || (bessel && error * ulp_of<double>(r.value) < 5e-16L))
        << r.name << "(" << r.x << ", " << r.y << "): " << static_cast<double>(error) << " ulp";
    ++seen;
  }
  EXPECT_GT(seen, 500u);
}

}  // namespace
}  // namespace fullwarp::libdevice

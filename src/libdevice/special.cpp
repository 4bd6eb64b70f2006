// Error functions and their inverses, the normal distribution, gamma, Bessel functions. What the host's libm
// lacks is computed in long double: series without cancellation, and Newton steps on the host's erf.
#include <cmath>
#include <cstdint>
#include <limits>

#include "libdevice/adapt.h"

namespace fullwarp::libdevice {
namespace {

using Wide = long double;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr Wide kSqrtPi = 1.77245385090551602729816748334114518L;
constexpr Wide kSqrt2 = 1.41421356237309504880168872420969808L;

double erf_(double a) { return std::erf(a); }
double erfc_(double a) { return std::erfc(a); }

// exp(a^2) erfc(a). From 26 on by the asymptotic series, whose tenth term is below 2^-64 there.
Wide erfcx_wide(Wide a) {
  if (a < 26) return std::exp(a * a) * std::erfc(a);
  const Wide x2 = 2 * a * a;
  Wide term = 1, sum = 1;
  for (int n = 1; n <= 10; ++n) {
    term *= -(2 * n - 1) / x2;
    sum += term;
  }
  return sum / (a * kSqrtPi);
}
double erfcx_(double a) { return std::isinf(a) ? (a > 0 ? 0.0 : kInf) : static_cast<double>(erfcx_wide(a)); }

// The x with erf(x) = y, for y in [0, 0.5], by Newton's method.
Wide erf_inverse(Wide y) {
  Wide x = y * kSqrtPi / 2;
  for (int i = 0; i < 8; ++i) x -= (std::erf(x) - y) * kSqrtPi / 2 * std::exp(x * x);
  return x;
}

// The x > 0 with erfc(x) = y, for y in (0, 1]. Newton's method on log(erfc), which is concave and falls: from
// a start beyond the root the steps stay beyond it and converge, and from one before it the first step leads
// beyond.
Wide erfc_inverse(Wide y) {
  if (y >= 0.5L) return erf_inverse(1 - y);
  const Wide log_y = std::log(y);
  Wide x = 0.4L;
  for (int i = 0; i < 60; ++i) {
    const Wide scaled = erfcx_wide(x);  // erfc(x) = scaled exp(-x^2)
    const Wide step = (std::log(scaled) - x * x - log_y) * scaled * kSqrtPi / 2;
    x += step;
    if (std::fabs(step) < x * 1e-19L) break;
  }
  return x;
}
double erfcinv_(double y) {
  if (!(y >= 0 && y <= 2)) return kNaN;
  if (y == 0) return kInf;
  if (y == 2) return -kInf;
  return static_cast<double>(y <= 1 ? erfc_inverse(y) : -erfc_inverse(2 - static_cast<Wide>(y)));
}
double erfinv_(double y) {
  if (!(y >= -1 && y <= 1)) return kNaN;
  if (y == 1 || y == -1) return std::copysign(kInf, y);
  const Wide magnitude = std::fabs(static_cast<Wide>(y));
  const Wide x = magnitude <= 0.5L ? erf_inverse(magnitude) : erfc_inverse(1 - magnitude);
  return std::copysign(static_cast<double>(x), y);
}
double normcdf_(double a) { return static_cast<double>(std::erfc(-static_cast<Wide>(a) / kSqrt2) / 2); }
double normcdfinv_(double p) {
  if (!(p >= 0 && p <= 1)) return kNaN;
  if (p == 0) return -kInf;
  if (p == 1) return kInf;
  const Wide q = 2 * static_cast<Wide>(p);
  return static_cast<double>(kSqrt2 * (q <= 1 ? -erfc_inverse(q) : erfc_inverse(2 - q)));
}

double tgamma_(double a) { return std::tgamma(a); }
// lgamma_r, because lgamma writes a global.
double lgamma_(double a) {
  int sign = 0;
  return lgamma_r(a, &sign);
}

// Modified Bessel functions by their power series; every term is positive.
double bessel_i(double a, int order) {
  if (std::isnan(a)) return a;
  const double magnitude = std::fabs(a);
  const double sign = order == 1 && std::signbit(a) ? -1.0 : 1.0;
  if (magnitude > 720) return sign * kInf;
  const Wide quarter = static_cast<Wide>(a) * a / 4;
  Wide term = order == 0 ? 1 : static_cast<Wide>(magnitude) / 2, sum = term;
  for (int k = 1; k < 2000; ++k) {
    term *= quarter / (static_cast<Wide>(k) * (k + order));
    sum += term;
    if (term < sum * 0x1p-70L) break;
  }
  return sign * static_cast<double>(sum);
}
double cyl_bessel_i0(double a) { return bessel_i(a, 0); }
double cyl_bessel_i1(double a) { return bessel_i(a, 1); }

double j0_(double a) { return ::j0(a); }
double j1_(double a) { return ::j1(a); }
double y0_(double a) { return ::y0(a); }
double y1_(double a) { return ::y1(a); }
// A negative order is a NaN, as in CUDA. The host's recurrence takes as many steps as the order: beyond 2^20,
// where a value of interest would need an argument as large, the limits for a fixed argument stand in.
constexpr int32_t kMaxOrder = 1 << 20;
double jn_(int32_t n, double a) {
  if (n < 0 || std::isnan(a)) return kNaN;
  return n > kMaxOrder ? 0.0 : ::jn(n, a);
}
double yn_(int32_t n, double a) {
  if (n < 0 || std::isnan(a) || a < 0) return kNaN;
  return n > kMaxOrder ? -kInf : ::yn(n, a);
}

template <double (*F)(double)>
float single(float a) {
  return static_cast<float>(F(a));
}
template <double (*F)(int32_t, double)>
float single_order(int32_t n, float a) {
  return static_cast<float>(F(n, a));
}

#define BOTH(NAME, F) Adapt<&F>::entry("__nv_" NAME), Adapt<&single<&F>>::entry("__nv_" NAME "f")
constexpr Function kFunctions[] = {
    BOTH("erf", erf_),
    BOTH("erfc", erfc_),
    BOTH("erfcx", erfcx_),
    BOTH("erfinv", erfinv_),
    BOTH("erfcinv", erfcinv_),
    BOTH("normcdf", normcdf_),
    BOTH("normcdfinv", normcdfinv_),
    BOTH("tgamma", tgamma_),
    BOTH("lgamma", lgamma_),
    BOTH("cyl_bessel_i0", cyl_bessel_i0),
    BOTH("cyl_bessel_i1", cyl_bessel_i1),
    BOTH("j0", j0_),
    BOTH("j1", j1_),
    BOTH("y0", y0_),
    BOTH("y1", y1_),
    Adapt<&jn_>::entry("__nv_jn"),
    Adapt<&yn_>::entry("__nv_yn"),
    Adapt<&single_order<&jn_>>::entry("__nv_jnf"),
    Adapt<&single_order<&yn_>>::entry("__nv_ynf"),
};
#undef BOTH

}  // namespace

std::span<const Function> special_functions() { return kFunctions; }

}  // namespace fullwarp::libdevice

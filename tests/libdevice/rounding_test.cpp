// Directed rounding against the definition: of all values of the type, the nearest on the allowed side of the
// exact result, where the exact result is compared in a wider type that holds it.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>

#include "call.h"

namespace fullwarp::libdevice {
namespace {

#ifdef __SIZEOF_FLOAT128__
__extension__ using Wide = __float128;
#else
using Wide = long double;
#endif

enum Direction { kNearest, kZero, kUp, kDown };
const char* const kSuffix[] = {"_rn", "_rz", "_ru", "_rd"};

// `compare(x)` is the sign of x - exact. Whether `got` is the exact result rounded that way.
template <class T>
bool rounds(T got, Direction direction, const std::function<int(T)>& compare,
            const std::function<int(Wide)>& wide) {
  const T inf = std::numeric_limits<T>::infinity();
  const int side = compare(got);
  if (side == 0) return true;
  const T above = std::nextafter(got, inf), below = std::nextafter(got, -inf);
  switch (direction) {
    case kUp: return side > 0 && compare(below) < 0;
    case kDown: return side < 0 && compare(above) > 0;
    case kZero:
      return got >= 0 && compare(T{0}) <= 0 ? side < 0 && compare(above) > 0 : side > 0 && compare(below) < 0;
    case kNearest: {
      // The exact result lies within half a step of `got`.
      const Wide half_above = (static_cast<Wide>(got) + static_cast<Wide>(above)) / 2;
      const Wide half_below = (static_cast<Wide>(got) + static_cast<Wide>(below)) / 2;
      return wide(half_above) >= 0 && wide(half_below) <= 0;
    }
  }
  return false;
}

int sign(Wide x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

// Values over the exponents, some of them near each other so that sums cancel.
template <class T>
struct Values {
  std::mt19937_64 random{11};
  T next() {
    const int exponent = static_cast<int>(random() % 40) - 20;
    const T fraction = static_cast<T>(random() >> (64 - std::numeric_limits<T>::digits));
    return std::ldexp(random() & 1 ? -fraction : fraction, exponent - std::numeric_limits<T>::digits);
  }
};

template <class T>
void check(const std::string& letter, int rounds_of) {
  Values<T> values;
  for (int i = 0; i < rounds_of; ++i) {
    const T a = values.next(), b = values.next(), c = values.next();
    if (a == 0 || b == 0) continue;
    const Wide wa = a, wb = b, wc = c;
    for (const Direction d : {kNearest, kZero, kUp, kDown}) {
      const auto exact = [&](Wide value) {
        return std::pair{std::function<int(T)>([=](T x) { return sign(static_cast<Wide>(x) - value); }),
                         std::function<int(Wide)>([=](Wide x) { return sign(x - value); })};
      };
      const std::string s = kSuffix[d];
      const auto [sum, wide_sum] = exact(wa + wb);
      EXPECT_TRUE(rounds(call<T>("__nv_" + letter + "add" + s, a, b), d, sum, wide_sum))
          << a << " + " << b << s;
      const auto [difference, wide_difference] = exact(wa - wb);
      EXPECT_TRUE(rounds(call<T>("__nv_" + letter + "sub" + s, a, b), d, difference, wide_difference)) << s;
      const auto [product, wide_product] = exact(wa * wb);
      EXPECT_TRUE(rounds(call<T>("__nv_" + letter + "mul" + s, a, b), d, product, wide_product)) << s;
      // x against a / b: x b against a, the other way round where b is negative.
      const auto quotient = [&](Wide x) { return sign(x * wb - wa) * (b < 0 ? -1 : 1); };
      EXPECT_TRUE(rounds<T>(call<T>("__nv_" + letter + "div" + s, a, b), d, quotient, quotient))
          << a << " / " << b << s;
      const auto reciprocal = [&](Wide x) { return sign(x * wb - 1) * (b < 0 ? -1 : 1); };
      EXPECT_TRUE(rounds<T>(call<T>("__nv_" + letter + "rcp" + s, b), d, reciprocal, reciprocal)) << s;
      const T positive = std::fabs(a);
      const auto root = [&](Wide x) { return x < 0 ? -1 : sign(x * x - static_cast<Wide>(positive)); };
      EXPECT_TRUE(rounds<T>(call<T>("__nv_" + letter + "sqrt" + s, positive), d, root, root)) << s;
      if (sizeof(T) == 4) {  // exact in Wide: 48 bits of product over the exponents above
        const auto [fused, wide_fused] = exact(wa * wb + wc);
        EXPECT_TRUE(rounds(call<T>("__nv_fmaf" + s, a, b, c), d, fused, wide_fused)) << s;
        EXPECT_TRUE(rounds(call<T>("__nv_fmaf_ieee" + s, a, b, c), d, fused, wide_fused)) << s;
      }
    }
  }
}

TEST(Rounding, SinglePrecision) { check<float>("f", 300); }
TEST(Rounding, DoublePrecision) {
  if (std::numeric_limits<Wide>::digits != 0 && sizeof(Wide) < 16)
    GTEST_SKIP() << "no type holds a product of doubles";
  check<double>("d", 300);
}

TEST(Rounding, FusedDoubleKeepsTheProductsLowBits) {
  // (1 + 2^-30)^2 - (1 + 2^-29) = 2^-60, which a rounded product would lose.
  const double a = 1 + 0x1p-30, c = -(1 + 0x1p-29);
  for (const char* suffix : kSuffix)
    EXPECT_EQ(call<double>(std::string("__nv_fma") + suffix, a, a, c), 0x1p-60);
  EXPECT_EQ(call<double>("__nv_fma_ru", 1.0, 1.0, 0x1p-80), 1 + 0x1p-52);
  EXPECT_EQ(call<double>("__nv_fma_rd", 1.0, 1.0, 0x1p-80), 1.0);
}

template <class T, class I>
void check_integer(const std::string& name) {
  std::mt19937_64 random{3};
  for (int i = 0; i < 2000; ++i) {
    const I a = static_cast<I>(random() >> (random() % 50));
    const auto compare = [&](Wide x) { return sign(x - static_cast<Wide>(a)); };
    for (const Direction d : {kNearest, kZero, kUp, kDown}) {
      EXPECT_TRUE(rounds<T>(call<T>("__nv_" + name + kSuffix[d], a), d, compare, compare))
          << name << kSuffix[d] << a;
    }
  }
}
TEST(Rounding, IntegersToFloatingPoint) {
  check_integer<float, int32_t>("int2float");
  check_integer<float, uint32_t>("uint2float");
  check_integer<float, int64_t>("ll2float");
  check_integer<float, uint64_t>("ull2float");
  check_integer<double, int64_t>("ll2double");
  check_integer<double, uint64_t>("ull2double");
}

TEST(Rounding, DoubleToFloat) {
  Values<double> values;
  for (int i = 0; i < 2000; ++i) {
    const double a = values.next();
    const auto compare = [&](Wide x) { return sign(x - static_cast<Wide>(a)); };
    for (const Direction d : {kNearest, kZero, kUp, kDown}) {
      EXPECT_TRUE(
          rounds<float>(call<float>(std::string("__nv_double2float") + kSuffix[d], a), d, compare, compare));
    }
  }
  EXPECT_EQ(call<float>("__nv_double2float_rz", 1e300), std::numeric_limits<float>::max());
  EXPECT_EQ(call<float>("__nv_double2float_ru", 1e300), std::numeric_limits<float>::infinity());
  EXPECT_EQ(call<float>("__nv_double2float_ru", 1e-300), 0x1p-149f);
}

}  // namespace
}  // namespace fullwarp::libdevice

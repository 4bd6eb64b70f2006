// The approximate instructions: the manual's special values, and its error bounds against MPFR over random
// arguments of every magnitude.
#include "exec/semantics/approximate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reference.h"
#include "values.h"

namespace fullwarp::exec::sem::test {
namespace {

constexpr float kInf = HUGE_VALF;
const float kNan = as_f32(0x7fc12345);
const float kSubnormal = as_f32(0x00000123);

struct Special {
  float x;
  uint32_t result;
};

void expect_special(float (*function)(float), const std::vector<Special>& table) {
  for (const Special& row : table) EXPECT_EQ(bits(function(row.x)), row.result) << row.x;
}

TEST(Approx, SpecialValues) {
  const uint32_t inf = bits(kInf), minus_inf = bits(-kInf), one = bits(1.0f), zero = 0,
                 minus_zero = 0x80000000u;
  expect_special(ex2_approx_f32<>, {{-kInf, zero}, {-0.0f, one}, {0.0f, one}, {kInf, inf}, {kNan, kNanF32}});
  expect_special(lg2_approx_f32<>, {{-kInf, kNanF32},
                                    {-1.0f, kNanF32},
                                    {-0.0f, minus_inf},
                                    {0.0f, minus_inf},
                                    {kInf, inf},
                                    {kNan, kNanF32},
                                    {1.0f, zero}});
  expect_special(sin_approx_f32<>,
                 {{-kInf, kNanF32}, {-0.0f, minus_zero}, {0.0f, zero}, {kInf, kNanF32}, {kNan, kNanF32}});
  expect_special(cos_approx_f32<>,
                 {{-kInf, kNanF32}, {-0.0f, one}, {0.0f, one}, {kInf, kNanF32}, {kNan, kNanF32}});
  expect_special(tanh_approx_f32, {{-kInf, bits(-1.0f)},
                                   {-0.0f, minus_zero},
                                   {0.0f, zero},
                                   {kInf, one},
                                   {kNan, kNanF32},
                                   {kSubnormal, bits(kSubnormal)}});
  expect_special(rcp_approx_f32<>,
                 {{-kInf, minus_zero}, {-0.0f, minus_inf}, {0.0f, inf}, {kInf, zero}, {kNan, kNanF32}});
  expect_special(
      sqrt_approx_f32<>,
      {{-kInf, kNanF32}, {-1.0f, kNanF32}, {-0.0f, minus_zero}, {0.0f, zero}, {kInf, inf}, {kNan, kNanF32}});
  expect_special(
      rsqrt_approx_f32<>,
      {{-kInf, kNanF32}, {-1.0f, kNanF32}, {-0.0f, minus_inf}, {0.0f, inf}, {kInf, zero}, {kNan, kNanF32}});
  expect_special(lg2_approx_f32<true>, {{kSubnormal, minus_inf}, {-kSubnormal, minus_inf}});
  expect_special(rcp_approx_f32<true>, {{kSubnormal, inf}, {-kSubnormal, minus_inf}, {0x1p127f, zero}});
  expect_special(rsqrt_approx_f32<true>, {{kSubnormal, inf}, {-kSubnormal, minus_inf}});
  expect_special(ex2_approx_f32<true>, {{-126.5f, zero}, {-kSubnormal, one}});
  expect_special(sin_approx_f32<true>, {{-kSubnormal, minus_zero}});
}

TEST(Approx, PowersOfTwoAreExact) {
  for (int n = -149; n <= 127; ++n) {
    EXPECT_EQ(ex2_approx_f32(static_cast<float>(n)), std::ldexp(1.0f, n)) << n;
    EXPECT_EQ(lg2_approx_f32(std::ldexp(1.0f, n)), static_cast<float>(n)) << n;
  }
  EXPECT_EQ(ex2_approx_f32(128.0f), kInf);
  EXPECT_EQ(ex2_approx_f32(-151.0f), 0.0f);
}

TEST(Approx, DivisorsWithoutReciprocal) {
  const float huge = 0x1.8p126f;
  EXPECT_EQ(bits(div_approx_f32(-huge, huge)), 0x80000000u);
  EXPECT_EQ(bits(div_approx_f32(kInf, huge)), kNanF32);
  EXPECT_EQ(bits(div_approx_f32(kInf, 0x1p126f)), bits(kInf));
  EXPECT_EQ(bits(div_approx_f32(1.0f, kInf)), 0u);
  EXPECT_EQ(div_approx_f32(6.0f, 3.0f), 2.0f);
  EXPECT_EQ(div_full_f32(huge, huge), 1.0f);
}

using MpfrFunction = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

// The function at x, good to double precision.
double exact(MpfrFunction function, double x) {
  Number argument(53), result(80);
  mpfr_set_d(argument, x, MPFR_RNDN);
  function(result, argument, MPFR_RNDN);
  return mpfr_get_d(result, MPFR_RNDN);
}

// Largest error of `function` over the arguments: absolute, or relative.
template <class F>
double worst(F function, MpfrFunction reference, const std::vector<float>& arguments, bool relative) {
  double largest = 0;
  for (float x : arguments) {
    const double wanted = exact(reference, x);
    if (!std::isfinite(wanted) || wanted == 0) continue;
    const double error = std::fabs(function(x) - wanted);
    largest = std::fmax(largest, relative ? error / std::fabs(wanted) : error);
  }
  return largest;
}

std::vector<float> uniform(double low, double high, int count) {
  std::vector<float> values;
  Random random(16);
  for (int i = 0; i < count; ++i)
    values.push_back(
        static_cast<float>(low + (high - low) * (static_cast<double>(random.next() >> 11) * 0x1p-53)));
  return values;
}

std::vector<float> positive_normals(int count) {
  std::vector<float> values;
  Random random(17);
  while (static_cast<int>(values.size()) < count) {
    const float x = as_f32(static_cast<uint32_t>(random.next()) & 0x7fffffffu);
    if (std::isnormal(x)) values.push_back(x);
  }
  return values;
}

TEST(Approx, ErrorsStayInsideTheDocumentedBounds) {
  const double pi = 3.14159265358979323846;
  EXPECT_LT(worst(sin_approx_f32<>, mpfr_sin, uniform(-2 * pi, 2 * pi, 20000), false), std::exp2(-20.5));
  EXPECT_LT(worst(cos_approx_f32<>, mpfr_cos, uniform(-2 * pi, 2 * pi, 20000), false), std::exp2(-20.5));
  EXPECT_LT(worst(sin_approx_f32<>, mpfr_sin, uniform(-100 * pi, 100 * pi, 20000), false), std::exp2(-14.7));
  EXPECT_LT(worst(cos_approx_f32<>, mpfr_cos, uniform(-100 * pi, 100 * pi, 20000), false), std::exp2(-14.7));
  EXPECT_LT(worst(lg2_approx_f32<>, mpfr_log2, uniform(0.5, 2, 20000), false), std::exp2(-22));
  EXPECT_LT(worst(lg2_approx_f32<>, mpfr_log2, positive_normals(20000), true), std::exp2(-22));
  EXPECT_LT(worst(ex2_approx_f32<>, mpfr_exp2, uniform(-126, 128, 20000), true), std::exp2(-22));  // 2 ulp
  EXPECT_LT(worst(tanh_approx_f32, mpfr_tanh, uniform(-20, 20, 20000), true), std::exp2(-11));
  EXPECT_LT(worst(tanh_approx_f32, mpfr_tanh, positive_normals(20000), true), std::exp2(-11));
  EXPECT_LT(worst(rsqrt_approx_f32<>, mpfr_rec_sqrt, positive_normals(20000), true), std::exp2(-22.9));
  EXPECT_LT(worst(sqrt_approx_f32<>, mpfr_sqrt, positive_normals(20000), true), std::exp2(-23));
}

// Beyond the bounds of the ISA: the result is the nearest float, but for what the double inside leaves.
TEST(Approx, Ex2AndLg2AreNearlyCorrectlyRounded) {
  EXPECT_LT(worst(ex2_approx_f32<>, mpfr_exp2, uniform(-126, 128, 20000), true), 1.001 * std::exp2(-24));
  EXPECT_LT(worst(lg2_approx_f32<>, mpfr_log2, positive_normals(20000), true), 1.001 * std::exp2(-24));
  for (float x : uniform(-150, -126, 5000))  // subnormal results: half a unit of 2^-149
    ASSERT_LE(std::fabs(ex2_approx_f32(x) - exact(mpfr_exp2, x)), 0.51 * std::exp2(-149)) << x;
}

TEST(Approx, GrossReciprocalsOfDoubles) {
  const auto upper = [](uint64_t word) { return as_f64(word << 32); };
  EXPECT_EQ(rcp_approx_f64(4.0), 0.25);
  EXPECT_EQ(bits(rcp_approx_f64(-HUGE_VAL)), 0x8000000000000000u);
  EXPECT_EQ(rcp_approx_f64(upper(0x00000001)), HUGE_VAL);
  EXPECT_EQ(rcp_approx_f64(upper(0x800fffff)), -HUGE_VAL);
  EXPECT_EQ(bits(rcp_approx_f64(std::nan(""))), 0x7fffffff00000000u);
  EXPECT_EQ(bits(rcp_approx_f64(0x1p1023)), 0u) << "2^-1023 is subnormal";
  EXPECT_EQ(rsqrt_approx_ftz_f64(4.0), 0.5);
  EXPECT_EQ(bits(rsqrt_approx_ftz_f64(-1.0)), 0x7fffffff00000000u);
  EXPECT_EQ(rsqrt_approx_ftz_f64(upper(0x80000001)), -HUGE_VAL);
  Random random(18);
  for (int i = 0; i < 10000; ++i) {
    const double x = std::fabs(random.f64_near_one());
    const double r = rcp_approx_f64(x), s = rsqrt_approx_ftz_f64(x);
    ASSERT_EQ(bits(r) & 0xffffffffu, 0u);
    ASSERT_EQ(bits(s) & 0xffffffffu, 0u);
    ASSERT_LT(std::fabs(r * x - 1), std::exp2(-19));
    ASSERT_LT(std::fabs(s * std::sqrt(x) - 1), std::exp2(-19));
  }
}

TEST(Approx, HalvesOverEveryCode) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const auto h = static_cast<uint16_t>(code);
    const double x = f64_from_f16(h), y = f64_from_bf16(h);
    if (std::isnan(x)) {
      ASSERT_EQ(ex2_approx_f16(h), kNanF16);
      ASSERT_EQ(tanh_approx_f16(h), kNanF16);
    } else {
      const double power = f64_from_f16(ex2_approx_f16(h)), wanted = exact(mpfr_exp2, x);
      if (wanted >= 65520)
        ASSERT_TRUE(std::isinf(power));
      else
        ASSERT_LE(std::fabs(power - wanted), wanted * std::exp2(-9.9) + 0x1p-25) << x;
      ASSERT_LE(std::fabs(f64_from_f16(tanh_approx_f16(h)) - exact(mpfr_tanh, x)), std::exp2(-10.987)) << x;
    }
    if (std::isnan(y)) {
      ASSERT_EQ(ex2_approx_ftz_bf16(h), kNanF16);
      ASSERT_EQ(tanh_approx_bf16(h), kNanF16);
    } else {
      const double power = f64_from_bf16(ex2_approx_ftz_bf16(h)), wanted = exact(mpfr_exp2, y);
      if (wanted >= 0x1.ffp127)
        ASSERT_TRUE(std::isinf(power));
      else if (wanted < 0x1p-126)
        ASSERT_EQ(power, 0.0) << y;
      else
        ASSERT_LE(std::fabs(power - wanted), wanted * std::exp2(-7)) << y;
      ASSERT_LE(std::fabs(f64_from_bf16(tanh_approx_bf16(h)) - exact(mpfr_tanh, y)), std::exp2(-8)) << y;
    }
  }
}

}  // namespace
}  // namespace fullwarp::exec::sem::test

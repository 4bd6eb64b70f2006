// cvt between integers, f32 and f64 against 128-bit integers and MPFR.
#include "exec/semantics/convert.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reference.h"
#include "values.h"

namespace fullwarp::exec::sem::test {
namespace {

// ---- integer to integer ----

template <class To, class From>
void check_int_from_int() {
  using Limits = std::numeric_limits<To>;
  Random random(7);
  std::vector<From> values = integer_values<From>();
  for (int i = 0; i < 500; ++i) values.push_back(random.integer<From>());
  for (From x : values) {
    const int128 exact = x;
    ASSERT_EQ(int_from_int<To>(x), static_cast<To>(exact));
    const int128 low = Limits::min(), high = Limits::max();
    ASSERT_EQ((int_from_int<To, true>(x)),
              static_cast<To>(exact < low ? low : (exact > high ? high : exact)));
  }
}

template <class To>
void check_int_to() {
  check_int_from_int<To, int8_t>();
  check_int_from_int<To, uint8_t>();
  check_int_from_int<To, int16_t>();
  check_int_from_int<To, uint16_t>();
  check_int_from_int<To, int32_t>();
  check_int_from_int<To, uint32_t>();
  check_int_from_int<To, int64_t>();
  check_int_from_int<To, uint64_t>();
}

TEST(ConvertIntegers, CutOrSaturateEveryPair) {
  check_int_to<int8_t>();
  check_int_to<uint8_t>();
  check_int_to<int16_t>();
  check_int_to<uint16_t>();
  check_int_to<int32_t>();
  check_int_to<uint32_t>();
  check_int_to<int64_t>();
  check_int_to<uint64_t>();
}

TEST(ConvertIntegers, PackSaturates) {
  EXPECT_EQ((cvt_pack<16, true>(70000, -70000)), 0x7fff8000u);
  EXPECT_EQ((cvt_pack<16, false>(70000, -1)), 0xffff0000u);
  EXPECT_EQ((cvt_pack<8, true>(200, -200, 0x12345678)), 0x56787f80u);
  EXPECT_EQ((cvt_pack<8, false>(300, 7, 0xabcd)), 0xabcdff07u);
  EXPECT_EQ((cvt_pack<4, true>(-9, 9, 0x1)), 0x00000187u);
  EXPECT_EQ((cvt_pack<4, false>(-9, 9, 0x1)), 0x00000109u);
  EXPECT_EQ((cvt_pack<2, true>(5, -5, 0xf)), 0x000000f6u);
  EXPECT_EQ((cvt_pack<2, false>(5, 1, 0xf)), 0x000000fdu);
}

// ---- float to integer ----

template <Rounding kRounding>
double integral_by_text(double x) {
  const double down = std::floor(x), up = std::ceil(x);
  switch (kRounding) {
    case Rounding::rz: return x < 0 ? up : down;
    case Rounding::rm: return down;
    case Rounding::rp: return up;
    default: break;
  }
  if (x - down != up - x) return x - down < up - x ? down : up;
  return std::fmod(down, 2.0) == 0 ? down : up;
}

template <class F>
std::vector<F> values_around_integers() {
  std::vector<F> values;
  if constexpr (sizeof(F) == 4)
    values = f32_values();
  else
    values = f64_values();
  for (int exponent : {0, 1, 6, 7, 8, 14, 15, 16, 23, 24, 30, 31, 32, 52, 53, 62, 63, 64})
    for (double offset : {0.0, 0.25, 0.5, 0.75, 1.0, 1.5, -0.25, -0.5, -0.75, -1.0, -1.5})
      for (double sign : {1.0, -1.0})
        values.push_back(static_cast<F>(sign * (std::ldexp(1.0, exponent) + offset)));
  for (int exponent : {7, 15, 31, 63, 64}) {  // next to the limits in this format
    const F power = static_cast<F>(std::ldexp(1.0, exponent));
    for (F x : {std::nextafter(power, F(0)), std::nextafter(power, F(HUGE_VAL))}) {
      values.push_back(x);
      values.push_back(-x);
    }
  }
  Random random(8);
  for (int i = 0; i < 3000; ++i)
    values.push_back(sizeof(F) == 4 ? static_cast<F>(random.f32()) : static_cast<F>(random.f64()));
  for (int i = 0; i < 3000; ++i) values.push_back(static_cast<F>(random.f64_near_one() * 65536));
  return values;
}

template <class To, Rounding kRounding, class F>
void check_int_from_float() {
  using Limits = std::numeric_limits<To>;
  for (F x : values_around_integers<F>()) {
    To wanted;
    if (std::isnan(x)) {
      wanted =
          sizeof(F) == 4 && sizeof(To) < 8 ? To(0) : static_cast<To>(uint64_t{1} << (sizeof(To) * 8 - 1));
    } else {
      const double integral = integral_by_text<kRounding>(x);
      if (integral < static_cast<double>(Limits::min()))
        wanted = Limits::min();
      else if (integral >= std::ldexp(1.0, Limits::digits))
        wanted = Limits::max();
      else
        wanted = static_cast<To>(static_cast<int128>(integral));
    }
    ASSERT_EQ((int_from_float<To, kRounding>(x)), wanted) << x << " mode " << static_cast<int>(kRounding);
  }
}

template <class To>
void check_int_from_floats() {
  check_int_from_float<To, Rounding::rn, float>();
  check_int_from_float<To, Rounding::rz, float>();
  check_int_from_float<To, Rounding::rm, float>();
  check_int_from_float<To, Rounding::rp, float>();
  check_int_from_float<To, Rounding::rn, double>();
  check_int_from_float<To, Rounding::rz, double>();
  check_int_from_float<To, Rounding::rm, double>();
  check_int_from_float<To, Rounding::rp, double>();
}

TEST(ConvertFloatToInteger, RoundsClampsAndMapsNan) {
  check_int_from_floats<int8_t>();
  check_int_from_floats<uint8_t>();
  check_int_from_floats<int16_t>();
  check_int_from_floats<uint16_t>();
  check_int_from_floats<int32_t>();
  check_int_from_floats<uint32_t>();
  check_int_from_floats<int64_t>();
  check_int_from_floats<uint64_t>();
}

TEST(ConvertFloatToInteger, FlushChangesWhatRoundingUpGives) {
  const float tiny = as_f32(0x00000001);
  EXPECT_EQ((int_from_float<int32_t, Rounding::rp>(tiny)), 1);
  EXPECT_EQ((int_from_float<int32_t, Rounding::rp, true>(tiny)), 0);
}

template <Rounding kRounding>
void check_integral() {
  for (float x : values_around_integers<float>()) {
    const double wanted = std::isnan(x) ? x : std::copysign(integral_by_text<kRounding>(x), x);
    ASSERT_EQ(bits(f32_integral<kRounding>(x)), f32_bits(wanted)) << x;
  }
  for (double x : values_around_integers<double>()) {
    if (std::isnan(x)) continue;
    ASSERT_EQ(bits(f64_integral<kRounding>(x)), bits(std::copysign(integral_by_text<kRounding>(x), x))) << x;
  }
}

TEST(ConvertFloatToIntegral, KeepsTheSignOfZero) {
  check_integral<Rounding::rn>();
  check_integral<Rounding::rz>();
  check_integral<Rounding::rm>();
  check_integral<Rounding::rp>();
  EXPECT_EQ(bits(f32_integral<Rounding::rn, false, true>(-0.75f)), 0u) << ".sat";
  EXPECT_EQ(bits(f64_integral<Rounding::rp, true>(1.5)), bits(1.0));
}

// ---- integer to float ----

template <class I, Rounding kRounding>
void check_float_from_int() {
  Random random(9);
  std::vector<I> values = integer_values<I>();
  for (int i = 0; i < 3000; ++i) values.push_back(random.integer<I>());
  for (int shift = 0; shift < static_cast<int>(sizeof(I)) * 8 - 26; ++shift)  // ties and their neighbours
    for (uint64_t mantissa : {0x1000001u, 0x1000003u, 0x1ffffffu})
      for (int64_t offset : {-1, 0, 1})
        values.push_back(static_cast<I>((mantissa << shift) + static_cast<uint64_t>(offset)));
  for (I x : values) {
    Number exact(64);
    if (std::is_signed_v<I>)
      mpfr_set_sj(exact, static_cast<intmax_t>(x), MPFR_RNDN);
    else
      mpfr_set_uj(exact, static_cast<uintmax_t>(x), MPFR_RNDN);
    const auto wanted = [&](Format format) {
      return rounded(format, kRounding,
                     [&](mpfr_ptr r, mpfr_rnd_t mode) { return mpfr_set(r, exact, mode); });
    };
    ASSERT_EQ(bits(f32_from_int<kRounding>(x)), f32_bits(wanted(kF32))) << +x;
    ASSERT_EQ(bits(f64_from_int<kRounding>(x)), bits(wanted(kF64))) << +x;
  }
}

template <class I>
void check_float_from() {
  check_float_from_int<I, Rounding::rn>();
  check_float_from_int<I, Rounding::rz>();
  check_float_from_int<I, Rounding::rm>();
  check_float_from_int<I, Rounding::rp>();
}

TEST(ConvertIntegerToFloat, CorrectlyRoundedInEveryMode) {
  check_float_from<int8_t>();
  check_float_from<uint8_t>();
  check_float_from<int16_t>();
  check_float_from<uint16_t>();
  check_float_from<int32_t>();
  check_float_from<uint32_t>();
  check_float_from<int64_t>();
  check_float_from<uint64_t>();
}

// ---- float to float ----

template <Rounding kRounding>
void check_f32_from_f64() {
  Random random(10);
  std::vector<double> values = f64_values();
  for (float a : f32_values()) {  // floats, the points half way to their neighbours, and beside those
    const double x = a;
    const double middle = x + (std::nextafter(a, HUGE_VALF) - x) / 2;
    for (double y : {x, middle})
      for (double z : {y, std::nextafter(y, -HUGE_VAL), std::nextafter(y, HUGE_VAL)}) values.push_back(z);
  }
  for (int i = 0; i < 20000; ++i) {
    values.push_back(random.f64());
    values.push_back(random.f64_near_one());
    values.push_back(random.f64_near_one() * 0x1p-140);
  }
  for (double x : values)
    ASSERT_EQ(bits(f32_from_f64<kRounding>(x)), f32_bits(reference_convert(kF32, kRounding, x)))
        << std::hexfloat << x;
}

TEST(ConvertFloatToFloat, NarrowingInEveryMode) {
  check_f32_from_f64<Rounding::rn>();
  check_f32_from_f64<Rounding::rz>();
  check_f32_from_f64<Rounding::rm>();
  check_f32_from_f64<Rounding::rp>();
}

TEST(ConvertFloatToFloat, FlushSaturateAndNan) {
  EXPECT_EQ(bits(f32_from_f64<Rounding::rn, true>(0x1p-130)), 0u);
  EXPECT_EQ(bits(f32_from_f64<Rounding::rn, true>(-0x1p-130)), 0x80000000u);
  EXPECT_EQ(bits(f32_from_f64<Rounding::rn, false, true>(7.0)), bits(1.0f));
  EXPECT_EQ(bits(f32_from_f64<Rounding::rn, false, true>(std::nan(""))), 0u);
  EXPECT_EQ(bits(f64_from_f32(1.5f)), bits(1.5));
  EXPECT_EQ(bits(f64_from_f32<true>(as_f32(0x80000001))), 0x8000000000000000u);
  EXPECT_EQ(bits(f64_from_f32(as_f32(kNanF32))), 0x7fffffffe0000000u);
  EXPECT_EQ(bits((f64_from_f32<false, true>(-3.0f))), 0u);
  EXPECT_EQ(bits(f32_from_f32<false, true>(2.0f)), bits(1.0f));
}

}  // namespace
}  // namespace fullwarp::exec::sem::test

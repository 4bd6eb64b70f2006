// f16, bf16, tf32 and fp8 conversions: every code decoded by its definition, and encoded from every number of
// the format, every midpoint of neighbours and what lies beside them, in every mode, against MPFR.
#include "exec/semantics/narrow_formats.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reference.h"
#include "values.h"

namespace fullwarp::exec::sem::test {
namespace {

// The number that a code stands for, by sign, exponent and mantissa; infinities and NaN are the caller's.
double decode(uint32_t code, int mantissa_bits, int exponent_bits, int bias) {
  const uint32_t mantissa = code & ((1u << mantissa_bits) - 1);
  const int exponent = static_cast<int>(code >> mantissa_bits & ((1u << exponent_bits) - 1));
  const double sign = code >> (mantissa_bits + exponent_bits) & 1 ? -1 : 1;
  const double fraction = std::ldexp(mantissa, -mantissa_bits);
  return sign * (exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias));
}

TEST(DecodeF16, Every) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const auto h = static_cast<uint16_t>(code);
    const uint32_t magnitude = code & 0x7fff;
    if (magnitude > 0x7c00) {
      ASSERT_EQ(bits(f32_from_f16(h)), kNanF32);
    } else if (magnitude == 0x7c00) {
      ASSERT_EQ(f32_from_f16(h), code & 0x8000 ? -HUGE_VALF : HUGE_VALF);
    } else {
      ASSERT_EQ(bits(f32_from_f16(h)), bits(static_cast<float>(decode(code, 10, 5, 15)))) << code;
      ASSERT_EQ(f16_from_f32(f32_from_f16(h)), h);
      ASSERT_EQ(f64_from_f16(h), decode(code, 10, 5, 15));
    }
  }
}

TEST(DecodeBf16, Every) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const auto h = static_cast<uint16_t>(code);
    if ((code & 0x7fff) > 0x7f80) {
      ASSERT_EQ(bits(f32_from_bf16(h)), kNanF32);
    } else {
      ASSERT_EQ(bits(f32_from_bf16(h)), code << 16);
      ASSERT_EQ(bf16_from_f32(f32_from_bf16(h)), h);
    }
  }
}

TEST(DecodeFp8, EveryByte) {
  for (uint32_t code = 0; code < 0x100; ++code) {
    const auto x = static_cast<uint8_t>(code);
    const uint32_t magnitude = code & 0x7f;
    const auto e5m2 = f16_from_fp8<E5m2Format>(x), e4m3 = f16_from_fp8<E4m3Format>(x);
    if (magnitude > 0x7c)
      EXPECT_EQ(e5m2, kNanF16);
    else if (magnitude == 0x7c)
      EXPECT_EQ(f32_from_f16(e5m2), code & 0x80 ? -HUGE_VALF : HUGE_VALF);
    else
      EXPECT_EQ(bits(f64_from_f16(e5m2)), bits(decode(code, 2, 5, 15))) << code;
    if (magnitude == 0x7f)
      EXPECT_EQ(e4m3, kNanF16);
    else
      EXPECT_EQ(bits(f64_from_f16(e4m3)), bits(decode(code, 3, 4, 7))) << code;
    const auto relu = f16_from_fp8<E4m3Format, true>(x);
    EXPECT_EQ(relu, magnitude == 0x7f ? kNanF16 : (code & 0x80 ? 0 : e4m3));
  }
  EXPECT_EQ(f16x2_from_fp8x2<E4m3Format>(0x38c0), 0x3c00c000u);  // 1 above, -2 below
}

// Floats to encode: around every number and midpoint of a format whose positive codes are 0 .. last.
template <class Value>
std::vector<float> floats_around(uint32_t last, Value value) {
  std::vector<float> floats = f32_values();
  for (uint32_t code = 0; code <= last; ++code) {
    const auto x = static_cast<float>(value(code)), next = static_cast<float>(value(code + 1));
    const auto middle = static_cast<float>((double{x} + next) / 2);  // exact: one bit more
    for (float y : {x, middle})
      for (float z : {y, std::nextafter(y, -1.0f), std::nextafter(y, HUGE_VALF)}) {
        floats.push_back(z);
        floats.push_back(-z);
      }
  }
  return floats;
}

std::vector<float> f16_floats() {
  return floats_around(0x7bff, [](uint32_t code) { return decode(code, 10, 5, 15); });
}
std::vector<float> bf16_floats() {
  return floats_around(0x7f7e, [](uint32_t code) { return double{as_f32(code << 16)}; });
}

Rounding ieee(NarrowRounding rounding) { return static_cast<Rounding>(rounding); }

// What `got` must be: the value rounded by MPFR, as a float, with the clamps applied by their text.
template <NarrowRounding kRounding, bool kRelu, bool kSatFinite>
double expected(Format format, double largest, double x) {
  if (std::isnan(x)) return x;
  double y = reference_convert(format, ieee(kRounding), x);
  if (kSatFinite && std::fabs(y) > largest) y = std::copysign(largest, y);
  if (kRelu && std::signbit(y)) y = 0.0;
  return y;
}

template <NarrowRounding kRounding, bool kRelu = false, bool kSatFinite = false>
void check_f16() {
  for (float x : f16_floats()) {
    const double wanted = expected<kRounding, kRelu, kSatFinite>(kF16, 65504, x);
    const uint16_t got = f16_from_f32<kRounding, kRelu, kSatFinite>(x);
    if (std::isnan(wanted))
      ASSERT_EQ(got, kNanF16);
    else
      ASSERT_EQ(bits(f64_from_f16(got)), bits(wanted)) << std::hexfloat << x;
  }
}

TEST(EncodeF16, ToNearest) { check_f16<NarrowRounding::rn>(); }
TEST(EncodeF16, TowardZero) { check_f16<NarrowRounding::rz>(); }
TEST(EncodeF16, Down) { check_f16<NarrowRounding::rm>(); }
TEST(EncodeF16, Up) { check_f16<NarrowRounding::rp>(); }
TEST(EncodeF16, Relu) { check_f16<NarrowRounding::rn, true>(); }
TEST(EncodeF16, SatFinite) { check_f16<NarrowRounding::rn, false, true>(); }
TEST(EncodeF16, ReluSatFiniteTowardZero) { check_f16<NarrowRounding::rz, true, true>(); }

TEST(EncodeF16, GeneralTemplateEqualsFastPath) {
  for (float x : f16_floats())
    ASSERT_EQ((narrow_from_f32<F16Format, NarrowRounding::rn>(x)), f16_from_f32(x)) << std::hexfloat << x;
}

template <NarrowRounding kRounding, bool kRelu = false, bool kSatFinite = false>
void check_bf16() {
  for (float x : bf16_floats()) {
    const double wanted = expected<kRounding, kRelu, kSatFinite>(kBf16, 0x1.fep127, x);
    const uint16_t got = bf16_from_f32<kRounding, kRelu, kSatFinite>(x);
    if (std::isnan(wanted))
      ASSERT_EQ(got, kNanF16);
    else
      ASSERT_EQ(bits(f64_from_bf16(got)), bits(wanted)) << std::hexfloat << x;
  }
}

TEST(EncodeBf16, ToNearest) { check_bf16<NarrowRounding::rn>(); }
TEST(EncodeBf16, TowardZero) { check_bf16<NarrowRounding::rz>(); }
TEST(EncodeBf16, Down) { check_bf16<NarrowRounding::rm>(); }
TEST(EncodeBf16, Up) { check_bf16<NarrowRounding::rp>(); }
TEST(EncodeBf16, ReluSatFinite) { check_bf16<NarrowRounding::rn, true, true>(); }

// Ties away from zero, by the distance to the neighbours that MPFR gives.
double nearest_away(Format format, double x) {
  const double down = reference_convert(format, Rounding::rm, x),
               up = reference_convert(format, Rounding::rp, x);
  if (down == up) return down;
  if (std::isinf(up) || std::isinf(down)) return reference_convert(format, Rounding::rn, x);
  const double below = x - down, above = up - x;
  if (below == above) return x < 0 ? down : up;
  return below < above ? down : up;
}

TEST(EncodeTf32, TiesAwayAndToEven) {
  std::vector<float> floats = f32_values();
  Random random(11);
  for (int i = 0; i < 20000; ++i) {
    const auto b = static_cast<uint32_t>(random.next());
    for (uint32_t low : {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x1fffu})
      floats.push_back(as_f32((b & ~0x1fffu) | low));
  }
  for (float x : floats) {
    const uint32_t away = tf32_from_f32<NarrowRounding::rna>(x), even = tf32_from_f32<NarrowRounding::rn>(x);
    const uint32_t zero = tf32_from_f32<NarrowRounding::rz>(x);
    if (std::isnan(x)) {
      ASSERT_EQ(away, kNanF32);
      ASSERT_EQ(even, kNanF32);
      continue;
    }
    ASSERT_EQ(away & 0x1fff, 0u);
    ASSERT_EQ(bits(double{as_f32(away)}), bits(nearest_away(kTf32, x))) << std::hexfloat << x;
    ASSERT_EQ(bits(double{as_f32(even)}), bits(reference_convert(kTf32, Rounding::rn, x)))
        << std::hexfloat << x;
    ASSERT_EQ(bits(double{as_f32(zero)}), bits(reference_convert(kTf32, Rounding::rz, x)))
        << std::hexfloat << x;
  }
}

TEST(EncodeFp8, SaturatesToFinite) {
  constexpr Format kE4m3{4, -8, 10};  // one exponent more than e4m3 has: what it lacks saturates
  for (float x : f16_floats()) {
    const uint8_t e4m3 = fp8_from_f32<E4m3Format>(x), e5m2 = fp8_from_f32<E5m2Format>(x);
    if (std::isnan(x)) {
      ASSERT_EQ(e4m3, 0x7f);
      ASSERT_EQ(e5m2, 0x7f);
      continue;
    }
    const double wanted4 = expected<NarrowRounding::rn, false, true>(kE4m3, 448, x);
    const double wanted5 = expected<NarrowRounding::rn, false, true>(kE5m2, 57344, x);
    ASSERT_EQ(bits(decode(e4m3, 3, 4, 7)), bits(wanted4)) << std::hexfloat << x;
    ASSERT_EQ(bits(decode(e5m2, 2, 5, 15)), bits(wanted5)) << std::hexfloat << x;
    const uint8_t relu = fp8_from_f32<E4m3Format, true>(x);
    ASSERT_EQ(relu, std::signbit(x) ? 0 : e4m3);
  }
  EXPECT_EQ(fp8x2_from_f32<E5m2Format>(1.0f, -2.0f), 0x3cc0);
  EXPECT_EQ(fp8x2_from_f16x2<E4m3Format>(0x3c00c000u), 0x38c0);
}

TEST(EncodePacked, FirstOperandIsTheUpperHalf) {
  EXPECT_EQ(f16x2_from_f32<NarrowRounding::rn>(1.0f, -2.0f), 0x3c00c000u);
  EXPECT_EQ(bf16x2_from_f32<NarrowRounding::rz>(1.0f, -2.0f), 0x3f80c000u);
  EXPECT_EQ((f16x2_from_f32<NarrowRounding::rn, true>(-1.0f, 2.0f)), 0x00004000u);
}

// One rounding from f64 and from integers, where two would differ.
template <NarrowRounding kRounding>
void check_from_f64() {
  std::vector<double> values = f64_values();
  Random random(12);
  for (int i = 0; i < 30000; ++i) {
    const double x = f64_from_f16(static_cast<uint16_t>(random.next()));
    const double y = f64_from_bf16(static_cast<uint16_t>(random.next()));
    for (double z : {x, y}) {
      const double half_bf16 = z * (1 + 0x1p-8), half_f16 = z * (1 + 0x1p-11);
      for (double m : {z, half_bf16, half_f16})
        for (double v : {m, std::nextafter(m, HUGE_VAL), std::nextafter(m, -HUGE_VAL)}) values.push_back(v);
    }
  }
  for (double x : values) {
    const uint16_t f16 = f16_from_f64<kRounding>(x), bf16 = bf16_from_f64<kRounding>(x);
    if (std::isnan(x)) {
      ASSERT_EQ(f16, kNanF16);
      ASSERT_EQ(bf16, kNanF16);
      continue;
    }
    ASSERT_EQ(bits(f64_from_f16(f16)), bits(reference_convert(kF16, ieee(kRounding), x)))
        << std::hexfloat << x;
    ASSERT_EQ(bits(f64_from_bf16(bf16)), bits(reference_convert(kBf16, ieee(kRounding), x)))
        << std::hexfloat << x;
  }
}

TEST(EncodeFromF64, OneRounding) {
  check_from_f64<NarrowRounding::rn>();
  check_from_f64<NarrowRounding::rz>();
  check_from_f64<NarrowRounding::rm>();
  check_from_f64<NarrowRounding::rp>();
}

template <class I>
void check_from_int() {
  std::vector<I> values = integer_values<I>();
  Random random(13);
  for (int i = 0; i < 5000; ++i) values.push_back(random.integer<I>());
  for (int shift = 0; shift < static_cast<int>(sizeof(I)) * 8 - 13; ++shift)
    for (uint64_t mantissa : {0x801u, 0x803u, 0x101u, 0x103u})
      for (uint64_t offset : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}})
        values.push_back(static_cast<I>((mantissa << shift) + offset));
  for (I x : values) {
    Number exact(64);
    if (std::is_signed_v<I>)
      mpfr_set_sj(exact, static_cast<intmax_t>(x), MPFR_RNDN);
    else
      mpfr_set_uj(exact, static_cast<uintmax_t>(x), MPFR_RNDN);
    const auto wanted = [&](Format format, Rounding rounding) {
      return bits(
          rounded(format, rounding, [&](mpfr_ptr r, mpfr_rnd_t mode) { return mpfr_set(r, exact, mode); }));
    };
    ASSERT_EQ(bits(f64_from_f16(f16_from_int<NarrowRounding::rn>(x))), wanted(kF16, Rounding::rn)) << +x;
    ASSERT_EQ(bits(f64_from_f16(f16_from_int<NarrowRounding::rp>(x))), wanted(kF16, Rounding::rp)) << +x;
    ASSERT_EQ(bits(f64_from_bf16(bf16_from_int<NarrowRounding::rn>(x))), wanted(kBf16, Rounding::rn)) << +x;
    ASSERT_EQ(bits(f64_from_bf16(bf16_from_int<NarrowRounding::rz>(x))), wanted(kBf16, Rounding::rz)) << +x;
  }
}

TEST(EncodeFromInteger, OneRounding) {
  check_from_int<int8_t>();
  check_from_int<uint16_t>();
  check_from_int<int32_t>();
  check_from_int<uint32_t>();
  check_from_int<int64_t>();
  check_from_int<uint64_t>();
}

TEST(F16ToInteger, RoundsClampsAndMapsNan) {
  EXPECT_EQ((int_from_f16<int32_t, Rounding::rz>(0xc100)), -2);  // -2.5
  EXPECT_EQ((int_from_f16<int32_t, Rounding::rm>(0xc100)), -3);
  EXPECT_EQ((int_from_f16<uint8_t, Rounding::rn>(0x5c00)), 255);  // 256
  EXPECT_EQ((int_from_f16<int32_t, Rounding::rn>(0x7e00)), 0);
  EXPECT_EQ((int_from_f16<int64_t, Rounding::rn>(0x7e00)), INT64_MIN);
  EXPECT_EQ((int_from_f16<int32_t, Rounding::rn>(0xfc00)), INT32_MIN);
  EXPECT_EQ((int_from_bf16<int16_t, Rounding::rp>(0x3f81)), 2);  // just above 1
  EXPECT_EQ(f16_integral<Rounding::rn>(0x4100), 0x4000);         // 2.5 to 2
  EXPECT_EQ(saturate_f16(0x4000), 0x3c00);
  EXPECT_EQ(saturate_f16(0x3800), 0x3800);
  EXPECT_EQ(saturate_f16(0x8001), 0);
  EXPECT_EQ(saturate_f16(0x7c00), 0x3c00);
  EXPECT_EQ(saturate_f16(0x7e00), 0);
}

}  // namespace
}  // namespace fullwarp::exec::sem::test

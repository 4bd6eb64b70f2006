// f32 and f64 arithmetic in all four roundings against MPFR, over edge values and random ones.
#include "exec/semantics/float.h"

#include <gtest/gtest.h>

#include "reference.h"
#include "values.h"

namespace fullwarp::exec::sem::test {
namespace {

std::vector<std::array<float, 3>> f32_triples() {
  std::vector<std::array<float, 3>> triples;
  const std::vector<float> values = f32_values();
  const float thirds[] = {0.0f,
                          -0.0f,
                          1.0f,
                          -1.0f,
                          as_f32(0x00000001),
                          as_f32(0x80000001),
                          as_f32(0x7f7fffff),
                          as_f32(0xff7fffff),
                          as_f32(0x33800000),
                          as_f32(0x7fc12345),
                          as_f32(0x7f800000)};
  for (float a : values)
    for (float b : values)
      for (float c : thirds) triples.push_back({a, b, c});
  Random random(5);
  for (int i = 0; i < 20000; ++i) {
    triples.push_back({random.f32(), random.f32(), random.f32()});
    triples.push_back({random.f32_near_one(), random.f32_near_one(), random.f32_near_one()});
  }
  for (int i = 0; i < 5000; ++i) {  // results around the least normal number
    const float tiny = as_f32((static_cast<uint32_t>(random.next()) & 0x80ffffffu) | 0x20000000u);
    const float small = as_f32((static_cast<uint32_t>(random.next()) & 0x81ffffffu) | 0x1f000000u);
    triples.push_back({tiny, small, as_f32(static_cast<uint32_t>(random.next()) & 0x81ffffffu)});
  }
  return triples;
}

template <Rounding kRounding>
void check_f32() {
  for (const auto& [a, b, c] : f32_triples()) {
    const auto expect = [&, a = a, b = b, c = c](Arithmetic operation, float got, double x, double y,
                                                 double z) {
      const uint32_t wanted = f32_bits(reference(operation, kF32, kRounding, x, y, z));
      ASSERT_EQ(bits(got), wanted) << static_cast<int>(operation) << std::hexfloat << " " << a << " " << b
                                   << " " << c << " got " << got << " wanted " << as_f32(wanted);
    };
    expect(Arithmetic::add, add_f32<kRounding>(a, b), a, b, 0);
    expect(Arithmetic::sub, sub_f32<kRounding>(a, b), a, b, 0);
    expect(Arithmetic::mul, mul_f32<kRounding>(a, b), a, b, 0);
    expect(Arithmetic::div, div_f32<kRounding>(a, b), a, b, 0);
    expect(Arithmetic::div, rcp_f32<kRounding>(b), 1, b, 0);
    expect(Arithmetic::fma, fma_f32<kRounding>(a, b, c), a, b, c);
    expect(Arithmetic::sqrt, sqrt_f32<kRounding>(a), a, 0, 0);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Float32, ToNearest) { check_f32<Rounding::rn>(); }
TEST(Float32, TowardZero) { check_f32<Rounding::rz>(); }
TEST(Float32, Down) { check_f32<Rounding::rm>(); }
TEST(Float32, Up) { check_f32<Rounding::rp>(); }

template <Rounding kRounding>
void check_f64() {
  std::vector<std::array<double, 3>> triples;
  for (double a : f64_values())
    for (double b : f64_values())
      for (double c : {0.0, -0.0, 1.0, -1.0, as_f64(1), as_f64(0x7fefffffffffffff), HUGE_VAL})
        triples.push_back({a, b, c});
  Random random(6);
  for (int i = 0; i < 20000; ++i) {
    triples.push_back({random.f64(), random.f64(), random.f64()});
    triples.push_back({random.f64_near_one(), random.f64_near_one(), random.f64_near_one()});
  }
  for (const auto& [a, b, c] : triples) {
    if (std::isnan(a) || std::isnan(b) || std::isnan(c)) continue;  // NaN operands: below
    const auto expect = [&, a = a, b = b, c = c](Arithmetic operation, double got, double x, double y,
                                                 double z) {
      const double wanted = reference(operation, kF64, kRounding, x, y, z);
      ASSERT_EQ(bits(got), std::isnan(wanted) ? kNanF64 : bits(wanted))
          << static_cast<int>(operation) << std::hexfloat << " " << a << " " << b << " " << c;
    };
    expect(Arithmetic::add, add_f64<kRounding>(a, b), a, b, 0);
    expect(Arithmetic::sub, sub_f64<kRounding>(a, b), a, b, 0);
    expect(Arithmetic::mul, mul_f64<kRounding>(a, b), a, b, 0);
    expect(Arithmetic::div, div_f64<kRounding>(a, b), a, b, 0);
    expect(Arithmetic::div, rcp_f64<kRounding>(b), 1, b, 0);
    expect(Arithmetic::fma, fma_f64<kRounding>(a, b, c), a, b, c);
    expect(Arithmetic::sqrt, sqrt_f64<kRounding>(a), a, 0, 0);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Float64, ToNearest) { check_f64<Rounding::rn>(); }
TEST(Float64, TowardZero) { check_f64<Rounding::rz>(); }
TEST(Float64, Down) { check_f64<Rounding::rm>(); }
TEST(Float64, Up) { check_f64<Rounding::rp>(); }

TEST(Float64, OperandNanComesOutQuietFirstOperandFirst) {
  const double signalling = as_f64(0x7ff0000000000123), negative = as_f64(0xfff8000000000456);
  EXPECT_EQ(bits(add_f64(signalling, 1.0)), 0x7ff8000000000123u);
  EXPECT_EQ(bits(add_f64(1.0, negative)), 0xfff8000000000456u);
  EXPECT_EQ(bits(mul_f64(negative, signalling)), 0xfff8000000000456u);
  EXPECT_EQ(bits(fma_f64(1.0, 2.0, signalling)), 0x7ff8000000000123u);
  EXPECT_EQ(bits(fma_f64<Rounding::rz>(1.0, negative, signalling)), 0xfff8000000000456u);
  EXPECT_EQ(bits(div_f64(signalling, negative)), 0x7ff8000000000123u);
  EXPECT_EQ(bits(sqrt_f64(signalling)), 0x7ff8000000000123u);
  EXPECT_EQ(bits(rcp_f64(negative)), 0xfff8000000000456u);
  EXPECT_EQ(bits(sqrt_f64(-1.0)), 0xfff8000000000000u);
}

TEST(Float64, DirectedRoundingLeavesTheHostsModeAlone) {
  const int before = std::fegetround();
  (void)add_f64<Rounding::rp>(1.0, 1e-300);
  EXPECT_EQ(std::fegetround(), before);
}

// .ftz by its definition: flush operands, compute exactly rounded, flush the result.
uint32_t flushed(uint32_t b) { return (b & 0x7f800000u) == 0 ? b & 0x80000000u : b; }

TEST(Float32, FlushesSubnormalOperandsAndResults) {
  for (const auto& [a, b, c] : f32_triples()) {
    const double x = as_f32(flushed(bits(a))), y = as_f32(flushed(bits(b))), z = as_f32(flushed(bits(c)));
    const auto wanted = [&](Arithmetic operation, double p, double q, double r) {
      return flushed(f32_bits(reference(operation, kF32, Rounding::rn, p, q, r)));
    };
    ASSERT_EQ(bits(add_f32<Rounding::rn, true>(a, b)), wanted(Arithmetic::add, x, y, 0));
    ASSERT_EQ(bits(mul_f32<Rounding::rn, true>(a, b)), wanted(Arithmetic::mul, x, y, 0));
    ASSERT_EQ(bits(fma_f32<Rounding::rn, true>(a, b, c)), wanted(Arithmetic::fma, x, y, z));
    ASSERT_EQ(bits(div_f32<Rounding::rn, true>(a, b)), wanted(Arithmetic::div, x, y, 0));
    ASSERT_EQ(bits(sqrt_f32<Rounding::rn, true>(a)), wanted(Arithmetic::sqrt, x, 0, 0));
  }
}

TEST(Float32, SaturatesToZeroAndOneAndNanToZero) {
  const auto sum = [](float a, float b) { return bits(add_f32<Rounding::rn, false, true>(a, b)); };
  EXPECT_EQ(sum(0.25f, 0.5f), bits(0.75f));
  EXPECT_EQ(sum(1.0f, 0.5f), bits(1.0f));
  EXPECT_EQ(sum(-1.0f, 0.5f), 0u);
  EXPECT_EQ(sum(-0.0f, -0.0f), 0u);
  EXPECT_EQ(sum(HUGE_VALF, 1.0f), bits(1.0f));
  EXPECT_EQ(sum(HUGE_VALF, -HUGE_VALF), 0u);
  EXPECT_EQ(bits(fma_f32<Rounding::rn, false, true>(3.0f, 0.125f, 0.0f)), bits(0.375f));
  EXPECT_EQ(bits(mul_f32<Rounding::rz, false, true>(-3.0f, 2.0f)), 0u);
}

// ---- min, max by the manual's text: NaN gives way, -0 < +0 ----

template <class F>
F min_by_text(F a, F b, bool max) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  const bool a_less = a < b || (a == b && std::signbit(a) && !std::signbit(b));
  return a_less != max ? a : b;
}

uint32_t canonical_bits(float x) { return std::isnan(x) ? kNanF32 : bits(x); }

TEST(Float32, MinMax) {
  for (float a : f32_values())
    for (float b : f32_values()) {
      const bool some_nan = std::isnan(a) || std::isnan(b);
      ASSERT_EQ(bits(min_f32(a, b)), canonical_bits(min_by_text(a, b, false))) << a << " " << b;
      ASSERT_EQ(bits(max_f32(a, b)), canonical_bits(min_by_text(a, b, true))) << a << " " << b;
      ASSERT_EQ(bits(min_f32<false, true>(a, b)),
                some_nan ? kNanF32 : canonical_bits(min_by_text(a, b, false)));
      ASSERT_EQ(bits(max_f32<false, true>(a, b)),
                some_nan ? kNanF32 : canonical_bits(min_by_text(a, b, true)));
      const float fa = as_f32(flushed(bits(a))), fb = as_f32(flushed(bits(b)));
      ASSERT_EQ(bits(min_f32<true>(a, b)), canonical_bits(min_by_text(fa, fb, false)));
      const float least = min_by_text(std::fabs(a), std::fabs(b), false);
      const float most = min_by_text(std::fabs(a), std::fabs(b), true);
      const float sign = std::signbit(a) != std::signbit(b) ? -1.0f : 1.0f;
      ASSERT_EQ(bits(min_xorsign_f32(a, b)), canonical_bits(std::copysign(least, sign)));
      ASSERT_EQ(bits(max_xorsign_f32(a, b)), canonical_bits(std::copysign(most, sign)));
      const float c = -3.0f;
      ASSERT_EQ(bits(min3_f32(a, b, c)), canonical_bits(min_by_text(min_by_text(a, b, false), c, false)));
      ASSERT_EQ(bits(max3_f32(a, b, c)), canonical_bits(min_by_text(min_by_text(a, b, true), c, true)));
      ASSERT_EQ(bits((max3_f32<false, false, true>(a, b, c))), canonical_bits(min_by_text(most, 3.0f, true)));
    }
}

TEST(Float64, MinMax) {
  for (double a : f64_values())
    for (double b : f64_values()) {
      if (std::isnan(a) && std::isnan(b)) {
        ASSERT_EQ(bits(min_f64(a, b)), bits(a) | 0x0008000000000000u);
        continue;
      }
      ASSERT_EQ(bits(min_f64(a, b)), bits(min_by_text(a, b, false)));
      ASSERT_EQ(bits(max_f64(a, b)), bits(min_by_text(a, b, true)));
    }
}

TEST(Float32, SignOperations) {
  EXPECT_EQ(bits(abs_f32(-0.0f)), 0u);
  EXPECT_EQ(bits(neg_f32(0.0f)), 0x80000000u);
  EXPECT_EQ(bits(neg_f32(as_f32(1))), 0x80000001u);
  EXPECT_EQ(bits(neg_f32<true>(as_f32(1))), 0x80000000u);
  EXPECT_EQ(bits(abs_f32<true>(as_f32(0x807fffff))), 0u);
  EXPECT_EQ(bits(abs_f32(as_f32(0xffc00001))), kNanF32);
  EXPECT_EQ(bits(abs_f64(as_f64(0xfff0000000000001))), 0x7ff0000000000001u) << "f64 NaN passes unchanged";
  EXPECT_EQ(bits(neg_f64(as_f64(0x7ff0000000000001))), 0xfff0000000000001u);
  EXPECT_EQ(copysign_f32(bits(-1.0f), bits(2.0f)), bits(-2.0f));
  EXPECT_EQ(copysign_f64(bits(1.0), bits(-2.0)), bits(2.0));
}

TEST(Float32, TestpAgreesWithTheLibrary) {
  for (float a : f32_values()) {
    const int c = std::fpclassify(a);
    ASSERT_EQ(testp<Property::finite>(a), c != FP_NAN && c != FP_INFINITE);
    ASSERT_EQ(testp<Property::infinite>(a), c == FP_INFINITE);
    ASSERT_EQ(testp<Property::number>(a), c != FP_NAN);
    ASSERT_EQ(testp<Property::notanumber>(a), c == FP_NAN);
    ASSERT_EQ(testp<Property::normal>(a), c == FP_NORMAL || c == FP_ZERO);
    ASSERT_EQ(testp<Property::subnormal>(a), c == FP_SUBNORMAL);
  }
  for (double a : f64_values()) {
    const int c = std::fpclassify(a);
    ASSERT_EQ(testp<Property::number>(a), c != FP_NAN);
    ASSERT_EQ(testp<Property::normal>(a), c == FP_NORMAL || c == FP_ZERO);
    ASSERT_EQ(testp<Property::subnormal>(a), c == FP_SUBNORMAL);
  }
}

}  // namespace
}  // namespace fullwarp::exec::sem::test

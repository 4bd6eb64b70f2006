// f16 and bf16 arithmetic: one rounding each, against MPFR. The edge values meet all 65536 codes of the
// format.
#include "exec/semantics/half.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reference.h"
#include "values.h"

namespace fullwarp::exec::sem::test {
namespace {

using Binary = uint16_t (*)(uint16_t, uint16_t);

struct HalfType {
  Format format;
  double (*value)(uint16_t);
  Binary add, sub, mul;
  uint16_t (*fma)(uint16_t, uint16_t, uint16_t);
  std::vector<uint16_t> edges;
};

HalfType f16() { return {kF16, f64_from_f16, add_f16<>, sub_f16<>, mul_f16<>, fma_f16<>, f16_values()}; }
HalfType bf16() { return {kBf16, f64_from_bf16, add_bf16, sub_bf16, mul_bf16, fma_bf16<>, bf16_values()}; }

void expect_value(const HalfType& type, uint16_t got, double wanted, const char* what, double a, double b,
                  double c) {
  if (std::isnan(wanted))
    ASSERT_EQ(got, kNanF16) << what << " " << a << " " << b << " " << c;
  else
    ASSERT_EQ(bits(type.value(got)), bits(wanted))
        << what << std::hexfloat << " " << a << " " << b << " " << c;
}

void check_pair(const HalfType& t, uint16_t a, uint16_t b) {
  const double x = t.value(a), y = t.value(b);
  expect_value(t, t.add(a, b), reference(Arithmetic::add, t.format, Rounding::rn, x, y), "add", x, y, 0);
  expect_value(t, t.sub(a, b), reference(Arithmetic::sub, t.format, Rounding::rn, x, y), "sub", x, y, 0);
  expect_value(t, t.mul(a, b), reference(Arithmetic::mul, t.format, Rounding::rn, x, y), "mul", x, y, 0);
}

void check_triple(const HalfType& t, uint16_t a, uint16_t b, uint16_t c) {
  const double x = t.value(a), y = t.value(b), z = t.value(c);
  expect_value(t, t.fma(a, b, c), reference(Arithmetic::fma, t.format, Rounding::rn, x, y, z), "fma", x, y,
               z);
}

void check_against_every_code(const HalfType& type) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const auto a = static_cast<uint16_t>(code);
    const uint16_t b = type.edges[code % type.edges.size()];
    check_pair(type, a, b);
    check_pair(type, a, static_cast<uint16_t>(code * 40503u >> 3));
    if (testing::Test::HasFatalFailure()) return;
  }
  for (uint16_t a : type.edges)
    for (uint16_t b : type.edges) check_pair(type, a, b);
}

TEST(HalfF16, AddSubMul) { check_against_every_code(f16()); }
TEST(HalfBf16, AddSubMul) { check_against_every_code(bf16()); }

void check_fma(const HalfType& type) {
  for (uint16_t a : type.edges)
    for (uint16_t b : type.edges)
      for (uint16_t c : type.edges) check_triple(type, a, b, c);
  Random random(14);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t r = random.next();
    check_triple(type, static_cast<uint16_t>(r), static_cast<uint16_t>(r >> 16),
                 static_cast<uint16_t>(r >> 32));
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(HalfF16, FmaRoundsOnce) { check_fma(f16()); }
TEST(HalfBf16, FmaRoundsOnce) { check_fma(bf16()); }

// Products half way between two numbers, with a tiny term that decides: the place where two roundings fail.
TEST(HalfF16, FmaTiesAreBrokenByTheSmallestTerm) {
  const uint16_t a = 0x3c01, b = 0x3e00;  // (1 + 2^-10) * 1.5 = 1.5 + 1.5 * 2^-10: a tie
  EXPECT_EQ(fma_f16(a, b, 0x0000), 0x3e02);
  EXPECT_EQ(fma_f16(a, b, 0x0001), 0x3e02);
  EXPECT_EQ(fma_f16(a, b, 0x8001), 0x3e01);
}
TEST(HalfBf16, FmaTiesAreBrokenByTheSmallestTerm) {
  const uint16_t a = 0x3f81, b = 0x3fc0;  // (1 + 2^-7) * 1.5: a tie
  EXPECT_EQ(fma_bf16(a, b, 0x0000), 0x3fc2);
  EXPECT_EQ(fma_bf16(a, b, 0x8001), 0x3fc1);
}

uint16_t flushed(uint16_t h) { return (h & 0x7c00) == 0 ? h & 0x8000 : h; }

TEST(HalfF16, FlushSaturateRelu) {
  Random random(15);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t r = random.next();
    const uint64_t mask = i % 2 ? 0x8fff8fff8fffu : 0xffffffffffffu;  // every other time with small exponents
    const auto a = static_cast<uint16_t>(r & mask), b = static_cast<uint16_t>((r & mask) >> 16);
    const auto c = static_cast<uint16_t>((r & mask) >> 32);
    const uint16_t fa = flushed(a), fb = flushed(b), fc = flushed(c);
    ASSERT_EQ(add_f16<true>(a, b), flushed(add_f16(fa, fb)));
    ASSERT_EQ(sub_f16<true>(a, b), flushed(sub_f16(fa, fb)));
    ASSERT_EQ(mul_f16<true>(a, b), flushed(mul_f16(fa, fb)));
    ASSERT_EQ(fma_f16<true>(a, b, c), flushed(fma_f16(fa, fb, fc)));
    const uint16_t plain = fma_f16(a, b, c);
    const double value = f64_from_f16(plain);
    const double clamped = !(value > 0) ? 0.0 : (value < 1 ? value : 1.0);
    ASSERT_EQ(f64_from_f16(fma_f16<false, true>(a, b, c)), clamped);
    ASSERT_EQ((fma_f16<false, false, true>(a, b, c)),
              std::isnan(value) ? kNanF16 : (std::signbit(value) ? 0 : plain));
    const uint16_t plain_b = fma_bf16(a, b, c);
    const bool nan_b = (plain_b & 0x7fff) > 0x7f80;
    ASSERT_EQ(fma_bf16<true>(a, b, c), nan_b ? kNanF16 : (plain_b & 0x8000 ? 0 : plain_b));
  }
}

template <uint16_t kInfinity>
void check_min_max(const std::vector<uint16_t>& values, double (*value)(uint16_t)) {
  const auto nan = [](uint16_t h) { return (h & 0x7fff) > kInfinity; };
  const auto pick = [&](uint16_t a, uint16_t b, bool max) -> uint16_t {
    if (nan(a) && nan(b)) return kNanF16;
    if (nan(a)) return b;
    if (nan(b)) return a;
    const double x = value(a), y = value(b);
    const bool a_less = x < y || (x == y && std::signbit(x) && !std::signbit(y));
    return a_less != max ? a : b;
  };
  for (uint16_t a : values)
    for (uint16_t b : values) {
      const bool some_nan = nan(a) || nan(b);
      ASSERT_EQ(min_half<kInfinity>(a, b), pick(a, b, false));
      ASSERT_EQ(max_half<kInfinity>(a, b), pick(a, b, true));
      ASSERT_EQ((min_half<kInfinity, false, true>(a, b)), some_nan ? kNanF16 : pick(a, b, false));
      ASSERT_EQ((max_half<kInfinity, false, true>(a, b)), some_nan ? kNanF16 : pick(a, b, true));
      const auto sign = static_cast<uint16_t>((a ^ b) & 0x8000);
      const uint16_t least = pick(a & 0x7fff, b & 0x7fff, false), most = pick(a & 0x7fff, b & 0x7fff, true);
      ASSERT_EQ(min_xorsign_half<kInfinity>(a, b), nan(least) ? kNanF16 : least | sign);
      ASSERT_EQ(max_xorsign_half<kInfinity>(a, b), nan(most) ? kNanF16 : most | sign);
      ASSERT_EQ(abs_half<kInfinity>(a), nan(a) ? kNanF16 : a & 0x7fff);
      ASSERT_EQ(neg_half<kInfinity>(a), nan(a) ? kNanF16 : a ^ 0x8000);
    }
}

TEST(HalfF16, MinMaxAbsNeg) {
  check_min_max<kInfinityF16>(f16_values(), f64_from_f16);
  EXPECT_EQ((max_half<kInfinityF16, true>(0x0001, 0x8001)), 0x0000);
  EXPECT_EQ((neg_half<kInfinityF16, true>(0x0001)), 0x8000);
}
TEST(HalfBf16, MinMaxAbsNeg) { check_min_max<kInfinityBf16>(bf16_values(), f64_from_bf16); }

TEST(HalfF16, PackedHalvesAreIndependent) {
  EXPECT_EQ(packed(0x3c00c000u, 0x40003c00u, add_f16<>), 0x4200bc00u);               // {1+2, -2+1}
  EXPECT_EQ(packed(0x3c00c000u, 0x40003c00u, 0x00003c00u, fma_f16<>), 0x4000bc00u);  // {1*2+0, -2*1+1}
  EXPECT_EQ(packed(0x3c00c000u, neg_half<kInfinityF16>), 0xbc004000u);
}

}  // namespace
}  // namespace fullwarp::exec::sem::test

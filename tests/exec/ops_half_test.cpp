// Half precision through the interpreter: every operation over edge values, against the scalar functions that
// tests/semantics holds to MPFR; conversions against values worked out by hand.
#include <algorithm>
#include <bit>
#include <cmath>

#include "exec/semantics/approximate.h"
#include "exec/semantics/float.h"
#include "exec/semantics/half.h"
#include "run_ptx.h"

namespace fullwarp::exec::test {
namespace {

using U16 = std::vector<uint16_t>;
using U32 = std::vector<uint32_t>;

// Zeros, subnormals, ones, largest, infinities, NaNs, of either format.
const U16 kEdges = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x3c01, 0x3800, 0x3f80,
                    0xbf80, 0x4000, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xffff, 0x7f7f, 0x7f80, 0xff80};

struct Pairs {
  U16 a, b, c;
};
Pairs pairs() {
  Pairs p;
  for (uint16_t x : kEdges)
    for (uint16_t y : kEdges) {
      p.a.push_back(x);
      p.b.push_back(y);
      p.c.push_back(kEdges[(p.a.size() * 7) % kEdges.size()]);
    }
  return p;
}

struct Case {
  const char* name;
  uint16_t (*f)(uint16_t a, uint16_t b, uint16_t c);
  unsigned operands;
};

const Case kCases[] = {
    {"add.f16", [](uint16_t a, uint16_t b, uint16_t) { return sem::add_f16<>(a, b); }, 2},
    {"add.rn.ftz.sat.f16", [](uint16_t a, uint16_t b, uint16_t) { return sem::add_f16<true, true>(a, b); },
     2},
    {"sub.ftz.f16", [](uint16_t a, uint16_t b, uint16_t) { return sem::sub_f16<true>(a, b); }, 2},
    {"mul.sat.f16", [](uint16_t a, uint16_t b, uint16_t) { return sem::mul_f16<false, true>(a, b); }, 2},
    {"fma.rn.f16", [](uint16_t a, uint16_t b, uint16_t c) { return sem::fma_f16<>(a, b, c); }, 3},
    {"fma.rn.ftz.relu.f16",
     [](uint16_t a, uint16_t b, uint16_t c) { return sem::fma_f16<true, false, true>(a, b, c); }, 3},
    {"add.bf16", [](uint16_t a, uint16_t b, uint16_t) { return sem::add_bf16(a, b); }, 2},
    {"sub.bf16", [](uint16_t a, uint16_t b, uint16_t) { return sem::sub_bf16(a, b); }, 2},
    {"mul.bf16", [](uint16_t a, uint16_t b, uint16_t) { return sem::mul_bf16(a, b); }, 2},
    {"fma.rn.relu.bf16", [](uint16_t a, uint16_t b, uint16_t c) { return sem::fma_bf16<true>(a, b, c); }, 3},
    {"neg.f16", [](uint16_t a, uint16_t, uint16_t) { return sem::neg_half<sem::kInfinityF16>(a); }, 1},
    {"abs.ftz.f16", [](uint16_t a, uint16_t, uint16_t) { return sem::abs_half<sem::kInfinityF16, true>(a); },
     1},
    {"abs.bf16", [](uint16_t a, uint16_t, uint16_t) { return sem::abs_half<sem::kInfinityBf16>(a); }, 1},
    {"min.f16", [](uint16_t a, uint16_t b, uint16_t) { return sem::min_half<sem::kInfinityF16>(a, b); }, 2},
    {"max.ftz.NaN.f16",
     [](uint16_t a, uint16_t b, uint16_t) { return sem::max_half<sem::kInfinityF16, true, true>(a, b); }, 2},
    {"max.bf16", [](uint16_t a, uint16_t b, uint16_t) { return sem::max_half<sem::kInfinityBf16>(a, b); }, 2},
    {"min.NaN.xorsign.abs.bf16",
     [](uint16_t a, uint16_t b, uint16_t) {
       return sem::min_xorsign_half<sem::kInfinityBf16, false, true>(a, b);
     },
     2},
    {"max.xorsign.abs.f16",
     [](uint16_t a, uint16_t b, uint16_t) { return sem::max_xorsign_half<sem::kInfinityF16>(a, b); }, 2},
    {"ex2.approx.f16", [](uint16_t a, uint16_t, uint16_t) { return sem::ex2_approx_f16(a); }, 1},
    {"tanh.approx.bf16", [](uint16_t a, uint16_t, uint16_t) { return sem::tanh_approx_bf16(a); }, 1},
};

TEST(OpsHalf, OneValue) {
  const Pairs p = pairs();
  for (const Case& c : kCases) {
    const std::string code = std::string(c.name) + (c.operands == 1   ? " %d, %a;"
                                                    : c.operands == 2 ? " %d, %a, %b;"
                                                                      : " %d, %a, %b, %c;");
    const U16 got = apply<uint16_t>(code, p.a, p.b, p.c);
    for (size_t k = 0; k < p.a.size(); ++k)
      ASSERT_EQ(got[k], c.f(p.a[k], p.b[k], p.c[k]))
          << c.name << std::hex << " 0x" << p.a[k] << " 0x" << p.b[k] << " 0x" << p.c[k];
  }
}

TEST(OpsHalf, TwoValues) {
  const Pairs p = pairs();
  U32 a, b, c;  // the upper halves in another order
  const size_t n = p.a.size();
  for (size_t k = 0; k < n; ++k) {
    const size_t up = (k * 5 + 3) % n;
    a.push_back(p.a[k] | uint32_t{p.a[up]} << 16);
    b.push_back(p.b[k] | uint32_t{p.b[up]} << 16);
    c.push_back(p.c[k] | uint32_t{p.c[up]} << 16);
  }
  for (const Case& t : kCases) {
    const std::string code = std::string(t.name) + "x2" +
                             (t.operands == 1   ? " %d, %a;"
                              : t.operands == 2 ? " %d, %a, %b;"
                                                : " %d, %a, %b, %c;");
    const U32 got = apply<uint32_t>(code, a, b, c);
    for (size_t k = 0; k < n; ++k) {
      const size_t up = (k * 5 + 3) % n;
      const uint32_t want = t.f(p.a[k], p.b[k], p.c[k]) | uint32_t{t.f(p.a[up], p.b[up], p.c[up])} << 16;
      ASSERT_EQ(got[k], want) << t.name << "x2" << std::hex << " 0x" << a[k] << " 0x" << b[k] << " 0x"
                              << c[k];
    }
  }
}

TEST(OpsHalf, ToAndFromF32) {
  const std::vector<float> x = {0.0f,     -0.0f,    1.0f,  1.00048828125f /* 1 + 2^-11: a tie */,
                                65504.0f, 65520.0f, -2.0f, 1e-8f};
  EXPECT_EQ(apply<uint16_t>("cvt.rn.f16.f32 %d, %a;", x),
            (U16{0, 0x8000, 0x3c00, 0x3c00, 0x7bff, 0x7c00, 0xc000, 0}));
  EXPECT_EQ(apply<uint16_t>("cvt.rz.f16.f32 %d, %a;", x),
            (U16{0, 0x8000, 0x3c00, 0x3c00, 0x7bff, 0x7bff, 0xc000, 0}));
  EXPECT_EQ(apply<uint16_t>("cvt.rp.f16.f32 %d, %a;", x),
            (U16{0, 0x8000, 0x3c00, 0x3c01, 0x7bff, 0x7c00, 0xc000, 1}));
  EXPECT_EQ(apply<uint16_t>("cvt.rn.relu.f16.f32 %d, %a;", x),
            (U16{0, 0, 0x3c00, 0x3c00, 0x7bff, 0x7c00, 0, 0}));
  EXPECT_EQ(apply<uint16_t>("cvt.rn.sat.f16.f32 %d, %a;", x),
            (U16{0, 0, 0x3c00, 0x3c00, 0x3c00, 0x3c00, 0, 0}));
  EXPECT_EQ(apply<uint16_t>("cvt.rn.bf16.f32 %d, %a;", x),
            (U16{0, 0x8000, 0x3f80, 0x3f80, 0x4780, 0x4780, 0xc000, 0x322c}));
  const U16 h = {0, 0x8000, 0x3c00, 0x0001, 0x7c00, 0xfc00, 0x7e01};
  const U32 f = apply<uint32_t>("cvt.f32.f16 %d, %a;", h);
  EXPECT_EQ(f, (U32{0, 0x80000000, 0x3f800000, 0x33800000, 0x7f800000, 0xff800000, 0x7fffffff}));
  EXPECT_EQ(apply<uint32_t>("cvt.f32.bf16 %d, %a;", U16{0x3f80, 0xff80, 0x0001}),
            (U32{0x3f800000, 0xff800000, 0x00010000}));
  EXPECT_EQ(apply<uint64_t>("cvt.f64.f16 %d, %a;", U16{0x3c00, 0xc000}),
            (std::vector<uint64_t>{0x3ff0000000000000, 0xc000000000000000}));
  // 1 + 2^-11 + 2^-40 rounds up as a double; as an f32 on the way it would be a tie.
  EXPECT_EQ(apply<uint16_t>("cvt.rn.f16.f64 %d, %a;", std::vector<double>{1 + 0x1p-11 + 0x1p-40}),
            U16{0x3c01});
}

TEST(OpsHalf, IntegersAndRoundingToIntegers) {
  EXPECT_EQ(apply<uint16_t>("cvt.rn.f16.s32 %d, %a;", std::vector<int32_t>{-1, 2049, 70000, 3}),
            (U16{0xbc00, 0x6800, 0x7c00, 0x4200}));
  EXPECT_EQ(apply<uint16_t>("cvt.rn.bf16.u64 %d, %a;", std::vector<uint64_t>{~uint64_t{0}, 1}),
            (U16{0x5f80, 0x3f80}));
  const U16 h = {0x3e00 /* 1.5 */, 0xbe00, 0x4100 /* 2.5 */, 0x7c00, 0xfc00, 0x7e00};
  EXPECT_EQ(apply<int32_t>("cvt.rni.s32.f16 %d, %a;", h),
            (std::vector<int32_t>{2, -2, 2, INT32_MAX, INT32_MIN, 0}));
  EXPECT_EQ(apply<int32_t>("cvt.rzi.s32.f16 %d, %a;", h),
            (std::vector<int32_t>{1, -1, 2, INT32_MAX, INT32_MIN, 0}));
  EXPECT_EQ(apply<uint32_t>("cvt.rpi.u32.f16 %d, %a;", h), (U32{2, 0, 3, UINT32_MAX, 0, 0}));
  EXPECT_EQ(apply<int32_t>("cvt.rmi.s8.f16 %d, %a;", h), (std::vector<int32_t>{1, -2, 2, 127, -128, 0}));
  EXPECT_EQ(apply<uint16_t>("cvt.rni.f16.f16 %d, %a;", h),
            (U16{0x4000, 0xc000, 0x4000, 0x7c00, 0xfc00, 0x7fff}));
}

TEST(OpsHalf, PackedAndNarrowFormats) {
  EXPECT_EQ(apply<uint32_t>("cvt.rn.f16x2.f32 %d, %a, %b;", std::vector<float>{1}, std::vector<float>{-2}),
            U32{0x3c00c000});
  EXPECT_EQ(
      apply<uint32_t>("cvt.rn.relu.bf16x2.f32 %d, %a, %b;", std::vector<float>{1}, std::vector<float>{-2}),
      U32{0x3f800000});
  EXPECT_EQ(apply<uint32_t>("cvt.rna.tf32.f32 %d, %a;", U32{0x3f801000, 0xbf800fff, 0x7f800001}),
            (U32{0x3f802000, 0xbf800000, 0x7fffffff}));
  EXPECT_EQ(apply<uint16_t>("cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;", std::vector<float>{1, 1000},
                            std::vector<float>{-2, 0.001953125f}),
            (U16{0x38c0, 0x7e01}));
  EXPECT_EQ(apply<uint16_t>("cvt.rn.satfinite.relu.e5m2x2.f32 %d, %a, %b;", std::vector<float>{1},
                            std::vector<float>{-2}),
            U16{0x3c00});
  EXPECT_EQ(apply<uint32_t>("cvt.rn.f16x2.e4m3x2 %d, %a;", U16{0x38c0}), U32{0x3c00c000});
  EXPECT_EQ(apply<uint32_t>("cvt.rn.f16x2.e5m2x2 %d, %a;", U16{0x3cc0}), U32{0x3c00c000});
  EXPECT_EQ(apply<uint16_t>("cvt.rn.satfinite.e4m3x2.f16x2 %d, %a;", U32{0x3c00c000}), U16{0x38c0});
  using I32 = std::vector<int32_t>;
  EXPECT_EQ(apply<uint32_t>("cvt.pack.sat.s16.s32 %d, %a, %b;", I32{70000}, I32{-2}), U32{0x7ffffffe});
  EXPECT_EQ(apply<uint32_t>("cvt.pack.sat.u8.s32.b32 %d, %a, %b, %c;", I32{300}, I32{-5}, U32{0xabcd1234}),
            U32{0x1234ff00});
}

// add, sub and fma of f32 with narrow first operands: those widened, then the operation of f32.
TEST(OpsHalf, MixedWithF32) {
  U16 a, b;
  U32 c;
  for (uint16_t x : kEdges)
    for (uint16_t y : kEdges) {
      a.push_back(x);
      b.push_back(y);
      c.push_back(sem::bits(sem::f32_from_f16(kEdges[(a.size() * 5) % kEdges.size()]) * 1.0009765625f));
    }
  // Functions that are always inlined have no address.
  const auto f16 = [](uint16_t x) { return sem::f32_from_f16(x); };
  const auto bf16 = [](uint16_t x) { return sem::f32_from_bf16(x); };
  const auto same = [](float got, float want) {
    return sem::bits(got) == sem::bits(want) || (got != got && want != want);
  };
  const auto run = [&](const std::string& op, auto widen, auto want) {
    const U32 two = apply<uint32_t>(op + " %d, %a, %c;", a, b, c);
    for (size_t k = 0; k < a.size(); ++k)
      EXPECT_TRUE(same(sem::as_f32(two[k]), want(widen(a[k]), sem::as_f32(c[k])))) << op << ' ' << k;
  };
  run("add.rn.f32.f16", f16, [](float x, float y) { return x + y; });
  run("sub.f32.bf16", bf16, [](float x, float y) { return x - y; });
  run("add.sat.f32.bf16", bf16, [](float x, float y) { return x + y > 0 ? std::min(x + y, 1.0f) : 0.0f; });
  run("add.rz.f32.f16", f16, [](float x, float y) { return sem::add_f32<sem::Rounding::rz>(x, y); });
  const U32 three = apply<uint32_t>("fma.rn.f32.f16 %d, %a, %b, %c;", a, b, c);
  for (size_t k = 0; k < a.size(); ++k)
    EXPECT_TRUE(same(sem::as_f32(three[k]),
                     std::fma(sem::f32_from_f16(a[k]), sem::f32_from_f16(b[k]), sem::as_f32(c[k]))))
        << k;
}

TEST(OpsHalf, ReductionsOfF32OverAWarp) {
  // NaNs count with .NaN only, or where there is nothing else; .abs takes signs away first.
  std::vector<float> values(32);
  for (int k = 0; k < 32; ++k) values[static_cast<size_t>(k)] = static_cast<float>(k * 7 % 32 - 20);
  const auto reduce = [&](const std::string& op, const std::vector<float>& from) {
    return apply<float>("redux.sync." + op + ".f32 %d, %a, -1;", from).at(17);
  };
  EXPECT_EQ(reduce("min", values), -20.0f);
  EXPECT_EQ(reduce("max", values), 11.0f);
  EXPECT_EQ(reduce("max.abs", values), 20.0f);
  EXPECT_EQ(reduce("min.abs", values), 0.0f);
  std::vector<float> with_nan = values;
  with_nan[0] = with_nan[31] = std::nanf("");
  EXPECT_EQ(reduce("max", with_nan), 11.0f);
  EXPECT_TRUE(std::isnan(reduce("max.NaN", with_nan)));
  EXPECT_TRUE(std::isnan(reduce("min", std::vector<float>(32, std::nanf("")))));
}

}  // namespace
}  // namespace fullwarp::exec::test

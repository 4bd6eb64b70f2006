// What sm_100 adds for wide data: accesses of 256 bits, pairs of f32 in 64 bits; and moves of vectors. Values
// by hand.
#include <cmath>

#include "run_ptx.h"

namespace fullwarp::exec::test {
namespace {

TEST(OpsWide, EightWordsAreOneAccess) {
  // Each thread reverses its eight words.
  Kernel kernel(
      ".reg .b64 %in, %out, %at; .reg .b32 %t, %r<8>;\n"
      "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 32;\n"
      "add.s64 %in, %in, %at; add.s64 %out, %out, %at;\n"
      "ld.global.v8.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%in];\n"
      "st.global.v8.b32 [%out], {%r7, %r6, %r5, %r4, %r3, %r2, %r1, %r0};\nret;");
  std::vector<uint32_t> in(256);
  for (unsigned i = 0; i < 256; ++i) in[i] = i * 0x01010101u;
  kernel.buffer("in", in).buffer("out", std::vector<uint32_t>(256));
  const profile::KernelProfile profile = kernel.run_clean();
  const std::vector<uint32_t> out = kernel.values<uint32_t>("out");
  for (unsigned i = 0; i < 256; ++i) EXPECT_EQ(out[i], in[i / 8 * 8 + 7 - i % 8]) << i;
  // One load and one store of 32 bytes a lane: 1024 bytes are 32 sectors.
  ASSERT_EQ(profile.memory.size(), 2u);
  for (const profile::MemoryCounters& counters : profile.memory) {
    EXPECT_EQ(counters.requests, 1u);
    EXPECT_EQ(counters.sectors, 32u);
  }
}

TEST(OpsWide, EightWordsMustBeAligned) {
  Kernel kernel(
      ".reg .b64 %in; .reg .b32 %r<8>; ld.param.u64 %in, [in];\n"
      "ld.global.v8.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%in+16];\nret;");
  kernel.buffer("in", std::vector<uint32_t>(64));
  const profile::KernelProfile profile = kernel.run();
  ASSERT_EQ(profile.faults.size(), 1u);
  EXPECT_EQ(profile.faults[0].kind, profile::FaultKind::misaligned);
}

uint64_t pair(float low, float high) {
  return std::bit_cast<uint32_t>(low) | uint64_t{std::bit_cast<uint32_t>(high)} << 32;
}

TEST(OpsWide, PairsOfFloats) {
  using U64 = std::vector<uint64_t>;
  const float big = std::ldexp(1.0f, 100);  // 3, 2 and 1.5 vanish beside it
  const uint64_t a = pair(1.5f, -3.0f), b = pair(0.25f, big), c = pair(-0.375f, 2.0f);
  EXPECT_EQ(apply<uint64_t>("add.rn.f32x2 %d, %a, %b;", U64{a}, U64{b}), U64{pair(1.75f, big)});
  EXPECT_EQ(apply<uint64_t>("sub.rn.f32x2 %d, %a, %b;", U64{a}, U64{b}), U64{pair(1.25f, -big)});
  EXPECT_EQ(apply<uint64_t>("mul.rn.f32x2 %d, %a, %b;", U64{a}, U64{b}), U64{pair(0.375f, -3 * big)});
  EXPECT_EQ(apply<uint64_t>("fma.rn.f32x2 %d, %a, %b, %c;", U64{a}, U64{b}, U64{c}),
            U64{pair(0.0f, -3 * big)});
  // 1 + 2^-24 lies between 1 and the next f32: up goes to that, to nearest even to 1. Both halves round.
  const uint64_t one = pair(1.0f, 1.0f), tiny = pair(std::ldexp(1.0f, -24), std::ldexp(1.0f, -24));
  const float next = std::nextafter(1.0f, 2.0f);
  EXPECT_EQ(apply<uint64_t>("add.rp.f32x2 %d, %a, %b;", U64{one}, U64{tiny}), U64{pair(next, next)});
  EXPECT_EQ(apply<uint64_t>("add.rn.f32x2 %d, %a, %b;", U64{one}, U64{tiny}), U64{one});
  // A denormal (2^-140) is zero under .ftz.
  const uint64_t small = pair(std::ldexp(1.0f, -140), 1.0f);
  EXPECT_EQ(apply<uint64_t>("mul.rn.ftz.f32x2 %d, %a, %b;", U64{small}, U64{one}), U64{pair(0.0f, 1.0f)});
  EXPECT_EQ(apply<uint64_t>("mul.rn.f32x2 %d, %a, %b;", U64{small}, U64{one}), U64{small});
}

TEST(OpsWide, MovesOfVectors) {
  // The second move swaps: each element is read before any is written.
  Kernel kernel(
      ".reg .b64 %out; .reg .v2 .b32 %v; .reg .b32 %r<2>; ld.param.u64 %out, [out];\n"
      "mov.u32 %r0, 7; mov.u32 %r1, 9; mov.v2.u32 %v, {%r0, %r1}; mov.v2.u32 {%r0, %r1}, {%r1, %r0};\n"
      "st.global.v2.u32 [%out], %v; st.global.v2.u32 [%out+8], {%r0, %r1};\nret;");
  kernel.block({1, 1, 1}).buffer("out", std::vector<uint32_t>(4));
  kernel.run_clean();
  EXPECT_EQ(kernel.values<uint32_t>("out"), (std::vector<uint32_t>{7, 9, 9, 7}));
}

}  // namespace
}  // namespace fullwarp::exec::test

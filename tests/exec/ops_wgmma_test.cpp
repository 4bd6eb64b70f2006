// wgmma: a product with matrices as a reader would lay them out, and what is said of misuse. Where matrices
// lie in every layout is held against the hardware (tests/hardware/wgmma_test.cpp).
#include <cstdint>
#include <string>
#include <vector>

#include "run_ptx.h"

namespace fullwarp::exec::test {
namespace {

using profile::Fault;
using profile::FaultKind;
using profile::KernelProfile;

// A: 64 rows of 32 bytes, without swizzle: cores of 8 rows by 16 bytes, 128 bytes each; the two along K lie
// side by side, those of the next 8 rows 256 bytes on. B: 8 columns of 32 bytes likewise, behind A. The image
// of both, 2304 bytes, comes from `in`.
constexpr unsigned kImageWords = (64 + 8) * 8;

std::string kernel_of(const std::string& before, const std::string& product, bool barrier = true) {
  return ".reg .pred %p, %q; .reg .b32 %t, %s, %at, %w, %e<4>; .reg .f32 %d<4>; .reg .b64 %in, %out, %x, %a, %b;\n"
         ".shared .align 128 .b8 image[2304];\n"
         "mov.u32 %t, %tid.x; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];\n"
         "mov.u32 %at, image; shr.u32 %s, %at, 4; cvt.u64.u32 %a, %s;\n"
         "or.b64 %a, %a, 0x0000001000080000; add.u64 %b, %a, 128;\n"  // leading 128, stride 256 bytes
         "mov.u32 %s, %t;\n"
         "fill: setp.ge.u32 %p, %s, " +
         std::to_string(kImageWords) +
         "; @%p bra filled;\n"
         "mul.wide.u32 %x, %s, 4; add.u64 %x, %in, %x; ld.global.u32 %w, [%x];\n"
         "mov.u32 %at, image; mad.lo.u32 %at, %s, 4, %at; st.shared.u32 [%at], %w;\n"
         "add.u32 %s, %s, 128; bra fill;\n"
         "filled: " +
         std::string(barrier ? "bar.sync 0;\n" : "") +
         "mov.f32 %d0, 0f3f800000; mov.f32 %d1, 0f3f800000; mov.f32 %d2, 0f3f800000; mov.f32 %d3, 0f3f800000;\n"
         "setp.eq.u32 %p, %t, %t;\n" +
         before + "wgmma.fence.sync.aligned;\n" + product +
         "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
         "mul.wide.u32 %x, %t, 16; add.u64 %x, %out, %x; st.global.v4.f32 [%x], {%d0, %d1, %d2, %d3};\nret;";
}

const std::string kProduct =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %a, %b, %p, 1, 1, 0, 0;\n";

// Small numbers as f16, at (row, k) of A and (k, column) of B.
int a_at(unsigned row, unsigned k) { return static_cast<int>((row * 3 + k * 5) % 7) - 3; }
int b_at(unsigned k, unsigned column) { return static_cast<int>((k * 2 + column * 3) % 5) - 2; }
uint16_t f16(int x) {
  constexpr uint16_t kCodes[] = {0, 0x3c00, 0x4000, 0x4200};
  return static_cast<uint16_t>((x < 0 ? 0x8000 : 0) | kCodes[x < 0 ? -x : x]);
}

std::vector<uint16_t> image() {
  std::vector<uint16_t> halves(kImageWords * 2);
  const auto put = [&](unsigned at, unsigned line, unsigned k, int value) {
    halves[at / 2 + line / 8 * 128 + k / 8 * 64 + line % 8 * 8 + k % 8] = f16(value);
  };
  for (unsigned k = 0; k < 16; ++k) {
    for (unsigned row = 0; row < 64; ++row) put(0, row, k, a_at(row, k));
    for (unsigned column = 0; column < 8; ++column) put(2048, column, k, b_at(k, column));
  }
  return halves;
}

Kernel kernel(const std::string& before = {}, const std::string& product = kProduct, unsigned threads = 128,
              bool barrier = true) {
  Kernel k(kernel_of(before, product, barrier));
  k.buffer("in", image()).buffer("out", std::vector<float>(512)).block({threads, 1, 1});
  return k;
}

std::vector<Fault> faults(Kernel k) {
  const KernelProfile profile = k.run();
  EXPECT_EQ(k.error, "");
  return profile.faults;
}

TEST(GroupProducts, OfMatricesInCores) {
  for (const bool add : {true, false}) {
    Kernel k = kernel(add ? "" : "setp.ne.u32 %p, %t, %t;\n");
    const KernelProfile profile = k.run_clean();
    const std::vector<float> out = k.values<float>("out");
    for (unsigned row = 0; row < 64; ++row)
      for (unsigned column = 0; column < 8; ++column) {
        int sum = add;
        for (unsigned i = 0; i < 16; ++i) sum += a_at(row, i) * b_at(i, column);
        const unsigned thread = row / 16 * 32 + row % 8 * 4 + column / 2, reg = row % 16 / 8 * 2 + column % 2;
        EXPECT_EQ(out[thread * 4 + reg], static_cast<float>(sum)) << row << ' ' << column;
      }
    // 64 rows and 8 columns of 32 bytes: 18 wavefronts of 128.
    uint64_t wavefronts = 0;
    for (const profile::MemoryCounters& m : profile.memory)
      if (m.kind == mem::AccessKind::tensor_load) {
        EXPECT_EQ(m.requests, 4u);
        wavefronts += m.wavefronts;
      }
    EXPECT_EQ(wavefronts, 18u);
  }
}

TEST(GroupProducts, AccumulateInLoops) {
  // Four times, one after the other: what is in the registers is read each time.
  Kernel k = kernel("mov.u32 %s, 0;\nagain:\n",
                    kProduct + "add.u32 %s, %s, 1; setp.lt.u32 %q, %s, 4; @%q bra again;\n");
  k.run_clean();
  const std::vector<float> out = k.values<float>("out");
  int sum = 0;
  for (unsigned i = 0; i < 16; ++i) sum += a_at(0, i) * b_at(i, 0);
  EXPECT_EQ(out[0], static_cast<float>(1 + 4 * sum));
}

TEST(GroupProducts, NeedFourWholeWarps) {
  for (const unsigned threads : {96u, 120u, 32u}) {
    const std::vector<Fault> found = faults(kernel({}, kProduct, threads));
    ASSERT_FALSE(found.empty()) << threads;
    EXPECT_EQ(found[0].kind, FaultKind::invalid_instruction);
    EXPECT_NE(found[0].detail.find("four whole warps"), std::string::npos) << found[0].detail;
  }
}

TEST(GroupProducts, NeedOneDescriptorForAllLanes) {
  const std::vector<Fault> found = faults(kernel("cvt.u64.u32 %x, %t; add.u64 %a, %a, %x;\n"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].detail.find("same in all lanes"), std::string::npos) << found[0].detail;
  EXPECT_EQ(faults(kernel("setp.lt.u32 %p, %t, 5;\n")).size(), 1u);
}

TEST(GroupProducts, StayInSharedMemory) {
  const std::vector<Fault> found = faults(kernel("add.u64 %b, %b, 1;\n"));  // 16 bytes on
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, FaultKind::out_of_bounds);
  EXPECT_EQ(found[0].offset, 2304u);
}

TEST(GroupProducts, AreReadersToTheRaceDetector) {
  const std::string store = "setp.eq.u32 %q, %t, 0; @%q st.shared.u32 [image+2048], %t;\n";
  const std::vector<Fault> found = faults(kernel({}, kProduct + store));
  ASSERT_FALSE(found.empty());
  for (const Fault& fault : found) EXPECT_EQ(fault.kind, FaultKind::shared_race);
  EXPECT_EQ(faults(kernel({}, kProduct + "bar.sync 0;\n" + store)).size(), 0u);
  // Whoever comes first finds nothing there.
  const std::vector<Fault> early = faults(kernel({}, kProduct, 128, false));
  ASSERT_FALSE(early.empty());
  EXPECT_EQ(early[0].kind, FaultKind::uninitialised);
}

TEST(GroupProducts, FormsThatDoNotExistAreNamed) {
  const auto error = [](const std::string& product) {
    Kernel k = kernel({}, product);
    k.run();
    return k.error;
  };
  EXPECT_NE(
      error(
          "wgmma.mma_async.sync.aligned.m64n8k8.f32.f16.f16 {%d0, %d1, %d2, %d3}, %a, %b, %p, 1, 1, 0, 0;\n")
          .find("no such products"),
      std::string::npos);
  EXPECT_NE(error("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1}, %a, %b, %p, 1, 1, 0, 0;\n")
                .find("list of 4 registers"),
            std::string::npos);
  EXPECT_NE(
      error(
          "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %a, %b, %p, 2, 1, 0, 0;\n")
          .find("1 or -1"),
      std::string::npos);
  EXPECT_NE(
      error("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %a, %b, %p, 1, 1;\n")
          .find("8 operands"),
      std::string::npos);
}

}  // namespace
}  // namespace fullwarp::exec::test

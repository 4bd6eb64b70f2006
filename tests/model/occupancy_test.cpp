// Occupancy against values worked out by hand from the limits in hardware.md.
#include "model/occupancy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fullwarp::model {
namespace {

using testing::ElementsAre;

const gpu::Sm& sm(uint32_t version) { return *gpu::find_sm(version); }

TEST(Occupancy, FullWithModerateUse) {
  // 8 warps a block, 32 registers x 32 lanes = 1024 a warp: 64 warps; 64 / 8 = 8 blocks.
  const Occupancy o = occupancy(sm(90), {256, 0, 0, 32});
  EXPECT_EQ(o.blocks, 8u);
  EXPECT_EQ(o.warps, 64u);
  EXPECT_DOUBLE_EQ(o.fraction, 1.0);
  EXPECT_THAT(o.limiters, ElementsAre(Limiter::registers, Limiter::warps));
}

TEST(Occupancy, Registers) {
  // 40 x 32 = 1280 a warp; a quarter holds 16384 / 1280 = 12 warps; 48 warps / 8 = 6 blocks.
  const Occupancy o = occupancy(sm(90), {256, 0, 0, 40});
  EXPECT_EQ(o.blocks, 6u);
  EXPECT_DOUBLE_EQ(o.fraction, 0.75);
  EXPECT_THAT(o.limiters, ElementsAre(Limiter::registers));
  // 33 rounds up to the same 40: 33 x 32 = 1056 -> 1280.
  EXPECT_EQ(occupancy(sm(90), {256, 0, 0, 33}).blocks, 6u);
  // A quarter holds 16384 / 8192 = 2 warps of 255 registers: 8 warps are one block of 256, none of 288.
  EXPECT_EQ(occupancy(sm(90), {256, 0, 0, 255}).blocks, 1u);
  EXPECT_EQ(occupancy(sm(90), {288, 0, 0, 255}).blocks, 0u);
  EXPECT_EQ(occupancy(sm(90), {32, 0, 0, 256}).blocks, 0u);
}

TEST(Occupancy, UnknownRegistersDoNotLimit) {
  const Occupancy o = occupancy(sm(90), {1024, 0, 0, {}});
  EXPECT_EQ(o.blocks, 2u);
  EXPECT_FALSE(o.registers_known);
  EXPECT_THAT(o.limiters, ElementsAre(Limiter::warps));
}

TEST(Occupancy, BlocksLimitSmallBlocks) {
  const Occupancy o = occupancy(sm(90), {32, 0, 0, 16});
  EXPECT_EQ(o.blocks, 32u);
  EXPECT_DOUBLE_EQ(o.fraction, 0.5);
  EXPECT_THAT(o.limiters, ElementsAre(Limiter::blocks));
  EXPECT_EQ(occupancy(sm(89), {32, 0, 0, 16}).blocks, 24u);
  EXPECT_EQ(occupancy(sm(75), {32, 0, 0, 16}).blocks, 16u);
}

TEST(Occupancy, PartialWarpsTakeWholeOnes) {
  const Occupancy o = occupancy(sm(90), {100, 0, 0, 16});  // 4 warps: 16 blocks
  EXPECT_EQ(o.block_warps, 4u);
  EXPECT_EQ(o.blocks, 16u);
}

TEST(Occupancy, Shared) {
  // 32 KB + 1 KB reserve = 33 KB; 228 / 33 = 6 blocks of 4 warps.
  const Occupancy o = occupancy(sm(90), {128, 32 * 1024, 0, 16});
  EXPECT_EQ(o.block_shared_bytes, 33u * 1024);
  EXPECT_EQ(o.blocks, 6u);
  EXPECT_THAT(o.limiters, ElementsAre(Limiter::shared));
  EXPECT_EQ(o.carve_out_kb, 228u);  // 198 KB do not fit in 196
  // 7.5 keeps no reserve: 64 / 32 = 2.
  EXPECT_EQ(occupancy(sm(75), {128, 32 * 1024, 0, 16}).blocks, 2u);
  // Rounded to 128 bytes: 1 byte + 1 KB = 1152.
  EXPECT_EQ(occupancy(sm(90), {128, 1, 0, 16}).block_shared_bytes, 1152u);
  // Opt-in for dynamic, not for static memory.
  EXPECT_EQ(occupancy(sm(90), {128, 0, 227 * 1024, 16}).blocks, 1u);
  EXPECT_EQ(occupancy(sm(90), {128, 0, 227 * 1024 + 1, 16}).blocks, 0u);
  EXPECT_EQ(occupancy(sm(90), {128, 48 * 1024 + 1, 0, 16}).blocks, 0u);
}

TEST(Occupancy, CarveOutIsTheSmallestThatHoldsAllBlocks) {
  EXPECT_EQ(occupancy(sm(90), {1024, 0, 0, 16}).carve_out_kb, 8u);      // 2 x 1 KB of reserve
  EXPECT_EQ(occupancy(sm(90), {1024, 4096, 0, 16}).carve_out_kb, 16u);  // 2 x 5 KB
  EXPECT_EQ(occupancy(sm(75), {1024, 0, 0, 16}).carve_out_kb, 32u);     // the least there is
  EXPECT_EQ(occupancy(sm(70), {1024, 0, 0, 16}).carve_out_kb, 0u);
}

// "CUDA C++ Best Practices Guide", occupancy: 37 registers on 7.0; blocks of 128 threads reach 75 % with 12
// of them, blocks of 320 reach 63 % with 4. A warp takes 37 x 32 rounded up to 1280 registers, a quarter
// holds 12.
TEST(Occupancy, ExampleOfTheBestPracticesGuide) {
  const Occupancy small = occupancy(sm(70), {128, 0, 0, 37});
  EXPECT_EQ(small.blocks, 12u);
  EXPECT_DOUBLE_EQ(small.fraction, 0.75);
  const Occupancy large = occupancy(sm(70), {320, 0, 0, 37});
  EXPECT_EQ(large.blocks, 4u);
  EXPECT_DOUBLE_EQ(large.fraction, 0.625);
}

// Blocks an SM, by hand from the programming guide's limits of each compute capability.
TEST(Occupancy, EveryComputeCapability) {
  constexpr uint32_t kVersions[] = {75, 80, 89, 90, 100, 120};
  const struct {
    const char* why;
    BlockUse use;
    uint32_t blocks[6];
  } cases[] = {
      {"8 warps of 32, 64 or 48", {256, 0, 0, 32}, {4, 8, 6, 8, 8, 6}},
      {"32 warps of 32, 64 or 48", {1024, 0, 0, 32}, {1, 2, 1, 2, 2, 1}},
      {"blocks per SM", {32, 0, 0, 16}, {16, 32, 24, 32, 32, 24}},
      {"64 x 32 registers a warp: 8 warps a quarter, 32 an SM, 4 a block",
       {128, 0, 0, 64},
       {8, 8, 8, 8, 8, 8}},
      {"64 / 16 KB on 7.5; 164, 100, 228 / 17 KB", {128, 16384, 0, 32}, {4, 9, 5, 13, 13, 5}},
      {"5000 bytes: 5120 in units of 256 on 7.5; 6024 in units of 128 are 6144",
       {32, 0, 5000, 32},
       {12, 27, 16, 32, 32, 16}},
      {"64 KB, all of 7.5", {32, 0, 65536, 32}, {1, 2, 1, 3, 3, 1}},
      {"99 KB, the most on 8.9 and 12.0", {32, 0, 99 * 1024, 32}, {0, 1, 1, 2, 2, 1}},
      {"one byte more", {32, 0, 99 * 1024 + 1, 32}, {0, 1, 0, 2, 2, 0}},
      {"163 KB, the most on 8.0", {32, 0, 163 * 1024, 32}, {0, 1, 0, 1, 1, 0}},
      {"227 KB, the most on 9.0 and 10.0", {32, 0, 227 * 1024, 32}, {0, 0, 0, 1, 1, 0}},
  };
  for (const auto& c : cases)
    for (size_t i = 0; i < std::size(kVersions); ++i)
      EXPECT_EQ(occupancy(sm(kVersions[i]), c.use).blocks, c.blocks[i]) << c.why << " on " << kVersions[i];
}

TEST(Occupancy, AbsurdValuesAreRefusals) {
  EXPECT_EQ(occupancy(sm(90), {0, 0, 0, 16}).blocks, 0u);
  EXPECT_EQ(occupancy(sm(90), {1025, 0, 0, 16}).blocks, 0u);
  EXPECT_EQ(occupancy(sm(90), {0xffffffff, ~uint64_t{0}, ~uint64_t{0}, 0xffffffff}).blocks, 0u);
  EXPECT_EQ(occupancy(sm(90), {32, ~uint64_t{0}, 1, 0xffffffff}).blocks, 0u);
  EXPECT_TRUE(next_steps(sm(90), {0, 0, 0, 16}).empty());
}

TEST(NextStep, FewerRegisters) {
  const auto steps = next_steps(sm(90), {256, 0, 0, 48});  // 1536 a warp: 10 a quarter, 40 warps, 5 blocks
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps[0].change, NextStep::Change::registers);
  EXPECT_EQ(steps[0].value, 40u);
  EXPECT_EQ(steps[0].reached.warps, 48u);
}

TEST(NextStep, LessShared) {
  const auto steps =
      next_steps(sm(90), {128, 32 * 1024, 0, 16});  // 6 blocks; 228 KB / 7 = 33353 -> 33280 - 1024
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps[0].change, NextStep::Change::shared);
  EXPECT_EQ(steps[0].value, 32256u);
  EXPECT_EQ(steps[0].reached.blocks, 7u);
}

TEST(NextStep, LargerBlocks) {
  const auto steps = next_steps(sm(90), {32, 0, 0, 16});
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].change, NextStep::Change::threads);
  EXPECT_EQ(steps[0].value, 64u);
  EXPECT_EQ(steps[0].reached.warps, 64u);
}

TEST(NextStep, OtherBlockSizeWhereWarpsAreLeftOver) {
  // 8.6 has 48 warps: one block of 1024 takes 32 of them, two of 768 take all.
  const auto steps = next_steps(sm(86), {1024, 0, 0, 32});
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].value, 768u);
  EXPECT_EQ(steps[0].reached.warps, 48u);
}

TEST(NextStep, NoneAtFullOccupancy) { EXPECT_TRUE(next_steps(sm(90), {256, 0, 0, 32}).empty()); }

}  // namespace
}  // namespace fullwarp::model

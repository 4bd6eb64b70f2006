// Every figure that hardware.md states about one request, as read with Nsight Compute on an H200 (or worked
// out by hand from its rules, where the line says so).
#include <gtest/gtest.h>

#include <functional>

#include "mem/warp_access.h"

namespace fullwarp::mem {
namespace {

WarpAccess access_of(AccessKind kind, uint32_t width, const std::function<uint64_t(unsigned)>& address,
                     LaneMask mask = kFullMask) {
  WarpAccess access;
  access.kind = kind;
  access.width_bytes = width;
  access.mask = mask;
  for (unsigned lane = 0; lane < 32; ++lane) access.address[lane] = address(lane);
  return access;
}

uint32_t sectors(uint32_t width, uint64_t base, uint64_t stride) {
  return global_cost(access_of(AccessKind::load, width, [&](unsigned i) { return base + i * stride; }))
      .sectors;
}

// Stride in elements of the width.
uint32_t load_wavefronts(uint32_t width, uint64_t stride) {
  return shared_cost(access_of(AccessKind::load, width, [&](unsigned i) { return i * stride * width; }))
      .wavefronts;
}

TEST(MeasuredGlobal, CopySectors) {
  EXPECT_EQ(sectors(4, 4096, 4), 4u);    // f32 copy
  EXPECT_EQ(sectors(4, 4100, 4), 5u);    // offset by one element
  EXPECT_EQ(sectors(4, 4096, 8), 8u);    // stride 2
  EXPECT_EQ(sectors(4, 4096, 32), 32u);  // stride 8
  EXPECT_EQ(sectors(4, 4096, 4096), 32u);
  EXPECT_EQ(sectors(16, 4096, 16), 16u);  // float4
}

TEST(MeasuredGlobal, TwelveByteStructMemberByMember) {
  for (uint64_t member : {0, 4, 8}) EXPECT_EQ(sectors(4, 4096 + member, 12), 12u);
}

TEST(MeasuredGlobal, IdealIsActiveLanesTimesWidthRoundedUp) {
  const auto strided = access_of(AccessKind::load, 4, [](unsigned i) { return i * 128; });
  EXPECT_EQ(global_cost(strided).ideal_sectors, 4u);
  const auto three = access_of(
      AccessKind::load, 4, [](unsigned i) { return i * 128; }, 0b111);
  EXPECT_EQ(global_cost(three).ideal_sectors, 1u);  // 12 bytes
  const auto one_address = access_of(AccessKind::load, 4, [](unsigned) { return 64; });
  EXPECT_EQ(global_cost(one_address).ideal_sectors, 1u);  // the smaller of the two
}

TEST(MeasuredGlobal, ReductionCountsDistinctSectors) {  // memory_l2_theoretical_sectors_global
  EXPECT_EQ(global_cost(access_of(AccessKind::reduction, 4, [](unsigned) { return 64; })).sectors, 1u);
}

TEST(MeasuredShared, WideLoads) {
  EXPECT_EQ(load_wavefronts(8, 0), 1u);
  EXPECT_EQ(load_wavefronts(8, 1), 2u);
  EXPECT_EQ(load_wavefronts(8, 2), 4u);
  EXPECT_EQ(load_wavefronts(16, 0), 2u);
  EXPECT_EQ(load_wavefronts(16, 1), 4u);
  EXPECT_EQ(load_wavefronts(16, 2), 8u);
}

TEST(MeasuredShared, OddStridesAreFreeOfConflicts) {
  for (uint64_t stride : {3, 5, 9, 33}) {
    EXPECT_EQ(load_wavefronts(4, stride), 1u) << stride;
    EXPECT_EQ(load_wavefronts(8, stride), 2u) << stride;
    EXPECT_EQ(load_wavefronts(16, stride), 4u) << stride;
  }
}

TEST(MeasuredShared, TransposeTile) {
  EXPECT_EQ(load_wavefronts(4, 32), 32u);  // tile[32][32] read by column
  EXPECT_EQ(load_wavefronts(4, 33), 1u);   // one pad word
  EXPECT_EQ(load_wavefronts(4, 34), 2u);   // two pad words: 2-way
}

TEST(MeasuredShared, GroupsOfLanesThatShareAWordMerge) {
  for (unsigned group : {2u, 4u, 8u}) {
    const auto wide = access_of(AccessKind::load, 8, [&](unsigned i) { return uint64_t{i / group} * 8; });
    EXPECT_EQ(shared_cost(wide).wavefronts, 1u) << group;
    const auto wider = access_of(AccessKind::load, 16, [&](unsigned i) { return uint64_t{i / group} * 16; });
    EXPECT_EQ(shared_cost(wider).wavefronts, 2u) << group;
  }
  // Lanes t and t^2 share a word: 0 1 0 1 2 3 2 3 ...
  const auto crossed =
      access_of(AccessKind::load, 8, [](unsigned i) { return uint64_t{i / 4 * 2 + i % 2} * 8; });
  EXPECT_EQ(shared_cost(crossed).wavefronts, 1u);
}

TEST(MeasuredShared, StoresNeverMerge) {
  EXPECT_EQ(shared_cost(access_of(AccessKind::store, 8, [](unsigned) { return 0; })).wavefronts, 2u);
  EXPECT_EQ(shared_cost(access_of(AccessKind::store, 16, [](unsigned) { return 0; })).wavefronts, 4u);
}

TEST(MeasuredShared, TiledProductWavefronts) {
  // 32 loads of 32 bits in a row of the tile and 8 broadcasts of 128 bits: 48 wavefronts.
  EXPECT_EQ(32 * load_wavefronts(4, 1) + 8 * load_wavefronts(16, 0), 48u);
}

TEST(MeasuredShared, AtomicsCountDistinctWordsPerBank) {  // exact on a histogram
  const auto same = access_of(AccessKind::atomic, 4, [](unsigned) { return 20; });
  EXPECT_EQ(shared_cost(same).wavefronts, 1u);
  const auto column = access_of(AccessKind::atomic, 4, [](unsigned i) { return i % 4 * 128; });
  EXPECT_EQ(shared_cost(column).wavefronts, 4u);
}

// By hand: ldmatrix reads 8 rows of 16 bytes for each matrix. Rows that follow one another (pitch 16) or
// stand 9 x 16 bytes apart take every bank once; with a pitch of 128 bytes all rows of a matrix share 4
// banks.
TEST(MatrixLoad, RowsOfEachMatrix) {
  const auto cost = [](uint64_t pitch, LaneMask mask) {
    return shared_cost(access_of(
        AccessKind::matrix_load, 16, [&](unsigned i) { return i * pitch; }, mask));
  };
  EXPECT_EQ(cost(16, kFullMask).wavefronts, 4u);
  EXPECT_EQ(cost(144, kFullMask).wavefronts, 4u);
  EXPECT_EQ(cost(128, kFullMask).wavefronts, 32u);
  EXPECT_EQ(cost(128, kFullMask).ideal_wavefronts, 4u);
  EXPECT_EQ(cost(128, 0xff).wavefronts, 8u);
  EXPECT_EQ(cost(16, 0xffff).wavefronts, 2u);
  EXPECT_EQ(cost(0, kFullMask).wavefronts, 4u);  // four reads of one row do not merge
}

// By hand: cp.async writes 16 bytes a lane like a 128-bit store.
TEST(AsyncCopy, WritesLikeStores) {
  EXPECT_EQ(shared_cost(access_of(AccessKind::async_copy, 16, [](unsigned i) { return i * 16; })).wavefronts,
            4u);
  EXPECT_EQ(shared_cost(access_of(AccessKind::async_copy, 16, [](unsigned i) { return i * 128; })).wavefronts,
            32u);
  EXPECT_EQ(shared_cost(access_of(AccessKind::async_copy, 4, [](unsigned i) { return i * 4; })).wavefronts,
            1u);
}

}  // namespace
}  // namespace fullwarp::mem

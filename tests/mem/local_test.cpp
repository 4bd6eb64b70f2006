// Local memory lies word by word across the lanes: the same offset in every lane is one line.
#include <gtest/gtest.h>

#include <set>

#include "mem/warp_access.h"

namespace fullwarp::mem {
namespace {

TEST(Local, InterleavingIsOneToOne) {
  std::set<uint64_t> places;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (uint64_t offset = 0; offset < 64; ++offset) places.insert(interleaved_local(offset, lane));
  EXPECT_EQ(places.size(), 32u * 64u);
  EXPECT_EQ(*places.rbegin(), 32u * 64u - 1);
  EXPECT_EQ(interleaved_local(0, 1), 4u);
  EXPECT_EQ(interleaved_local(4, 0), 128u);
  EXPECT_EQ(interleaved_local(7, 3), 128u + 12u + 3u);
}

TEST(Local, OneOffsetIsOneLineAWord) {
  WarpAccess access;
  access.space = AccessSpace::local;
  access.mask = kFullMask;
  for (uint32_t words : {1, 2, 4}) {
    access.width_bytes = 4 * words;
    access.address.fill(48);
    EXPECT_EQ(global_cost(access).sectors, 4 * words);
    EXPECT_EQ(global_cost(access).lines, words);
    EXPECT_EQ(global_cost(access).ideal_sectors, 4 * words);
  }
}

TEST(Local, AnIndexThatDiffersByLaneScatters) {
  WarpAccess access;
  access.space = AccessSpace::local;
  access.mask = kFullMask;
  for (unsigned lane = 0; lane < 32; ++lane) access.address[lane] = lane * 4;
  EXPECT_EQ(global_cost(access).sectors, 32u);
  EXPECT_EQ(global_cost(access).ideal_sectors, 4u);
}

}  // namespace
}  // namespace fullwarp::mem

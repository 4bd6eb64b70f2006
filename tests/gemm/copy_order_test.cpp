// The order in which a fused product copies its operands: all blocks once, none later than a tile that needs
// it.
#include "copy_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace fullwarp::gemm {
namespace {

// The walk of fused.cuh over D's tiles of 256 x `columns`, in plain loops: groups of eight rows of tiles,
// within a group column by column. Returns the place in the walk at which each block is first needed.
std::map<uint16_t, int64_t> first_needed(int64_t m, int64_t n, int columns) {
  std::map<uint16_t, int64_t> first;
  const int64_t tile_rows = (m + kTileRows - 1) / kTileRows, tile_columns = (n + columns - 1) / columns;
  int64_t place = 0;
  for (int64_t group = 0; group < tile_rows; group += kTileGroup) {
    for (int64_t column = 0; column < tile_columns; ++column) {
      for (int64_t row = group; row < std::min(group + kTileGroup, tile_rows); ++row, ++place) {
        first.emplace(static_cast<uint16_t>(row), place);
        const int64_t last = std::min((column + 1) * columns, n) - 1;
        for (int64_t block = column * columns / kAheadBlock; block <= last / kAheadBlock; ++block) {
          first.emplace(static_cast<uint16_t>(kAheadY | block), place);
        }
      }
    }
  }
  return first;
}

void check(int64_t m, int64_t n, int columns, int64_t clusters, bool x, bool y) {
  SCOPED_TRACE(testing::Message() << m << ' ' << n << " tiles of " << columns << ", " << clusters
                                  << " clusters, " << x << y);
  ASSERT_TRUE(can_copy_ahead(m, n, 512, x, y));
  const AheadOrder order = ahead_order(m, n, columns, clusters, x, y);
  std::map<uint16_t, int64_t> want = first_needed(m, n, columns);
  for (auto entry = want.begin(); entry != want.end();) {
    entry = (entry->first & kAheadY ? y : x) ? std::next(entry) : want.erase(entry);
  }
  ASSERT_GE(order.turns, 1);
  ASSERT_LE(order.turns, kMaxAheadTurns);
  EXPECT_EQ(order.first[0], 0);
  ASSERT_EQ(order.first[order.turns], want.size());
  int64_t before = 0;
  for (int turn = 0; turn < order.turns; ++turn) {
    ASSERT_LT(order.first[turn], order.first[turn + 1]);
    for (int i = order.first[turn]; i < order.first[turn + 1]; ++i) {
      const auto found = want.find(order.block[i]);
      ASSERT_NE(found, want.end()) << "block " << order.block[i] << " is not there or there twice";
      // Turns follow the walk; those beyond the table's end share its last.
      if (turn + 1 < kMaxAheadTurns) {
        EXPECT_EQ(found->second / clusters, want.at(order.block[order.first[turn]]) / clusters);
      }
      EXPECT_GE(found->second / clusters, before);
      if (i + 1 == order.first[turn + 1]) before = found->second / clusters;
    }
    for (int i = order.first[turn]; i < order.first[turn + 1]; ++i) want.erase(order.block[i]);
  }
  EXPECT_TRUE(want.empty());
}

TEST(CopyOrder, EveryBlockOnceInTheOrderOfTheWalk) {
  for (const int columns : {128, 192, 256}) {
    for (const auto& [x, y] : {std::pair{true, false}, {false, true}, {true, true}}) {
      check(1, 1, columns, 66, x, y);
      check(4095, 4095, columns, 66, x, y);
      check(2047, 8191, columns, 66, x, y);
      check(8191, 2047, columns, 3, x, y);
      check(50257, 768, columns, 66, x, y);
      check(768, 50257, columns, 66, x, y);
    }
  }
}

TEST(CopyOrder, MoreTurnsThanTheTableHolds) { check(60000, 300, 256, 1, true, true); }

TEST(CopyOrder, WhatTheTablesCannotHoldIsRefused) {
  EXPECT_FALSE(can_copy_ahead(4096, 4096, 4096, false, false));  // nothing to copy
  EXPECT_TRUE(can_copy_ahead(int64_t{kMaxAheadBlocks} * kAheadBlock, 1, 256, true, false));
  EXPECT_FALSE(can_copy_ahead(int64_t{kMaxAheadBlocks} * kAheadBlock + 1, 1, 256, true, false));
  // 16380 counters behind the first four: 32 blocks by 511 parts of k, not 512.
  EXPECT_TRUE(can_copy_ahead(8192, 768, 511 * 256, true, false));
  EXPECT_FALSE(can_copy_ahead(8192, 768, 511 * 256 + 1, true, false));
}

}  // namespace
}  // namespace fullwarp::gemm

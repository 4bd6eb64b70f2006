// The order of blocks; see copy_order.h.
#include "copy_order.h"

#include <algorithm>

namespace fullwarp::gemm {
namespace {

int64_t parts(int64_t extent, int64_t size) { return (extent + size - 1) / size; }

}  // namespace

bool can_copy_ahead(int64_t m, int64_t n, int64_t k, bool copy_x, bool copy_y) {
  const int64_t blocks = (copy_x ? parts(m, kAheadBlock) : 0) + (copy_y ? parts(n, kAheadBlock) : 0);
  constexpr int64_t kFlags = static_cast<int64_t>(kCounterBytes) / 4 - kFirstFlag;
  return blocks > 0 && blocks <= kMaxAheadBlocks && blocks * parts(k, kAheadBlock) <= kFlags;
}

AheadOrder ahead_order(int64_t m, int64_t n, int tile_columns, int64_t clusters, bool copy_x, bool copy_y) {
  AheadOrder order;
  const int64_t tile_rows = parts(m, kTileRows), columns = parts(n, tile_columns);
  // The first tile of the walk that needs a block; both grow with the block's number.
  const auto first_of_x = [=](int64_t block) {
    return block / kTileGroup * kTileGroup * columns + block % kTileGroup;
  };
  const auto first_of_y = [=](int64_t block) {
    return block * kAheadBlock / tile_columns * std::min<int64_t>(kTileGroup, tile_rows);
  };
  const int64_t x_blocks = copy_x ? parts(m, kAheadBlock) : 0, y_blocks = copy_y ? parts(n, kAheadBlock) : 0;
  int64_t x = 0, y = 0, turn = -1;
  uint16_t count = 0;
  while (x < x_blocks || y < y_blocks) {
    const bool take_x = x < x_blocks && (y >= y_blocks || first_of_x(x) <= first_of_y(y));
    const int64_t now = (take_x ? first_of_x(x) : first_of_y(y)) / clusters;
    if (now != turn && order.turns < kMaxAheadTurns) {
      order.first[order.turns++] = count;
      turn = now;
    }
    order.block[count++] = static_cast<uint16_t>(take_x ? x++ : kAheadY | y++);
  }
  order.first[order.turns] = count;
  return order;
}

}  // namespace fullwarp::gemm

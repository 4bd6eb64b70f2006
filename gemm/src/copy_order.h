// In which order the fused product copies its misaligned operands while it multiplies (copy_ahead.cuh).
//
// Operands are copied in blocks of 256 x 256 elements. A product walks over D's tiles, `clusters` of them at
// a time; blocks of X (256 rows of D) and of Y (256 columns) are copied by the turn in which a tile first
// needs them, and within a turn along k, since all its tiles go along k together. Nothing here needs CUDA's
// headers.
#ifndef FULLWARP_GEMM_SRC_COPY_ORDER_H_
#define FULLWARP_GEMM_SRC_COPY_ORDER_H_

#include <cstddef>
#include <cstdint>

namespace fullwarp::gemm {

constexpr int kTileRows = 256;    // of D in one cluster's tile
constexpr int kTileGroup = 8;     // rows of tiles that are walked together
constexpr int kAheadBlock = 256;  // elements a side
constexpr int kMaxAheadBlocks = 1024;
constexpr int kMaxAheadTurns = 64;
constexpr uint16_t kAheadY = 0x8000;

// Counters in device memory, in front of a workspace, zero between launches: next task, blocks of the grid
// that are done, two unused, then the rows that have arrived in each block and part of k.
constexpr size_t kCounterBytes = size_t{64} << 10;
constexpr int kFirstFlag = 4;

struct AheadOrder {
  int turns = 0;
  uint16_t first[kMaxAheadTurns + 1] = {};  // of a turn's blocks
  uint16_t block[kMaxAheadBlocks];          // kAheadY | number for Y, number for X
};

// Whether the table and the counters are large enough for D of m x n, and k.
bool can_copy_ahead(int64_t m, int64_t n, int64_t k, bool copy_x, bool copy_y);

// Call only where can_copy_ahead().
AheadOrder ahead_order(int64_t m, int64_t n, int tile_columns, int64_t clusters, bool copy_x, bool copy_y);

}  // namespace fullwarp::gemm
#endif  // FULLWARP_GEMM_SRC_COPY_ORDER_H_

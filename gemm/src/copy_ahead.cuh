// Copies of misaligned operands that the fused product makes itself, while it multiplies.
//
// A launch that copies before the product costs its whole time: memory works while the tensor cores idle,
// then the other way round. Here warps that have nothing else to do copy the operands' blocks onto aligned
// pitches in the order in which tiles need them (copy_order.h), and count the rows that have arrived; the
// warp that feeds the copy engine waits for a block's rows before it loads from it.
//
// Warps of all blocks of the grid take tasks from one counter, so that what runs never waits for a block of
// the grid that does not run yet. The last block to be done zeroes the counters for the next launch.
//
// Rows are read in aligned words of 4 bytes; none is read that is not wholly the operand's.
#ifndef FULLWARP_GEMM_SRC_COPY_AHEAD_CUH_
#define FULLWARP_GEMM_SRC_COPY_AHEAD_CUH_

#include "copy_order.h"
#include "copy_rows.cuh"

namespace fullwarp::gemm {

struct AheadOperand {
  const char* src;
  char* dst;
  int64_t src_pitch, dst_pitch;  // bytes
  int64_t span;                  // bytes of the source
  int width;                     // bytes of a row
  int rows;
  int first_flag;
  bool used, along_k;
};

struct CopyAhead {
  AheadOperand x, y;
  uint32_t* counters;
  uint32_t tasks;  // 0: nothing is copied
  int task_rows;   // 8 to 256, a power of two
  int tasks_a_block_log;
  int parts;  // of k
  int flags;
  AheadOrder order;
  FastDivisor turn_blocks[kMaxAheadTurns];  // by the number of a turn's blocks
};

namespace ahead {

// One row's 16 bytes at `start`, element by element; what lies beyond the row's `left` bytes is zeros.
inline __device__ __noinline__ void copy_carefully(const char* start, char* to, int left) {
  uint32_t word[4] = {0, 0, 0, 0};
#pragma unroll
  for (int i = 0; i < 16; i += 2) {
    const uint32_t element = i < left ? *reinterpret_cast<const uint16_t*>(start + i) : 0;
    word[i / 4] |= element << (8 * (i & 3));
  }
  if (left > 0) *reinterpret_cast<uint4*>(to) = make_uint4(word[0], word[1], word[2], word[3]);
}

// `count` rows (kAtOnce at most) of 16 bytes a lane. The five words that hold a lane's 16 bytes are joined by
// funnel shifts: few instructions count here, for a warp that has its scheduler to itself issues one in
// several cycles. Wide loads or single words joined across lanes by shuffles were slower (docs/gemm.md).
template <int kAtOnce, bool kAll>
__device__ __forceinline__ void copy_group(const char* from, char* to, int64_t from_pitch, int64_t to_pitch,
                                           int count, bool mine) {
  uint32_t word[kAtOnce][5], bits[kAtOnce];
#pragma unroll
  for (int u = 0; u < kAtOnce; ++u, from += from_pitch) {
    const auto address = reinterpret_cast<uintptr_t>(from);
    const auto* const words = reinterpret_cast<const uint32_t*>(address & ~uintptr_t{2});
    bits[u] = 8 * (static_cast<uint32_t>(address) & 2);
    if (kAll || u < count) {
#pragma unroll
      for (int i = 0; i < 5; ++i) word[u][i] = __ldg(words + i);
    }
  }
#pragma unroll
  for (int u = 0; u < kAtOnce; ++u, to += to_pitch) {
    if (mine && (kAll || u < count)) {
      *reinterpret_cast<uint4*>(to) = make_uint4(
          __funnelshift_r(word[u][0], word[u][1], bits[u]), __funnelshift_r(word[u][1], word[u][2], bits[u]),
          __funnelshift_r(word[u][2], word[u][3], bits[u]), __funnelshift_r(word[u][3], word[u][4], bits[u]));
    }
  }
}

// `rows` rows of up to 512 bytes from (row, column in bytes) on.
template <int kAtOnce>
__device__ __forceinline__ void copy_task(const AheadOperand& o, int row, int column, int rows, int lane) {
  const char* const corner = o.src + row * o.src_pitch + column;
  const int left = o.width - column - 16 * lane;  // bytes of the row from this lane's first on
  // The rows whose words are all the operand's; at its two ends some may not be.
  const char* const end = o.src + o.span;
  int low = 0, high = rows;
  if (corner - (reinterpret_cast<uintptr_t>(corner) & 2) < o.src) low = 1;
  while (high > low && corner + (high - 1) * o.src_pitch + 516 > end) --high;
  const char* const from = corner + 16 * lane;
  char* const to = o.dst + row * o.dst_pitch + column + 16 * lane;
  if (high - low >= kAtOnce) {
    int r = low;
#pragma unroll 1
    for (bool more = true; more; r += kAtOnce) {
      more = r + kAtOnce < high;
      if (!more) r = high - kAtOnce;  // some rows twice rather than few alone
      copy_group<kAtOnce, true>(from + r * o.src_pitch, to + r * o.dst_pitch, o.src_pitch, o.dst_pitch, 0,
                                left > 0);
    }
  } else {
#pragma unroll 1
    for (int r = low; r < high; r += 4) {
      copy_group<4, false>(from + r * o.src_pitch, to + r * o.dst_pitch, o.src_pitch, o.dst_pitch, high - r,
                           left > 0);
    }
  }
#pragma unroll 1
  for (int r = low > 0 ? 0 : high; r < rows; r = r + 1 == low ? high : r + 1) {
    copy_carefully(from + r * o.src_pitch, to + r * o.dst_pitch, left);
  }
}

// One warp's share of the copying.
template <int kAtOnce>
__device__ __forceinline__ void copy_blocks(const CopyAhead& c, int lane) {
  uint32_t task = 0;
  if (lane == 0) task = atomicAdd(c.counters, 1u);
  task = __shfl_sync(~0u, task, 0);
  int turn = 0;
  uint32_t turn_start = 0, turn_end = 0;  // in blocks and parts
  while (task < c.tasks) {
    uint32_t next = 0;
    if (lane == 0) next = atomicAdd(c.counters, 1u);
    const uint32_t index = task >> c.tasks_a_block_log;
    const int within = static_cast<int>(task & ((1u << c.tasks_a_block_log) - 1));
    while (index >= turn_end) {
      turn_start = turn_end;
      turn_end += c.turn_blocks[turn++].divisor * c.parts;
    }
    const FastDivisor& blocks = c.turn_blocks[turn - 1];
    const uint32_t part_index = blocks.divide(index - turn_start);
    const int part = static_cast<int>(part_index);
    const uint32_t entry =
        c.order.block[c.order.first[turn - 1] + (index - turn_start) - part_index * blocks.divisor];
    const AheadOperand& o = entry & kAheadY ? c.y : c.x;
    const int block = static_cast<int>(entry & (kAheadY - 1));
    const int row = (o.along_k ? block : part) * kAheadBlock + within * c.task_rows;
    const int rows = min(c.task_rows, o.rows - row);
    if (rows > 0) {
      copy_task<kAtOnce>(o, row, (o.along_k ? part : block) * 2 * kAheadBlock, rows, lane);
      __syncwarp();
      // A release, not a full fence: that would also throw away the L1 cache, in which the next words lie.
      if (lane == 0) {
        asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(c.counters + kFirstFlag + o.first_flag +
                                                                      block * c.parts + part),
                     "r"(rows)
                     : "memory");
      }
    }
    task = __shfl_sync(~0u, next, 0);
  }
}

__device__ __forceinline__ bool arrived(const CopyAhead& c, const AheadOperand& o, int block, int part) {
  uint32_t rows;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
               : "=r"(rows)
               : "l"(c.counters + kFirstFlag + o.first_flag + block * c.parts + part)
               : "memory");
  return static_cast<int>(rows) >= min(kAheadBlock, o.rows - (o.along_k ? block : part) * kAheadBlock);
}

// What a tile's loads wait for: parts of k of which all copied blocks are there, 32 of them at a time.
struct Ready {
  uint32_t parts = 0;
  int first = 0;

  __device__ __forceinline__ void wait(const CopyAhead& c, int x_block, int y_first, int y_last, int part,
                                       int lane) {
    if (part - first < 32 && parts >> (part - first) & 1) return;
    if (part - first >= 32) first = part;
    do {
      const int own = first + lane;
      bool there = own < c.parts;
      if (there && c.x.used) there = arrived(c, c.x, x_block, own);
      for (int block = y_first; there && c.y.used && block <= y_last; ++block) {
        there = arrived(c, c.y, block, own);
      }
      parts = __ballot_sync(~0u, there);
    } while ((parts >> (part - first) & 1) == 0);
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    __syncwarp();
    asm volatile("fence.proxy.async;" ::: "memory");
  }
};

// After the block's last wait and last task: counts it, and the last of the grid leaves zeros behind.
__device__ __forceinline__ void leave(const CopyAhead& c, uint32_t blocks, int lane) {
  uint32_t before = 0;
  if (lane == 0) {
    __threadfence();
    before = atomicAdd(c.counters + 1, 1u);
    __threadfence();
  }
  if (__shfl_sync(~0u, before, 0) != blocks - 1) return;
  for (int i = lane; i < c.flags + kFirstFlag; i += 32) c.counters[i] = 0;
}

}  // namespace ahead
}  // namespace fullwarp::gemm
#endif  // FULLWARP_GEMM_SRC_COPY_AHEAD_CUH_

// A product on Hopper's tensor cores whose rows of D may start anywhere: D (M x N, rows) = alpha X Y (+ bias,
// ReLU).
//
// cuBLAS stores D through the copy engine and so needs D's pitch, base and extents in multiples of 16 bytes;
// where they are not, the fast choice is to let it write elsewhere and copy D, 67 MB of traffic at 4096
// cubed. Here the copy engine only reads (it fills with zeros beyond the extents, so these may be odd), and D
// goes from registers through a small buffer in shared memory to aligned 16-byte stores, shifted by each
// row's misalignment.
//
//   block   128 rows by kColumns of D; the two blocks of a cluster share Y (or X, where tiles are narrow),
//   each
//           loads half of it for both
//   warps   0: one thread that fills a ring of stages by the copy engine
//           1 to 3 (or 7): copy misaligned operands onto aligned pitches, ahead of it (copy_ahead.cuh)
//           the last 8: multiply, 64 rows a warpgroup
//   stage   X 128 x 64 and Y 64 x kColumns of 16-bit values, 128-byte swizzle (wgmma.cuh)
//   grid    as many clusters as fit; each walks over tiles in an order that keeps X and Y in the L2 cache
//
// full[s] completes when all bytes of stage s are there; empty[s] when all warps of both blocks have used it,
// since the next copy into it writes to both.
#ifndef FULLWARP_GEMM_SRC_FUSED_CUH_
#define FULLWARP_GEMM_SRC_FUSED_CUH_

#include "copy_ahead.cuh"
#include "wgmma.cuh"

namespace fullwarp::gemm {

struct FusedOperands {
  CUtensorMap x, y;
  void* d;
  const void* bias;  // null or N values
  int64_t ldd;
  int m, n, k;
  float alpha;
  bool relu;
  CopyAhead ahead;
};
static_assert(sizeof(FusedOperands) <= 4096, "a kernel's parameters");

constexpr int kFusedRows = 128;
constexpr int kFusedK = 64;
constexpr int kFusedCluster = 2;
static_assert(kFusedCluster * kFusedRows == kTileRows && kTileRows == kAheadBlock,
              "a tile waits for one block of X");

template <int kColumns>
struct FusedShape {
  // A cluster's two blocks lie one below the other and share Y. Narrow tiles live from the L2 cache's
  // bandwidth: theirs lie side by side and share X, which is larger. (Clusters of four that share both took
  // twice as long.)
  static constexpr bool kShareX = kColumns == 64;
  static constexpr int kClusterRows = kShareX ? kFusedRows : 2 * kFusedRows;
  static constexpr int kClusterColumns = kShareX ? 2 * kColumns : kColumns;
  static constexpr int kXBoxRows = kShareX ? kFusedRows / 2 : kFusedRows;  // where X is contiguous along k
  static constexpr int kYBoxRows = kShareX ? kColumns : kColumns / 2;      // likewise
  static constexpr int kYBoxK = kShareX ? kFusedK : kFusedK / 2;           // where Y is not
  static constexpr bool kCopiesAhead = !kShareX;
  static constexpr int kStages = kColumns == 64 ? 8 : kColumns == 128 ? 6 : 4;
  static constexpr int kXBytes = kFusedRows * kFusedK * 2;
  static constexpr int kYBytes = kColumns * kFusedK * 2;
  static constexpr int kStageBytes = kXBytes + kYBytes;
  // A warp's 16 rows of D go through shared memory in passes of so many columns. Each row has 16 bytes more
  // in front, which keep the last values of the pass before: a chunk of D may lie across two passes. They
  // also keep the warp's stores free of bank conflicts.
  static constexpr int kPass = kColumns % 128 != 0 ? 64 : 128;
  static constexpr int kPassBytes = kPass * 2;
  static constexpr int kRowBytes = 16 + kPassBytes;
  static constexpr int kWarpBytes = 16 * kRowBytes;
  static constexpr int kBarrierOffset = kStages * kStageBytes + 8 * kWarpBytes;
  static constexpr int kSharedBytes = kBarrierOffset + kStages * 16;
  static_assert(kSharedBytes <= 232448, "shared memory of a block on sm_90");
  // One warp feeds, the others of these copy ahead, so many rows at once each. Where sums take most
  // registers, warps that multiply get more than the others.
  static constexpr int kFeedingWarps = kColumns >= 192 ? 4 : 8;
  static constexpr int kThreads = 32 * (kFeedingWarps + 8);
  static constexpr int kCopyAtOnce = kColumns >= 192 ? 16 : 8;
  static constexpr int kMany = kColumns == 256 ? 184 : 160;
  static constexpr int kFew = 136;
  static constexpr bool kShiftRegisters = kColumns == 256;
  static_assert(8 * 32 * kMany + 32 * kFeedingWarps * kFew <= 65536 || !kShiftRegisters,
                "registers of sm_90");
};

// A cluster's tiles of D.
struct TileWalk {
  int rows, columns;
  __device__ TileWalk(int m, int n, int tile_rows, int tile_columns)
      : rows((m + tile_rows - 1) / tile_rows), columns((n + tile_columns - 1) / tile_columns) {}
  __device__ int count() const { return rows * columns; }
  __device__ void locate(int tile, int& row, int& column) const {
    const int group = tile / (kTileGroup * columns);
    const int size = min(kTileGroup, rows - group * kTileGroup);
    const int within = tile - group * kTileGroup * columns;
    row = group * kTileGroup + within % size;
    column = within / size;
  }
};

__device__ __forceinline__ float as_float(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ __forceinline__ float as_float(__half x) { return __half2float(x); }
template <class T>
__device__ __forceinline__ uint32_t pack(float x, float y) {
  if constexpr (sm90::kIsBf16<T>) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(x, y);
    return *reinterpret_cast<const uint32_t*>(&both);
  } else {
    const __half2 both = __floats2half2_rn(x, y);
    return *reinterpret_cast<const uint32_t*>(&both);
  }
}

// A pass's values into the warp's buffer. sum[4 i + j] is at row lane / 4 + 8 (j / 2), column 8 i + 2 (lane %
// 4) + j % 2. All of this is straight-line code that runs once a tile: what is not needed for most products
// is not in it (instructions that have to be fetched cost more here than those that are executed).
template <class T, int kColumns, bool kFinish>
__device__ __forceinline__ void stage_pass(const FusedOperands& p, const float* sum, char* buffer, int column,
                                           int lane) {
  using Shape = FusedShape<kColumns>;
  char* const to = buffer + lane / 4 * Shape::kRowBytes + 16 + 4 * (lane & 3);
#pragma unroll
  for (int i = 0; i < Shape::kPass / 8; ++i) {
    float v[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) v[j] = p.alpha * sum[4 * i + j];
    if constexpr (kFinish) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int c = column + 8 * i + 2 * (lane & 3) + j;
        const float bias = p.bias != nullptr && c < p.n ? as_float(static_cast<const T*>(p.bias)[c]) : 0.0f;
        v[j] += bias;
        v[j + 2] += bias;
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) v[j] = p.relu && v[j] < 0 ? 0.0f : v[j];
    }
    *reinterpret_cast<uint32_t*>(to + 16 * i) = pack<T>(v[0], v[1]);
    *reinterpret_cast<uint32_t*>(to + 8 * Shape::kRowBytes + 16 * i) = pack<T>(v[2], v[3]);
  }
}

// 16 bytes of a row's buffer from any even offset (>= -16, from the pass's first column).
__device__ __forceinline__ uint4 read_chunk(const char* row_buffer, int offset) {
  const char* const from = row_buffer + 16 + (offset & ~15);
  const uint4 low = *reinterpret_cast<const uint4*>(from);
  if ((offset & 15) == 0) return low;
  return join(low, *reinterpret_cast<const uint4*>(from + 16), offset & 15);
}

// One warp's 16 rows, from `row` and `column` of D on: whole aligned chunks by all lanes, then each row's
// first and last bytes, which share a chunk with the tiles beside, by one lane a row.
template <class T, int kColumns>
__device__ __forceinline__ void write_rows(const FusedOperands& p, const float (&sum)[kColumns / 2],
                                           char* buffer, int row, int column, int lane) {
  using Shape = FusedShape<kColumns>;
  constexpr int kChunks = Shape::kPassBytes / 16, kRowsAtOnce = 32 / kChunks;
  if (column >= p.n) return;
  const bool finish = p.bias != nullptr || p.relu;
  const int width = 2 * min(kColumns, p.n - column);  // bytes of the tile's rows
  const int rows = min(16, p.m - row);
  const int64_t pitch = p.ldd * 2;
  char* const corner = static_cast<char*>(p.d) + row * pitch + int64_t{2} * column;
#pragma unroll
  for (int pass = 0; pass < kColumns / Shape::kPass; ++pass) {
    const int begin = pass * Shape::kPassBytes;
    if (begin >= width) return;
    if (pass > 0) {
      if (lane < 16) {
        char* const own = buffer + lane * Shape::kRowBytes;
        *reinterpret_cast<uint4*>(own) = *reinterpret_cast<const uint4*>(own + Shape::kPassBytes);
      }
      __syncwarp();
    }
    if (finish) {
      stage_pass<T, kColumns, true>(p, sum + pass * Shape::kPass / 2, buffer, column + pass * Shape::kPass,
                                    lane);
    } else {
      stage_pass<T, kColumns, false>(p, sum + pass * Shape::kPass / 2, buffer, column + pass * Shape::kPass,
                                     lane);
    }
    __syncwarp();
    char* to = corner + lane / kChunks * pitch + begin;
    const char* from = buffer + lane / kChunks * Shape::kRowBytes;
#pragma unroll
    for (int r = 0; r < 16; r += kRowsAtOnce) {
      const int offset = 16 * (lane % kChunks) - static_cast<int>(reinterpret_cast<uintptr_t>(to) & 15);
      if (r + lane / kChunks < rows && begin + offset >= 0 && begin + offset + 16 <= width) {
        *reinterpret_cast<uint4*>(to + offset) = read_chunk(from, offset);
      }
      to += kRowsAtOnce * pitch;
      from += kRowsAtOnce * Shape::kRowBytes;
    }
    const int own_row = lane & 15;
    if (own_row < rows) {
      char* const start = corner + own_row * pitch;
      const char* const own = buffer + own_row * Shape::kRowBytes;
      const int head = static_cast<int>(reinterpret_cast<uintptr_t>(start) & 15);
      const int tail = static_cast<int>(reinterpret_cast<uintptr_t>(start + width) & 15);
      if (pass == 0 && lane < 16 && head > 0) {
        store_part(start - head, read_chunk(own, -head), head, min(16, head + width));
      }
      if (lane >= 16 && tail > 0 && width >= tail && begin + Shape::kPassBytes >= width) {
        store_first(start + width - tail, read_chunk(own, width - tail - begin), tail);
      }
    }
    __syncwarp();
  }
}

template <class T, bool kXAlongK, bool kYAlongK, int kColumns>
__global__ void __cluster_dims__(kFusedCluster, 1, 1) __launch_bounds__(FusedShape<kColumns>::kThreads, 1)
    fused_product(const __grid_constant__ FusedOperands p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using namespace sm90;
  using Shape = FusedShape<kColumns>;
  extern __shared__ __align__(1024) char shared[];
  const uint32_t stages = shared_address(shared);
  const uint32_t full = stages + Shape::kBarrierOffset;
  const uint32_t empty = full + 8 * Shape::kStages;
  const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
  const int rank = static_cast<int>(cluster_rank());
  const int below = Shape::kShareX ? 0 : rank, beside = Shape::kShareX ? rank : 0;  // in the cluster's tile
  constexpr int kWarps = 8;                                                         // that multiply

  if (threadIdx.x == 0) {
    for (int s = 0; s < Shape::kStages; ++s) {
      barrier_init(full + 8 * s, 1);
      barrier_init(empty + 8 * s, kWarps * kFusedCluster);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("prefetch.tensormap [%0];" ::"l"(&p.x) : "memory");
    asm volatile("prefetch.tensormap [%0];" ::"l"(&p.y) : "memory");
  }
  cluster_sync();
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;");

  const TileWalk walk(p.m, p.n, Shape::kClusterRows, Shape::kClusterColumns);
  const int clusters = gridDim.x / kFusedCluster;
  const int steps = (p.k + kFusedK - 1) / kFusedK;
  int stage = 0;
  uint32_t parity = 0;
  const auto advance = [&stage, &parity] {
    if (++stage == Shape::kStages) {
      stage = 0;
      parity ^= 1;
    }
  };

  if (warp < Shape::kFeedingWarps) {
    if constexpr (Shape::kShiftRegisters) fewer_registers<Shape::kFew>();
    const bool copying = Shape::kCopiesAhead && p.ahead.tasks > 0;
    if (warp > 0 && copying) {
      ahead::copy_blocks<Shape::kCopyAtOnce>(p.ahead, lane);
      asm volatile("barrier.cta.arrive 1, %0;" ::"n"(32 * Shape::kFeedingWarps) : "memory");
    } else if (warp == 0) {
      asm volatile("fence.proxy.async;" ::: "memory");  // the copies before us wrote by ordinary stores
      for (int tile = blockIdx.x / kFusedCluster; tile < walk.count(); tile += clusters) {
        int tile_row, column;
        walk.locate(tile, tile_row, column);
        const int m0 = tile_row * Shape::kClusterRows + below * kFusedRows;
        const int n0 = column * Shape::kClusterColumns + beside * kColumns;
        ahead::Ready ready;
        for (int step = 0; step < steps; ++step, advance()) {
          if (copying) {
            ready.wait(p.ahead, tile_row, n0 / kAheadBlock, (min(n0 + kColumns, p.n) - 1) / kAheadBlock,
                       step * kFusedK / kAheadBlock, lane);
          }
          if (lane != 0) continue;
          const uint32_t x = stages + stage * Shape::kStageBytes, y = x + Shape::kXBytes;
          const uint32_t barrier = full + 8 * stage;
          const int k0 = step * kFusedK;
          barrier_wait(empty + 8 * stage, parity ^ 1);
          barrier_expect(barrier, Shape::kStageBytes);
          constexpr uint16_t kBoth = 3;
          if constexpr (Shape::kShareX) {
            const int half = rank * 64;
            tensor_load(x + half * 128, &p.x, kXAlongK ? k0 : m0 + half, kXAlongK ? m0 + half : k0, barrier,
                        kBoth);
            tensor_load(y, &p.y, kYAlongK ? k0 : n0, kYAlongK ? n0 : k0, barrier, 0);
            continue;
          }
          if constexpr (kXAlongK) {
            tensor_load(x, &p.x, k0, m0, barrier, 0);
          } else {
            tensor_load(x, &p.x, m0, k0, barrier, 0);
            tensor_load(x + 8192, &p.x, m0 + 64, k0, barrier, 0);
          }
          if constexpr (kYAlongK) {
            const int half = rank * Shape::kYBoxRows;
            tensor_load(y + half * 128, &p.y, k0, n0 + half, barrier, kBoth);
          } else {
            constexpr int kBoxes = kColumns / 64;  // of 64 columns and 32 k, for each block
#pragma unroll
            for (int i = 0; i < kBoxes; ++i) {
              const int box = rank * kBoxes + i;
              tensor_load(y + box * 4096, &p.y, n0 + box / 2 * 64, k0 + box % 2 * 32, barrier, kBoth);
            }
          }
        }
      }
      if (copying) {
        asm volatile("barrier.cta.sync 1, %0;" ::"n"(32 * Shape::kFeedingWarps) : "memory");
        ahead::leave(p.ahead, gridDim.x, lane);
      }
    }
    __syncwarp();
  } else {
    if constexpr (Shape::kShiftRegisters) more_registers<Shape::kMany>();
    const int group = (warp - Shape::kFeedingWarps) / 4;  // of 64 rows
    char* const buffer =
        shared + Shape::kStages * Shape::kStageBytes + (warp - Shape::kFeedingWarps) * Shape::kWarpBytes;
    for (int tile = blockIdx.x / kFusedCluster; tile < walk.count(); tile += clusters) {
      int tile_row, column;
      walk.locate(tile, tile_row, column);
      float sum[kColumns / 2];
#pragma unroll
      for (int i = 0; i < kColumns / 2; ++i) sum[i] = 0;
      int before = -1;
      for (int step = 0; step < steps; ++step) {
        const uint32_t x = stages + stage * Shape::kStageBytes;
        barrier_wait(full + 8 * stage, parity);
        const uint64_t a = descriptor<kXAlongK>(x + group * 8192);
        const uint64_t b = descriptor<kYAlongK>(x + Shape::kXBytes);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < kFusedK / 16; ++i) {
          wgmma<T, kXAlongK, kYAlongK>(sum, a + i * kStep16<kXAlongK>, b + i * kStep16<kYAlongK>, 1);
        }
        wgmma_commit();
        wgmma_wait<1>();
        if (before >= 0 && lane < kFusedCluster) barrier_arrive_remote(empty + 8 * before, lane);
        before = stage;
        advance();
      }
      wgmma_wait<0>();
      if (before >= 0 && lane < kFusedCluster) barrier_arrive_remote(empty + 8 * before, lane);
      const int row = tile_row * Shape::kClusterRows + below * kFusedRows + group * 64 + warp % 4 * 16;
      write_rows<T, kColumns>(p, sum, buffer, row, column * Shape::kClusterColumns + beside * kColumns, lane);
    }
  }
  cluster_sync();  // the other block may still arrive at our barriers or copy into our stages
#endif
}

}  // namespace fullwarp::gemm
#endif  // FULLWARP_GEMM_SRC_FUSED_CUH_

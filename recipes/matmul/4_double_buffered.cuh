// Matrix product, step 4: the next tile is on its way while this one is multiplied.
//
// Step 3 waits twice for each tile: for memory, and at the barrier. Here a thread loads its part of the next
// tile into registers before it multiplies and stores it into a second buffer afterwards: one barrier a tile,
// and the memory's latency is hidden behind the multiply-adds. Loads of A and B are 16 bytes wide where rows
// allow it (kVectors), else
// 4. kAhead reads the next values from shared memory while the present ones are multiplied: 16 registers
// more, which pays for tiles of 8 terms and not for tiles of 16.
//
// Measured on an H200: 43 TFLOP/s, 84 % of cuBLAS at 4096 and 89 % at 4095 (docs/gemm.md).
//
//     using Shape = TileShape<128, 128, 16>;
//     const bool vectors = k % 4 == 0 && n % 4 == 0;          // and a, b at multiples of 16 bytes
//     auto* kernel = vectors ? matmul_double_buffered<Shape, true, false> : matmul_double_buffered<Shape,
//     false, false>; kernel<<<dim3((n + 127) / 128, (m + 127) / 128), Shape::kThreads>>>(a, b, c, m, n, k);
#ifndef FULLWARP_RECIPES_MATMUL_4_DOUBLE_BUFFERED_CUH_
#define FULLWARP_RECIPES_MATMUL_4_DOUBLE_BUFFERED_CUH_

#include "tile_shape.cuh"

namespace fullwarp::recipes {

// A thread's part of the tiles of A and B on the way from memory to shared memory. Addresses move on by one
// tile a load, and which of its rows and columns exist is one bit each: registers are short (docs/gemm.md).
template <class Shape, bool kVectors>
class TileLoader {
 public:
  __device__ TileLoader(const float* a, const float* b, int m, int n, int k, int block_row, int block_column)
      : left_a_(k - depth_a()),
        left_b_(k - depth_b()),
        step_a_(kRowStep * k),
        step_b_(kDepthStep * n),
        tile_b_(Shape::kDepth * n),
        there_(0),
        a_(a + static_cast<size_t>(block_row + row_a()) * k + depth_a()),
        b_(b + static_cast<size_t>(depth_b()) * n + block_column + column_b()) {
#pragma unroll
    for (int i = 0; i < kLoadsA; ++i)
      there_ |= static_cast<unsigned>(block_row + row_a() + i * kRowStep < m) << i;
    there_ |= static_cast<unsigned>(block_column + column_b() < n) << kLoadsA;
  }

  // The next tile.
  __device__ void load() {
#pragma unroll
    for (int i = 0; i < kLoadsA; ++i)
      get(&value_a_[kWidth * i], a_ + i * step_a_, left_a_ > 0 && (there_ >> i & 1));
    a_ += Shape::kDepth;
    left_a_ -= Shape::kDepth;
#pragma unroll
    for (int i = 0; i < kLoadsB; ++i) {
      get(&value_b_[kWidth * i], b_ + i * step_b_, left_b_ > i * kDepthStep && (there_ >> kLoadsA & 1));
    }
    b_ += tile_b_;
    left_b_ -= Shape::kDepth;
  }

  __device__ void store(float (*tile_a)[Shape::kPitchA], float (*tile_b)[Shape::kPitchB]) const {
#pragma unroll
    for (int i = 0; i < kLoadsA; ++i) {
#pragma unroll
      for (int j = 0; j < kWidth; ++j)
        tile_a[depth_a() + j][row_a() + i * kRowStep] = value_a_[kWidth * i + j];
    }
#pragma unroll
    for (int i = 0; i < kLoadsB; ++i) {
      float* const to = &tile_b[depth_b() + i * kDepthStep][column_b()];
      const float* const from = &value_b_[kWidth * i];
      if constexpr (kVectors) {
        *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
      } else {
        *to = *from;
      }
    }
  }

 private:
  static constexpr int kWidth = kVectors ? 4 : 1;
  static constexpr int kLoadsA = Shape::kRows * Shape::kDepth / Shape::kThreads / kWidth;
  static constexpr int kLoadsB = Shape::kColumns * Shape::kDepth / Shape::kThreads / kWidth;
  static constexpr int kThreadsPerRow = Shape::kDepth / kWidth;  // of A
  static constexpr int kRowStep = Shape::kThreads / kThreadsPerRow;
  static constexpr int kThreadsPerDepth = Shape::kColumns / kWidth;  // of B
  static constexpr int kDepthStep = Shape::kThreads / kThreadsPerDepth;
  static_assert(kLoadsA > 0 && kLoadsB > 0 && kLoadsA < 31, "every thread loads");
  static_assert(Shape::kThreads % kThreadsPerDepth == 0, "a thread keeps to its columns");

  static __device__ int thread() { return static_cast<int>(threadIdx.x); }
  static __device__ int depth_a() { return thread() % kThreadsPerRow * kWidth; }
  static __device__ int row_a() { return thread() / kThreadsPerRow; }
  static __device__ int depth_b() { return thread() / kThreadsPerDepth; }
  static __device__ int column_b() { return thread() % kThreadsPerDepth * kWidth; }

  static __device__ void get(float* to, const float* from, bool there) {
    if constexpr (kVectors) {
      const float4 v = there ? *reinterpret_cast<const float4*>(from) : make_float4(0, 0, 0, 0);
      to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    } else {
      *to = there ? *from : 0.0f;
    }
  }

  int left_a_, left_b_;  // terms from this thread's first to the end
  int step_a_, step_b_, tile_b_;
  unsigned there_;
  const float *a_, *b_;
  float value_a_[kLoadsA * kWidth], value_b_[kLoadsB * kWidth];
};

template <class Shape, bool kVectors, bool kAhead>
__global__ void __launch_bounds__(Shape::kThreads, 512 / Shape::kThreads)
    matmul_double_buffered(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                           int m, int n, int k) {
  __shared__ __align__(16) float tile_a[2][Shape::kDepth][Shape::kPitchA];
  __shared__ __align__(16) float tile_b[2][Shape::kDepth][Shape::kPitchB];
  const int row = Shape::first_row(threadIdx.x), column = Shape::first_column(threadIdx.x);
  TileLoader<Shape, kVectors> loader(a, b, m, n, k, blockIdx.y * Shape::kRows, blockIdx.x * Shape::kColumns);
  loader.load();
  loader.store(tile_a[0], tile_b[0]);
  __syncthreads();

  float sum[8][8] = {};
  constexpr int kSets = kAhead ? 2 : 1;  // of values read from shared memory
  float x[kSets][8], y[kSets][8];
  if constexpr (kAhead) {
    read_pieces(x[0], &tile_a[0][0][row], 16);
    read_pieces(y[0], &tile_b[0][0][column], 32);
  }
  int buffer = 0;
  for (int first = 0; first < k; first += Shape::kDepth) {
    const bool more = first + Shape::kDepth < k;
    if (more) loader.load();
#pragma unroll
    for (int i = 0; i < Shape::kDepth; ++i) {
      if constexpr (!kAhead) {
        read_pieces(x[0], &tile_a[buffer][i][row], 16);
        read_pieces(y[0], &tile_b[buffer][i][column], 32);
      } else if (i + 1 < Shape::kDepth) {
        read_pieces(x[(i + 1) % 2], &tile_a[buffer][i + 1][row], 16);
        read_pieces(y[(i + 1) % 2], &tile_b[buffer][i + 1][column], 32);
      }
      if (i + 1 == Shape::kDepth && more) {
        loader.store(tile_a[buffer ^ 1], tile_b[buffer ^ 1]);
        __syncthreads();
        buffer ^= 1;
        if constexpr (kAhead) {
          read_pieces(x[(i + 1) % 2], &tile_a[buffer][0][row], 16);
          read_pieces(y[(i + 1) % 2], &tile_b[buffer][0][column], 32);
        }
      }
      add_outer_product(sum, x[kAhead ? i % 2 : 0], y[kAhead ? i % 2 : 0]);
    }
  }
  store_results(c, sum, blockIdx.y * Shape::kRows + row, blockIdx.x * Shape::kColumns + column, m, n);
}

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_MATMUL_4_DOUBLE_BUFFERED_CUH_

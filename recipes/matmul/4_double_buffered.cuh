// Matrix product, step 4: the next tile is on its way while this one is multiplied.
//
// Step 3 waits twice for each tile: for memory, and at the barrier. Here a thread loads its part of the next tile into
// registers before it multiplies and stores it into a second buffer afterwards: one barrier a tile, and the memory's
// latency is hidden behind the multiply-adds. Within a tile the next values are read from shared memory while the
// present ones are multiplied. Loads of A and B are 16 bytes wide where rows allow it (kVectors), else 4.
//
// Measured on an H200: docs/gemm.md.
//
//     using Shape = TileShape<128, 128, 8>;
//     const bool vectors = k % 4 == 0 && n % 4 == 0;          // and a, b at multiples of 16 bytes
//     auto* kernel = vectors ? matmul_double_buffered<Shape, true> : matmul_double_buffered<Shape, false>;
//     kernel<<<dim3((n + 127) / 128, (m + 127) / 128), Shape::kThreads>>>(a, b, c, m, n, k);
#ifndef FULLWARP_RECIPES_MATMUL_4_DOUBLE_BUFFERED_CUH_
#define FULLWARP_RECIPES_MATMUL_4_DOUBLE_BUFFERED_CUH_

#include "matmul/tile_shape.cuh"

namespace fullwarp::recipes {

// A thread's part of the tiles of A and B on the way from memory to shared memory.
template <class Shape, bool kVectors>
class TileLoader {
 public:
  __device__ TileLoader(const float* a, const float* b, int m, int n, int k, int block_row, int block_column)
      : m_(m - block_row), n_(n - block_column), k_(k), pitch_b_(n),
        a_(a + static_cast<size_t>(block_row) * k), b_(b + block_column) {}

  __device__ void load(int first) {
#pragma unroll
    for (int i = 0; i < kLoadsA; ++i) {
      const int row = row_a(i), depth = first + depth_a();
      const bool there = row < m_ && depth < k_;
      const float* const from = a_ + static_cast<size_t>(row) * k_ + depth;
      if constexpr (kVectors) {
        const float4 v = there ? *reinterpret_cast<const float4*>(from) : make_float4(0, 0, 0, 0);
        value_a_[4 * i] = v.x, value_a_[4 * i + 1] = v.y, value_a_[4 * i + 2] = v.z, value_a_[4 * i + 3] = v.w;
      } else {
        value_a_[i] = there ? *from : 0.0f;
      }
    }
#pragma unroll
    for (int i = 0; i < kLoadsB; ++i) {
      const int depth = first + depth_b(i), column = column_b(i);
      const bool there = column < n_ && depth < k_;
      const float* const from = b_ + static_cast<size_t>(depth) * pitch_b_ + column;
      if constexpr (kVectors) {
        const float4 v = there ? *reinterpret_cast<const float4*>(from) : make_float4(0, 0, 0, 0);
        value_b_[4 * i] = v.x, value_b_[4 * i + 1] = v.y, value_b_[4 * i + 2] = v.z, value_b_[4 * i + 3] = v.w;
      } else {
        value_b_[i] = there ? *from : 0.0f;
      }
    }
  }

  __device__ void store(float (*tile_a)[Shape::kPitchA], float (*tile_b)[Shape::kPitchB]) const {
#pragma unroll
    for (int i = 0; i < kLoadsA; ++i) {
#pragma unroll
      for (int j = 0; j < kWidth; ++j) tile_a[depth_a() + j][row_a(i)] = value_a_[kWidth * i + j];
    }
#pragma unroll
    for (int i = 0; i < kLoadsB; ++i) {
      float* const to = &tile_b[depth_b(i)][column_b(i)];
      if constexpr (kVectors) {
        *reinterpret_cast<float4*>(to) =
            make_float4(value_b_[4 * i], value_b_[4 * i + 1], value_b_[4 * i + 2], value_b_[4 * i + 3]);
      } else {
        *to = value_b_[i];
      }
    }
  }

 private:
  static constexpr int kWidth = kVectors ? 4 : 1;
  static constexpr int kValuesA = Shape::kRows * Shape::kDepth / Shape::kThreads;
  static constexpr int kValuesB = Shape::kColumns * Shape::kDepth / Shape::kThreads;
  static constexpr int kLoadsA = kValuesA / kWidth, kLoadsB = kValuesB / kWidth;
  static constexpr int kThreadsPerRow = Shape::kDepth / kWidth;       // of A
  static constexpr int kThreadsPerDepth = Shape::kColumns / kWidth;   // of B
  static_assert(kValuesA % kWidth == 0 && kValuesB % kWidth == 0, "whole vectors for every thread");

  static __device__ int depth_a() { return static_cast<int>(threadIdx.x) % kThreadsPerRow * kWidth; }
  static __device__ int row_a(int i) {
    return static_cast<int>(threadIdx.x) / kThreadsPerRow + i * (Shape::kThreads / kThreadsPerRow);
  }
  static __device__ int depth_b(int i) {
    return (static_cast<int>(threadIdx.x) + i * Shape::kThreads) / kThreadsPerDepth;
  }
  static __device__ int column_b(int i) {
    return (static_cast<int>(threadIdx.x) + i * Shape::kThreads) % kThreadsPerDepth * kWidth;
  }

  int m_, n_, k_, pitch_b_;
  const float *a_, *b_;
  float value_a_[kValuesA], value_b_[kValuesB];
};

template <class Shape, bool kVectors>
__global__ void __launch_bounds__(Shape::kThreads, 2)
    matmul_double_buffered(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
                           int n, int k) {
  __shared__ __align__(16) float tile_a[2][Shape::kDepth][Shape::kPitchA];
  __shared__ __align__(16) float tile_b[2][Shape::kDepth][Shape::kPitchB];
  const int row = Shape::first_row(threadIdx.x), column = Shape::first_column(threadIdx.x);
  const int block_row = blockIdx.y * Shape::kRows, block_column = blockIdx.x * Shape::kColumns;
  TileLoader<Shape, kVectors> loader(a, b, m, n, k, block_row, block_column);
  loader.load(0);
  loader.store(tile_a[0], tile_b[0]);
  __syncthreads();

  float sum[8][8] = {};
  float x[2][8], y[2][8];
  read_pieces(x[0], &tile_a[0][0][row], 16);
  read_pieces(y[0], &tile_b[0][0][column], 32);
  int buffer = 0;
  for (int first = 0; first < k; first += Shape::kDepth) {
    const bool more = first + Shape::kDepth < k;
    if (more) loader.load(first + Shape::kDepth);
#pragma unroll
    for (int i = 0; i < Shape::kDepth; ++i) {
      if (i + 1 < Shape::kDepth) {
        read_pieces(x[(i + 1) % 2], &tile_a[buffer][i + 1][row], 16);
        read_pieces(y[(i + 1) % 2], &tile_b[buffer][i + 1][column], 32);
      } else if (more) {
        loader.store(tile_a[buffer ^ 1], tile_b[buffer ^ 1]);
        __syncthreads();
        buffer ^= 1;
        read_pieces(x[(i + 1) % 2], &tile_a[buffer][0][row], 16);
        read_pieces(y[(i + 1) % 2], &tile_b[buffer][0][column], 32);
      }
      add_outer_product(sum, x[i % 2], y[i % 2]);
    }
  }
  store_results(c, sum, block_row + row, block_column + column, m, n);
}

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_MATMUL_4_DOUBLE_BUFFERED_CUH_

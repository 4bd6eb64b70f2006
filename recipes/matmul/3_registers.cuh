// Matrix product, step 3: 8 x 8 results in a thread's registers.
//
// A thread reads 8 values of A and 8 of B from shared memory and makes 64 products of them: 4 loads of 16
// bytes for 64 multiply-adds, where step 2 needed 2 loads for one. How lanes and results lie: tile_shape.cuh.
//
//     using Shape = TileShape<128, 128, 8>;
//     matmul_registers<Shape><<<dim3((n + 127) / 128, (m + 127) / 128), Shape::kThreads>>>(a, b, c, m, n, k);
#ifndef FULLWARP_RECIPES_MATMUL_3_REGISTERS_CUH_
#define FULLWARP_RECIPES_MATMUL_3_REGISTERS_CUH_

#include "tile_shape.cuh"

namespace fullwarp::recipes {

template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, 2)
    matmul_registers(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
                     int n, int k) {
  __shared__ __align__(16) float tile_a[Shape::kDepth][Shape::kPitchA], tile_b[Shape::kDepth][Shape::kPitchB];
  const int thread = threadIdx.x;
  const int block_row = blockIdx.y * Shape::kRows, block_column = blockIdx.x * Shape::kColumns;
  float sum[8][8] = {};
  for (int first = 0; first < k; first += Shape::kDepth) {
    for (int i = thread; i < Shape::kRows * Shape::kDepth; i += Shape::kThreads) {
      const int row = i / Shape::kDepth, depth = i % Shape::kDepth;
      tile_a[depth][row] = block_row + row < m && first + depth < k
                               ? a[static_cast<size_t>(block_row + row) * k + first + depth]
                               : 0.0f;
    }
    for (int i = thread; i < Shape::kColumns * Shape::kDepth; i += Shape::kThreads) {
      const int depth = i / Shape::kColumns, column = i % Shape::kColumns;
      tile_b[depth][column] = first + depth < k && block_column + column < n
                                  ? b[static_cast<size_t>(first + depth) * n + block_column + column]
                                  : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Shape::kDepth; ++i) {
      float x[8], y[8];
      read_pieces(x, &tile_a[i][Shape::first_row(thread)], 16);
      read_pieces(y, &tile_b[i][Shape::first_column(thread)], 32);
      add_outer_product(sum, x, y);
    }
    __syncthreads();
  }
  store_results(c, sum, block_row + Shape::first_row(thread), block_column + Shape::first_column(thread), m,
                n);
}

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_MATMUL_3_REGISTERS_CUH_

// Matrix product, step 2: tiles in shared memory.
//
// A block of 32 x 32 threads makes 32 x 32 results. All load a tile of A and one of B, wait, and multiply
// from shared memory: global loads fall to 1/32. Beyond the edge the tiles hold zeros, so any size works.
//
//     matmul_tiled<<<dim3((n + 31) / 32, (m + 31) / 32), dim3(32, 32)>>>(a, b, c, m, n, k);
#ifndef FULLWARP_RECIPES_MATMUL_2_TILED_CUH_
#define FULLWARP_RECIPES_MATMUL_2_TILED_CUH_

namespace fullwarp::recipes {

__global__ void __launch_bounds__(1024) matmul_tiled(const float* __restrict__ a, const float* __restrict__ b,
                                                     float* __restrict__ c, int m, int n, int k) {
  __shared__ float tile_a[32][32], tile_b[32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  const int column = blockIdx.x * 32 + x, row = blockIdx.y * 32 + y;
  float sum = 0;
  for (int first = 0; first < k; first += 32) {
    tile_a[y][x] = row < m && first + x < k ? a[static_cast<size_t>(row) * k + first + x] : 0.0f;
    tile_b[y][x] = first + y < k && column < n ? b[static_cast<size_t>(first + y) * n + column] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 32; ++i) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();
  }
  if (row < m && column < n) c[static_cast<size_t>(row) * n + column] = sum;
}

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_MATMUL_2_TILED_CUH_

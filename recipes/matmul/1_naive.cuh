// Matrix product, step 1: a thread for each result. C (m x n) = A (m x k) B (k x n), all by rows.
//
// threadIdx.x goes along a row of C, so that a warp reads 32 neighbours of B and stores 32 neighbours of C;
// with threadIdx.x along a column it would touch 32 lines instead, five times slower. Every value of A and B
// is read from the caches again for each result: 2 loads for 2 operations.
//
//     matmul_naive<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8)>>>(a, b, c, m, n, k);
#ifndef FULLWARP_RECIPES_MATMUL_1_NAIVE_CUH_
#define FULLWARP_RECIPES_MATMUL_1_NAIVE_CUH_

namespace fullwarp::recipes {

__global__ void matmul_naive(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                             int m, int n, int k) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i)
    sum += a[static_cast<size_t>(row) * k + i] * b[static_cast<size_t>(i) * n + column];
  c[static_cast<size_t>(row) * n + column] = sum;
}

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_MATMUL_1_NAIVE_CUH_

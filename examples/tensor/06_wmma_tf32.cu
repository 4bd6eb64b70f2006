// Tensor cores, other types: tf32.
//
// One 16 x 16 tile of results a warp, 8 terms a step; m, n and k are multiples of the tile.
// A tf32 is a float of which the product uses 10 bits of fraction: the result differs in the fourth digit.
//
// fullwarp: a = f32[64*64] : uniform(1)
// fullwarp: b = f32[64*64] : uniform(2)
// fullwarp: c = f32[64*64]
// fullwarp: want = f32[64*64]
// fullwarp: matmul<<<(4,4), 32>>>(a, b, c, 64, 64, 64)
// fullwarp: matmul_reference<<<(2,8), (32,8)>>>(a, b, want, 64, 64, 64)
// fullwarp: expect c ~ want (rtol 2e-3, atol 1e-3)
#include <cuda_runtime.h>
#include <mma.h>

// c (m x n) = a (m x k) * b (k x n), row-major.
__global__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
                       int n, int k) {
  using namespace nvcuda;
  int row = blockIdx.y * 16, col = blockIdx.x * 16;
  if (row >= m || col >= n) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int i = 0; i < k; i += 8) {
    wmma::load_matrix_sync(left, a + row * k + i, k);
    wmma::load_matrix_sync(right, b + i * n + col, n);
    for (int e = 0; e < left.num_elements; ++e) left.x[e] = wmma::__float_to_tf32(left.x[e]);
    for (int e = 0; e < right.num_elements; ++e) right.x[e] = wmma::__float_to_tf32(right.x[e]);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + row * n + col, sum, n, wmma::mem_row_major);
}

// The check: one thread a result.
__global__ void matmul_reference(const float* a, const float* b, float* c, int m, int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  double sum = 0;
  for (int i = 0; i < k; ++i)
    // fullwarp-ignore: redundant-global-loads the reference stays simple
    sum += static_cast<double>(a[row * k + i]) * static_cast<double>(b[i * n + col]);
  c[row * n + col] = static_cast<float>(sum);
}

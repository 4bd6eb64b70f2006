// Tensor cores, other types: f64.
//
// One 8 x 8 tile of results a warp, 4 terms a step; m, n and k are multiples of the tile.
// Full double precision.
//
// fullwarp: a = f64[64*64] : uniform(1)
// fullwarp: b = f64[64*64] : uniform(2)
// fullwarp: c = f64[64*64]
// fullwarp: want = f64[64*64]
// fullwarp: matmul<<<(8,8), 32>>>(a, b, c, 64, 64, 64)
// fullwarp: matmul_reference<<<(2,8), (32,8)>>>(a, b, want, 64, 64, 64)
// fullwarp: expect c ~ want (rtol 1e-12, atol 1e-12)
#include <cuda_runtime.h>
#include <mma.h>

// c (m x n) = a (m x k) * b (k x n), row-major.
__global__ void matmul(const double* __restrict__ a, const double* __restrict__ b, double* __restrict__ c,
                       int m, int n, int k) {
  using namespace nvcuda;
  int row = blockIdx.y * 8, col = blockIdx.x * 8;
  if (row >= m || col >= n) return;
  wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;
  wmma::fill_fragment(sum, 0.0);
  for (int i = 0; i < k; i += 4) {
    wmma::load_matrix_sync(left, a + row * k + i, k);
    wmma::load_matrix_sync(right, b + i * n + col, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + row * n + col, sum, n, wmma::mem_row_major);
}

// The check: one thread a result.
__global__ void matmul_reference(const double* a, const double* b, double* c, int m, int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  double sum = 0;
  // fullwarp-ignore: redundant-global-loads the reference stays simple
  for (int i = 0; i < k; ++i) sum += (a[row * k + i]) * (b[i * n + col]);
  c[row * n + col] = sum;
}

// Tensor cores, other types: 8-bit integers.
//
// One 16 x 16 tile of results a warp, 16 terms a step; m, n and k are multiples of the tile.
// The sums are 32-bit integers, so the result is exact.
//
// fullwarp: a = i8[64*64] : uniform(1)
// fullwarp: b = i8[64*64] : uniform(2)
// fullwarp: c = i32[64*64]
// fullwarp: want = i32[64*64]
// fullwarp: matmul<<<(4,4), 32>>>(a, b, c, 64, 64, 64)
// fullwarp: matmul_reference<<<(2,8), (32,8)>>>(a, b, want, 64, 64, 64)
// fullwarp: expect c = want
#include <cuda_runtime.h>
#include <mma.h>

// c (m x n) = a (m x k) * b (k x n), row-major.
__global__ void matmul(const signed char* __restrict__ a, const signed char* __restrict__ b,
                       int* __restrict__ c, int m, int n, int k) {
  using namespace nvcuda;
  int row = blockIdx.y * 16, col = blockIdx.x * 16;
  if (row >= m || col >= n) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
  wmma::fill_fragment(sum, 0);
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(left, a + row * k + i, k);
    wmma::load_matrix_sync(right, b + i * n + col, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + row * n + col, sum, n, wmma::mem_row_major);
}

// The check: one thread a result.
__global__ void matmul_reference(const signed char* a, const signed char* b, int* c, int m, int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  int sum = 0;
  // fullwarp-ignore: redundant-global-loads the reference stays simple
  for (int i = 0; i < k; ++i) sum += static_cast<int>(a[row * k + i]) * static_cast<int>(b[i * n + col]);
  c[row * n + col] = sum;
}

// Tensor cores, step 1: wmma, one 16 x 16 tile of results a warp.
//
// A fragment is spread over the registers of the 32 lanes in a way that only the hardware knows; load,
// multiply and store are done by the whole warp together. m, n and k are multiples of 16. Every warp reads
// its operands from global memory: tiles in shared memory are step 2.
// Look at: bytes loaded against bytes touched.
//
// fullwarp: a = f16[128*128] : uniform(1)
// fullwarp: b = f16[128*128] : uniform(2)
// fullwarp: c = f32[128*128]
// fullwarp: want = f32[128*128]
// fullwarp: matmul<<<(2,8), (32,4)>>>(a, b, c, 128, 128, 128)
// fullwarp: matmul_reference<<<(4,16), (32,8)>>>(a, b, want, 128, 128, 128)
// fullwarp: expect c ~ want (rtol 1e-4, atol 1e-4)
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

// c (m x n) = a (m x k) * b (k x n), row-major.
__global__ void matmul(const half* __restrict__ a, const half* __restrict__ b, float* __restrict__ c, int m,
                       int n, int k) {
  using namespace nvcuda;
  int row = blockIdx.y * 16;
  int col = (blockIdx.x * blockDim.y + threadIdx.y) * 16;
  if (row >= m || col >= n) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(left, a + row * k + i, k);
    wmma::load_matrix_sync(right, b + i * n + col, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + row * n + col, sum, n, wmma::mem_row_major);
}

// The check: one thread a result, the products exact, summed in double.
__global__ void matmul_reference(const half* a, const half* b, float* c, int m, int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  double sum = 0;
  for (int i = 0; i < k; ++i)
    // fullwarp-ignore: redundant-global-loads the reference stays simple
    sum += static_cast<double>(__half2float(a[row * k + i])) * __half2float(b[i * n + col]);
  c[row * n + col] = static_cast<float>(sum);
}

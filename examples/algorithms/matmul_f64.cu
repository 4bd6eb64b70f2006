// Matrix product in double, tiles of 16 x 16, any size.
//
// fullwarp: a = f64[100*70] : uniform(1)
// fullwarp: b = f64[70*90] : uniform(2)
// fullwarp: c = f64[100*90]
// fullwarp: want = f64[100*90]
// fullwarp: matmul<<<(6,7), (16,16)>>>(a, b, c, 100, 90, 70)
// fullwarp: matmul_reference<<<(3,13), (32,8)>>>(a, b, want, 100, 90, 70)
// fullwarp: expect c ~ want (rtol 1e-13, atol 0)
#include <cuda_runtime.h>

constexpr int kTile = 16;

__global__ void matmul(const double* __restrict__ a, const double* __restrict__ b, double* __restrict__ c,
                       int m, int n, int k) {
  __shared__ double tile_a[kTile][kTile];
  __shared__ double tile_b[kTile][kTile];
  int col = blockIdx.x * kTile + threadIdx.x;
  int row = blockIdx.y * kTile + threadIdx.y;
  double sum = 0;
  for (int first = 0; first < k; first += kTile) {
    int a_col = first + threadIdx.x;
    int b_row = first + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = row < m && a_col < k ? a[row * k + a_col] : 0.0;
    tile_b[threadIdx.y][threadIdx.x] = b_row < k && col < n ? b[b_row * n + col] : 0.0;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

// The check: one thread a result, from the last term to the first.
__global__ void matmul_reference(const double* a, const double* b, double* c, int m, int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  double sum = 0;
  // fullwarp-ignore: redundant-global-loads the reference stays simple
  for (int i = k - 1; i >= 0; --i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}

// Mistake: n / TILE tiles and no check on the store, run at n = 255.
//
// 255 / 16 = 15 tiles: the last 15 terms of every sum are lost. The grid is rounded up, so the threads of the
// last column of blocks hold column 255, which row * n + 255 turns into column 0 of the next row: another
// block's result is overwritten, and which of the two stays is chance. The last row is written beyond the
// end. Right: matmul/03_tiled.cu.
//
// fullwarp: a = f32[255*255] : uniform(1)
// fullwarp: b = f32[255*255] : uniform(2)
// fullwarp: c = f32[255*255]
// fullwarp: want = f32[255*255]
// fullwarp: matmul<<<(16,16), (16,16)>>>(a, b, c, 255)
// fullwarp: matmul_reference<<<(8,32), (32,8)>>>(a, b, want, 255)
// fullwarp: expect c ~ want (rtol 1e-5, atol 1e-5)
#include <cuda_runtime.h>

constexpr int kTile = 16;

__global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[kTile][kTile];
  __shared__ float tile_b[kTile][kTile];
  int col = blockIdx.x * kTile + threadIdx.x;
  int row = blockIdx.y * kTile + threadIdx.y;
  float sum = 0;
  for (int tile = 0; tile < n / kTile; ++tile) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + tile * kTile + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(tile * kTile + threadIdx.y) * n + col];
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// The check: one thread a result, summed in double.
__global__ void matmul_reference(const float* a, const float* b, float* c, int n) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || col >= n) return;
  double sum = 0;
  // fullwarp-ignore: redundant-global-loads the reference stays simple
  for (int i = 0; i < n; ++i) sum += static_cast<double>(a[row * n + i]) * b[i * n + col];
  c[row * n + col] = static_cast<float>(sum);
}

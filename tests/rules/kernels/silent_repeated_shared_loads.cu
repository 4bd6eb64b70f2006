// 4 x 4 results a thread: eight values from shared memory feed sixteen multiply-adds.
// fullwarp: a = f32[64*64] : uniform(1)
// fullwarp: b = f32[64*64] : uniform(2)
// fullwarp: c = f32[64*64]
// fullwarp: product<<<(1,1), (16,16)>>>(a, b, c, 64)
__global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[16][65], tile_b[16][64];
  int thread = threadIdx.y * 16 + threadIdx.x;
  float sum[4][4] = {};
  for (int tile = 0; tile < n; tile += 16) {
    for (int i = thread; i < 16 * 64; i += 256) {
      tile_a[i % 16][i / 16] = a[(blockIdx.y * 64 + i / 16) * n + tile + i % 16];
      tile_b[i / 64][i % 64] = b[(tile + i / 64) * n + blockIdx.x * 64 + i % 64];
    }
    __syncthreads();
    for (int k = 0; k < 16; ++k) {
      float left[4], right[4];
      for (int i = 0; i < 4; ++i) left[i] = tile_a[k][threadIdx.y + 16 * i];
      for (int i = 0; i < 4; ++i) right[i] = tile_b[k][threadIdx.x + 16 * i];
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += left[i] * right[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      c[(blockIdx.y * 64 + threadIdx.y + 16 * i) * n + blockIdx.x * 64 + threadIdx.x + 16 * j] = sum[i][j];
}

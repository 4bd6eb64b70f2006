// Tiled: a block loads each element of its rows and columns once, into shared memory, and each thread
// computes 4 x 4 results from registers. And one thread that walks along a buffer: eight requests a sector, but no
// byte is loaded twice.
// fullwarp: a = f32[64*64] : uniform(1)
// fullwarp: b = f32[64*64] : uniform(2)
// fullwarp: c = f32[64*64]
// fullwarp: product<<<(1,1), (16,16)>>>(a, b, c, 64)
// fullwarp: running_sum<<<1, 1>>>(a, c, 4096)
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

__global__ void running_sum(const float* in, float* out, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) out[i] = sum += in[i];
}

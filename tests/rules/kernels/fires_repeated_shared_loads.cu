// The tiled matrix product with one result a thread: two shared loads for each multiply-add.
// fullwarp: a = f32[64*64] : uniform(1)
// fullwarp: b = f32[64*64] : uniform(2)
// fullwarp: c = f32[64*64]
// fullwarp: product<<<(2,2), (32,32)>>>(a, b, c, 64)
__global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[32][32], tile_b[32][32];
  int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
  float sum = 0.0f;
  for (int tile = 0; tile < n; tile += 32) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + tile + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < 32; ++k) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

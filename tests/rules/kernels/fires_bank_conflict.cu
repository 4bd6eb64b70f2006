// A 32 x 32 tile read by columns: the 32 lanes of a request are 32 words apart, all in one bank.
// fullwarp: in = f32[128*128] : iota
// fullwarp: out = f32[128*128]
// fullwarp: transpose<<<(4,4), (32,8)>>>(in, out, 128)
__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

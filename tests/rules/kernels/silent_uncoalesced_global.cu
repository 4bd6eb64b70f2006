// threadIdx.x runs along the row: 32 lanes, 128 bytes, 4 sectors.
// fullwarp: in = f32[256*256] : iota
// fullwarp: out = f32[256*256]
// fullwarp: scale<<<(8,32), (32,8)>>>(in, out, 256)
__global__ void scale(const float* in, float* out, int n) {
  int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  if (row < n && column < n) out[row * n + column] = 2.0f * in[row * n + column];
}

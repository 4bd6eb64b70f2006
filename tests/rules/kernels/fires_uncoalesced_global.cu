// Neighbouring lanes take neighbouring rows: each of the 32 addresses of a request lies in its own sector.
// fullwarp: in = f32[256*256] : iota
// fullwarp: out = f32[256*256]
// fullwarp: scale<<<(8,32), (32,8)>>>(in, out, 256)
__global__ void scale(const float* in, float* out, int n) {
  int row = blockIdx.x * 32 + threadIdx.x, column = blockIdx.y * 8 + threadIdx.y;
  if (row < n && column < n) out[row * n + column] = 2.0f * in[row * n + column];
}

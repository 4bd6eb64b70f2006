// The naive matrix product: each of the 16 x 16 threads of a block loads a row of a and a column of b.
// fullwarp: a = f32[64*64] : uniform(1)
// fullwarp: b = f32[64*64] : uniform(2)
// fullwarp: c = f32[64*64]
// fullwarp: product<<<(4,4), (16,16)>>>(a, b, c, 64)
__global__ void product(const float* a, const float* b, float* c, int n) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

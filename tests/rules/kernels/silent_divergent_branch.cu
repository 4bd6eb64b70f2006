// The same two kinds of work, split between warps; the bounds check diverges only in the last warp.
// fullwarp: mixed<<<16, 256>>>(f32[4096] : uniform(1), 4080, 16)
__global__ void mixed(float* data, int n, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = data[i];
  if (i / 32 % 2 == 0) {
    for (int k = 0; k < steps; ++k) v = v * v + 0.25f;
  } else {
    for (int k = 0; k < steps; ++k) v = sqrtf(v + 1.0f);
  }
  data[i] = v;
}

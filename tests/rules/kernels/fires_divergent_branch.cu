// Odd and even lanes take different sides, each with a loop of its own: half of the lanes idle on both.
// fullwarp: mixed<<<16, 256>>>(f32[4096] : uniform(1), 16)
__global__ void mixed(float* data, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = data[i];
  if (i % 2 == 0) {
    for (int k = 0; k < steps; ++k) v = v * v + 0.25f;
  } else {
    for (int k = 0; k < steps; ++k) v = sqrtf(v + 1.0f);
  }
  data[i] = v;
}

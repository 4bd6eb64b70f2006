// A fifth of the lanes has work, and which ones is data.
// fullwarp: work<<<32, 256>>>(u32[8192] : below(5, 1), f32[8192])
__global__ void work(const unsigned* __restrict__ kinds, float* __restrict__ out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (kinds[i] == 0) {
    float value = 1.0f;
    for (int k = 0; k < 40; ++k) value = value * 1.01f + 0.5f;
    out[i] = value;
  }
}

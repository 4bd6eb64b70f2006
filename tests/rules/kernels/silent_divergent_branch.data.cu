// The same work for the lanes whose index passes a check at the end of the data, and a store by two lanes of a warp.
// fullwarp: work<<<32, 256>>>(f32[8192], f32[512], 8100)
__global__ void work(float* __restrict__ out, float* __restrict__ sums, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = 1.0f;
  for (int k = 0; k < 40; ++k) value = value * 1.01f + 0.5f;
  out[i] = value;
  if (threadIdx.x % 16 == 0) sums[i / 16] = value;
}

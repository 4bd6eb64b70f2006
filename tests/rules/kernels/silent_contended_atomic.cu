// The lanes of a warp add up first, and one of them does the atomic.
// fullwarp: sum = f32[1]
// fullwarp: add_up<<<64, 256>>>(f32[16384] : below(5, 3), sum, 16384)
__global__ void add_up(const float* in, float* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = i < n ? in[i] : 0.0f;
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, value);
}

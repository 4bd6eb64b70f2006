// The eight rows of threads of a block read the same column of the input.
// fullwarp: accumulate<<<16, (32,8)>>>(f32[64*512], f32[512], 64)
__global__ void accumulate(const float* in, float* sums, int rounds) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < rounds; ++k) sum += in[k * 512 + column] * (threadIdx.y + 1);
  if (threadIdx.y == 0) sums[column] = sum;
}

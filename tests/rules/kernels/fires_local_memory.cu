// An array indexed at run time cannot stay in registers.
// fullwarp: histogram<<<16, 256>>>(i32[4096*16] : below(16, 1), i32[4096])
__global__ void histogram(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int counts[16] = {};
  for (int k = 0; k < 16; ++k) ++counts[in[k * 4096 + i]];
  int best = 0;
  for (int k = 0; k < 16; ++k) best = counts[k] > best ? counts[k] : best;
  out[i] = best;
}

// The same count with constant indices: sixteen registers.
// fullwarp: histogram<<<16, 256>>>(i32[4096*16] : below(16, 1), i32[4096])
__global__ void histogram(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int counts[16] = {};
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    int value = in[k * 4096 + i];
#pragma unroll
    for (int c = 0; c < 16; ++c) counts[c] += value == c;
  }
  int best = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) best = counts[k] > best ? counts[k] : best;
  out[i] = best;
}

// One thread alone, which has nobody to share with; and a gather, which uncoalesced-global speaks of.
// fullwarp: serial<<<1, 1>>>(f32[64], f32[1])
// fullwarp: gather<<<4, 256>>>(u32[64*1024] : below(4096, 3), f32[4096], f32[1024])
__global__ void serial(const float* in, float* out) {
  float sum = 0;
  for (int k = 0; k < 640; ++k) sum += in[k * 7 % 64];
  *out = sum;
}
__global__ void gather(const unsigned* __restrict__ at, const float* __restrict__ in, float* __restrict__ out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 64; ++k) sum += in[at[k * 1024 + i]];
  out[i] = sum;
}

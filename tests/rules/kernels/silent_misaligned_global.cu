// The same copy from an aligned base.
// fullwarp: copy<<<64, 256>>>(f32[16400] : iota, f32[16384], 16384)
__global__ void copy(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

// 128 threads are 4 full warps.
// fullwarp: add<<<128, 128>>>(f32[16384] : iota, f32[16384], 16384)
__global__ void add(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + 1.0f;
}

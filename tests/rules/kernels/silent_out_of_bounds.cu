// fullwarp: fill<<<4, 256>>>(f32[1000], 1000)
__global__ void fill(float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 1.0f;
}

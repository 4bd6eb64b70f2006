// The last block has no bounds check.
// fullwarp: fill<<<4, 256>>>(f32[1000])
__global__ void fill(float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 1.0f;
}

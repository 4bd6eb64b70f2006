// Rows of 16 floats, one row a lane: the same addresses as members of a struct, but it is a matrix.
// fullwarp: row_sums<<<16, 256>>>(f32[16*4096], f32[4096])
__global__ void row_sums(const float* __restrict__ rows, float* __restrict__ sums) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 16; ++i) sum += rows[16 * row + i];
  sums[row] = sum;
}

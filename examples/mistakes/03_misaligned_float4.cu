// Mistake: 33 columns read as float4.
//
// A 128-bit load needs an address that is a multiple of 16. Row r of 33 floats starts at byte 132 * r: every
// row but each fourth is misaligned, and the GPU stops the program. Also, 33 is not 8 times 4: column 32 is
// lost. Right: a pitch of 36 floats, or float4 only where the row length is a multiple of 4
// (matmul/06_vectorised.cu).
//
// fullwarp: in = f32[64*33] : uniform(1)
// fullwarp: sums = f32[64]
// fullwarp: row_sums<<<2, 32>>>(in, sums, 64, 33)
#include <cuda_runtime.h>

__global__ void row_sums(const float* in, float* sums, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = 0; i < cols / 4; ++i) {
    float4 four = reinterpret_cast<const float4*>(in + row * cols)[i];
    sum += four.x + four.y + four.z + four.w;
  }
  sums[row] = sum;
}

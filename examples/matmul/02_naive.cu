// Matrix product, step 2: threadIdx.x runs along the columns of c.
//
// The same code as step 1 with x and y exchanged: now the lanes of a warp read 32 neighbours of a row of b
// and write 32 neighbours of c, 4 sectors each; a[...] is one address for the whole warp. What is left: a
// block of 32 x 8 results loads each row of a 32 times and each column of b 8 times.
// Look at: sectors per request are at their ideal; bytes loaded against bytes touched are not.
//
// fullwarp: a = f32[256*256] : uniform(1)
// fullwarp: b = f32[256*256] : uniform(2)
// fullwarp: c = f32[256*256]
// fullwarp: want = f32[256*256]
// fullwarp: matmul_naive<<<(8,32), (32,8)>>>(a, b, c, 256, 256, 256)
// fullwarp: matmul_reference<<<(8,32), (32,8)>>>(a, b, want, 256, 256, 256)
// fullwarp: expect c ~ want (rtol 1e-5, atol 1e-5)
#include <cuda_runtime.h>

#include "../../recipes/matmul/1_naive.cuh"

// The check: one thread a result, summed in double.
__global__ void matmul_reference(const float* a, const float* b, float* c, int m, int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  double sum = 0;
  // fullwarp-ignore: redundant-global-loads the reference stays simple
  for (int i = 0; i < k; ++i) sum += static_cast<double>(a[row * k + i]) * b[i * n + col];
  c[row * n + col] = static_cast<float>(sum);
}

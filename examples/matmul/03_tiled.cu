// Matrix product, step 3: tiles in shared memory, any size.
//
// A block computes 32 x 32 results. It walks along k in steps of 32: all threads load one tile of a and one
// of b (each value once a block), wait, and multiply from shared memory. Three things make it right at any
// size: the number of tiles is rounded up, loads beyond the edge bring 0, and the last store is checked. Look
// at: global loads are 1/32 of step 2; tile_a[y][i] is one word for the whole warp and tile_b[i][x] is 32
// neighbours, both one wavefront.
//
// fullwarp: a = f32[256*256] : uniform(1)
// fullwarp: b = f32[256*256] : uniform(2)
// fullwarp: c = f32[256*256]
// fullwarp: want = f32[256*256]
// fullwarp: matmul_tiled<<<(8,8), (32,32)>>>(a, b, c, 256, 256, 256)
// fullwarp: matmul_reference<<<(8,32), (32,8)>>>(a, b, want, 256, 256, 256)
// fullwarp: expect c ~ want (rtol 1e-5, atol 1e-5)
//
// A size at which nothing fits: 70 x 93 results, 51 terms each.
// fullwarp: c_odd = f32[70*93]
// fullwarp: want_odd = f32[70*93]
// fullwarp: matmul_tiled<<<(3,3), (32,32)>>>(a, b, c_odd, 70, 93, 51)
// fullwarp: matmul_reference<<<(3,9), (32,8)>>>(a, b, want_odd, 70, 93, 51)
// fullwarp: expect c_odd ~ want_odd (rtol 1e-5, atol 1e-5)
#include <cuda_runtime.h>

#include "../../recipes/matmul/2_tiled.cuh"

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

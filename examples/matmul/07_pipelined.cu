// Matrix product, step 7: copies that no thread waits for.
//
// cp.async brings the next tile from global to shared memory without a stop in registers, and scaled results
// leave the compiler free to place the sums where the register banks do not collide (5_pipelined.cuh): 92 %
// of cuBLAS at 4096 and 93 % at 4095 on an H200 (docs/gemm.md). The second instantiation is for rows of b
// that do not start on 16 bytes.
//
// Look at: no stores to shared memory, copies instead. Those of a are 4 bytes wide, since it is transposed on
// the way: more requests than step 6, and none of them waits.
//
// fullwarp: a = f32[256*256] : uniform(1)
// fullwarp: b = f32[256*256] : uniform(2)
// fullwarp: c = f32[256*256]
// fullwarp: want = f32[256*256]
// fullwarp: matmul_pipelined<TileShape<128,128,8>, true><<<(2,2), 256>>>(1, a, b, c, 256, 256, 256)
// fullwarp: matmul_reference<<<(8,32), (32,8)>>>(a, b, want, 256, 256, 256)
// fullwarp: expect c ~ want (rtol 1e-5, atol 1e-5)
//
// A size at which nothing fits: 137 x 141 results, 431 terms each.
// fullwarp: odd = f32[137*141]
// fullwarp: want_odd = f32[137*141]
// fullwarp: matmul_pipelined<TileShape<128,128,8>, false><<<(2,2), 256>>>(1, a, b, odd, 137, 141, 431)
// fullwarp: matmul_reference<<<(5,18), (32,8)>>>(a, b, want_odd, 137, 141, 431)
// fullwarp: expect odd ~ want_odd (rtol 1e-5, atol 1e-5)
#include <cuda_runtime.h>

#include "../../recipes/matmul/5_pipelined.cuh"

using fullwarp::recipes::matmul_pipelined, fullwarp::recipes::TileShape;
using Shape = TileShape<128, 128, 8>;
template __global__ void fullwarp::recipes::matmul_pipelined<Shape, true>(float, const float*, const float*,
                                                                          float*, int, int, int);
template __global__ void fullwarp::recipes::matmul_pipelined<Shape, false>(float, const float*, const float*,
                                                                           float*, int, int, int);

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

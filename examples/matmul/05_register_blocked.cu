// Matrix product, step 5: 8 x 8 results a thread, in registers.
//
// In steps 3 and 4 each multiplication costs two loads from shared memory. Here a thread reads 8 values of a
// and 8 of b, 16 bytes at a time, and multiplies them 64 times: 256 threads make 128 x 128 results. How lanes
// and results lie, so that no bank is asked twice: tile_shape.cuh. The tile of a is transposed, as in step 4,
// and padded by four words, not by one: its rows have to start on 16 bytes.
//
// Look at: requests of shared loads, 1/20 of step 3. The grid is 16 times smaller than in step 3: with 4
// blocks nearly all of a big GPU idles. Register blocking pays where the grid fills the chip: 3.6 times
// faster than step 3 at 4096 on an H200 (docs/gemm.md). At the odd size results are stored one by one, 15
// sectors a request where 3.4 would do; the 431 terms outweigh that.
//
// fullwarp: a = f32[256*256] : uniform(1)
// fullwarp: b = f32[256*256] : uniform(2)
// fullwarp: c = f32[256*256]
// fullwarp: want = f32[256*256]
// fullwarp: matmul_registers<<<(2,2), 256>>>(a, b, c, 256, 256, 256)
// fullwarp: matmul_reference<<<(8,32), (32,8)>>>(a, b, want, 256, 256, 256)
// fullwarp: expect c ~ want (rtol 1e-5, atol 1e-5)
//
// A size at which nothing fits: 137 x 141 results, 431 terms each.
// fullwarp: c_odd = f32[137*141]
// fullwarp: want_odd = f32[137*141]
// fullwarp: matmul_registers<<<(2,2), 256>>>(a, b, c_odd, 137, 141, 431)
// fullwarp: matmul_reference<<<(5,18), (32,8)>>>(a, b, want_odd, 137, 141, 431)
// fullwarp: expect c_odd ~ want_odd (rtol 1e-5, atol 1e-5)
#include <cuda_runtime.h>

#include "../../recipes/matmul/3_registers.cuh"

using Shape = fullwarp::recipes::TileShape<128, 128, 8>;
template __global__ void fullwarp::recipes::matmul_registers<Shape>(const float*, const float*, float*, int,
                                                                    int, int);

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

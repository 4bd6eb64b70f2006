// Matrix product, step 6: 16 bytes at a time, and the next tile on its way.
//
// As step 5, but global memory too is read as float4: a quarter of the requests move the same bytes. That
// needs matrices that start on 16 bytes and rows whose length is a multiple of 4 (then every row starts on 16
// bytes); for other sizes there is a second instantiation, value by value. A thread loads its part of the
// next tile into registers before it multiplies, and stores it into a second buffer afterwards: one barrier a
// tile, and the memory's latency hides behind the multiply-adds.
//
// Look at: requests of global loads, a quarter of step 5, for the same sectors.
//
// fullwarp: a = f32[256*256] : uniform(1)
// fullwarp: b = f32[256*256] : uniform(2)
// fullwarp: c = f32[256*256]
// fullwarp: want = f32[256*256]
// fullwarp: matmul_double_buffered<TileShape<128,128,8>,true,false><<<(2,2), 256>>>(a, b, c, 256, 256, 256)
// fullwarp: matmul_reference<<<(8,32), (32,8)>>>(a, b, want, 256, 256, 256)
// fullwarp: expect c ~ want (rtol 1e-5, atol 1e-5)
//
// A size at which nothing fits: 137 x 141 results, 431 terms each.
// fullwarp: odd = f32[137*141]
// fullwarp: want_odd = f32[137*141]
// fullwarp: matmul_double_buffered<TileShape<128,128,8>,false,true><<<(2,2), 256>>>(a, b, odd, 137, 141, 431)
// fullwarp: matmul_reference<<<(5,18), (32,8)>>>(a, b, want_odd, 137, 141, 431)
// fullwarp: expect odd ~ want_odd (rtol 1e-5, atol 1e-5)
#include <cuda_runtime.h>

#include "../../recipes/matmul/4_double_buffered.cuh"

using fullwarp::recipes::matmul_double_buffered, fullwarp::recipes::TileShape;
using Shape = TileShape<128, 128, 8>;
template __global__ void fullwarp::recipes::matmul_double_buffered<Shape, true, false>(const float*,
                                                                                       const float*, float*,
                                                                                       int, int, int);
template __global__ void fullwarp::recipes::matmul_double_buffered<Shape, false, true>(const float*,
                                                                                       const float*, float*,
                                                                                       int, int, int);

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

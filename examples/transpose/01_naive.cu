// Transpose, step 1: read a row, write a column.
//
// The lanes of a warp read 32 neighbours, 4 sectors, and write 32 values that lie a row apart, 32 sectors.
// Turning x and y around only moves the problem from the stores to the loads.
// Look at: sectors per request of the store.
//
// fullwarp: in = f32[1024*1024] : uniform(7)
// fullwarp: out = f32[1024*1024]
// fullwarp: back = f32[1024*1024]
// fullwarp: transpose_naive<<<(32,128), (32,8)>>>(in, out, 1024, 1024)
// fullwarp: transpose_naive<<<(32,128), (32,8)>>>(out, back, 1024, 1024)
// fullwarp: expect back = in
//
// A size at which nothing fits: 77 rows of 203.
// fullwarp: odd = f32[203*77]
// fullwarp: want = f32[203*77]
// fullwarp: transpose_naive<<<(7,10), (32,8)>>>(in, odd, 77, 203)
// fullwarp: transpose_reference<<<62, 256>>>(in, want, 77, 203)
// fullwarp: expect odd = want
#include <cuda_runtime.h>

#include "../../recipes/transpose/1_naive.cuh"

template __global__ void fullwarp::recipes::transpose_naive<float>(const float*, float*, int, int);

// The check: result i of the transposed matrix, found by division.
__global__ void transpose_reference(const float* in, float* out, int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // fullwarp-ignore: runtime-modulo the reference stays simple
  int row = i / rows, col = i % rows;
  // fullwarp-ignore: uncoalesced-global the reference stays simple
  if (i < rows * columns) out[i] = in[col * columns + row];
}

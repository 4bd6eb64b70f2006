// Transpose, step 5: tiles of 64 x 64, all loads of a thread before its first store.
//
// Twice as much of each row at a time: DRAM serves that better, and a row that does not start on 32 bytes is
// cut half as often. On an H200 it moves 93 % of what a copy moves at 8192 x 8192, step 3 85 %
// (docs/gemm.md).
//
// Look at: the same requests and sectors as in step 3 with fewer instructions; the 16 loads of a thread stand
// before its first store, so that all are on their way at once.
//
// fullwarp: in = f32[1024*1024] : uniform(7)
// fullwarp: out = f32[1024*1024]
// fullwarp: back = f32[1024*1024]
// fullwarp: transpose_large_tile<<<(16,16), 256>>>(in, out, 1024, 1024)
// fullwarp: transpose_large_tile<<<(16,16), 256>>>(out, back, 1024, 1024)
// fullwarp: expect back = in
//
// A size at which nothing fits: 77 rows of 203.
// fullwarp: odd = f32[203*77]
// fullwarp: want = f32[203*77]
// fullwarp: transpose_large_tile<<<(4,2), 256>>>(in, odd, 77, 203)
// fullwarp: transpose_reference<<<62, 256>>>(in, want, 77, 203)
// fullwarp: expect odd = want
#include <cuda_runtime.h>

#include "../../recipes/transpose/3_large_tile.cuh"

template __global__ void fullwarp::recipes::transpose_large_tile<float>(const float*, float*, int, int);

// The check: result i of the transposed matrix, found by division.
__global__ void transpose_reference(const float* in, float* out, int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // fullwarp-ignore: runtime-modulo the reference stays simple
  int row = i / rows, col = i % rows;
  // fullwarp-ignore: uncoalesced-global the reference stays simple
  if (i < rows * columns) out[i] = in[col * columns + row];
}

// Transpose, step 3: a row of the tile padded by one word.
//
//     lane t reads word 33 * t + row:  bank (33 * t + row) % 32 = (t + row) % 32      32 banks, 1 wavefront
//
// Look at: one wavefront a request. The kernel is that of step 2 but for the word of padding (kPad), and for
// indices of 64 bits, so that matrices may have more than 2^31 elements: more instructions, no more memory.
//
// fullwarp: in = f32[1024*1024] : uniform(7)
// fullwarp: out = f32[1024*1024]
// fullwarp: back = f32[1024*1024]
// fullwarp: transpose_tile<<<(32,32), (32,8)>>>(in, out, 1024, 1024)
// fullwarp: transpose_tile<<<(32,32), (32,8)>>>(out, back, 1024, 1024)
// fullwarp: expect back = in
//
// A size at which nothing fits: 77 rows of 203.
// fullwarp: odd = f32[203*77]
// fullwarp: want = f32[203*77]
// fullwarp: transpose_tile<<<(7,3), (32,8)>>>(in, odd, 77, 203)
// fullwarp: transpose_reference<<<62, 256>>>(in, want, 77, 203)
// fullwarp: expect odd = want
#include <cuda_runtime.h>

#include "../../recipes/transpose/2_tile.cuh"

template __global__ void fullwarp::recipes::transpose_tile<float, 1>(const float*, float*, int, int);

// The check: result i of the transposed matrix, found by division.
__global__ void transpose_reference(const float* in, float* out, int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // fullwarp-ignore: runtime-modulo the reference stays simple
  int row = i / rows, col = i % rows;
  // fullwarp-ignore: uncoalesced-global the reference stays simple
  if (i < rows * columns) out[i] = in[col * columns + row];
}

// Transpose, step 4: swizzled, no padding.
//
// The tile takes the same 4 KB as step 2 and keeps every row on 128 bytes, which padding cannot (tensor-core
// and copy instructions ask for that). What lies where: 2_swizzled.cuh.
//
// Look at: one wavefront a request, and shared memory of 4096 bytes where step 3 takes 4224.
//
// fullwarp: in = f32[1024*1024] : uniform(7)
// fullwarp: out = f32[1024*1024]
// fullwarp: back = f32[1024*1024]
// fullwarp: transpose_swizzled<<<(32,32), (32,8)>>>(in, out, 1024, 1024)
// fullwarp: transpose_swizzled<<<(32,32), (32,8)>>>(out, back, 1024, 1024)
// fullwarp: expect back = in
//
// A size at which nothing fits: 77 rows of 203.
// fullwarp: odd = f32[203*77]
// fullwarp: want = f32[203*77]
// fullwarp: transpose_swizzled<<<(7,3), (32,8)>>>(in, odd, 77, 203)
// fullwarp: transpose_reference<<<62, 256>>>(in, want, 77, 203)
// fullwarp: expect odd = want
#include <cuda_runtime.h>

#include "../../recipes/transpose/2_swizzled.cuh"

template __global__ void fullwarp::recipes::transpose_swizzled<float>(const float*, float*, int, int);

// The check: result i of the transposed matrix, found by division.
__global__ void transpose_reference(const float* in, float* out, int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // fullwarp-ignore: runtime-modulo the reference stays simple
  int row = i / rows, col = i % rows;
  // fullwarp-ignore: uncoalesced-global the reference stays simple
  if (i < rows * columns) out[i] = in[col * columns + row];
}

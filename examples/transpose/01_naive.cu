// Transpose, step 1: read a row, write a column.
//
// The lanes of a warp read 32 neighbours, 4 sectors, and write 32 values that lie a row apart, 32 sectors.
// Turning x and y around only moves the problem from the stores to the loads.
// Look at: sectors per request of the store.
//
// fullwarp: in = f32[1024*1024] : uniform(7)
// fullwarp: out = f32[1024*1024]
// fullwarp: back = f32[1024*1024]
// fullwarp: transpose<<<(32,128), (32,8)>>>(in, out, 1024, 1024)
// fullwarp: transpose<<<(32,128), (32,8)>>>(out, back, 1024, 1024)
// fullwarp: expect back = in
//
// A size at which nothing fits: 203 x 77.
// fullwarp: odd = f32[203*77]
// fullwarp: want = f32[203*77]
// fullwarp: transpose<<<(7,10), (32,8)>>>(in, odd, 203, 77)
// fullwarp: transpose_reference<<<62, 256>>>(in, want, 203, 77)
// fullwarp: expect odd = want
#include <cuda_runtime.h>

// in: height rows of width values; out: width rows of height values.
__global__ void transpose(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[x * height + y] = in[y * width + x];
}

// The check: result i of the transposed matrix, found by division.
__global__ void transpose_reference(const float* in, float* out, int width, int height) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // fullwarp-ignore: runtime-modulo the reference stays simple
  int row = i / height, col = i % height;
  // fullwarp-ignore: uncoalesced-global the reference stays simple
  if (i < width * height) out[i] = in[col * width + row];
}

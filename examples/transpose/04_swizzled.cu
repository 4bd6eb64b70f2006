// Transpose, step 4: swizzled, no padding.
//
// The column of the tile is exchanged with the row by exclusive or: (row, column) lies at word 32 * row +
// (column ^ row). A row still fills a row; a column now visits every bank once. It takes the same 4 KB as
// step 2 and keeps every row on 128 bytes, which padding cannot (tensor-core and copy instructions ask for
// that).
//
//     lane t reads word 32 * t + (row ^ t):  bank row ^ t      32 banks, 1 wavefront
//
// Look at: one wavefront a request, and shared memory of 4096 bytes where step 3 takes 4224.
//
// fullwarp: in = f32[1024*1024] : uniform(7)
// fullwarp: out = f32[1024*1024]
// fullwarp: back = f32[1024*1024]
// fullwarp: transpose<<<(32,32), (32,8)>>>(in, out, 1024, 1024)
// fullwarp: transpose<<<(32,32), (32,8)>>>(out, back, 1024, 1024)
// fullwarp: expect back = in
//
// A size at which nothing fits: 203 x 77.
// fullwarp: odd = f32[203*77]
// fullwarp: want = f32[203*77]
// fullwarp: transpose<<<(7,3), (32,8)>>>(in, odd, 203, 77)
// fullwarp: transpose_reference<<<62, 256>>>(in, want, 203, 77)
// fullwarp: expect odd = want
#include <cuda_runtime.h>

constexpr int kTile = 32;
constexpr int kRows = 8;  // rows of threads; each thread moves kTile / kRows values

// in: height rows of width values; out: width rows of height values.
__global__ void transpose(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  __shared__ float tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
#pragma unroll
  for (int i = 0; i < kTile; i += kRows) {
    if (x < width && y + i < height) {
      tile[threadIdx.y + i][threadIdx.x ^ (threadIdx.y + i)] = in[(y + i) * width + x];
    }
  }
  __syncthreads();
  int out_x = blockIdx.y * kTile + threadIdx.x;
  int out_y = blockIdx.x * kTile + threadIdx.y;
#pragma unroll
  for (int i = 0; i < kTile; i += kRows) {
    if (out_x < height && out_y + i < width) {
      out[(out_y + i) * height + out_x] = tile[threadIdx.x][threadIdx.x ^ (threadIdx.y + i)];
    }
  }
}

// The check: result i of the transposed matrix, found by division.
__global__ void transpose_reference(const float* in, float* out, int width, int height) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // fullwarp-ignore: runtime-modulo the reference stays simple
  int row = i / height, col = i % height;
  // fullwarp-ignore: uncoalesced-global the reference stays simple
  if (i < width * height) out[i] = in[col * width + row];
}

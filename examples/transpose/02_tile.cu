// Transpose, step 2: through a tile in shared memory.
//
// Both the load and the store now run along rows of global memory. The turn happens in shared memory, where
// the tile is read by columns, and there it costs: with rows of 32 words a column lies in one bank.
//
//     lane t reads word 32 * t + row:  bank (32 * t + row) % 32 = row      32 words of one bank, 32
//     wavefronts
//
// Look at: wavefronts of the read tile[threadIdx.x][...]; sectors per request are ideal.
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
    if (x < width && y + i < height) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * width + x];
  }
  __syncthreads();
  int out_x = blockIdx.y * kTile + threadIdx.x;
  int out_y = blockIdx.x * kTile + threadIdx.y;
#pragma unroll
  for (int i = 0; i < kTile; i += kRows) {
    if (out_x < height && out_y + i < width)
      out[(out_y + i) * height + out_x] = tile[threadIdx.x][threadIdx.y + i];
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

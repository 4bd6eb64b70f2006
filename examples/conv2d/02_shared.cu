// 3 x 3 convolution, step 2: a tile with its halo in shared memory.
//
// A block of 32 x 8 pixels needs 34 x 10: its own and a ring of one around them, the halo. The threads load
// them together, each about once, zeros beyond the edge; the nine taps then read shared memory.
// Look at: global loads a pixel (1.33 where step 1 has 9); rows of 34 words keep the taps free of conflicts,
// because the lanes of a warp read one row.
//
// fullwarp: symbol c_weights = f32[9] : uniform(3)
// fullwarp: in = f32[512*512] : uniform(1)
// fullwarp: out = f32[512*512]
// fullwarp: want = f32[512*512]
// fullwarp: conv3x3<<<(16,64), (32,8)>>>(in, out, 512, 512)
// fullwarp: conv3x3_reference<<<(16,64), (32,8)>>>(in, want, 512, 512)
// fullwarp: expect out ~ want (rtol 1e-5, atol 1e-5)
//
// A size at which nothing fits: 203 x 77.
// fullwarp: odd = f32[203*77]
// fullwarp: want_odd = f32[203*77]
// fullwarp: conv3x3<<<(7,10), (32,8)>>>(in, odd, 203, 77)
// fullwarp: conv3x3_reference<<<(7,10), (32,8)>>>(in, want_odd, 203, 77)
// fullwarp: expect odd ~ want_odd (rtol 1e-5, atol 1e-5)
#include <cuda_runtime.h>

constexpr int kWidth = 32, kHeight = 8;  // pixels of a block, and its threads
constexpr int kHaloWidth = kWidth + 2, kHaloHeight = kHeight + 2;

__constant__ float c_weights[9];

__global__ void conv3x3(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  __shared__ float tile[kHaloHeight][kHaloWidth];
  int first_x = blockIdx.x * kWidth - 1, first_y = blockIdx.y * kHeight - 1;
  for (int i = threadIdx.y * kWidth + threadIdx.x; i < kHaloWidth * kHaloHeight; i += kWidth * kHeight) {
    int tile_x = i % kHaloWidth, tile_y = i / kHaloWidth;
    int x = first_x + tile_x, y = first_y + tile_y;
    bool inside = x >= 0 && x < width && y >= 0 && y < height;
    tile[tile_y][tile_x] = inside ? in[y * width + x] : 0.0f;
  }
  __syncthreads();

  float sum = 0;
#pragma unroll
  for (int dy = 0; dy < 3; ++dy) {
#pragma unroll
    for (int dx = 0; dx < 3; ++dx) sum += tile[threadIdx.y + dy][threadIdx.x + dx] * c_weights[dy * 3 + dx];
  }
  int x = blockIdx.x * kWidth + threadIdx.x, y = blockIdx.y * kHeight + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = sum;
}

// The check: every tap tested and added in double.
__global__ void conv3x3_reference(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  double sum = 0;
  for (int tap = 0; tap < 9; ++tap) {
    int from_x = x + tap % 3 - 1, from_y = y + tap / 3 - 1;
    if (from_x < 0 || from_x >= width || from_y < 0 || from_y >= height) continue;
    // fullwarp-ignore: redundant-global-loads the reference stays simple
    sum += static_cast<double>(in[from_y * width + from_x]) * c_weights[tap];
  }
  out[y * width + x] = static_cast<float>(sum);
}

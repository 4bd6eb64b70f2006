// 3 x 3 convolution, step 3: weights and pixels in registers.
//
// A thread computes a column of 8 pixels. It holds the nine weights, and of the image the three rows around
// the present pixel; going one row down it loads three pixels from shared memory instead of nine and moves
// the others up by a row. The loop is unrolled, so that moving costs nothing: the registers change roles.
//
//     row y - 1    row y    row y + 1            row y    row y + 1    [row y + 2]
//     above        here     below        ->      above    here         below (3 new loads)
//
// Look at: shared loads a pixel, 3.75 where step 2 has 9; a halo of 34 x 34 for 32 x 32 pixels costs 1.13
// global loads a pixel where step 2 has 1.33.
//
// fullwarp: symbol c_weights = f32[9] : uniform(3)
// fullwarp: in = f32[512*512] : uniform(1)
// fullwarp: out = f32[512*512]
// fullwarp: want = f32[512*512]
// fullwarp: conv3x3<<<(16,16), (32,4)>>>(in, out, 512, 512)
// fullwarp: conv3x3_reference<<<(16,64), (32,8)>>>(in, want, 512, 512)
// fullwarp: expect out ~ want (rtol 1e-5, atol 1e-5)
//
// A size at which nothing fits: 203 x 77.
// fullwarp: odd = f32[203*77]
// fullwarp: want_odd = f32[203*77]
// fullwarp: conv3x3<<<(7,3), (32,4)>>>(in, odd, 203, 77)
// fullwarp: conv3x3_reference<<<(7,10), (32,8)>>>(in, want_odd, 203, 77)
// fullwarp: expect odd ~ want_odd (rtol 1e-5, atol 1e-5)
#include <cuda_runtime.h>

constexpr int kWidth = 32, kHeight = 32;  // pixels of a block
constexpr int kColumn = 8;                // pixels of a thread
constexpr int kThreadRows = kHeight / kColumn;
constexpr int kHaloWidth = kWidth + 2, kHaloHeight = kHeight + 2;

__constant__ float c_weights[9];

__global__ void __launch_bounds__(kWidth* kThreadRows)
    conv3x3(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  __shared__ float tile[kHaloHeight][kHaloWidth];
  int first_x = blockIdx.x * kWidth - 1, first_y = blockIdx.y * kHeight - 1;
  for (int i = threadIdx.y * kWidth + threadIdx.x; i < kHaloWidth * kHaloHeight; i += kWidth * kThreadRows) {
    int tile_x = i % kHaloWidth, tile_y = i / kHaloWidth;
    int x = first_x + tile_x, y = first_y + tile_y;
    bool inside = x >= 0 && x < width && y >= 0 && y < height;
    tile[tile_y][tile_x] = inside ? in[y * width + x] : 0.0f;
  }
  float weights[9];
#pragma unroll
  for (int i = 0; i < 9; ++i) weights[i] = c_weights[i];
  __syncthreads();

  int tile_y = threadIdx.y * kColumn;
  float pixels[3][3];
#pragma unroll
  for (int dy = 0; dy < 2; ++dy) {
#pragma unroll
    for (int dx = 0; dx < 3; ++dx) pixels[dy][dx] = tile[tile_y + dy][threadIdx.x + dx];
  }
  int x = blockIdx.x * kWidth + threadIdx.x, y = blockIdx.y * kHeight + tile_y;
#pragma unroll
  for (int i = 0; i < kColumn; ++i) {
    float sum = 0;
#pragma unroll
    for (int dx = 0; dx < 3; ++dx) pixels[2][dx] = tile[tile_y + i + 2][threadIdx.x + dx];
#pragma unroll
    for (int tap = 0; tap < 9; ++tap) sum += pixels[tap / 3][tap % 3] * weights[tap];
    if (x < width && y + i < height) out[(y + i) * width + x] = sum;
#pragma unroll
    for (int dx = 0; dx < 3; ++dx) {
      pixels[0][dx] = pixels[1][dx];
      pixels[1][dx] = pixels[2][dx];
    }
  }
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

// One image, one 3 x 3 filter, zero padding: a window of pixels in registers that slides down the image.
//
// Steps 1 to 3 share loaded values among outputs; a single filter has none to share them with. Here a thread
// computes a column of 8 pixels. It holds the nine weights, and of the image the three rows around the
// present pixel; going one row down it loads three pixels from shared memory instead of nine and moves the
// others up by a row. The loop is unrolled, so that moving costs nothing: the registers change roles.
//
//     row y - 1    row y    row y + 1            row y    row y + 1    row y + 2
//     above        here     below        ->      above    here         below (3 new loads)
//
//     cudaMemcpyToSymbol(c_filter, weights, 9 * sizeof(float));
//     filter3x3<<<dim3((width + 31) / 32, (height + 31) / 32), dim3(32, 4)>>>(in, out, height, width);
#ifndef FULLWARP_RECIPES_CONV3X3_SLIDING_WINDOW_CUH_
#define FULLWARP_RECIPES_CONV3X3_SLIDING_WINDOW_CUH_

#include "input_tile.cuh"

namespace fullwarp::recipes {

__constant__ float c_filter[9];  // by rows

__global__ void __launch_bounds__(128)
    filter3x3(const float* __restrict__ in, float* __restrict__ out, int height, int width) {
  constexpr int kSide = 32;   // pixels of a block along x and y
  constexpr int kColumn = 8;  // pixels of a thread
  __shared__ float tile[kSide + 2][kSide + 2];
  const int tx = threadIdx.x, ty = threadIdx.y * kColumn;
  const int x0 = blockIdx.x * kSide, y0 = blockIdx.y * kSide;
  load_with_rim<kSide + 2, kSide + 2, kSide + 2, 128>(tile, in, y0, x0, {1, 1, height, width},
                                                      threadIdx.y * kSide + tx);
  float weights[9];
#pragma unroll
  for (int i = 0; i < 9; ++i) weights[i] = c_filter[i];
  __syncthreads();

  float pixels[3][3];
#pragma unroll
  for (int i = 0; i < 6; ++i) pixels[i / 3][i % 3] = tile[ty + i / 3][tx + i % 3];
  const int x = x0 + tx, y = y0 + ty;
#pragma unroll
  for (int i = 0; i < kColumn; ++i) {
    float sum = 0;
#pragma unroll
    for (int dx = 0; dx < 3; ++dx) pixels[2][dx] = tile[ty + i + 2][tx + dx];
#pragma unroll
    for (int tap = 0; tap < 9; ++tap) sum += pixels[tap / 3][tap % 3] * weights[tap];
    if (x < width && y + i < height) out[static_cast<size_t>(y + i) * width + x] = sum;
#pragma unroll
    for (int dx = 0; dx < 3; ++dx) {
      pixels[0][dx] = pixels[1][dx];
      pixels[1][dx] = pixels[2][dx];
    }
  }
}

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_CONV3X3_SLIDING_WINDOW_CUH_

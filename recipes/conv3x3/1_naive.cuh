// Direct 3 x 3 convolution with zero padding, step 1: a thread for each result, all from global memory.
//
//     out[b][o][y][x] = sum over i, dy, dx of weight[o][i][dy][dx] in[b][i][y + dy - 1][x + dx - 1]
//
// Any image size, any channel counts. A result takes 9 values and 9 weights of each input channel; its
// neighbours and the other outputs load the same ones again.
//
//     conv3x3_naive<<<dim3((width + 31) / 32, (height + 7) / 8, batch * outputs), dim3(32, 8)>>>(
//         in, weight, out, {inputs, outputs, height, width});
#ifndef FULLWARP_RECIPES_CONV3X3_1_NAIVE_CUH_
#define FULLWARP_RECIPES_CONV3X3_1_NAIVE_CUH_

#include "input_tile.cuh"

namespace fullwarp::recipes {

__global__ void __launch_bounds__(256)
    conv3x3_naive(const float* __restrict__ in, const float* __restrict__ weight, float* __restrict__ out,
                  ConvShape s) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int output = blockIdx.z % s.outputs, image = blockIdx.z / s.outputs;
  if (x >= s.width || y >= s.height) return;
  const size_t plane = static_cast<size_t>(s.height) * s.width;
  float sum = 0;
  for (int i = 0; i < s.inputs; ++i) {
    const float* const from = in + (static_cast<size_t>(image) * s.inputs + i) * plane;
    const float* const w = weight + (static_cast<size_t>(output) * s.inputs + i) * 9;
    for (int dy = 0; dy < 3; ++dy) {
      for (int dx = 0; dx < 3; ++dx) {
        const int yy = y + dy - 1, xx = x + dx - 1;
        if (yy >= 0 && yy < s.height && xx >= 0 && xx < s.width) {
          sum += w[dy * 3 + dx] * from[static_cast<size_t>(yy) * s.width + xx];
        }
      }
    }
  }
  out[(static_cast<size_t>(image) * s.outputs + output) * plane + static_cast<size_t>(y) * s.width + x] = sum;
}

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_CONV3X3_1_NAIVE_CUH_

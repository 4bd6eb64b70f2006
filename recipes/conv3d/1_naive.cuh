// Direct 3 x 3 x 3 convolution of volumes with zero padding, step 1: a thread for each result.
//
//     out[b][o][z][y][x] = sum over i, dz, dy, dx of
//                          weight[o][i][dz][dy][dx] in[b][i][z + dz - 1][y + dy - 1][x + dx - 1]
//
// Any size, any channel counts.
//
//     conv3d_naive<<<dim3((width + 31) / 32, (height + 7) / 8, batch * depth * outputs), dim3(32, 8)>>>(
//         in, weight, out, {inputs, outputs, depth, height, width});
#ifndef FULLWARP_RECIPES_CONV3D_1_NAIVE_CUH_
#define FULLWARP_RECIPES_CONV3D_1_NAIVE_CUH_

#include "shape.cuh"

namespace fullwarp::recipes {

__global__ void __launch_bounds__(256)
    conv3d_naive(const float* __restrict__ in, const float* __restrict__ weight, float* __restrict__ out,
                 Conv3dShape s) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int z = blockIdx.z % s.depth, output = blockIdx.z / s.depth % s.outputs;
  const int image = blockIdx.z / s.depth / s.outputs;
  if (x >= s.width || y >= s.height) return;
  const size_t plane = static_cast<size_t>(s.height) * s.width;
  float sum = 0;
  for (int i = 0; i < s.inputs; ++i) {
    const float* const from = in + (static_cast<size_t>(image) * s.inputs + i) * s.depth * plane;
    const float* const w = weight + (static_cast<size_t>(output) * s.inputs + i) * 27;
    for (int d = 0; d < 27; ++d) {
      const int zz = z + d / 9 - 1, yy = y + d / 3 % 3 - 1, xx = x + d % 3 - 1;
      if (zz >= 0 && zz < s.depth && yy >= 0 && yy < s.height && xx >= 0 && xx < s.width) {
        sum += w[d] * from[zz * plane + static_cast<size_t>(yy) * s.width + xx];
      }
    }
  }
  out[((static_cast<size_t>(image) * s.outputs + output) * s.depth + z) * plane +
      static_cast<size_t>(y) * s.width + x] = sum;
}

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_CONV3D_1_NAIVE_CUH_

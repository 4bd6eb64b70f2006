// Direct 3 x 3 convolution, step 2: the input through shared memory, once for kOutputs outputs.
//
// A block of 32 x 8 results loads a tile of 34 x 10 values, its own and a rim of one around them, and the
// weights of kOutputs outputs; then each value that a thread reads serves kOutputs products.
//
//     conv3x3_shared<8><<<dim3((width + 31) / 32, (height + 7) / 8, batch * ((outputs + 7) / 8)),
//                         dim3(32, 8)>>>(in, weight, out, {inputs, outputs, height, width});
#ifndef FULLWARP_RECIPES_CONV3X3_2_SHARED_CUH_
#define FULLWARP_RECIPES_CONV3X3_2_SHARED_CUH_

#include "input_tile.cuh"

namespace fullwarp::recipes {

template <int kOutputs>
__global__ void __launch_bounds__(256)
    conv3x3_shared(const float* __restrict__ in, const float* __restrict__ weight, float* __restrict__ out,
                   ConvShape s) {
  __shared__ float tile[10][34];
  __shared__ float w[kOutputs][9];
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * 32 + tx;
  const int groups = (s.outputs + kOutputs - 1) / kOutputs;
  const int first = blockIdx.z % groups * kOutputs, image = blockIdx.z / groups;
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 8;
  const size_t plane = static_cast<size_t>(s.height) * s.width;
  float sum[kOutputs] = {};
  for (int i = 0; i < s.inputs; ++i) {
    load_with_rim<10, 34, 34, 256>(tile, in + (static_cast<size_t>(image) * s.inputs + i) * plane, y0, x0, s,
                                   thread);
    if (thread < kOutputs * 9) {
      const int o = first + thread / 9;
      w[thread / 9][thread % 9] =
          o < s.outputs ? weight[(static_cast<size_t>(o) * s.inputs + i) * 9 + thread % 9] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < 9; ++d) {
      const float v = tile[ty + d / 3][tx + d % 3];
#pragma unroll
      for (int o = 0; o < kOutputs; ++o) sum[o] += w[o][d] * v;
    }
    __syncthreads();
  }
  const int x = x0 + tx, y = y0 + ty;
  if (x >= s.width || y >= s.height) return;
#pragma unroll
  for (int o = 0; o < kOutputs; ++o) {
    if (first + o < s.outputs) {
      out[(static_cast<size_t>(image) * s.outputs + first + o) * plane + static_cast<size_t>(y) * s.width +
          x] = sum[o];
    }
  }
}

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_CONV3X3_2_SHARED_CUH_

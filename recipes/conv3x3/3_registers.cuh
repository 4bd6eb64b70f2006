// Direct 3 x 3 convolution, step 3: 4 results along x and kOutputs outputs in a thread's registers.
//
// In step 2 each product reads a weight from shared memory. Here 4 values and 4 weights, one load of 16
// bytes, make 16 products.
//
//     conv3x3_registers<16><<<dim3((width + 63) / 64, (height + 15) / 16, batch * ((outputs + 15) / 16)),
//                             dim3(16, 16)>>>(in, weight, out, {inputs, outputs, height, width});
#ifndef FULLWARP_RECIPES_CONV3X3_3_REGISTERS_CUH_
#define FULLWARP_RECIPES_CONV3X3_3_REGISTERS_CUH_

#include "input_tile.cuh"

namespace fullwarp::recipes {

template <int kOutputs>
__global__ void __launch_bounds__(256)
    conv3x3_registers(const float* __restrict__ in, const float* __restrict__ weight, float* __restrict__ out,
                      ConvShape s) {
  constexpr int kAlong = 4;  // results of a thread along x, 16 apart: a warp's reads are neighbours
  // A warp reads 16 neighbours of two rows: a pitch of 16 modulo 32 words puts the rows into different banks.
  __shared__ float tile[18][80];
  __shared__ __align__(16) float w[9][kOutputs];
  static_assert(kOutputs % 4 == 0, "weights are read four at a time");
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * 16 + tx;
  const int groups = (s.outputs + kOutputs - 1) / kOutputs;
  const int first = blockIdx.z % groups * kOutputs, image = blockIdx.z / groups;
  const int x0 = blockIdx.x * 64, y0 = blockIdx.y * 16;
  const size_t plane = static_cast<size_t>(s.height) * s.width;
  float sum[kOutputs][kAlong] = {};
  for (int i = 0; i < s.inputs; ++i) {
    load_with_rim<18, 66, 80, 256>(tile, in + (static_cast<size_t>(image) * s.inputs + i) * plane, y0, x0, s,
                                   thread);
    if (thread < kOutputs * 9) {
      const int o = first + thread % kOutputs;
      w[thread / kOutputs][thread % kOutputs] =
          o < s.outputs ? weight[(static_cast<size_t>(o) * s.inputs + i) * 9 + thread / kOutputs] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < 9; ++d) {
      float v[kAlong];
#pragma unroll
      for (int j = 0; j < kAlong; ++j) v[j] = tile[ty + d / 3][tx + 16 * j + d % 3];
#pragma unroll
      for (int o = 0; o < kOutputs; o += 4) {
        const float4 f = *reinterpret_cast<const float4*>(&w[d][o]);
#pragma unroll
        for (int j = 0; j < kAlong; ++j) {
          sum[o][j] += f.x * v[j];
          sum[o + 1][j] += f.y * v[j];
          sum[o + 2][j] += f.z * v[j];
          sum[o + 3][j] += f.w * v[j];
        }
      }
    }
    __syncthreads();
  }
  const int y = y0 + ty;
  if (y >= s.height) return;
#pragma unroll
  for (int o = 0; o < kOutputs; ++o) {
    float* const row =
        out + (static_cast<size_t>(image) * s.outputs + first + o) * plane + static_cast<size_t>(y) * s.width;
#pragma unroll
    for (int j = 0; j < kAlong; ++j) {
      if (first + o < s.outputs && x0 + tx + 16 * j < s.width) row[x0 + tx + 16 * j] = sum[o][j];
    }
  }
}

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_CONV3X3_3_REGISTERS_CUH_

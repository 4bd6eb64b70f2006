// What steps 2 and 3 of the 3-D convolution share: three planes of the input in shared memory, and a thread's
// products from them.
#ifndef FULLWARP_RECIPES_CONV3D_INPUT_TILE_CUH_
#define FULLWARP_RECIPES_CONV3D_INPUT_TILE_CUH_

#include "../conv3x3/input_tile.cuh"
#include "shape.cuh"

namespace fullwarp::recipes {

// kAlong results of a thread along x, kThreadsX apart; a block of kThreadsX x kThreadsY threads.
template <int kOutputs, int kAlong, int kThreadsX, int kThreadsY>
__device__ __forceinline__ void conv3d_tile(const float* in, const float* weight, float* out,
                                            const Conv3dShape& s) {
  constexpr int kColumns = kThreadsX * kAlong + 2, kRows = kThreadsY + 2;
  // Half a warp reads 16 neighbours of one row where rows are 16 threads wide: a pitch of 16 modulo 32 words
  // puts the two rows into different banks.
  constexpr int kPitch = kThreadsX == 32 ? kColumns : (kColumns + 15) / 32 * 32 + 16;
  constexpr int kThreads = kThreadsX * kThreadsY;
  static_assert(kOutputs % 4 == 0, "weights are read four at a time");
  static_assert(3 * kRows * kPitch * 4 + 27 * kOutputs * 4 <= 48 * 1024, "static shared memory");
  __shared__ float tile[3][kRows][kPitch];
  __shared__ __align__(16) float w[27][kOutputs];
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * kThreadsX + tx;
  const int groups = (s.outputs + kOutputs - 1) / kOutputs;
  const int z = blockIdx.z % s.depth, first = blockIdx.z / s.depth % groups * kOutputs;
  const int image = blockIdx.z / s.depth / groups;
  const int x0 = blockIdx.x * kThreadsX * kAlong, y0 = blockIdx.y * kThreadsY;
  const ConvShape flat{s.inputs, s.outputs, s.height, s.width};
  const size_t plane = static_cast<size_t>(s.height) * s.width;
  float sum[kOutputs][kAlong] = {};
  for (int i = 0; i < s.inputs; ++i) {
    const float* const volume = in + (static_cast<size_t>(image) * s.inputs + i) * s.depth * plane;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      const int zz = z + d - 1;
      if (zz >= 0 && zz < s.depth) {
        load_with_rim<kRows, kColumns, kPitch, kThreads>(tile[d], volume + zz * plane, y0, x0, flat, thread);
      } else {
        for (int j = thread; j < kRows * kColumns; j += kThreads) tile[d][j / kColumns][j % kColumns] = 0;
      }
    }
    for (int j = thread; j < 27 * kOutputs; j += kThreads) {
      const int o = first + j % kOutputs;
      w[j / kOutputs][j % kOutputs] =
          o < s.outputs ? weight[(static_cast<size_t>(o) * s.inputs + i) * 27 + j / kOutputs] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < 27; ++d) {
      float v[kAlong];
#pragma unroll
      for (int j = 0; j < kAlong; ++j) v[j] = tile[d / 9][ty + d / 3 % 3][tx + kThreadsX * j + d % 3];
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
    float* const row = out + ((static_cast<size_t>(image) * s.outputs + first + o) * s.depth + z) * plane +
                       static_cast<size_t>(y) * s.width;
#pragma unroll
    for (int j = 0; j < kAlong; ++j) {
      if (first + o < s.outputs && x0 + tx + kThreadsX * j < s.width)
        row[x0 + tx + kThreadsX * j] = sum[o][j];
    }
  }
}

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_CONV3D_INPUT_TILE_CUH_

// 3 x 3 convolution over channels, step 1: nine loads a pixel and channel, and nine weights.
//
// in: [channel][y][x], weight: [output][channel][3][3], zeros beyond the edge. One thread a result. Every
// pixel is loaded nine times by the block, and again by the blocks of the other outputs. Look at: bytes
// loaded against bytes touched. The weights are one address for the whole warp.
//
// fullwarp: in = f32[4*64*128] : uniform(1)
// fullwarp: weight = f32[16*4*9] : uniform(2)
// fullwarp: out = f32[16*64*128]
// fullwarp: want = f32[16*64*128]
// fullwarp: conv3x3_naive<<<(4,8,16), (32,8)>>>(in, weight, out, {i32 4, i32 16, i32 64, i32 128})
// fullwarp: conv3x3_reference<<<(4,8,16), (32,8)>>>(in, weight, want, {i32 4, i32 16, i32 64, i32 128})
// fullwarp: expect out ~ want (rtol 1e-5, atol 1e-5)
//
// A size at which nothing fits: 3 channels to 11, of 37 x 45.
// fullwarp: odd = f32[11*37*45]
// fullwarp: want_odd = f32[11*37*45]
// fullwarp: conv3x3_naive<<<(2,5,11), (32,8)>>>(in, weight, odd, {i32 3, i32 11, i32 37, i32 45})
// fullwarp: conv3x3_reference<<<(2,5,11), (32,8)>>>(in, weight, want_odd, {i32 3, i32 11, i32 37, i32 45})
// fullwarp: expect odd ~ want_odd (rtol 1e-5, atol 1e-5)
#include <cuda_runtime.h>

#include "../../recipes/conv3x3/1_naive.cuh"

// The check: every tap tested and added in double.
__global__ void conv3x3_reference(const float* in, const float* weight, float* out,
                                  fullwarp::recipes::ConvShape s) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int output = blockIdx.z;
  // fullwarp-ignore: divergent-branch the reference stays simple
  if (x >= s.width || y >= s.height) return;
  double sum = 0;
  for (int tap = 0; tap < 9 * s.inputs; ++tap) {
    int from_x = x + tap % 3 - 1, from_y = y + tap % 9 / 3 - 1;
    if (from_x < 0 || from_x >= s.width || from_y < 0 || from_y >= s.height) continue;
    // fullwarp-ignore: redundant-global-loads the reference stays simple
    double pixel = in[(tap / 9 * s.height + from_y) * s.width + from_x];
    sum += pixel * weight[output * 9 * s.inputs + tap];
  }
  out[(output * s.height + y) * s.width + x] = static_cast<float>(sum);
}

// 3-D convolution, 3 x 3 x 3, over channels: step 1, 27 loads a voxel and channel, and 27 weights.
//
// in: [channel][z][y][x], weight: [output][channel][3][3][3], zeros beyond the edge. One thread a result.
// Look at: bytes loaded against bytes touched: each voxel is loaded up to 27 times for each output, and each
// weight by every warp. And at the instructions, about 35 a tap for the three coordinates and their checks,
// beside which the loads do not decide.
//
// fullwarp: in = f32[2*4*16*64] : uniform(1)
// fullwarp: w = f32[16*2*27] : uniform(2)
// fullwarp: out = f32[16*4*16*64]
// fullwarp: want = f32[16*4*16*64]
// fullwarp: conv3d_naive<<<(2,2,64), (32,8)>>>(in, w, out, {i32 2, i32 16, i32 4, i32 16, i32 64})
// fullwarp: conv3d_reference<<<(2,2,64), (32,8)>>>(in, w, want, {i32 2,i32 16,i32 4,i32 16,i32 64})
// fullwarp: expect out ~ want (rtol 1e-5, atol 1e-5)
//
// A size at which nothing fits: 2 channels to 5, of 3 x 11 x 45.
// fullwarp: odd = f32[5*3*11*45]
// fullwarp: want_odd = f32[5*3*11*45]
// fullwarp: conv3d_naive<<<(2,2,15), (32,8)>>>(in, w, odd, {i32 2, i32 5, i32 3, i32 11, i32 45})
// fullwarp: conv3d_reference<<<(2,2,15), (32,8)>>>(in, w, want_odd, {i32 2,i32 5,i32 3,i32 11,i32 45})
// fullwarp: expect odd ~ want_odd (rtol 1e-5, atol 1e-5)
#include <cuda_runtime.h>

#include "../../recipes/conv3d/1_naive.cuh"

// The check: every tap tested and added in double.
__global__ void conv3d_reference(const float* in, const float* weight, float* out,
                                 fullwarp::recipes::Conv3dShape s) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z % s.depth, output = blockIdx.z / s.depth;
  // fullwarp-ignore: divergent-branch the reference stays simple
  if (x >= s.width || y >= s.height) return;
  double sum = 0;
  for (int tap = 0; tap < 27 * s.inputs; ++tap) {
    int from_x = x + tap % 3 - 1, from_y = y + tap / 3 % 3 - 1, from_z = z + tap % 27 / 9 - 1;
    if (from_x < 0 || from_x >= s.width || from_y < 0 || from_y >= s.height || from_z < 0 ||
        from_z >= s.depth)
      continue;
    // fullwarp-ignore: redundant-global-loads the reference stays simple
    double voxel = in[((tap / 27 * s.depth + from_z) * s.height + from_y) * s.width + from_x];
    sum += voxel * weight[output * 27 * s.inputs + tap];
  }
  out[((output * s.depth + z) * s.height + y) * s.width + x] = static_cast<float>(sum);
}

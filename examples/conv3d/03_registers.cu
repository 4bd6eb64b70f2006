// 3-D convolution, 3 x 3 x 3, over channels: step 3, 2 results along x and 16 outputs a thread, in registers.
//
// A thread reads 2 voxels and, 16 bytes at a time, 4 weights for 8 products. A block covers 32 x 16 voxels of
// a plane and all 16 outputs, so that each voxel is loaded once where step 2 loads it twice.
// Look at: requests of shared loads and of global loads beside step 2. How many results along x are best
// depends on the width (kAlong): those that waste least of it.
//
// fullwarp: in = f32[2*4*16*64] : uniform(1)
// fullwarp: w = f32[16*2*27] : uniform(2)
// fullwarp: out = f32[16*4*16*64]
// fullwarp: want = f32[16*4*16*64]
// fullwarp: conv3d_registers<<<(2,1,4), (16,16)>>>(in, w, out, {i32 2, i32 16, i32 4, i32 16, i32 64})
// fullwarp: conv3d_reference<<<(2,2,64), (32,8)>>>(in, w, want, {i32 2,i32 16,i32 4,i32 16,i32 64})
// fullwarp: expect out ~ want (rtol 1e-5, atol 1e-5)
//
// A size at which nothing fits: 2 channels to 5, of 3 x 11 x 45.
// fullwarp: odd = f32[5*3*11*45]
// fullwarp: want_odd = f32[5*3*11*45]
// fullwarp: conv3d_registers<<<(2,1,3), (16,16)>>>(in, w, odd, {i32 2, i32 5, i32 3, i32 11, i32 45})
// fullwarp: conv3d_reference<<<(2,2,15), (32,8)>>>(in, w, want_odd, {i32 2,i32 5,i32 3,i32 11,i32 45})
// fullwarp: expect odd ~ want_odd (rtol 1e-5, atol 1e-5)
#include <cuda_runtime.h>

#include "../../recipes/conv3d/3_registers.cuh"

template __global__ void fullwarp::recipes::conv3d_registers<16, 2>(const float*, const float*, float*,
                                                                    fullwarp::recipes::Conv3dShape);

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

// 3-D convolution, 3 x 3 x 3, several input channels, one output: step 1, 27 loads a channel.
//
// in: [channel][z][y][x], weights: [channel][3][3][3], zeros beyond the edge. One thread a voxel.
// Look at: bytes loaded against bytes touched; each voxel is loaded up to 27 times by a block, and so is each
// weight by every warp.
//
// fullwarp: in = f32[4*16*32*64] : uniform(1)
// fullwarp: weights = f32[4*27] : uniform(2)
// fullwarp: out = f32[16*32*64]
// fullwarp: want = f32[16*32*64]
// fullwarp: conv3d<<<(2,4,16), (32,8)>>>(in, weights, out, 4, 16, 32, 64)
// fullwarp: conv3d_reference<<<(2,4,16), (32,8)>>>(in, weights, want, 4, 16, 32, 64)
// fullwarp: expect out ~ want (rtol 1e-5, atol 1e-5)
//
// A size at which nothing fits: 3 channels of 5 x 19 x 45.
// fullwarp: odd = f32[5*19*45]
// fullwarp: want_odd = f32[5*19*45]
// fullwarp: conv3d<<<(2,3,5), (32,8)>>>(in, weights, odd, 3, 5, 19, 45)
// fullwarp: conv3d_reference<<<(2,3,5), (32,8)>>>(in, weights, want_odd, 3, 5, 19, 45)
// fullwarp: expect odd ~ want_odd (rtol 1e-5, atol 1e-5)
#include <cuda_runtime.h>

__global__ void conv3d(const float* __restrict__ in, const float* __restrict__ weights,
                       float* __restrict__ out, int channels, int depth, int height, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int channel = 0; channel < channels; ++channel) {
    const float* volume = in + channel * depth * height * width;
#pragma unroll
    for (int tap = 0; tap < 27; ++tap) {
      int from_x = x + tap % 3 - 1, from_y = y + tap / 3 % 3 - 1, from_z = z + tap / 9 - 1;
      bool inside =
          from_x >= 0 && from_x < width && from_y >= 0 && from_y < height && from_z >= 0 && from_z < depth;
      float voxel = inside ? volume[(from_z * height + from_y) * width + from_x] : 0.0f;
      sum += voxel * weights[channel * 27 + tap];
    }
  }
  out[(z * height + y) * width + x] = sum;
}

// The check: every tap tested and added in double.
__global__ void conv3d_reference(const float* in, const float* weights, float* out, int channels, int depth,
                                 int height, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z;
  // fullwarp-ignore: divergent-branch the reference stays simple
  if (x >= width || y >= height) return;
  double sum = 0;
  for (int tap = 0; tap < 27 * channels; ++tap) {
    int channel = tap / 27, t = tap % 27;
    int from_x = x + t % 3 - 1, from_y = y + t / 3 % 3 - 1, from_z = z + t / 9 - 1;
    if (from_x < 0 || from_x >= width || from_y < 0 || from_y >= height || from_z < 0 || from_z >= depth)
      continue;
    // fullwarp-ignore: redundant-global-loads the reference stays simple
    sum += static_cast<double>(in[((channel * depth + from_z) * height + from_y) * width + from_x]) *
           weights[tap];
  }
  out[(z * height + y) * width + x] = static_cast<float>(sum);
}

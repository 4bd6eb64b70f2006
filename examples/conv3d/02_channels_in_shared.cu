// 3-D convolution, 3 x 3 x 3, several input channels, one output: step 2, channels staged in shared memory.
//
// A block computes 32 x 4 x 4 voxels. For each channel its threads load the box of 34 x 6 x 6 voxels, zeros
// beyond the edge, and the 27 weights; the taps then read shared memory. Staging one channel at a time keeps
// shared memory at 5 KB whatever the number of channels.
// Look at: global loads a voxel and channel, 2.4 where step 1 has 27 (and 27 weights); the lanes of a warp
// read neighbouring words of the box, and the weights are one word for the whole warp.
//
// fullwarp: in = f32[4*16*32*64] : uniform(1)
// fullwarp: weights = f32[4*27] : uniform(2)
// fullwarp: out = f32[16*32*64]
// fullwarp: want = f32[16*32*64]
// fullwarp: conv3d<<<(2,8,4), (32,4,4)>>>(in, weights, out, 4, 16, 32, 64)
// fullwarp: conv3d_reference<<<(2,4,16), (32,8)>>>(in, weights, want, 4, 16, 32, 64)
// fullwarp: expect out ~ want (rtol 1e-5, atol 1e-5)
//
// A size at which nothing fits: 3 channels of 5 x 19 x 45.
// fullwarp: odd = f32[5*19*45]
// fullwarp: want_odd = f32[5*19*45]
// fullwarp: conv3d<<<(2,5,2), (32,4,4)>>>(in, weights, odd, 3, 5, 19, 45)
// fullwarp: conv3d_reference<<<(2,3,5), (32,8)>>>(in, weights, want_odd, 3, 5, 19, 45)
// fullwarp: expect odd ~ want_odd (rtol 1e-5, atol 1e-5)
#include <cuda_runtime.h>

constexpr int kWidth = 32, kHeight = 4, kDepth = 4;  // voxels of a block, and its threads
constexpr int kThreads = kWidth * kHeight * kDepth;
constexpr int kBoxWidth = kWidth + 2, kBoxHeight = kHeight + 2, kBoxDepth = kDepth + 2;

__global__ void __launch_bounds__(kThreads)
    conv3d(const float* __restrict__ in, const float* __restrict__ weights, float* __restrict__ out,
           int channels, int depth, int height, int width) {
  __shared__ float box[kBoxDepth][kBoxHeight][kBoxWidth];
  __shared__ float taps[27];
  int first_x = blockIdx.x * kWidth - 1, first_y = blockIdx.y * kHeight - 1,
      first_z = blockIdx.z * kDepth - 1;
  int thread = (threadIdx.z * kHeight + threadIdx.y) * kWidth + threadIdx.x;
  float sum = 0;
  for (int channel = 0; channel < channels; ++channel) {
    const float* volume = in + channel * depth * height * width;
    for (int i = thread; i < kBoxWidth * kBoxHeight * kBoxDepth; i += kThreads) {
      int box_x = i % kBoxWidth, box_y = i / kBoxWidth % kBoxHeight, box_z = i / (kBoxWidth * kBoxHeight);
      int x = first_x + box_x, y = first_y + box_y, z = first_z + box_z;
      bool inside = x >= 0 && x < width && y >= 0 && y < height && z >= 0 && z < depth;
      box[box_z][box_y][box_x] = inside ? volume[(z * height + y) * width + x] : 0.0f;
    }
    if (thread < 27) taps[thread] = weights[channel * 27 + thread];
    __syncthreads();
#pragma unroll
    for (int tap = 0; tap < 27; ++tap) {
      sum += box[threadIdx.z + tap / 9][threadIdx.y + tap / 3 % 3][threadIdx.x + tap % 3] * taps[tap];
    }
    __syncthreads();
  }
  int x = first_x + 1 + threadIdx.x, y = first_y + 1 + threadIdx.y, z = first_z + 1 + threadIdx.z;
  if (x < width && y < height && z < depth) out[(z * height + y) * width + x] = sum;
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

// 3-D convolution, 3 x 3 x 3, several input channels, one output: step 3, weights and voxels in registers.
//
// In step 2 every multiply-add loads a voxel and a weight from shared memory. Here a thread computes a column
// of 8 voxels along z. It holds a channel's 27 weights and the three planes of 3 x 3 voxels around the
// present one; going one plane on it loads nine voxels instead of 27 and moves the others up by a plane. The
// loops are unrolled, so that moving costs nothing: the registers change roles.
//
//     plane z - 1   plane z   plane z + 1            plane z   plane z + 1   plane z + 2
//     planes[0]     [1]       [2]            ->      [0]       [1]           [2] (9 new loads)
//
// Look at: requests of shared loads, 12.1 for a warp's voxels and a channel (10 planes of 9 voxels, and 27
// weights in 7 wide loads, for 8 voxels) where step 2 has 34; global loads a voxel and channel, 2.0 where
// step 2 has 2.4.
//
// fullwarp: in = f32[4*16*32*64] : uniform(1)
// fullwarp: weights = f32[4*27] : uniform(2)
// fullwarp: out = f32[16*32*64]
// fullwarp: want = f32[16*32*64]
// fullwarp: conv3d<<<(2,8,2), (32,4)>>>(in, weights, out, 4, 16, 32, 64)
// fullwarp: conv3d_reference<<<(2,4,16), (32,8)>>>(in, weights, want, 4, 16, 32, 64)
// fullwarp: expect out ~ want (rtol 1e-5, atol 1e-5)
//
// A size at which nothing fits: 3 channels of 5 x 19 x 45.
// fullwarp: odd = f32[5*19*45]
// fullwarp: want_odd = f32[5*19*45]
// fullwarp: conv3d<<<(2,5,1), (32,4)>>>(in, weights, odd, 3, 5, 19, 45)
// fullwarp: conv3d_reference<<<(2,3,5), (32,8)>>>(in, weights, want_odd, 3, 5, 19, 45)
// fullwarp: expect odd ~ want_odd (rtol 1e-5, atol 1e-5)
#include <cuda_runtime.h>

constexpr int kWidth = 32, kHeight = 4;  // voxels of a block in x and y, and its threads
constexpr int kColumn = 8;               // voxels of a thread, along z
constexpr int kThreads = kWidth * kHeight;
constexpr int kBoxWidth = kWidth + 2, kBoxHeight = kHeight + 2, kBoxDepth = kColumn + 2;

__global__ void __launch_bounds__(kThreads)
    conv3d(const float* __restrict__ in, const float* __restrict__ weights, float* __restrict__ out,
           int channels, int depth, int height, int width) {
  __shared__ float box[kBoxDepth][kBoxHeight][kBoxWidth];
  __shared__ float taps[27];
  int first_x = blockIdx.x * kWidth - 1, first_y = blockIdx.y * kHeight - 1,
      first_z = blockIdx.z * kColumn - 1;
  int thread = threadIdx.y * kWidth + threadIdx.x;
  float sum[kColumn] = {};
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

    float weight[27], planes[3][9];
#pragma unroll
    for (int tap = 0; tap < 27; ++tap) weight[tap] = taps[tap];
#pragma unroll
    for (int i = 0; i < 18; ++i)
      planes[i / 9][i % 9] = box[i / 9][threadIdx.y + i % 9 / 3][threadIdx.x + i % 3];
#pragma unroll
    for (int z = 0; z < kColumn; ++z) {
#pragma unroll
      for (int i = 0; i < 9; ++i) planes[2][i] = box[z + 2][threadIdx.y + i / 3][threadIdx.x + i % 3];
#pragma unroll
      for (int tap = 0; tap < 27; ++tap) sum[z] += planes[tap / 9][tap % 9] * weight[tap];
#pragma unroll
      for (int i = 0; i < 9; ++i) {
        planes[0][i] = planes[1][i];
        planes[1][i] = planes[2][i];
      }
    }
    __syncthreads();
  }
  int x = first_x + 1 + threadIdx.x, y = first_y + 1 + threadIdx.y;
#pragma unroll
  for (int z = 0; z < kColumn; ++z) {
    if (x < width && y < height && first_z + 1 + z < depth)
      out[((first_z + 1 + z) * height + y) * width + x] = sum[z];
  }
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

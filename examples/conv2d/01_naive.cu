// 3 x 3 convolution, step 1: nine loads a pixel.
//
// One thread a pixel, zeros beyond the edge. Every pixel is loaded nine times by the block, in requests that
// are mostly one sector too long because two of three taps start one word off a 128-byte line.
// Look at: bytes loaded against bytes touched. The weights are in constant memory: all lanes read one
// address.
//
// fullwarp: symbol c_weights = f32[9] : uniform(3)
// fullwarp: in = f32[512*512] : uniform(1)
// fullwarp: out = f32[512*512]
// fullwarp: want = f32[512*512]
// fullwarp: conv3x3<<<(16,64), (32,8)>>>(in, out, 512, 512)
// fullwarp: conv3x3_reference<<<(16,64), (32,8)>>>(in, want, 512, 512)
// fullwarp: expect out ~ want (rtol 1e-5, atol 1e-5)
//
// A size at which nothing fits: 203 x 77.
// fullwarp: odd = f32[203*77]
// fullwarp: want_odd = f32[203*77]
// fullwarp: conv3x3<<<(7,10), (32,8)>>>(in, odd, 203, 77)
// fullwarp: conv3x3_reference<<<(7,10), (32,8)>>>(in, want_odd, 203, 77)
// fullwarp: expect odd ~ want_odd (rtol 1e-5, atol 1e-5)
#include <cuda_runtime.h>

__constant__ float c_weights[9];

__global__ void conv3x3(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
#pragma unroll
  for (int dy = -1; dy <= 1; ++dy) {
#pragma unroll
    for (int dx = -1; dx <= 1; ++dx) {
      bool inside = x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height;
      float pixel = inside ? in[(y + dy) * width + x + dx] : 0.0f;
      sum += pixel * c_weights[(dy + 1) * 3 + dx + 1];
    }
  }
  out[y * width + x] = sum;
}

// The check: every tap tested and added in double.
__global__ void conv3x3_reference(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  double sum = 0;
  for (int tap = 0; tap < 9; ++tap) {
    int from_x = x + tap % 3 - 1, from_y = y + tap / 3 - 1;
    if (from_x < 0 || from_x >= width || from_y < 0 || from_y >= height) continue;
    // fullwarp-ignore: redundant-global-loads the reference stays simple
    sum += static_cast<double>(in[from_y * width + from_x]) * c_weights[tap];
  }
  out[y * width + x] = static_cast<float>(sum);
}

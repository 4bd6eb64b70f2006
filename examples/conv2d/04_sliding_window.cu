// 3 x 3 convolution of one image with one filter: a sliding window in registers.
//
// Steps 2 and 3 gain by using a value for several outputs. Here there is one, as in image processing, and
// what is left to share are the rows: a thread computes a column of 8 pixels and loads three pixels for each
// instead of nine (sliding_window.cuh). The weights are in constant memory: all lanes read one address.
//
// Look at: shared loads a pixel, 3.75 where a thread for each pixel would have 9; a rim of 34 x 34 for 32 x
// 32 pixels costs 1.13 global loads a pixel, one of 34 x 10 for 32 x 8 1.33.
//
// fullwarp: symbol c_filter = f32[9] : uniform(3)
// fullwarp: in = f32[512*512] : uniform(1)
// fullwarp: out = f32[512*512]
// fullwarp: want = f32[512*512]
// fullwarp: filter3x3<<<(16,16), (32,4)>>>(in, out, 512, 512)
// fullwarp: filter3x3_reference<<<(16,64), (32,8)>>>(in, want, 512, 512)
// fullwarp: expect out ~ want (rtol 1e-5, atol 1e-5)
//
// A size at which nothing fits: 77 x 203.
// fullwarp: odd = f32[77*203]
// fullwarp: want_odd = f32[77*203]
// fullwarp: filter3x3<<<(7,3), (32,4)>>>(in, odd, 77, 203)
// fullwarp: filter3x3_reference<<<(7,10), (32,8)>>>(in, want_odd, 77, 203)
// fullwarp: expect odd ~ want_odd (rtol 1e-5, atol 1e-5)
#include <cuda_runtime.h>

#include "../../recipes/conv3x3/sliding_window.cuh"

// The check: every tap tested and added in double.
__global__ void filter3x3_reference(const float* in, float* out, int height, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  double sum = 0;
  for (int tap = 0; tap < 9; ++tap) {
    int from_x = x + tap % 3 - 1, from_y = y + tap / 3 - 1;
    if (from_x < 0 || from_x >= width || from_y < 0 || from_y >= height) continue;
    // fullwarp-ignore: redundant-global-loads the reference stays simple
    sum += static_cast<double>(in[from_y * width + from_x]) * fullwarp::recipes::c_filter[tap];
  }
  out[y * width + x] = static_cast<float>(sum);
}

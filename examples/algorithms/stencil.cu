// Heat flow on a plate: four steps of a five-point stencil, each a launch, between two buffers.
//
// The edge keeps its temperature. Launches on one stream follow each other, which is the barrier between
// steps.
//
// fullwarp: plate = f32[200*150] : uniform(1)
// fullwarp: next = f32[200*150]
// fullwarp: check = f32[200*150] : uniform(1)
// fullwarp: check_next = f32[200*150]
// fullwarp: heat_step<<<(7,19), (32,8)>>>(plate, next, 200, 150, 0.2)
// fullwarp: heat_step<<<(7,19), (32,8)>>>(next, plate, 200, 150, 0.2)
// fullwarp: heat_step<<<(7,19), (32,8)>>>(plate, next, 200, 150, 0.2)
// fullwarp: heat_step<<<(7,19), (32,8)>>>(next, plate, 200, 150, 0.2)
// fullwarp: heat_reference<<<118, 256>>>(check, check_next, 200, 150, 0.2)
// fullwarp: heat_reference<<<118, 256>>>(check_next, check, 200, 150, 0.2)
// fullwarp: heat_reference<<<118, 256>>>(check, check_next, 200, 150, 0.2)
// fullwarp: heat_reference<<<118, 256>>>(check_next, check, 200, 150, 0.2)
// fullwarp: expect plate ~ check (rtol 1e-5, atol 1e-6)
#include <cuda_runtime.h>

__global__ void heat_step(const float* __restrict__ from, float* __restrict__ to, int width, int height,
                          float rate) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int i = y * width + x;
  float here = from[i];
  bool edge = x == 0 || y == 0 || x == width - 1 || y == height - 1;
  to[i] = edge ? here
               : here + rate * (from[i - 1] + from[i + 1] + from[i - width] + from[i + width] - 4.0f * here);
}

// The check: the same formula in double, one thread a point in memory order.
__global__ void heat_reference(const float* from, float* to, int width, int height, float rate) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= width * height) return;
  int x = i % width, y = i / width;
  double here = from[i];
  if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
    double around = static_cast<double>(from[i - 1]) + from[i + 1] + from[i - width] + from[i + width];
    here += rate * (around - 4 * here);
  }
  to[i] = static_cast<float>(here);
}

// Block size, step 1: 32 threads, one warp a block.
//
// An SM keeps at most 32 blocks, so at most 32 warps of its 64 are busy, however many registers are free.
// Look at: occupancy 50 %, limited by blocks per SM.
//
// fullwarp: x = f32[256000] : uniform(1)
// fullwarp: y = f32[256000] : uniform(2)
// fullwarp: out = f32[256000]
// fullwarp: want = f32[256000]
// fullwarp: saxpy<<<8000, 32>>>(x, y, out, 2.5, 256000)
// fullwarp: saxpy_reference<<<1000, 32>>>(x, y, want, 2.5, 256000)
// fullwarp: expect out = want
#include <cuda_runtime.h>

// out = factor * x + y; the last block may be partly beyond the end.
__global__ void saxpy(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out,
                      float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * x[i] + y[i];
}

// The check: one warp a block, a grid-stride loop.
// fullwarp-ignore: low-occupancy the reference stays simple
__global__ void saxpy_reference(const float* x, const float* y, float* out, float factor, int n) {
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += gridDim.x * 32) out[i] = fmaf(factor, x[i], y[i]);
}

// Block size, step 2: 100 threads.
//
// 100 threads are 4 warps, the last with 4 of its 32 lanes: 28 of 128 lanes never work, and the partial warp
// still issues every instruction. Block b starts at byte 400 * b: every other block starts in the middle of a
// sector, and its full warps touch 5 sectors a request instead of 4.
// Look at: lanes lost, sectors per request.
//
// fullwarp: x = f32[256000] : uniform(1)
// fullwarp: y = f32[256000] : uniform(2)
// fullwarp: out = f32[256000]
// fullwarp: want = f32[256000]
// fullwarp: saxpy<<<2560, 100>>>(x, y, out, 2.5, 256000)
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

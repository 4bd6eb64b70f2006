// Block size, step 3: 1000 threads.
//
// 32 warps, the last with 8 of 32 lanes. Only two such blocks fit an SM, so it idles by half whenever one of
// them is at its end.
// Look at: lanes lost; few, large blocks.
//
// fullwarp: x = f32[256000] : uniform(1)
// fullwarp: y = f32[256000] : uniform(2)
// fullwarp: out = f32[256000]
// fullwarp: want = f32[256000]
// fullwarp: saxpy<<<256, 1000>>>(x, y, out, 2.5, 256000)
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

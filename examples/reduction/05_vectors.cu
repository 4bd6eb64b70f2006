// Sum of an array, step 5: many values a thread, 16 bytes a load.
//
// In step 4 a block and an atomic serve 256 values, and on an H200 that is where its time goes: 961
// microseconds for 134 million values, this step 118 (docs/gemm.md). Here a grid of few blocks walks through
// the array; a thread adds four values a load before its warp's first shuffle.
// Look at: requests of loads, a quarter of step 4 for the same sectors; atomics and shared requests, 1/30.
//
// fullwarp: in = f32[100000] : below(100, 5)
// fullwarp: total = f32[1]
// fullwarp: want = f32[1]
// fullwarp: sum_vectors<<<13, 256>>>(in, 100000, total)
// fullwarp: sum_reference<<<391, 256>>>(in, 100000, want)
// fullwarp: expect total = want
//
// From the second value on: not at a multiple of 16 bytes.
// fullwarp: total_odd = f32[1]
// fullwarp: want_odd = f32[1]
// fullwarp: sum_vectors<<<13, 256>>>(in + 1, 99998, total_odd)
// fullwarp: sum_reference<<<391, 256>>>(in + 1, 99998, want_odd)
// fullwarp: expect total_odd = want_odd
#include <cuda_runtime.h>

#include "../../recipes/reduction/3_vectors.cuh"

// The check: every value is added to one counter. They are whole numbers, so that every order gives the same.
__global__ void sum_reference(const float* in, int n, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // fullwarp-ignore: misaligned-global the reference stays simple
  // fullwarp-ignore: contended-atomic the reference stays simple
  if (i < n) atomicAdd(out, in[i]);
}

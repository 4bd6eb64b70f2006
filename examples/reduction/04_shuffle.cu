// Sum of an array, step 4: the lanes of a warp add with shuffles.
//
// The 32 lanes of a warp add theirs in five shuffles, without shared memory or barriers. Only the 8 sums of
// the warps go through shared memory, with one barrier.
// Look at: shared requests a block, 9 where step 3 has 45; one barrier where it has eight.
//
// fullwarp: in = f32[100000] : below(100, 5)
// fullwarp: total = f32[1]
// fullwarp: want = f32[1]
// fullwarp: sum_shuffle<<<391, 256>>>(in, 100000, total)
// fullwarp: sum_reference<<<391, 256>>>(in, 100000, want)
// fullwarp: expect total = want
#include <cuda_runtime.h>

#include "../../recipes/reduction/2_shuffle.cuh"

// The check: every value is added to one counter. They are whole numbers, so that every order gives the same.
__global__ void sum_reference(const float* in, int n, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // fullwarp-ignore: contended-atomic the reference stays simple
  if (i < n) atomicAdd(out, in[i]);
}

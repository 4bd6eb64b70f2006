// Sum of an array, step 3: sequential addresses.
//
//     half 128: thread t adds values t, t + 128   half 64: t, t + 64   ...   half 1: 0, 1
//
// The stride falls instead of growing, so that neighbouring lanes always read neighbouring words: no
// conflict. The block adds its sum to the total with one atomic, which saves the second launch.
// Look at: one wavefront a request. What is left are the barriers, one for each halving, and the last five
// steps in which a single warp works on.
//
// fullwarp: in = f32[100000] : below(100, 5)
// fullwarp: total = f32[1]
// fullwarp: want = f32[1]
// fullwarp: sum_shared<<<391, 256>>>(in, 100000, total)
// fullwarp: sum_reference<<<391, 256>>>(in, 100000, want)
// fullwarp: expect total = want
#include <cuda_runtime.h>

#include "../../recipes/reduction/1_shared.cuh"

// The check: every value is added to one counter. They are whole numbers, so that every order gives the same.
__global__ void sum_reference(const float* in, int n, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // fullwarp-ignore: contended-atomic the reference stays simple
  if (i < n) atomicAdd(out, in[i]);
}

// Sum of an array, step 1: a value a thread, halving in shared memory, a barrier for each halving.
//
// The stride falls, so that neighbouring lanes read neighbouring words. A block adds its sum to *out (zero it
// before) with one atomic. Any n up to 2^31 - 1. fp32 sums differ in the last bits from run to run: the order
// of atomics is not fixed.
//
//     sum_shared<<<(n + 255) / 256, 256>>>(in, n, out);
#ifndef FULLWARP_RECIPES_REDUCTION_1_SHARED_CUH_
#define FULLWARP_RECIPES_REDUCTION_1_SHARED_CUH_

#include <cstdint>

namespace fullwarp::recipes {

__global__ void __launch_bounds__(256) sum_shared(const float* __restrict__ in, int n, float* out) {
  __shared__ float part[256];
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  part[threadIdx.x] = i < n ? in[i] : 0.0f;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(out, part[0]);
}

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_REDUCTION_1_SHARED_CUH_

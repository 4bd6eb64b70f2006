// Sum of an array, step 2: the last halvings within a warp, by shuffles.
//
// The 32 lanes of a warp add theirs in five shuffles, without shared memory or barriers. Only the sums of the
// 8 warps go through shared memory, with one barrier. Otherwise as step 1.
//
//     sum_shuffle<<<(n + 255) / 256, 256>>>(in, n, out);
#ifndef FULLWARP_RECIPES_REDUCTION_2_SHUFFLE_CUH_
#define FULLWARP_RECIPES_REDUCTION_2_SHUFFLE_CUH_

#include <cstdint>

namespace fullwarp::recipes {

// The warp's sum, in lane 0.
__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(~0u, value, distance);
  return value;
}

// Adds the block's sum to *out; 256 threads.
__device__ __forceinline__ void add_block_sum(float value, float* out) {
  __shared__ float part[8];
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    value = warp_sum(threadIdx.x < 8 ? part[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) atomicAdd(out, value);
  }
}

__global__ void __launch_bounds__(256) sum_shuffle(const float* __restrict__ in, int n, float* out) {
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  add_block_sum(i < n ? in[i] : 0.0f, out);
}

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_REDUCTION_2_SHUFFLE_CUH_

// Sum of an array, step 3: a thread adds many values first, 16 bytes a load.
//
// Steps 1 and 2 spend their time on a block and an atomic for every 256 values. Here a few blocks walk
// through the array together. `in` may start at any multiple of 4 bytes: the values before and behind the
// 16-byte pieces are added by the first block.
//
//     sum_vectors<<<std::min((n + 8191) / 8192, 4 * multiprocessors), 256>>>(in, n, out);
#ifndef FULLWARP_RECIPES_REDUCTION_3_VECTORS_CUH_
#define FULLWARP_RECIPES_REDUCTION_3_VECTORS_CUH_

#include <cstdint>

#include "2_shuffle.cuh"

namespace fullwarp::recipes {

__global__ void __launch_bounds__(256) sum_vectors(const float* __restrict__ in, int n, float* out) {
  const int to_aligned = static_cast<int>((16 - reinterpret_cast<uintptr_t>(in) % 16) % 16 / 4);
  const int head = to_aligned < n ? to_aligned : n;
  const int vectors = (n - head) / 4;
  const float4* const body = reinterpret_cast<const float4*>(in + head);
  const int64_t stride = int64_t{256} * gridDim.x;
  float sum[4] = {};
  int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  for (; i + 3 * stride < vectors; i += 4 * stride) {
    float4 v[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) v[j] = body[i + j * stride];
#pragma unroll
    for (int j = 0; j < 4; ++j) sum[j] += (v[j].x + v[j].y) + (v[j].z + v[j].w);
  }
  for (; i < vectors; i += stride) {
    const float4 v = body[i];
    sum[0] += (v.x + v.y) + (v.z + v.w);
  }
  if (blockIdx.x == 0) {  // what lies before and behind the vectors, six values at most
    const int tail = head + 4 * vectors;
    if (threadIdx.x < head) sum[0] += in[threadIdx.x];
    if (threadIdx.x < n - tail) sum[0] += in[tail + threadIdx.x];
  }
  add_block_sum((sum[0] + sum[1]) + (sum[2] + sum[3]), out);
}

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_REDUCTION_3_VECTORS_CUH_

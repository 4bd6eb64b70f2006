// Sum of an array, in three steps. Each adds what its block found to *out (zero it before) with one atomic.
//
//   1 sum_shared     one value a thread, halving in shared memory: a barrier for each halving
//   2 sum_shuffle    the last halvings within a warp, by shuffles: no barrier, no shared memory
//   3 sum_vectors    a thread adds many values first, 16 bytes a load: fewer blocks, fewer atomics
//
//     sum_shared<<<(n + 255) / 256, 256>>>(in, n, out);
//     sum_shuffle<<<(n + 255) / 256, 256>>>(in, n, out);
//     sum_vectors<<<std::min((n + 8191) / 8192, 4 * multiprocessors), 256>>>(in, n, out);
//
// Any n up to 2^31 - 1; `in` at any multiple of 4 bytes. fp32 sums differ in the last bits from run to run:
// the order of atomics is not fixed.
#ifndef FULLWARP_RECIPES_REDUCTION_SUM_CUH_
#define FULLWARP_RECIPES_REDUCTION_SUM_CUH_

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
#endif  // FULLWARP_RECIPES_REDUCTION_SUM_CUH_

// Mistake: a counter in global memory increased without an atomic operation.
//
// Load, add and store of one thread mix with those of others, within a warp and between blocks: counts get
// lost. Right: atomicAdd(&counts[...], 1), better yet counters in shared memory first
// (algorithms/histogram.cu).
//
// fullwarp: values = u32[4096] : below(16, 1)
// fullwarp: counts = i32[16]
// fullwarp: want = i32[16]
// fullwarp: count<<<16, 256>>>(values, counts, 4096)
// fullwarp: count_reference<<<1, 16>>>(values, want, 4096)
// fullwarp: expect counts = want
#include <cuda_runtime.h>

__global__ void count(const unsigned* values, int* counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) counts[values[i]] += 1;
}

// The check: thread t counts the values t.
// fullwarp-ignore: partial-warp the reference stays simple
__global__ void count_reference(const unsigned* values, int* counts, int n) {
  int sum = 0;
  // fullwarp-ignore: redundant-global-loads the reference stays simple
  for (int i = 0; i < n; ++i) sum += values[i] == threadIdx.x;
  counts[threadIdx.x] = sum;
}

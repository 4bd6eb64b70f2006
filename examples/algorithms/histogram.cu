// Histogram: counters in global memory, and counters in shared memory first.
//
// With 64 counters and thousands of values, atomics on global memory queue up at few addresses. A block that
// counts in shared memory and adds its 64 sums at the end sends 64 of them instead of one a value.
//
// fullwarp: values = u8[100000] : uniform(1)
// fullwarp: counts_global = u32[64]
// fullwarp: counts_shared = u32[64]
// fullwarp: want = u32[64]
// fullwarp: histogram_global<<<100, 256>>>(values, counts_global, 100000)
// fullwarp: histogram_shared<<<100, 256>>>(values, counts_shared, 100000)
// fullwarp: histogram_reference<<<64, 32>>>(values, want, 100000)
// fullwarp: expect counts_global = want
// fullwarp: expect counts_shared = want
#include <cuda_runtime.h>

constexpr int kBins = 64;

__global__ void histogram_global(const unsigned char* __restrict__ values, unsigned* __restrict__ counts,
                                 int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&counts[values[i] % kBins], 1u);
  }
}

__global__ void histogram_shared(const unsigned char* __restrict__ values, unsigned* __restrict__ counts,
                                 int n) {
  __shared__ unsigned block_counts[kBins];
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) block_counts[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&block_counts[values[i] % kBins], 1u);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    if (block_counts[bin] != 0) atomicAdd(&counts[bin], block_counts[bin]);
  }
}

// The check: one warp a counter, each lane counts its share.
__global__ void histogram_reference(const unsigned char* values, unsigned* counts, int n) {
  unsigned bin = blockIdx.x, count = 0;
  for (int i = threadIdx.x; i < n; i += 32) count += values[i] % kBins == bin;
  for (int offset = 16; offset > 0; offset /= 2) count += __shfl_xor_sync(0xffffffffu, count, offset);
  if (threadIdx.x == 0) counts[bin] = count;
}

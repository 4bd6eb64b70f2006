// Sum of an array, step 4: the lanes of a warp add with shuffles.
//
// A thread first adds as many values as there are (a grid-stride loop: any n, any grid), then the 32 lanes of
// a warp add theirs in five shuffles, without shared memory or barriers. Only the 8 sums of the warps go
// through shared memory, with one barrier.
// Look at: shared requests a block, 9 where step 3 has 45; one barrier where it has nine.
//
// fullwarp: in = i32[100000] : below(1000, 5)
// fullwarp: partial = i32[64]
// fullwarp: total = i32[1]
// fullwarp: want = i32[1]
// fullwarp: block_sum<<<64, 256>>>(in, partial, 100000)
// fullwarp: block_sum<<<1, 256>>>(partial, total, 64)
// fullwarp: sum_reference<<<391, 256>>>(in, want, 100000)
// fullwarp: expect total = want
#include <cuda_runtime.h>

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

__device__ int warp_sum(int value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  return value;  // the sum is right in lane 0
}

// One sum a block; a second launch adds the sums of the blocks.
__global__ void __launch_bounds__(kThreads)
    block_sum(const int* __restrict__ in, int* __restrict__ sums, int n) {
  __shared__ int warp_sums[kWarps];
  int sum = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) sum += in[i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = warp_sum(threadIdx.x < kWarps ? warp_sums[threadIdx.x] : 0);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  }
}

// The check: every value is added to one counter.
__global__ void sum_reference(const int* in, int* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, in[i]);
}

// Sum in one launch: the last block to finish adds up what the others left.
//
// Each block writes its sum, then a fence, then takes a ticket; the one with the last ticket sees all sums.
//
// fullwarp: in = i32[50000] : below(100, 1)
// fullwarp: sums = i32[50]
// fullwarp: ticket = u32[1]
// fullwarp: total = i32[1]
// fullwarp: want = i32[1]
// fullwarp: grid_sum<<<50, 256>>>(in, sums, ticket, total, 50000)
// fullwarp: sum_reference<<<196, 256>>>(in, want, 50000)
// fullwarp: expect total = want
#include <cuda_runtime.h>

__device__ int block_sum(int value) {
  __shared__ int warps[8];
  value = __reduce_add_sync(0xffffffffu, value);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 8; ++i) sum += warps[i];
  __syncthreads();
  return sum;
}

__global__ void grid_sum(const int* __restrict__ in, volatile int* sums, unsigned* ticket, int* total,
                         int n) {
  __shared__ bool last;
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  sum = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += sums[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) *total = sum;
}

// The check: every value is added to one counter.
__global__ void sum_reference(const int* in, int* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, in[i]);
}

// Sum of an array, step 1: the thread whose number divides by the stride works.
//
//     stride 1: threads 0, 2, 4, ...   stride 2: 0, 4, 8, ...   stride 4: 0, 8, 16, ...
//
// In every step all warps run with fewer and fewer of their lanes: 16, 8, 4, 2, 1, and the remainder by a
// run-time stride (the compiler does not know blockDim.x and keeps the loop) costs 20 instructions where a
// mask would cost one. Look at: the divergent branch, active lanes per instruction; the `rem` in the PTX.
//
// fullwarp: in = i32[100000] : below(1000, 5)
// fullwarp: partial = i32[196]
// fullwarp: total = i32[1]
// fullwarp: want = i32[1]
// fullwarp: block_sum<<<196, 256>>>(in, partial, 100000)
// fullwarp: block_sum<<<1, 256>>>(partial, total, 196)
// fullwarp: sum_reference<<<391, 256>>>(in, want, 100000)
// fullwarp: expect total = want
#include <cuda_runtime.h>

constexpr int kThreads = 256;

// One sum a block of 2 * 256 values; a second launch adds the sums of the blocks.
__global__ void block_sum(const int* __restrict__ in, int* __restrict__ sums, int n) {
  __shared__ int values[kThreads];
  int thread = threadIdx.x;
  int i = blockIdx.x * 2 * kThreads + thread;
  values[thread] = (i < n ? in[i] : 0) + (i + kThreads < n ? in[i + kThreads] : 0);
  __syncthreads();
  for (int stride = 1; stride < static_cast<int>(blockDim.x); stride *= 2) {
    if (thread % (2 * stride) == 0) values[thread] += values[thread + stride];
    __syncthreads();
  }
  if (thread == 0) sums[blockIdx.x] = values[0];
}

// The check: every value is added to one counter.
__global__ void sum_reference(const int* in, int* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, in[i]);
}

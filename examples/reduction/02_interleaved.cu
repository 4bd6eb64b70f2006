// Sum of an array, step 2: neighbouring threads, interleaved addresses.
//
//     stride 1: thread t adds values 2 t, 2 t + 1   stride 2: 4 t, 4 t + 2   stride 4: 8 t, 8 t + 4
//
// The working threads now fill whole warps, the others skip the step together. But lane t reads word
// 2 * stride * t, and that meets the same banks again and again:
//
//     stride    1   2   4   8  16  32  64  128
//     lanes    32  32  32  16   8   4   2    1     of the first warp
//     conflict  2   4   8   8   8   4   2    1     wavefronts a request
//
// Look at: wavefronts of the loads of values[...]; the branch diverges only in the last steps.
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
  for (int stride = 1; stride < kThreads; stride *= 2) {
    int at = 2 * stride * thread;
    if (at < kThreads) values[at] += values[at + stride];
    __syncthreads();
  }
  if (thread == 0) sums[blockIdx.x] = values[0];
}

// The check: every value is added to one counter.
__global__ void sum_reference(const int* in, int* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, in[i]);
}

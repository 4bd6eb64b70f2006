// Mistake: waiting for a thread that waits at a barrier.
//
// Thread 0 spins until thread 32 has set the flag; thread 32 sets it after the barrier; the barrier waits for
// thread 0. Nobody can go on. Right: set the flag before the barrier, and let the barrier do the waiting.
//
// fullwarp: out = i32[1]
// fullwarp: handshake<<<1, 64>>>(out)
#include <cuda_runtime.h>

__global__ void handshake(int* out) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    while (flag == 0) {
    }
  }
  __syncthreads();
  if (threadIdx.x == 32) flag = 1;
  __syncthreads();
  if (threadIdx.x == 0) *out = flag;
}

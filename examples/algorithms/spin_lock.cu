// A spin lock between the lanes of a warp, the warps of a block, and the blocks of a grid.
//
// Since Volta the lanes of a warp progress independently: the lane that holds the lock can leave the loop and
// release it while its neighbours spin. The counter is not atomic; only the lock protects it.
//
// fullwarp: lock = i32[1]
// fullwarp: counter = i32[1]
// fullwarp: want = i32[1]
// fullwarp: count_under_lock<<<4, 64>>>(lock, counter)
// fullwarp: count_reference<<<4, 64>>>(want)
// fullwarp: expect counter = want
#include <cuda_runtime.h>

__global__ void count_under_lock(int* lock, volatile int* counter) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  counter[0] = counter[0] + 1;
  __threadfence();
  atomicExch(lock, 0);
}

// The check: an atomic addition.
__global__ void count_reference(int* counter) { atomicAdd(counter, 1); }

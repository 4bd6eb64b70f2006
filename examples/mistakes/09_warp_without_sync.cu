// Mistake: lanes of a warp exchange values through shared memory as if they ran in lockstep.
//
// That was a habit before Volta. Since then lanes progress independently and the compiler may reorder:
// between a write by one lane and a read by another stands a __syncwarp(), and one more before the next
// write. Right: __shfl_down_sync (reduction/04_shuffle.cu), or values in registers and __syncwarp() between
// steps.
//
// fullwarp: in = i32[32] : iota
// fullwarp: out = i32[1]
// fullwarp: warp_sum<<<1, 32>>>(in, out)
#include <cuda_runtime.h>

__global__ void warp_sum(const int* in, int* out) {
  __shared__ int values[64];
  int lane = threadIdx.x;
  values[lane] = in[lane];
  values[lane + 32] = 0;
  values[lane] += values[lane + 16];
  values[lane] += values[lane + 8];
  values[lane] += values[lane + 4];
  values[lane] += values[lane + 2];
  values[lane] += values[lane + 1];
  if (lane == 0) *out = values[0];
}

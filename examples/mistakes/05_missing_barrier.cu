// Mistake: shared memory read without a barrier after it was written by another warp.
//
// Thread t reads the value that thread 255 - t wrote: another warp, which may not have run yet.
// Right: __syncthreads() between the two lines.
//
// fullwarp: in = i32[1024] : iota
// fullwarp: out = i32[1024]
// fullwarp: reverse_blocks<<<4, 256>>>(in, out)
#include <cuda_runtime.h>

__global__ void reverse_blocks(const int* in, int* out) {
  __shared__ int values[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  values[threadIdx.x] = in[i];
  out[i] = values[255 - threadIdx.x];
}

// Mistake: a halo that nobody wrote.
//
// The tile has one place more on each side, the threads fill the inner 256 only. Shared memory starts with
// whatever the last block left. Right: the first and the last thread load the halo (conv2d/02_shared.cu).
//
// fullwarp: in = i32[1024] : iota
// fullwarp: out = i32[1024]
// fullwarp: sum_of_three<<<4, 256>>>(in, out, 1024)
#include <cuda_runtime.h>

__global__ void sum_of_three(const int* in, int* out, int n) {
  __shared__ int tile[256 + 2];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) tile[threadIdx.x + 1] = in[i];
  __syncthreads();
  if (i < n) out[i] = tile[threadIdx.x] + tile[threadIdx.x + 1] + tile[threadIdx.x + 2];
}

// Mistake: a barrier that only some threads of the block reach.
//
// The threads beyond the end skip the barrier in the condition and go on to the one below: in the last block
// the lanes of a warp wait at two different barriers. An H200 never finishes this launch; other GPUs may go
// on with a value that is not there yet. Right: move the barrier out of the condition and check the access
// only.
//
// fullwarp: in = i32[1000] : below(100, 1)
// fullwarp: out = i32[8]
// fullwarp: first_plus_last<<<8, 128>>>(in, out, 1000)
#include <cuda_runtime.h>

__global__ void first_plus_last(const int* in, int* out, int n) {
  __shared__ int values[128];
  __shared__ int total;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    values[threadIdx.x] = in[i];
    __syncthreads();
    if (threadIdx.x == 0) total = values[0] + values[min(127, n - 1 - i)];
  }
  __syncthreads();
  if (threadIdx.x == 1) out[blockIdx.x] = total;
}

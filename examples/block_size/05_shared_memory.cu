// Block size, step 5: full warps, but 100 KB of shared memory a block.
//
// Shared memory, too, is divided among the blocks of an SM: of 228 KB, two blocks of 100 KB (and 1 KB of the
// system's each) fit. Two blocks of 128 threads are 8 warps of 64.
// Look at: occupancy 12.5 %, limited by shared memory; the same kernel with 12 KB reaches 100 %.
//
// fullwarp: in = i32[65536] : below(1000, 1)
// fullwarp: out = i32[65536]
// fullwarp: out_small = i32[65536]
// fullwarp: want = i32[65536]
// fullwarp: reverse_blocks<<<512, 128, 102400>>>(in, out, 65536)
// fullwarp: reverse_blocks<<<512, 128, 12288>>>(in, out_small, 65536)
// fullwarp: reverse_reference<<<256, 256>>>(in, want, 65536)
// fullwarp: expect out = want
// fullwarp: expect out_small = want
#include <cuda_runtime.h>

// Reverses every block of blockDim.x values; n is a multiple of it.
__global__ void reverse_blocks(const int* __restrict__ in, int* __restrict__ out, int n) {
  extern __shared__ int values[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  values[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  if (i < n) out[i] = values[blockDim.x - 1 - threadIdx.x];
}

// The check: blocks of 128, i with its low seven bits turned over.
__global__ void reverse_reference(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i ^ 127];
}

// A table of device functions, called through pointers; the lanes of a warp call different ones.
//
// fullwarp: in = i32[1000] : below(1000, 1)
// fullwarp: out = i32[1000]
// fullwarp: want = i32[1000]
// fullwarp: apply<<<4, 256>>>(in, out, 1000)
// fullwarp: apply_reference<<<4, 256>>>(in, want, 1000)
// fullwarp: expect out = want
#include <cuda_runtime.h>

using Operation = int (*)(int);

__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int squared(int x) { return x * x; }
__device__ __noinline__ int negated(int x) { return -x; }
__device__ __noinline__ int bits(int x) { return __popc(x); }

__device__ Operation operations[4] = {twice, squared, negated, bits};

__global__ void apply(const int* __restrict__ in, int* __restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = operations[in[i] % 4](in[i]);
}

// The check: a switch.
__global__ void apply_reference(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = in[i];
  switch (x % 4) {
    case 0:
      out[i] = x + x;
      break;
    case 1:
      out[i] = x * x;
      break;
    case 2:
      out[i] = 0 - x;
      break;
    default: {
      int count = 0;
      for (int bit = 0; bit < 32; ++bit) count += (x >> bit) & 1;
      out[i] = count;
    }
  }
}

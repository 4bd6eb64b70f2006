// Mistake: the neighbour of the last value, and `<=` for `<`.
//
// Thread n - 1 reads in[n], and thread n writes out[n]: one value beyond the end of each buffer. On a GPU
// that usually goes unnoticed, because memory is handed out in larger pieces. Right: `i < n`, and a neighbour
// only where there is one.
//
// fullwarp: in = i32[1000] : iota
// fullwarp: out = i32[1000]
// fullwarp: difference<<<8, 128>>>(in, out, 1000)
#include <cuda_runtime.h>

__global__ void difference(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = in[i + 1] - in[i];
}

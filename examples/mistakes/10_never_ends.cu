// Mistake: a loop whose end is never met.
//
// The step is 2 and the end is odd: `i != n` stays true for ever. Right: `i < n`.
//
// fullwarp: out = i32[32]
// fullwarp: count_pairs<<<1, 32>>>(out, 101)
#include <cuda_runtime.h>

__global__ void count_pairs(int* out, int n) {
  int pairs = 0;
  for (volatile int i = 0; i != n; i = i + 2) ++pairs;
  out[threadIdx.x] = pairs;
}

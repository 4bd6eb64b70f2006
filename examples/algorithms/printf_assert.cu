// printf and assert in a kernel: the first negative value is reported, and none is there.
//
// fullwarp: in = i32[100] : iota
// fullwarp: out = i32[100]
// fullwarp: report<<<1, 128>>>(in, out, 100)
// fullwarp: expect out = in
#include <cuda_runtime.h>

#include <cassert>
#include <cstdio>

__global__ void report(const int* __restrict__ in, int* __restrict__ out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  assert(in[i] >= 0);
  if (i % 50 == 7) printf("thread %d: value %d, half of it %.1f, %s\n", i, in[i], in[i] / 2.0, "as read");
  out[i] = in[i];
}

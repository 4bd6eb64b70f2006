// Remainder, step 2: by a constant.
//
// The compiler multiplies by a rounded reciprocal and shifts: 3 instructions a
// remainder here. Make the divisor a template argument or a constexpr where it can be one.
// Look at: no division left in the loop.
//
// fullwarp: start = u32[65536] : uniform(1)
// fullwarp: out = u32[65536]
// fullwarp: want = u32[65536]
// fullwarp: walk<<<256, 256>>>(start, out,  64, 65536)
// fullwarp: walk_reference<<<256, 256>>>(start, want, 255, 64, 65536)
// fullwarp: expect out = want
#include <cuda_runtime.h>

constexpr unsigned kSize = 255;

// Every thread walks `steps` steps through a table of kSize places.
__global__ void walk(const unsigned* __restrict__ start, unsigned* __restrict__ out, int steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned at = start[i];
  for (int step = 0; step < steps; ++step) at = (at * 1664525u + 1013904223u) % kSize;
  out[i] = at;
}

// The check: the same steps with 64-bit integers.
__global__ void walk_reference(const unsigned* start, unsigned* out, unsigned size, int steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long at = start[i];
  for (int step = 0; step < steps; ++step) {
    // fullwarp-ignore: runtime-modulo the reference stays simple
    at = ((at * 1664525ull + 1013904223ull) & 0xffffffffull) % size;
  }
  out[i] = static_cast<unsigned>(at);
}

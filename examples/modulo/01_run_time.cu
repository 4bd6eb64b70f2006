// Remainder, step 1: by a value known at run time.
//
// There is no division instruction: the remainder becomes about 20 instructions, among them a conversion to
// float and an approximate reciprocal. In a loop with one divisor the compiler keeps the reciprocal and
// repeats the rest, about 8 instructions a remainder here. The divisor is the same for the whole launch.
// Look at: the share of the loop that the remainder takes.
//
// fullwarp: start = u32[65536] : uniform(1)
// fullwarp: out = u32[65536]
// fullwarp: want = u32[65536]
// fullwarp: walk<<<256, 256>>>(start, out, 255, 64, 65536)
// fullwarp: walk_reference<<<256, 256>>>(start, want, 255, 64, 65536)
// fullwarp: expect out = want
#include <cuda_runtime.h>

// Every thread walks `steps` steps through a table of `size` places.
__global__ void walk(const unsigned* __restrict__ start, unsigned* __restrict__ out, unsigned size, int steps,
                     int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned at = start[i];
  for (int step = 0; step < steps; ++step) at = (at * 1664525u + 1013904223u) % size;
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

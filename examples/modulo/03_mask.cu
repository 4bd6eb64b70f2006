// Remainder, step 3: a power of two and a mask.
//
// If the table may have 256 places instead of 255, the remainder is one instruction. Of an unsigned value and
// a constant the compiler finds it itself; of a run-time size only the author knows that it is a power of
// two.
// Look at: one `and` in the loop. (Signed values: a remainder keeps the sign, so `%` by a constant power of
// two takes a few instructions more. Index with unsigned types.)
//
// fullwarp: start = u32[65536] : uniform(1)
// fullwarp: out = u32[65536]
// fullwarp: want = u32[65536]
// fullwarp: walk<<<256, 256>>>(start, out, 256, 64, 65536)
// fullwarp: walk_reference<<<256, 256>>>(start, want, 256, 64, 65536)
// fullwarp: expect out = want
#include <cuda_runtime.h>

// Every thread walks `steps` steps through a table of `size` places, a power of two.
__global__ void walk(const unsigned* __restrict__ start, unsigned* __restrict__ out, unsigned size, int steps,
                     int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned at = start[i], mask = size - 1;
  for (int step = 0; step < steps; ++step) at = (at * 1664525u + 1013904223u) & mask;
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

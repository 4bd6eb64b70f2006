// Remainder, step 4: fast division by a value that the host knows before the launch.
//
// The host computes what the compiler would have computed for a constant, once a launch (Granlund and
// Montgomery, "Division by invariant integers using multiplication", 1994, figure 4.1): of 255 the shift 8
// and the multiplier floor(2^32 / 255) + 1 = 16843010 (fast_division.cuh). The kernel divides with one high
// multiplication, an addition and a shift, right for every 32-bit value and every divisor below 2^31. In a
// loop, where step 1 keeps its reciprocal too, the gain is small; it is large where a thread divides once or
// twice, as for a row and a column.
// Look at: no division left in the loop.
//
// fullwarp: start = u32[65536] : uniform(1)
// fullwarp: out = u32[65536]
// fullwarp: want = u32[65536]
// fullwarp: walk<<<256, 256>>>(start, out, {u32 255, u32 16843010, u32 8}, 64, 65536)
// fullwarp: walk_reference<<<256, 256>>>(start, want, 255, 64, 65536)
// fullwarp: expect out = want
#include <cuda_runtime.h>

#include "../../recipes/fast_division.cuh"

using fullwarp::recipes::ReciprocalDivisor;  // FastDivisor may be CUDA's, whose members are its own

// Every thread walks `steps` steps through a table of `size` places.
__global__ void walk(const unsigned* __restrict__ start, unsigned* __restrict__ out, ReciprocalDivisor size,
                     int steps, int n) {
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

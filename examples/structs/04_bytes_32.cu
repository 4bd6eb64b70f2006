// Array of structs, 32 bytes each, one sector a struct.
//
// Two 128-bit loads: each touches all 32 sectors of the warp and uses half of every one. Worse is a kernel
// that needs one member only: it still moves a whole sector a lane, 32 bytes for 4.
// Look at: sectors per request of copy_mass, 32 where 4 would do, and nothing else ever uses the rest.
//
// fullwarp: in = f32[8*65536] : uniform(1)
// fullwarp: out = f32[8*65536]
// fullwarp: want = f32[8*65536]
// fullwarp: scale<<<256, 256>>>(in, out, 3.0, 65535)
// fullwarp: scale_reference<<<2048, 256>>>(in, want, 3.0, 8*65535)
// fullwarp: expect out = want
// fullwarp: masses = f32[65536]
// fullwarp: masses_want = f32[65536]
// fullwarp: copy_mass<<<256, 256>>>(in, masses, 65535)
// fullwarp: copy_mass_reference<<<256, 256>>>(in, masses_want, 65535)
// fullwarp: expect masses = masses_want
#include <cuda_runtime.h>

struct __align__(16) Body {
  float x, y, z, mass, vx, vy, vz, charge;
};

__global__ void scale(const Body* __restrict__ in, Body* __restrict__ out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Body b = in[i];
  out[i] = {b.x * factor,  b.y * factor,  b.z * factor,  b.mass * factor,
            b.vx * factor, b.vy * factor, b.vz * factor, b.charge * factor};
}

__global__ void copy_mass(const Body* __restrict__ in, float* __restrict__ masses, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) masses[i] = in[i].mass;
}

// The check: member 3 of 8.
__global__ void copy_mass_reference(const float* in, float* masses, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // fullwarp-ignore: uncoalesced-global the reference stays simple
  if (i < n) masses[i] = in[8 * i + 3];
}

// The check: the same on the array of floats that the structs are.
__global__ void scale_reference(const float* in, float* out, float factor, int floats) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < floats) out[i] = in[i] * factor;
}

// Array of structs, 20 bytes each.
//
// 20 is no multiple of 16, so no alignment helps: five loads of 4 bytes, each touching the 20 sectors that
// the warp's structs span.
// Look at: sectors per request, 20 where 4 would do.
//
// fullwarp: in = f32[5*65536] : uniform(1)
// fullwarp: out = f32[5*65536]
// fullwarp: want = f32[5*65536]
// fullwarp: scale<<<256, 256>>>(in, out, 3.0, 65535)
// fullwarp: scale_reference<<<1280, 256>>>(in, want, 3.0, 5*65535)
// fullwarp: expect out = want
#include <cuda_runtime.h>

struct Particle {
  float x, y, z, mass, charge;
};

__global__ void scale(const Particle* __restrict__ in, Particle* __restrict__ out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Particle p = in[i];
  out[i] = {p.x * factor, p.y * factor, p.z * factor, p.mass * factor, p.charge * factor};
}

// The check: the same on the array of floats that the structs are.
__global__ void scale_reference(const float* in, float* out, float factor, int floats) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < floats) out[i] = in[i] * factor;
}

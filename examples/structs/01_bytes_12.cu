// Array of structs, 12 bytes each, one a thread.
//
// The three members are loaded one by one, lane t at byte 12 * t: each request touches 12 sectors, the 384
// bytes of the warp's structs, for 128 bytes of use. The next two members find theirs in L1, so DRAM moves
// nothing twice: the waste is requests and L1 traffic.
// Look at: sectors per request, 12 where 4 would do.
//
// fullwarp: in = f32[3*65536] : uniform(1)
// fullwarp: out = f32[3*65536]
// fullwarp: want = f32[3*65536]
// fullwarp: scale<<<256, 256>>>(in, out, 3.0, 65535)
// fullwarp: scale_reference<<<768, 256>>>(in, want, 3.0, 3*65535)
// fullwarp: expect out = want
#include <cuda_runtime.h>

struct Point {
  float x, y, z;
};

__global__ void scale(const Point* __restrict__ in, Point* __restrict__ out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i].x = in[i].x * factor;
  out[i].y = in[i].y * factor;
  out[i].z = in[i].z * factor;
}

// The check: the same on the array of floats that the structs are.
__global__ void scale_reference(const float* in, float* out, float factor, int floats) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < floats) out[i] = in[i] * factor;
}

// Array of structs, 16 bytes each, aligned to 16: one 128-bit load.
//
// The compiler may load four floats at once only if it knows that each struct starts on 16 bytes:
// __align__(16) (float4 has it built in). Then a warp's request moves 512 bytes in 16 sectors, all of them
// used. The same struct without the alignment takes four loads of 16 sectors each.
// Look at: one request a thread where the unaligned twin has four.
//
// fullwarp: in = f32[4*65536] : uniform(1)
// fullwarp: out = f32[4*65536]
// fullwarp: out_unaligned = f32[4*65536]
// fullwarp: want = f32[4*65536]
// fullwarp: scale<<<256, 256>>>(in, out, 3.0, 65535)
// fullwarp: scale_unaligned<<<256, 256>>>(in, out_unaligned, 3.0, 65535)
// fullwarp: scale_reference<<<1024, 256>>>(in, want, 3.0, 4*65535)
// fullwarp: expect out = want
// fullwarp: expect out_unaligned = want
#include <cuda_runtime.h>

struct __align__(16) Point {
  float x, y, z, w;
};
struct UnalignedPoint {
  float x, y, z, w;
};

__global__ void scale(const Point* __restrict__ in, Point* __restrict__ out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Point p = in[i];
  out[i] = {p.x * factor, p.y * factor, p.z * factor, p.w * factor};
}

__global__ void scale_unaligned(const UnalignedPoint* __restrict__ in, UnalignedPoint* __restrict__ out,
                                float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  UnalignedPoint p = in[i];
  out[i] = {p.x * factor, p.y * factor, p.z * factor, p.w * factor};
}

// The check: the same on the array of floats that the structs are.
__global__ void scale_reference(const float* in, float* out, float factor, int floats) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < floats) out[i] = in[i] * factor;
}

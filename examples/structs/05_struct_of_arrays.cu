// Struct of arrays: each member is an array of its own.
//
// Lane t reads word t of every array: 4 sectors a request, all used, whatever the number of members; a kernel
// that needs one member reads one array. The struct with the pointers goes to the kernel by value.
// Look at: sectors per request at their ideal in all three loads and stores.
//
// fullwarp: x = f32[65536] : uniform(1)
// fullwarp: y = f32[65536] : uniform(2)
// fullwarp: z = f32[65536] : uniform(3)
// fullwarp: out = f32[3*65536]
// fullwarp: want = f32[3*65536]
// fullwarp: scale<<<256, 256>>>({x, y, z}, {out, out + 65536, out + 131072}, 3.0, 65535)
// fullwarp: scale_reference<<<256, 256>>>(x, want, 3.0, 65535)
// fullwarp: scale_reference<<<256, 256>>>(y, want + 65536, 3.0, 65535)
// fullwarp: scale_reference<<<256, 256>>>(z, want + 131072, 3.0, 65535)
// fullwarp: expect out = want
#include <cuda_runtime.h>

struct ConstPoints {
  const float *x, *y, *z;
};
struct Points {
  float *x, *y, *z;
};

__global__ void scale(ConstPoints in, Points out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out.x[i] = in.x[i] * factor;
  out.y[i] = in.y[i] * factor;
  out.z[i] = in.z[i] * factor;
}

// The check: the same on the array of floats that the structs are.
__global__ void scale_reference(const float* in, float* out, float factor, int floats) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < floats) out[i] = in[i] * factor;
}

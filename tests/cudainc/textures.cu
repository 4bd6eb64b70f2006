// Textures by object and by reference, surfaces, complex numbers, and the float overloads that clang leaves to CUDA.
// ptx: tex.2d.v4.f32.f32
// ptx: tex.1d.v4.f32.s32
// ptx: .texref
// ptx: sust.b.2d.b32.trap
// ptx: suld.b.2d.b32.trap
// ptx: __nv_hypotf
// ptx: __nv_erff
// none: _ZL
#include <cuComplex.h>
#include <cuda.h>

#include <cmath>
#include <cuda/std/type_traits>

texture<float, 1> table;

__global__ void sample(cudaTextureObject_t texture, cudaSurfaceObject_t surface, float* out) {
  const int i = threadIdx.x;
  out[i] = tex2D<float>(texture, i, 2.f) + tex1Dfetch(table, i) + hypot(out[i], 2.f) + erf(out[1]) + rint(out[2]);
  surf2Dwrite(out[i], surface, i * 4, 3);
  out[2] = surf2Dread<float>(surface, 0, 1);
  const cuComplex c = cuCmulf(make_cuComplex(out[3], out[4]), make_cuComplex(out[1], out[2]));
  out[7] = cuCabsf(c);
  static_assert(cuda::std::is_same<int, int>::value, "");
}

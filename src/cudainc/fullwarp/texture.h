// Arrays, texture and surface objects, and the texture references of CUDA before 12. Fetches go through clang's
// texture header, which writes the tex.* instructions; surfaces are written here as sust.* and suld.*.
#pragma once

#define FW_API __host__ cudaError_t

FW_API cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width, size_t height = 0,
                       unsigned int flags = 0);
FW_API cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                         unsigned int flags = 0);
FW_API cudaMallocMipmappedArray(cudaMipmappedArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                                unsigned int levels, unsigned int flags = 0);
FW_API cudaGetMipmappedArrayLevel(cudaArray_t* array, cudaMipmappedArray_const_t mipmap, unsigned int level);
FW_API cudaFreeArray(cudaArray_t array);
FW_API cudaFreeMipmappedArray(cudaMipmappedArray_t array);
FW_API cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned int* flags, cudaArray_t array);
FW_API cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array);
FW_API cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                               const cudaTextureDesc* texture, const cudaResourceViewDesc* view);
FW_API cudaDestroyTextureObject(cudaTextureObject_t object);
FW_API cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource);
FW_API cudaDestroySurfaceObject(cudaSurfaceObject_t object);
__host__ cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind);
template <class T>
__host__ cudaChannelFormatDesc cudaCreateChannelDesc();

static __host__ inline cudaPitchedPtr make_cudaPitchedPtr(void* p, size_t pitch, size_t xsize, size_t ysize) {
  return {p, pitch, xsize, ysize};
}
static __host__ inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
static __host__ inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
  return {width, height, depth};
}

#undef FW_API

// Texture references.
#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureTypeCubemap 0x0C
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2
template <class T, int Dimensions = cudaTextureType1D, cudaTextureReadMode Mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : textureReference {};

#define FW_API __host__ cudaError_t
FW_API cudaBindTexture(size_t* offset, const textureReference* t, const void* p, const cudaChannelFormatDesc* format,
                       size_t bytes = 0xffffffffu);
FW_API cudaBindTextureToArray(const textureReference* t, cudaArray_const_t array, const cudaChannelFormatDesc* format);
FW_API cudaUnbindTexture(const textureReference* t);
template <class T, int D, cudaTextureReadMode M>
FW_API cudaBindTexture(size_t* offset, const texture<T, D, M>& t, const void* p, const cudaChannelFormatDesc& format,
                       size_t bytes = 0xffffffffu);
template <class T, int D, cudaTextureReadMode M>
FW_API cudaBindTexture(size_t* offset, const texture<T, D, M>& t, const void* p, size_t bytes = 0xffffffffu);
template <class T, int D, cudaTextureReadMode M>
FW_API cudaBindTexture2D(size_t* offset, const texture<T, D, M>& t, const void* p, const cudaChannelFormatDesc& format,
                         size_t width, size_t height, size_t pitch);
template <class T, int D, cudaTextureReadMode M>
FW_API cudaBindTextureToArray(const texture<T, D, M>& t, cudaArray_const_t array, const cudaChannelFormatDesc& format);
template <class T, int D, cudaTextureReadMode M>
FW_API cudaBindTextureToArray(const texture<T, D, M>& t, cudaArray_const_t array);
template <class T, int D, cudaTextureReadMode M>
FW_API cudaUnbindTexture(const texture<T, D, M>& t);
#undef FW_API

// A user's -DN=... would reach into clang's header, whose template parameters are plain letters.
#pragma push_macro("N")
#undef N
#include <__clang_cuda_texture_intrinsics.h>
#pragma pop_macro("N")

// FW_FETCH(function, clang's name, (parameters), (arguments)): by object, and by the reference's handle.
#define FW_FETCH(NAME, OPERATION, PARAMETERS, ...)                                                   \
  template <class T>                                                                                 \
  static __device__ __forceinline__ T NAME(cudaTextureObject_t object, PARAMETERS) {                 \
    T r;                                                                                             \
    __nv_tex_surf_handler(OPERATION, &r, object, __VA_ARGS__);                                       \
    return r;                                                                                        \
  }                                                                                                  \
  template <class T>                                                                                 \
  static __device__ __forceinline__ void NAME(T* to, cudaTextureObject_t object, PARAMETERS) {       \
    __nv_tex_surf_handler(OPERATION, to, object, __VA_ARGS__);                                       \
  }                                                                                                  \
  template <class T, int D>                                                                          \
  static __device__ __forceinline__ T NAME(texture<T, D, cudaReadModeElementType> t, PARAMETERS) {   \
    cudaTextureObject_t object;                                                                      \
    asm("mov.b64 %0, %1;" : "=l"(object) : "l"(t));                                                  \
    T r;                                                                                             \
    __nv_tex_surf_handler(OPERATION, &r, object, __VA_ARGS__);                                       \
    return r;                                                                                        \
  }                                                                                                  \
  template <class T, int D>                                                                          \
  static __device__ __forceinline__ typename fw_texture::Normalized<T>::type NAME(                   \
      texture<T, D, cudaReadModeNormalizedFloat> t, PARAMETERS) {                                    \
    cudaTextureObject_t object;                                                                      \
    asm("mov.b64 %0, %1;" : "=l"(object) : "l"(t));                                                  \
    typename fw_texture::Normalized<T>::type r;                                                      \
    __nv_tex_surf_handler(OPERATION, &r, object, __VA_ARGS__);                                       \
    return r;                                                                                        \
  }
#define FW_AND ,

namespace fw_texture {
// What a fetch in normalized mode gives: floats, as many as the element has members.
template <unsigned Members>
struct Floats;
template <>
struct Floats<1> {
  using type = float;
};
template <>
struct Floats<2> {
  using type = float2;
};
template <>
struct Floats<4> {
  using type = float4;
};
template <class T, class = void, class = void>
struct Members {
  static constexpr unsigned value = 1;
};
template <class T>
struct Members<T, decltype((void)T::y), void> {
  static constexpr unsigned value = sizeof(T) / sizeof(T::y);
};
template <class T>
struct Normalized {
  using type = typename Floats<Members<T>::value>::type;
};
}  // namespace fw_texture

FW_FETCH(tex1Dfetch, "__itex1Dfetch", int x, x)
FW_FETCH(tex1D, "__itex1D", float x, x)
FW_FETCH(tex2D, "__itex2D", float x FW_AND float y, x, y)
FW_FETCH(tex3D, "__itex3D", float x FW_AND float y FW_AND float z, x, y, z)
FW_FETCH(tex1DLod, "__itex1DLod", float x FW_AND float level, x, level)
FW_FETCH(tex2DLod, "__itex2DLod", float x FW_AND float y FW_AND float level, x, y, level)
FW_FETCH(tex3DLod, "__itex3DLod", float x FW_AND float y FW_AND float z FW_AND float level, x, y, z, level)
FW_FETCH(tex1DLayered, "__itex1DLayered", float x FW_AND int layer, x, layer)
FW_FETCH(tex2DLayered, "__itex2DLayered", float x FW_AND float y FW_AND int layer, x, y, layer)
FW_FETCH(texCubemap, "__itexCubemap", float x FW_AND float y FW_AND float z, x, y, z)
FW_FETCH(tex2Dgather, "__itex2Dgather", float x FW_AND float y FW_AND int component = 0, x, y, component)
#undef FW_FETCH
#undef FW_AND

// Surfaces: x in bytes. The three modes outside the bounds are part of the instruction's name. FW_SURFACE
// (name in CUDA, in PTX, parameters, coordinates in PTX, their operands) makes surfNAMEread and surfNAMEwrite.
namespace fw_texture {
template <unsigned Bytes>
struct Word;
template <>
struct Word<1> {
  using type = unsigned short;
};
template <>
struct Word<2> {
  using type = unsigned short;
};
template <>
struct Word<4> {
  using type = unsigned int;
};
template <>
struct Word<8> {
  using type = uint2;
};
template <>
struct Word<16> {
  using type = uint4;
};
}  // namespace fw_texture

namespace fw_texture {
template <template <unsigned, cudaSurfaceBoundaryMode> class S, class T>
static __device__ __forceinline__ T read_surface(cudaSurfaceObject_t s, cudaSurfaceBoundaryMode mode, int x, int y, int z) {
  typename Word<sizeof(T)>::type r;
  if (mode == cudaBoundaryModeZero) {
    r = S<sizeof(T), cudaBoundaryModeZero>::read(s, x, y, z);
  } else if (mode == cudaBoundaryModeClamp) {
    r = S<sizeof(T), cudaBoundaryModeClamp>::read(s, x, y, z);
  } else {
    r = S<sizeof(T), cudaBoundaryModeTrap>::read(s, x, y, z);
  }
  T v;
  __builtin_memcpy(&v, &r, sizeof(T));
  return v;
}
template <template <unsigned, cudaSurfaceBoundaryMode> class S, class T>
static __device__ __forceinline__ void write_surface(const T& v, cudaSurfaceObject_t s, cudaSurfaceBoundaryMode mode, int x,
                                                     int y, int z) {
  typename Word<sizeof(T)>::type r = {};
  __builtin_memcpy(&r, &v, sizeof(T));
  if (mode == cudaBoundaryModeZero) {
    S<sizeof(T), cudaBoundaryModeZero>::write(r, s, x, y, z);
  } else if (mode == cudaBoundaryModeClamp) {
    S<sizeof(T), cudaBoundaryModeClamp>::write(r, s, x, y, z);
  } else {
    S<sizeof(T), cudaBoundaryModeTrap>::write(r, s, x, y, z);
  }
}
}  // namespace fw_texture
#define FW_AND ,
#define FW_ACCESS(SHAPE, PTX, AT, BYTES, TYPE, REGISTERS, OUT, IN, MODE, SUFFIX)                                      \
  template <>                                                                                                         \
  struct SHAPE<BYTES, MODE> {                                                                                         \
    static __device__ __forceinline__ typename Word<BYTES>::type read(cudaSurfaceObject_t s, int x, int y, int z) {   \
      typename Word<BYTES>::type r;                                                                                   \
      asm volatile("suld.b." PTX "." TYPE "." SUFFIX " {" REGISTERS "}, [%[s], " AT "];" : OUT : [s] "l"(s), [x] "r"(x), [y] "r"(y), [z] "r"(z)); \
      return r;                                                                                                       \
    }                                                                                                                 \
    static __device__ __forceinline__ void write(typename Word<BYTES>::type r, cudaSurfaceObject_t s, int x, int y, int z) { \
      asm volatile("sust.b." PTX "." TYPE "." SUFFIX " [%[s], " AT "], {" REGISTERS "};"                              \
                   ::IN, [s] "l"(s), [x] "r"(x), [y] "r"(y), [z] "r"(z) : "memory");                                  \
    }                                                                                                                 \
  };
#define FW_WIDTHS(SHAPE, PTX, AT, MODE, SUFFIX)                                                                       \
  FW_ACCESS(SHAPE, PTX, AT, 1, "b8", "%[a]", [a] "=h"(r), [a] "h"(r), MODE, SUFFIX)                                   \
  FW_ACCESS(SHAPE, PTX, AT, 2, "b16", "%[a]", [a] "=h"(r), [a] "h"(r), MODE, SUFFIX)                                  \
  FW_ACCESS(SHAPE, PTX, AT, 4, "b32", "%[a]", [a] "=r"(r), [a] "r"(r), MODE, SUFFIX)                                  \
  FW_ACCESS(SHAPE, PTX, AT, 8, "v2.b32", "%[a], %[b]", [a] "=r"(r.x) FW_AND [b] "=r"(r.y),                            \
            [a] "r"(r.x) FW_AND [b] "r"(r.y), MODE, SUFFIX)                                                           \
  FW_ACCESS(SHAPE, PTX, AT, 16, "v4.b32", "%[a], %[b], %[c], %[d]",                                                   \
            [a] "=r"(r.x) FW_AND [b] "=r"(r.y) FW_AND [c] "=r"(r.z) FW_AND [d] "=r"(r.w),                             \
            [a] "r"(r.x) FW_AND [b] "r"(r.y) FW_AND [c] "r"(r.z) FW_AND [d] "r"(r.w), MODE, SUFFIX)
#define FW_SURFACE(NAME, PTX, AT, PARAMETERS, ...)                                                                    \
  namespace fw_texture {                                                                                              \
  template <unsigned Bytes, cudaSurfaceBoundaryMode Mode>                                                             \
  struct Surface##NAME;                                                                                               \
  FW_WIDTHS(Surface##NAME, PTX, AT, cudaBoundaryModeTrap, "trap")                                                     \
  FW_WIDTHS(Surface##NAME, PTX, AT, cudaBoundaryModeClamp, "clamp")                                                   \
  FW_WIDTHS(Surface##NAME, PTX, AT, cudaBoundaryModeZero, "zero")                                                     \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  static __device__ __forceinline__ T surf##NAME##read(cudaSurfaceObject_t s, PARAMETERS,                             \
                                                       cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {         \
    return fw_texture::read_surface<fw_texture::Surface##NAME, T>(s, mode, __VA_ARGS__);                              \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  static __device__ __forceinline__ void surf##NAME##read(T* to, cudaSurfaceObject_t s, PARAMETERS,                   \
                                                          cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {      \
    *to = fw_texture::read_surface<fw_texture::Surface##NAME, T>(s, mode, __VA_ARGS__);                               \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  static __device__ __forceinline__ void surf##NAME##write(T v, cudaSurfaceObject_t s, PARAMETERS,                    \
                                                           cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {     \
    fw_texture::write_surface<fw_texture::Surface##NAME>(v, s, mode, __VA_ARGS__);                                    \
  }

FW_SURFACE(1D, "1d", "{%[x]}", int x, x, 0, 0)
FW_SURFACE(2D, "2d", "{%[x], %[y]}", int x FW_AND int y, x, y, 0)
FW_SURFACE(3D, "3d", "{%[x], %[y], %[z], %[z]}", int x FW_AND int y FW_AND int z, x, y, z)
FW_SURFACE(1DLayered, "a1d", "{%[z], %[x]}", int x FW_AND int layer, x, 0, layer)
FW_SURFACE(2DLayered, "a2d", "{%[z], %[x], %[y], %[y]}", int x FW_AND int y FW_AND int layer, x, y, layer)
// A cubemap's faces are layers.
template <class T>
static __device__ __forceinline__ T surfCubemapread(cudaSurfaceObject_t s, int x, int y, int face,
                                                    cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  return surf2DLayeredread<T>(s, x, y, face, mode);
}
template <class T>
static __device__ __forceinline__ void surfCubemapwrite(T v, cudaSurfaceObject_t s, int x, int y, int face,
                                                        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  surf2DLayeredwrite(v, s, x, y, face, mode);
}
#undef FW_SURFACE
#undef FW_WIDTHS
#undef FW_ACCESS
#undef FW_AND

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

// Surfaces: x in bytes. The three modes outside the bounds are part of the instruction's name.
namespace fw_texture {
template <unsigned Bytes>
struct Surface;
#define FW_SURFACE(BYTES, REG, C, PTX)                                                                        \
  template <>                                                                                                 \
  struct Surface<BYTES> {                                                                                     \
    using Register = REG;                                                                                     \
    static __device__ __forceinline__ REG read2(cudaSurfaceObject_t s, int x, int y, cudaSurfaceBoundaryMode m) { \
      REG r;                                                                                                  \
      if (m == cudaBoundaryModeZero) {                                                                        \
        asm volatile("suld.b.2d." PTX ".zero {%0}, [%1, {%2, %3}];" : "=" C(r) : "l"(s), "r"(x), "r"(y));     \
      } else if (m == cudaBoundaryModeClamp) {                                                                \
        asm volatile("suld.b.2d." PTX ".clamp {%0}, [%1, {%2, %3}];" : "=" C(r) : "l"(s), "r"(x), "r"(y));    \
      } else {                                                                                                \
        asm volatile("suld.b.2d." PTX ".trap {%0}, [%1, {%2, %3}];" : "=" C(r) : "l"(s), "r"(x), "r"(y));     \
      }                                                                                                       \
      return r;                                                                                               \
    }                                                                                                         \
    static __device__ __forceinline__ void write2(REG v, cudaSurfaceObject_t s, int x, int y,                 \
                                                  cudaSurfaceBoundaryMode m) {                                \
      if (m == cudaBoundaryModeZero) {                                                                        \
        asm volatile("sust.b.2d." PTX ".zero [%0, {%1, %2}], {%3};" ::"l"(s), "r"(x), "r"(y), C(v) : "memory"); \
      } else if (m == cudaBoundaryModeClamp) {                                                                \
        asm volatile("sust.b.2d." PTX ".clamp [%0, {%1, %2}], {%3};" ::"l"(s), "r"(x), "r"(y), C(v) : "memory"); \
      } else {                                                                                                \
        asm volatile("sust.b.2d." PTX ".trap [%0, {%1, %2}], {%3};" ::"l"(s), "r"(x), "r"(y), C(v) : "memory"); \
      }                                                                                                       \
    }                                                                                                         \
  };
FW_SURFACE(1, unsigned short, "h", "b8")
FW_SURFACE(2, unsigned short, "h", "b16")
FW_SURFACE(4, unsigned int, "r", "b32")
FW_SURFACE(8, unsigned long long, "l", "b64")
#undef FW_SURFACE
template <>
struct Surface<16> {
  using Register = uint4;
  static __device__ __forceinline__ uint4 read2(cudaSurfaceObject_t s, int x, int y, cudaSurfaceBoundaryMode) {
    uint4 r;
    asm volatile("suld.b.2d.v4.b32.trap {%0, %1, %2, %3}, [%4, {%5, %6}];"
                 : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
                 : "l"(s), "r"(x), "r"(y));
    return r;
  }
  static __device__ __forceinline__ void write2(uint4 v, cudaSurfaceObject_t s, int x, int y,
                                                cudaSurfaceBoundaryMode) {
    asm volatile("sust.b.2d.v4.b32.trap [%0, {%1, %2}], {%3, %4, %5, %6};" ::"l"(s), "r"(x), "r"(y), "r"(v.x),
                 "r"(v.y), "r"(v.z), "r"(v.w)
                 : "memory");
  }
};
}  // namespace fw_texture

template <class T>
static __device__ __forceinline__ T surf2Dread(cudaSurfaceObject_t s, int x, int y,
                                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  const auto r = fw_texture::Surface<sizeof(T)>::read2(s, x, y, mode);
  T v;
  __builtin_memcpy(&v, &r, sizeof(T));
  return v;
}
template <class T>
static __device__ __forceinline__ void surf2Dread(T* to, cudaSurfaceObject_t s, int x, int y,
                                                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  *to = surf2Dread<T>(s, x, y, mode);
}
template <class T>
static __device__ __forceinline__ void surf2Dwrite(T v, cudaSurfaceObject_t s, int x, int y,
                                                   cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
  typename fw_texture::Surface<sizeof(T)>::Register r = {};
  __builtin_memcpy(&r, &v, sizeof(T));
  fw_texture::Surface<sizeof(T)>::write2(r, s, x, y, mode);
}

// Arrays, texture and surface objects.
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

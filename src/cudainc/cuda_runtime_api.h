// The host runtime, declared so that a file with a `main` compiles. Nothing here is linked, so functions have C++
// linkage, and where CUDA changed a signature between releases both forms are overloads.
#pragma once

#include "driver_types.h"

#define FW_API __host__ cudaError_t
// What kernels may call too.
#define FW_BOTH __host__ __device__ cudaError_t

// Errors, devices, limits.
FW_BOTH cudaGetLastError();
FW_BOTH cudaPeekAtLastError();
__host__ __device__ const char* cudaGetErrorString(cudaError_t error);
__host__ __device__ const char* cudaGetErrorName(cudaError_t error);
FW_BOTH cudaGetDeviceCount(int* count);
FW_API cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
FW_BOTH cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
FW_API cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to);
FW_API cudaChooseDevice(int* device, const cudaDeviceProp* properties);
FW_API cudaSetDevice(int device);
FW_BOTH cudaGetDevice(int* device);
FW_API cudaInitDevice(int device, unsigned int device_flags, unsigned int flags);
FW_API cudaSetDeviceFlags(unsigned int flags);
FW_API cudaGetDeviceFlags(unsigned int* flags);
FW_API cudaDeviceReset();
FW_BOTH cudaDeviceSynchronize();
FW_API cudaDeviceSetLimit(cudaLimit limit, size_t value);
FW_BOTH cudaDeviceGetLimit(size_t* value, cudaLimit limit);
FW_API cudaDeviceGetCacheConfig(cudaFuncCache* config);
FW_API cudaDeviceSetCacheConfig(cudaFuncCache config);
FW_API cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config);
FW_API cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config);
FW_API cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
FW_API cudaDeviceGetPCIBusId(char* id, int length, int device);
FW_API cudaDeviceGetByPCIBusId(int* device, const char* id);
FW_API cudaDeviceCanAccessPeer(int* yes, int device, int peer);
FW_API cudaDeviceEnablePeerAccess(int peer, unsigned int flags);
FW_API cudaDeviceDisablePeerAccess(int peer);
FW_API cudaDriverGetVersion(int* version);
FW_BOTH cudaRuntimeGetVersion(int* version);
FW_API cudaProfilerStart();
FW_API cudaProfilerStop();
FW_API cudaCtxResetPersistingL2Cache();
FW_API cudaThreadSynchronize();
FW_API cudaThreadExit();

// Memory.
FW_BOTH cudaMalloc(void** p, size_t bytes);
FW_BOTH cudaFree(void* p);
FW_API cudaMallocHost(void** p, size_t bytes);
FW_API cudaMallocHost(void** p, size_t bytes, unsigned int flags);
FW_API cudaFreeHost(void* p);
FW_API cudaHostAlloc(void** p, size_t bytes, unsigned int flags);
FW_API cudaHostRegister(void* p, size_t bytes, unsigned int flags);
FW_API cudaHostUnregister(void* p);
FW_API cudaHostGetDevicePointer(void** device, void* host, unsigned int flags = 0);
FW_API cudaHostGetFlags(unsigned int* flags, void* host);
FW_API cudaMallocManaged(void** p, size_t bytes, unsigned int flags = cudaMemAttachGlobal);
FW_API cudaMallocPitch(void** p, size_t* pitch, size_t width, size_t height);
FW_API cudaMalloc3D(cudaPitchedPtr* p, cudaExtent extent);
FW_API cudaMallocAsync(void** p, size_t bytes, cudaStream_t stream);
FW_API cudaMallocFromPoolAsync(void** p, size_t bytes, cudaMemPool_t pool, cudaStream_t stream);
FW_API cudaFreeAsync(void* p, cudaStream_t stream);
FW_API cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes);
FW_API cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* p);
FW_API cudaMemPrefetchAsync(const void* p, size_t bytes, int device, cudaStream_t stream = 0);
FW_API cudaMemPrefetchAsync(const void* p, size_t bytes, cudaMemLocation where, unsigned int flags,
                            cudaStream_t stream = 0);
FW_API cudaMemAdvise(const void* p, size_t bytes, cudaMemoryAdvise advice, int device);
FW_API cudaMemAdvise(const void* p, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation where);

template <class T>
FW_API cudaMalloc(T** p, size_t bytes) { return ::cudaMalloc((void**)(void*)p, bytes); }
template <class T>
FW_API cudaMallocHost(T** p, size_t bytes, unsigned int flags = 0) {
  return ::cudaMallocHost((void**)(void*)p, bytes, flags);
}
template <class T>
FW_API cudaHostAlloc(T** p, size_t bytes, unsigned int flags) {
  return ::cudaHostAlloc((void**)(void*)p, bytes, flags);
}
template <class T>
FW_API cudaHostGetDevicePointer(T** device, void* host, unsigned int flags) {
  return ::cudaHostGetDevicePointer((void**)(void*)device, host, flags);
}
template <class T>
FW_API cudaMallocManaged(T** p, size_t bytes, unsigned int flags = cudaMemAttachGlobal) {
  return ::cudaMallocManaged((void**)(void*)p, bytes, flags);
}
template <class T>
FW_API cudaMallocPitch(T** p, size_t* pitch, size_t width, size_t height) {
  return ::cudaMallocPitch((void**)(void*)p, pitch, width, height);
}
template <class T>
FW_API cudaMallocAsync(T** p, size_t bytes, cudaStream_t stream) {
  return ::cudaMallocAsync((void**)(void*)p, bytes, stream);
}
template <class T>
FW_API cudaMallocAsync(T** p, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync((void**)(void*)p, bytes, pool, stream);
}
template <class T>
FW_API cudaMallocFromPoolAsync(T** p, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync((void**)(void*)p, bytes, pool, stream);
}

FW_API cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
FW_BOTH cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream = 0);
FW_API cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes);
FW_API cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                           cudaStream_t stream = 0);
FW_API cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                    cudaMemcpyKind kind);
FW_API cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                         size_t height, cudaMemcpyKind kind, cudaStream_t stream = 0);
FW_API cudaMemcpy3D(const cudaMemcpy3DParms* parameters);
FW_API cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream = 0);
FW_API cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind);
FW_API cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                           cudaMemcpyKind kind);
FW_API cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                           size_t height, cudaMemcpyKind kind);
FW_API cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                size_t height, cudaMemcpyKind kind, cudaStream_t stream = 0);
FW_API cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                             size_t height, cudaMemcpyKind kind);
FW_API cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                size_t from_y, size_t width, size_t height,
                                cudaMemcpyKind kind = cudaMemcpyDeviceToDevice);
FW_BOTH cudaMemset(void* p, int value, size_t bytes);
FW_BOTH cudaMemsetAsync(void* p, int value, size_t bytes, cudaStream_t stream = 0);
FW_API cudaMemset2D(void* p, size_t pitch, int value, size_t width, size_t height);
FW_API cudaMemset2DAsync(void* p, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream = 0);
FW_API cudaMemset3D(cudaPitchedPtr p, int value, cudaExtent extent);

// Symbols. T is the variable's type, or `const char` for a name.
template <class T>
FW_API cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                          cudaMemcpyKind kind = cudaMemcpyHostToDevice);
template <class T>
FW_API cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind,
                               cudaStream_t stream = 0);
template <class T>
FW_API cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                            cudaMemcpyKind kind = cudaMemcpyDeviceToHost);
template <class T>
FW_API cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
                                 cudaStream_t stream = 0);
template <class T>
FW_API cudaGetSymbolAddress(void** p, const T& symbol);
template <class T>
FW_API cudaGetSymbolSize(size_t* bytes, const T& symbol);

// Pools and sharing.
FW_API cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
FW_API cudaDeviceGetMemPool(cudaMemPool_t* pool, int device);
FW_API cudaDeviceSetMemPool(int device, cudaMemPool_t pool);
FW_API cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties);
FW_API cudaMemPoolDestroy(cudaMemPool_t pool);
FW_API cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes);
FW_API cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
FW_API cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
FW_API cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, size_t count);
FW_API cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* where);
FW_API cudaMemPoolExportToShareableHandle(void* handle, cudaMemPool_t pool, cudaMemAllocationHandleType type,
                                          unsigned int flags);
FW_API cudaMemPoolImportFromShareableHandle(cudaMemPool_t* pool, void* handle, cudaMemAllocationHandleType type,
                                            unsigned int flags);
FW_API cudaMemPoolExportPointer(cudaMemPoolPtrExportData* data, void* p);
FW_API cudaMemPoolImportPointer(void** p, cudaMemPool_t pool, cudaMemPoolPtrExportData* data);
FW_API cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* p);
FW_API cudaIpcOpenMemHandle(void** p, cudaIpcMemHandle_t handle, unsigned int flags);
FW_API cudaIpcCloseMemHandle(void* p);
FW_API cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event);
FW_API cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle);

// Streams and events.
FW_API cudaStreamCreate(cudaStream_t* stream);
FW_BOTH cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags);
FW_API cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority);
FW_API cudaStreamGetPriority(cudaStream_t stream, int* priority);
FW_API cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags);
FW_BOTH cudaStreamDestroy(cudaStream_t stream);
FW_API cudaStreamSynchronize(cudaStream_t stream);
FW_API cudaStreamQuery(cudaStream_t stream);
FW_BOTH cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);
FW_API cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned int flags);
FW_API cudaStreamAttachMemAsync(cudaStream_t stream, void* p, size_t bytes = 0,
                                unsigned int flags = cudaMemAttachSingle);
template <class T>
FW_API cudaStreamAttachMemAsync(cudaStream_t stream, T* p, size_t bytes = 0,
                                unsigned int flags = cudaMemAttachSingle) {
  return ::cudaStreamAttachMemAsync(stream, (void*)p, bytes, flags);
}
FW_API cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID id, const cudaStreamAttrValue* value);
FW_API cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID id, cudaStreamAttrValue* value);
FW_API cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);
FW_API cudaEventCreate(cudaEvent_t* event);
FW_API cudaEventCreate(cudaEvent_t* event, unsigned int flags);
FW_BOTH cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags);
FW_BOTH cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
FW_API cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = 0, unsigned int flags = 0);
FW_API cudaEventQuery(cudaEvent_t event);
FW_API cudaEventSynchronize(cudaEvent_t event);
FW_BOTH cudaEventDestroy(cudaEvent_t event);
FW_API cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end);

// Launches. <<<>>> asks clang for one of the first two.
extern "C" cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = 0);
extern "C" cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, void* stream);
extern "C" cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes, cudaStream_t stream);
FW_API cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                   size_t shared_bytes = 0, cudaStream_t stream = 0);
FW_API cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** arguments);
template <class T>
FW_API cudaLaunchKernel(T* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
                        cudaStream_t stream = 0);
template <class T>
FW_API cudaLaunchCooperativeKernel(T* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
                                   cudaStream_t stream = 0);
template <class... P, class... A>
FW_API cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(P...), A&&... arguments);
template <class T>
FW_API cudaFuncSetAttribute(T* kernel, cudaFuncAttribute attribute, int value);
template <class T>
FW_API cudaFuncGetAttributes(cudaFuncAttributes* attributes, T* kernel);
template <class T>
FW_API cudaFuncSetCacheConfig(T* kernel, cudaFuncCache config);
template <class T>
FW_API cudaFuncSetSharedMemConfig(T* kernel, cudaSharedMemConfig config);
template <class T>
FW_API cudaGetFuncBySymbol(cudaFunction_t* function, T* kernel);

// Occupancy.
template <class T>
FW_API cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T kernel, int block_size, size_t shared_bytes);
template <class T>
FW_API cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, T kernel, int block_size,
                                                              size_t shared_bytes, unsigned int flags);
template <class T>
FW_API cudaOccupancyMaxPotentialBlockSize(int* min_grid, int* block_size, T kernel, size_t shared_bytes = 0,
                                          int limit = 0);
template <class F, class T>
FW_API cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* min_grid, int* block_size, T kernel, F shared_bytes,
                                                      int limit = 0);
template <class T>
FW_API cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, T* kernel, int blocks, int block_size);
template <class T>
FW_API cudaOccupancyMaxActiveClusters(int* clusters, T* kernel, const cudaLaunchConfig_t* config);
template <class T>
FW_API cudaOccupancyMaxPotentialClusterSize(int* size, T* kernel, const cudaLaunchConfig_t* config);

#undef FW_API
#undef FW_BOTH

#include "fullwarp/graph_api.h"
#include "fullwarp/texture.h"

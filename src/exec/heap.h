// The device heap: malloc and free in kernels. One buffer in its own window, from which memory is handed out
// in order and never twice, so that neither a block's leftovers nor another block's use of the same bytes
// disturb the checks for races. What is allocated at one time is bounded as on the GPU
// (cudaLimitMallocHeapSize, 8 MB), what is handed out altogether by the window; beyond either malloc gives
// null. Blocks of memory lie side by side: an access beyond one's end is not found unless it leaves the heap.
// Kernels that call malloc run their blocks in order (visibility.cpp), so nothing here is locked.
#pragma once

#include <cstdint>

#include "exec/device_memory.h"

namespace fullwarp::exec {

inline constexpr const char* kHeapName = "device heap";
inline constexpr uint64_t kHeapBytes = uint64_t{32} << 20;     // handed out altogether, free or not
inline constexpr uint64_t kHeapLiveBytes = uint64_t{8} << 20;  // at one time

// Makes the heap if a module calls malloc and there is none yet.
Status make_heap(DeviceMemory& memory, const ptx::Module& module);

// A device address, 16-byte aligned; 0 if there is no room.
uint64_t heap_allocate(DeviceMemory& memory, uint64_t bytes);

// Null and what malloc never gave, or gave back already, are left alone.
void heap_free(DeviceMemory& memory, uint64_t address);

}  // namespace fullwarp::exec

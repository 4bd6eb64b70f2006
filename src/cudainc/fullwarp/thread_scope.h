// What cuda/atomic, cuda/barrier and cuda/pipeline share: scopes, and a size that says how it is aligned.
#pragma once

#include "cuda_runtime.h"
#include "../cuda_pipeline_primitives.h"

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

// `bytes` of data whose addresses are multiples of Alignment.
template <size_t Alignment>
struct aligned_size_t {
  static constexpr size_t align = Alignment;
  size_t value;
  __host__ __device__ constexpr explicit aligned_size_t(size_t bytes) : value(bytes) {}
  __host__ __device__ constexpr operator size_t() const { return value; }
};

namespace fw {

// A group of one.
struct Alone {
  static constexpr __device__ unsigned size() { return 1; }
  static constexpr __device__ unsigned thread_rank() { return 0; }
};

// Alignment that a size promises; 1 for a plain one.
template <class Size>
struct AlignmentOf {
  static constexpr size_t value = 1;
};
template <size_t Alignment>
struct AlignmentOf<aligned_size_t<Alignment>> {
  static constexpr size_t value = Alignment;
};

template <unsigned Width, class Group>
__device__ __forceinline__ void copy_async(const Group& group, char* to, const char* from, size_t bytes) {
  for (size_t at = (size_t)group.thread_rank() * Width; at < bytes; at += (size_t)group.size() * Width) {
    __pipeline_memcpy_async(to + at, from + at, Width);
  }
}

// The threads of a group copy together; from global to shared memory by cp.async where alignment and length allow.
template <size_t Alignment, class Group>
__device__ __forceinline__ void copy(const Group& group, void* to, const void* from, size_t bytes) {
  char* t = (char*)to;
  const char* f = (const char*)from;
#if __CUDA_ARCH__ >= 800
  if (__isShared(to) && __isGlobal(from)) {
    if constexpr (Alignment >= 16) {
      return copy_async<16>(group, t, f, bytes);
    } else if constexpr (Alignment == 8) {
      return copy_async<8>(group, t, f, bytes);
    } else if constexpr (Alignment == 4) {
      return copy_async<4>(group, t, f, bytes);
    } else {
      const size_t bits = (size_t)to | (size_t)from | bytes;
      if (bits % 16 == 0) return copy_async<16>(group, t, f, bytes);
      if (bits % 8 == 0) return copy_async<8>(group, t, f, bytes);
      if (bits % 4 == 0) return copy_async<4>(group, t, f, bytes);
    }
  }
#endif
  for (size_t at = (size_t)group.thread_rank(); at < bytes; at += (size_t)group.size()) t[at] = f[at];
}

}  // namespace fw
}  // namespace cuda

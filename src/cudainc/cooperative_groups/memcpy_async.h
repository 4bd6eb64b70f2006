// cooperative_groups::memcpy_async: the threads of a group copy global to shared memory, with cp.async where the
// alignment allows.
#pragma once

#include "../cooperative_groups.h"
#include "../cuda_pipeline.h"

namespace cooperative_groups {

#define FW_D __device__ __forceinline__

namespace details {
template <unsigned Width, class Group>
FW_D void copy_wide(const Group& group, char* to, const char* from, size_t bytes) {
  const size_t step = (size_t)group.size() * Width;
  for (size_t at = (size_t)group.thread_rank() * Width; at + Width <= bytes; at += step) {
    __pipeline_memcpy_async(to + at, from + at, Width);
  }
  const size_t tail = bytes / Width * Width;
  for (size_t at = tail + (size_t)group.thread_rank(); at < bytes; at += (size_t)group.size()) to[at] = from[at];
}
template <class Group>
FW_D void copy(const Group& group, void* to, const void* from, size_t bytes) {
  const size_t bits = (size_t)to | (size_t)from;
  char* t = (char*)to;
  const char* f = (const char*)from;
#if __CUDA_ARCH__ >= 800
  if (__isShared(to) && __isGlobal(from)) {
    if (bits % 16 == 0) return copy_wide<16>(group, t, f, bytes);
    if (bits % 8 == 0) return copy_wide<8>(group, t, f, bytes);
    if (bits % 4 == 0) return copy_wide<4>(group, t, f, bytes);
  }
#endif
  for (size_t at = (size_t)group.thread_rank(); at < bytes; at += (size_t)group.size()) t[at] = f[at];
}
}  // namespace details

template <class Group, class T>
FW_D void memcpy_async(const Group& group, T* to, const T* from, size_t bytes) {
  details::copy(group, to, from, bytes);
  __pipeline_commit();
}
template <class Group>
FW_D void memcpy_async(const Group& group, void* to, const void* from, size_t bytes) {
  details::copy(group, to, from, bytes);
  __pipeline_commit();
}
// Lengths in elements: the shorter one counts.
template <class Group, class T, class U>
FW_D void memcpy_async(const Group& group, T* to, size_t to_count, const U* from, size_t from_count) {
  const size_t count = to_count < from_count ? to_count : from_count;
  details::copy(group, (void*)to, (const void*)from, count * sizeof(T));
  __pipeline_commit();
}
template <class Group>
FW_D void wait(const Group& group) {
  __pipeline_wait_prior(0);
  group.sync();
}
template <unsigned Stages, class Group>
FW_D void wait_prior(const Group& group) {
  __pipeline_wait_prior(Stages);
  group.sync();
}

#undef FW_D

}  // namespace cooperative_groups

// Asks the system to back large blocks of memory by huge pages: one page fault for 2 MiB instead of 512.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace fullwarp {

inline constexpr size_t kHugePage = size_t{1} << 21;

// For memory that is not touched yet. Only a wish: nothing fails if the system has none.
inline void prefer_huge_pages([[maybe_unused]] void* start, [[maybe_unused]] size_t bytes) {
#ifdef MADV_HUGEPAGE
  const uintptr_t from = reinterpret_cast<uintptr_t>(start),
                  first = (from + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t last = (from + bytes) / kHugePage * kHugePage;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

}  // namespace fullwarp

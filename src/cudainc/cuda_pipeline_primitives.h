// __pipeline_memcpy_async, __pipeline_commit, __pipeline_wait_prior.
#pragma once

#include "cuda_runtime.h"

typedef unsigned long long __mbarrier_t;

#define FW_D static __device__ __forceinline__

#if __CUDA_ARCH__ >= 800
#define FW_COPY(KIND, SIZE)                                                                        \
  asm volatile("cp.async." KIND ".shared.global [%0], [%1], " SIZE ", %2;" ::"r"(to), "l"(from),   \
               "r"((unsigned)(bytes - zero_fill))                                                  \
               : "memory")
FW_D void __pipeline_memcpy_async(void* shared, const void* global, size_t bytes, size_t zero_fill = 0) {
  const unsigned to = (unsigned)__cvta_generic_to_shared(shared);
  const size_t from = __cvta_generic_to_global(global);
  if (bytes == 16) {
    FW_COPY("cg", "16");
  } else if (bytes == 8) {
    FW_COPY("ca", "8");
  } else {
    FW_COPY("ca", "4");
  }
}
#undef FW_COPY
FW_D void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
FW_D void __pipeline_wait_prior(size_t groups) {
  switch (groups) {
    case 0: asm volatile("cp.async.wait_group 0;" ::: "memory"); break;
    case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); break;
    case 2: asm volatile("cp.async.wait_group 2;" ::: "memory"); break;
    case 3: asm volatile("cp.async.wait_group 3;" ::: "memory"); break;
    case 4: asm volatile("cp.async.wait_group 4;" ::: "memory"); break;
    case 5: asm volatile("cp.async.wait_group 5;" ::: "memory"); break;
    case 6: asm volatile("cp.async.wait_group 6;" ::: "memory"); break;
    case 7: asm volatile("cp.async.wait_group 7;" ::: "memory"); break;
    default: asm volatile("cp.async.wait_group 8;" ::: "memory"); break;
  }
}
FW_D void __pipeline_arrive_on(__mbarrier_t* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"((unsigned)__cvta_generic_to_shared(barrier))
               : "memory");
}
#else
FW_D void __pipeline_memcpy_async(void* shared, const void* global, size_t bytes, size_t zero_fill = 0) {
  __builtin_memcpy(shared, global, bytes - zero_fill);
  __builtin_memset((char*)shared + (bytes - zero_fill), 0, zero_fill);
}
FW_D void __pipeline_commit() {}
FW_D void __pipeline_wait_prior(size_t) {}
#endif

#undef FW_D

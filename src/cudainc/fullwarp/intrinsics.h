// Intrinsics that NVIDIA's headers have and clang's lack.
#pragma once

#define FW_D static __device__ __forceinline__

// Launches on one stream that overlap (programmatic dependent launch): here each kernel ends before the next.
FW_D void cudaGridDependencySynchronize() {}
FW_D void cudaTriggerProgrammaticLaunchCompletion() {}
FW_D void __nanosleep(unsigned int ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns)); }

// Dot products of packed bytes and of packed 16-bit values.
#define FW_DOT(NAME, INSTRUCTION, A, B, R)                                                     \
  FW_D R NAME(A a, B b, R c) {                                                                 \
    R d;                                                                                       \
    asm(INSTRUCTION " %0, %1, %2, %3;"                                                         \
        : "=r"(d)                                                                              \
        : "r"(__builtin_bit_cast(unsigned, a)), "r"(__builtin_bit_cast(unsigned, b)), "r"(c)); \
    return d;                                                                                  \
  }
FW_DOT(__dp4a, "dp4a.s32.s32", int, int, int)
FW_DOT(__dp4a, "dp4a.u32.u32", unsigned, unsigned, unsigned)
FW_DOT(__dp4a, "dp4a.s32.s32", char4, char4, int)
FW_DOT(__dp4a, "dp4a.u32.u32", uchar4, uchar4, unsigned)
FW_DOT(__dp2a_lo, "dp2a.lo.s32.s32", int, int, int)
FW_DOT(__dp2a_lo, "dp2a.lo.u32.u32", unsigned, unsigned, unsigned)
FW_DOT(__dp2a_lo, "dp2a.lo.s32.s32", short2, char4, int)
FW_DOT(__dp2a_lo, "dp2a.lo.u32.u32", ushort2, uchar4, unsigned)
FW_DOT(__dp2a_hi, "dp2a.hi.s32.s32", int, int, int)
FW_DOT(__dp2a_hi, "dp2a.hi.u32.u32", unsigned, unsigned, unsigned)
FW_DOT(__dp2a_hi, "dp2a.hi.s32.s32", short2, char4, int)
FW_DOT(__dp2a_hi, "dp2a.hi.u32.u32", ushort2, uchar4, unsigned)
#undef FW_DOT

// clang's own, which it has since release 17, pass value and mask in the wrong order: cuda_runtime.h hides them.
#if __CUDA_ARCH__ >= 800
FW_D unsigned __reduce_add_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_add(v, mask); }
FW_D unsigned __reduce_min_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_umin(v, mask); }
FW_D unsigned __reduce_max_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_umax(v, mask); }
FW_D int __reduce_min_sync(unsigned mask, int v) { return __nvvm_redux_sync_min(v, mask); }
FW_D int __reduce_max_sync(unsigned mask, int v) { return __nvvm_redux_sync_max(v, mask); }
FW_D unsigned __reduce_and_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_and(v, mask); }
FW_D unsigned __reduce_or_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_or(v, mask); }
FW_D unsigned __reduce_xor_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_xor(v, mask); }
#endif
#if __CUDA_ARCH__ >= 800
FW_D int __reduce_add_sync(unsigned mask, int v) { return (int)__reduce_add_sync(mask, (unsigned)v); }
#endif

#undef FW_D

// clang's __clang_cuda_intrinsics.h includes this file by its name in the toolkit, for the overloads of
// __match_any_sync and __match_all_sync over its own 32- and 64-bit forms.
#pragma once

#define FW_MATCH(TYPE, WIDTH, BITS)                                                                  \
  static __device__ __forceinline__ unsigned int __match_any_sync(unsigned mask, TYPE value) {       \
    return (unsigned)__match##WIDTH##_any_sync(mask, __builtin_bit_cast(BITS, value));               \
  }                                                                                                  \
  static __device__ __forceinline__ unsigned int __match_all_sync(unsigned mask, TYPE value, int* p) { \
    return (unsigned)__match##WIDTH##_all_sync(mask, __builtin_bit_cast(BITS, value), p);            \
  }
FW_MATCH(unsigned, 32, unsigned)
FW_MATCH(int, 32, unsigned)
FW_MATCH(float, 32, unsigned)
FW_MATCH(unsigned long, 64, unsigned long long)
FW_MATCH(long, 64, unsigned long long)
FW_MATCH(unsigned long long, 64, unsigned long long)
FW_MATCH(long long, 64, unsigned long long)
FW_MATCH(double, 64, unsigned long long)
#undef FW_MATCH

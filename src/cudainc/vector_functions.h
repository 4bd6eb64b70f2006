// make_float4 and its kin.
#pragma once

#include "vector_types.h"

#define FW_MAKE __host__ __device__ __forceinline__ constexpr
#define FW_MAKERS(NAME, TYPE)                                                                      \
  static FW_MAKE NAME##1 make_##NAME##1(TYPE x) { return NAME##1{x}; }                             \
  static FW_MAKE NAME##2 make_##NAME##2(TYPE x, TYPE y) { return NAME##2{x, y}; }                  \
  static FW_MAKE NAME##3 make_##NAME##3(TYPE x, TYPE y, TYPE z) { return NAME##3{x, y, z}; }       \
  static FW_MAKE NAME##4 make_##NAME##4(TYPE x, TYPE y, TYPE z, TYPE w) { return NAME##4{x, y, z, w}; }

FW_MAKERS(char, signed char)
FW_MAKERS(uchar, unsigned char)
FW_MAKERS(short, short)
FW_MAKERS(ushort, unsigned short)
FW_MAKERS(int, int)
FW_MAKERS(uint, unsigned int)
FW_MAKERS(long, long)
FW_MAKERS(ulong, unsigned long)
FW_MAKERS(longlong, long long)
FW_MAKERS(ulonglong, unsigned long long)
FW_MAKERS(float, float)
FW_MAKERS(double, double)
#undef FW_MAKERS

#define FW_WIDE_MAKERS(NAME, TYPE)                                                              \
  static FW_MAKE NAME##4_16a make_##NAME##4_16a(TYPE x, TYPE y, TYPE z, TYPE w) { return {x, y, z, w}; } \
  static FW_MAKE NAME##4_32a make_##NAME##4_32a(TYPE x, TYPE y, TYPE z, TYPE w) { return {x, y, z, w}; }
FW_WIDE_MAKERS(long, long)
FW_WIDE_MAKERS(ulong, unsigned long)
FW_WIDE_MAKERS(longlong, long long)
FW_WIDE_MAKERS(ulonglong, unsigned long long)
FW_WIDE_MAKERS(double, double)
#undef FW_WIDE_MAKERS
#undef FW_MAKE

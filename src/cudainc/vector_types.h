// The built-in vector types and dim3, with CUDA's sizes and alignments: one vector load or store each.
#pragma once

#include "host_defines.h"

// FW_VECTORS(name, element, alignment of x2, alignment of x4)
#define FW_VECTORS(NAME, TYPE, ALIGN2, ALIGN4) \
  struct NAME##1 {                             \
    TYPE x;                                    \
  };                                           \
  struct __align__(ALIGN2) NAME##2 {           \
    TYPE x, y;                                 \
  };                                           \
  struct NAME##3 {                             \
    TYPE x, y, z;                              \
  };                                           \
  struct __align__(ALIGN4) NAME##4 {           \
    TYPE x, y, z, w;                           \
  };

FW_VECTORS(char, signed char, 2, 4)
FW_VECTORS(uchar, unsigned char, 2, 4)
FW_VECTORS(short, short, 4, 8)
FW_VECTORS(ushort, unsigned short, 4, 8)
FW_VECTORS(int, int, 8, 16)
FW_VECTORS(uint, unsigned int, 8, 16)
FW_VECTORS(long, long, 16, 16)
FW_VECTORS(ulong, unsigned long, 16, 16)
FW_VECTORS(longlong, long long, 16, 16)
FW_VECTORS(ulonglong, unsigned long long, 16, 16)
FW_VECTORS(float, float, 8, 16)
FW_VECTORS(double, double, 16, 16)
#undef FW_VECTORS

// CUDA 13 names the alignment of the 32-byte types.
#define FW_WIDE(NAME, TYPE)                     \
  struct __align__(16) NAME##4_16a {            \
    TYPE x, y, z, w;                            \
  };                                            \
  struct __align__(32) NAME##4_32a {            \
    TYPE x, y, z, w;                            \
  };
FW_WIDE(long, long)
FW_WIDE(ulong, unsigned long)
FW_WIDE(longlong, long long)
FW_WIDE(ulonglong, unsigned long long)
FW_WIDE(double, double)
#undef FW_WIDE

struct dim3 {
  unsigned int x, y, z;
  __host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
};

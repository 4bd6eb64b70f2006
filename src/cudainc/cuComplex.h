// Complex numbers as float2 and double2.
#pragma once
#define CU_COMPLEX_H_  // the guard of a cuComplex.h elsewhere in the search path

#include "cuda_runtime.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define FW_HD static __host__ __device__ __forceinline__
#define FW_COMPLEX(C, R, S, MAKE)                                                                              \
  FW_HD R cuCreal##S(C a) { return a.x; }                                                                      \
  FW_HD R cuCimag##S(C a) { return a.y; }                                                                      \
  FW_HD C MAKE(R re, R im) { return C{re, im}; }                                                               \
  FW_HD C cuConj##S(C a) { return C{a.x, -a.y}; }                                                              \
  FW_HD C cuCadd##S(C a, C b) { return C{a.x + b.x, a.y + b.y}; }                                              \
  FW_HD C cuCsub##S(C a, C b) { return C{a.x - b.x, a.y - b.y}; }                                              \
  FW_HD C cuCmul##S(C a, C b) { return C{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }                      \
  FW_HD C cuCfma##S(C a, C b, C c) { return cuCadd##S(cuCmul##S(a, b), c); }                                   \
  /* Scaled, so that the squares neither overflow nor vanish. */                                               \
  FW_HD C cuCdiv##S(C a, C b) {                                                                                \
    const R s = 1 / (fabs(b.x) + fabs(b.y));                                                                   \
    const R ax = a.x * s, ay = a.y * s, bx = b.x * s, by = b.y * s, d = 1 / (bx * bx + by * by);               \
    return C{(ax * bx + ay * by) * d, (ay * bx - ax * by) * d};                                                \
  }                                                                                                            \
  FW_HD R cuCabs##S(C a) { return hypot(a.x, a.y); }
FW_COMPLEX(cuFloatComplex, float, f, make_cuFloatComplex)
FW_COMPLEX(cuDoubleComplex, double, , make_cuDoubleComplex)
#undef FW_COMPLEX
FW_HD cuComplex make_cuComplex(float re, float im) { return cuComplex{re, im}; }
FW_HD cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return cuDoubleComplex{a.x, a.y}; }
FW_HD cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) { return cuFloatComplex{(float)a.x, (float)a.y}; }
#undef FW_HD

// nv_bfloat16 and nv_bfloat162. sm_80 has fused multiply-add, minimum and maximum in this format; sums, differences
// and products are fma with a constant there, and instructions of their own from sm_90 on, as NVIDIA's header has it.
#pragma once

#include "cuda_fp16.h"
#include "fullwarp/half_macros.h"

#define __CUDA_BF16_H__
#define __CUDA_BF16_TYPES_EXIST__

struct __align__(2) __nv_bfloat16_raw {
  unsigned short x;
};
struct __align__(4) __nv_bfloat162_raw {
  unsigned short x, y;
};

FW_HD unsigned short fw_float2bf16_rn(float a) {
  unsigned short r;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(a));
  return r;
}
FW_HD unsigned short fw_float2bf16_rz(float a) {
  unsigned short r;
  asm("cvt.rz.bf16.f32 %0, %1;" : "=h"(r) : "f"(a));
  return r;
}
FW_HD float fw_bf162float(unsigned short h) { return __builtin_bit_cast(float, (unsigned)h << 16); }
// Rounding to odd first makes the second rounding, to 8 bits, the only one that counts.
#define FW_ODD(FROM, TO_FLOAT)                                                                    \
  FW_HD unsigned short fw_to_bf16(FROM v) {                                                       \
    const float f = TO_FLOAT(v);                                                                  \
    const unsigned inexact = f < 0x1p63f && f >= -0x1p63f ? (FROM)f != v : 0;                     \
    return fw_float2bf16_rn(__builtin_bit_cast(float, __builtin_bit_cast(unsigned, f) | inexact)); \
  }
FW_ODD(int, __nv_int2float_rz)
FW_ODD(unsigned int, __nv_uint2float_rz)
FW_ODD(long long, __nv_ll2float_rz)
FW_HD unsigned short fw_to_bf16(unsigned long long v) {
  const float f = __nv_ull2float_rz(v);
  const unsigned inexact = (unsigned long long)f != v;
  return fw_float2bf16_rn(__builtin_bit_cast(float, __builtin_bit_cast(unsigned, f) | inexact));
}
FW_HD unsigned short fw_to_bf16(double v) {
  const float f = __nv_double2float_rz(v);
  const unsigned inexact = (double)f != v && v == v && f != __builtin_inff() && f != -__builtin_inff();
  return fw_float2bf16_rn(__builtin_bit_cast(float, __builtin_bit_cast(unsigned, f) | inexact));
}
#undef FW_ODD

#define FW_MEMBER __host__ __device__ __forceinline__
struct __align__(2) __nv_bfloat16 {
  unsigned short __x;

  __nv_bfloat16() = default;
  constexpr FW_MEMBER __nv_bfloat16(const __nv_bfloat16_raw& raw) : __x(raw.x) {}
  FW_MEMBER __nv_bfloat16(float v) : __x(fw_float2bf16_rn(v)) {}
  FW_MEMBER __nv_bfloat16(double v) : __x(fw_to_bf16(v)) {}
  FW_MEMBER __nv_bfloat16(short v) : __x(fw_to_bf16((int)v)) {}
  FW_MEMBER __nv_bfloat16(unsigned short v) : __x(fw_to_bf16((unsigned)v)) {}
  FW_MEMBER __nv_bfloat16(int v) : __x(fw_to_bf16(v)) {}
  FW_MEMBER __nv_bfloat16(unsigned int v) : __x(fw_to_bf16(v)) {}
  FW_MEMBER __nv_bfloat16(long v) : __x(fw_to_bf16((long long)v)) {}
  FW_MEMBER __nv_bfloat16(unsigned long v) : __x(fw_to_bf16((unsigned long long)v)) {}
  FW_MEMBER __nv_bfloat16(long long v) : __x(fw_to_bf16(v)) {}
  FW_MEMBER __nv_bfloat16(unsigned long long v) : __x(fw_to_bf16(v)) {}

  FW_MEMBER operator float() const { return fw_bf162float(__x); }
  FW_MEMBER operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{__x}; }
  FW_MEMBER operator short() const { return (short)__nv_float2int_rz(fw_bf162float(__x)); }
  FW_MEMBER operator unsigned short() const { return (unsigned short)__nv_float2uint_rz(fw_bf162float(__x)); }
  FW_MEMBER operator int() const { return __nv_float2int_rz(fw_bf162float(__x)); }
  FW_MEMBER operator unsigned int() const { return __nv_float2uint_rz(fw_bf162float(__x)); }
  FW_MEMBER operator long() const { return __nv_float2ll_rz(fw_bf162float(__x)); }
  FW_MEMBER operator unsigned long() const { return __nv_float2ull_rz(fw_bf162float(__x)); }
  FW_MEMBER operator long long() const { return __nv_float2ll_rz(fw_bf162float(__x)); }
  FW_MEMBER operator unsigned long long() const { return __nv_float2ull_rz(fw_bf162float(__x)); }
  FW_MEMBER operator bool() const { return (__x & 0x7fff) != 0; }

  FW_MEMBER static __nv_bfloat16 fw_one() { return __nv_bfloat16(__nv_bfloat16_raw{0x3f80}); }
};

struct __align__(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;

  __nv_bfloat162() = default;
  constexpr FW_MEMBER __nv_bfloat162(const __nv_bfloat16& a, const __nv_bfloat16& b) : x(a), y(b) {}
  FW_MEMBER __nv_bfloat162(const __nv_bfloat162_raw& raw)
      : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
  FW_MEMBER operator __nv_bfloat162_raw() const { return __nv_bfloat162_raw{x.__x, y.__x}; }
  FW_MEMBER static __nv_bfloat162 fw_one() {
    return __nv_bfloat162(__nv_bfloat16::fw_one(), __nv_bfloat16::fw_one());
  }
};
#undef FW_MEMBER

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

// Conversions under CUDA's names.
#define FW_BF(BITS) (__nv_bfloat16(__nv_bfloat16_raw{(unsigned short)(BITS)}))
FW_HD __nv_bfloat16 __float2bfloat16(const float a) { return __nv_bfloat16(a); }
FW_HD __nv_bfloat16 __float2bfloat16_rn(const float a) { return __nv_bfloat16(a); }
FW_HD __nv_bfloat16 __float2bfloat16_rz(const float a) { return FW_BF(fw_float2bf16_rz(a)); }
// Away from the truncated value by one where something was cut off on that side.
FW_HD __nv_bfloat16 __float2bfloat16_ru(const float a) {
  const unsigned bits = __builtin_bit_cast(unsigned, a);
  const bool up = a == a && (bits & 0xffff) != 0 && !(bits >> 31);
  return a == a ? FW_BF((bits >> 16) + up) : FW_BF(0x7fff);
}
FW_HD __nv_bfloat16 __float2bfloat16_rd(const float a) {
  const unsigned bits = __builtin_bit_cast(unsigned, a);
  const bool down = a == a && (bits & 0xffff) != 0 && bits >> 31;
  return a == a ? FW_BF((bits >> 16) + down) : FW_BF(0x7fff);
}
FW_HD __nv_bfloat16 __double2bfloat16(const double a) { return __nv_bfloat16(a); }
FW_HD float __bfloat162float(const __nv_bfloat16 a) { return (float)a; }
#define FW_INT_NAMES(NAME, TYPE, FLOAT)                                                                \
  FW_HD __nv_bfloat16 __##NAME##2bfloat16_rn(const TYPE v) { return __nv_bfloat16(v); }                \
  FW_HD TYPE __bfloat162##NAME##_rn(const __nv_bfloat16 h) { return (TYPE)__nv_float2##FLOAT##_rn((float)h); } \
  FW_HD TYPE __bfloat162##NAME##_rz(const __nv_bfloat16 h) { return (TYPE)__nv_float2##FLOAT##_rz((float)h); } \
  FW_HD TYPE __bfloat162##NAME##_ru(const __nv_bfloat16 h) { return (TYPE)__nv_float2##FLOAT##_ru((float)h); } \
  FW_HD TYPE __bfloat162##NAME##_rd(const __nv_bfloat16 h) { return (TYPE)__nv_float2##FLOAT##_rd((float)h); }
FW_INT_NAMES(short, short, int)
FW_INT_NAMES(ushort, unsigned short, uint)
FW_INT_NAMES(int, int, int)
FW_INT_NAMES(uint, unsigned int, uint)
FW_INT_NAMES(ll, long long, ll)
FW_INT_NAMES(ull, unsigned long long, ull)
#undef FW_INT_NAMES
FW_HD short __bfloat16_as_short(const __nv_bfloat16 a) { return (short)a.__x; }
FW_HD unsigned short __bfloat16_as_ushort(const __nv_bfloat16 a) { return a.__x; }
FW_HD __nv_bfloat16 __short_as_bfloat16(const short a) { return FW_BF(a); }
FW_HD __nv_bfloat16 __ushort_as_bfloat16(const unsigned short a) { return FW_BF(a); }

// Pairs.
FW_HD __nv_bfloat162 make_bfloat162(const __nv_bfloat16 x, const __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
FW_HD __nv_bfloat162 __halves2bfloat162(const __nv_bfloat16 a, const __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
FW_HD __nv_bfloat162 __bfloat162bfloat162(const __nv_bfloat16 a) { return __nv_bfloat162(a, a); }
FW_HD __nv_bfloat16 __low2bfloat16(const __nv_bfloat162 a) { return a.x; }
FW_HD __nv_bfloat16 __high2bfloat16(const __nv_bfloat162 a) { return a.y; }
FW_HD __nv_bfloat162 __low2bfloat162(const __nv_bfloat162 a) { return __nv_bfloat162(a.x, a.x); }
FW_HD __nv_bfloat162 __high2bfloat162(const __nv_bfloat162 a) { return __nv_bfloat162(a.y, a.y); }
FW_HD __nv_bfloat162 __lows2bfloat162(const __nv_bfloat162 a, const __nv_bfloat162 b) {
  return __nv_bfloat162(a.x, b.x);
}
FW_HD __nv_bfloat162 __highs2bfloat162(const __nv_bfloat162 a, const __nv_bfloat162 b) {
  return __nv_bfloat162(a.y, b.y);
}
FW_HD __nv_bfloat162 __lowhigh2highlow(const __nv_bfloat162 a) { return __nv_bfloat162(a.y, a.x); }
FW_HD float __low2float(const __nv_bfloat162 a) { return (float)a.x; }
FW_HD float __high2float(const __nv_bfloat162 a) { return (float)a.y; }
FW_HD float2 __bfloat1622float2(const __nv_bfloat162 a) { return make_float2((float)a.x, (float)a.y); }
FW_HD __nv_bfloat162 __floats2bfloat162_rn(const float a, const float b) {
  unsigned r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a));
  return __builtin_bit_cast(__nv_bfloat162, r);
}
FW_HD __nv_bfloat162 __float2bfloat162_rn(const float a) { return __bfloat162bfloat162(__nv_bfloat16(a)); }
FW_HD __nv_bfloat162 __float22bfloat162_rn(const float2 a) { return __floats2bfloat162_rn(a.x, a.y); }

// Arithmetic.
FW_TERNARY1(__hfma, __nv_bfloat16, "fma.rn.bf16")
FW_TERNARY1(__hfma_relu, __nv_bfloat16, "fma.rn.relu.bf16")
FW_TERNARY2(__hfma2, __nv_bfloat162, "fma.rn.bf16x2")
FW_TERNARY2(__hfma2_relu, __nv_bfloat162, "fma.rn.relu.bf16x2")
FW_BINARY1(__hmax, __nv_bfloat16, "max.bf16")
FW_BINARY1(__hmin, __nv_bfloat16, "min.bf16")
FW_BINARY1(__hmax_nan, __nv_bfloat16, "max.NaN.bf16")
FW_BINARY1(__hmin_nan, __nv_bfloat16, "min.NaN.bf16")
FW_BINARY2(__hmax2, __nv_bfloat162, "max.bf16x2")
FW_BINARY2(__hmin2, __nv_bfloat162, "min.bf16x2")
FW_BINARY2(__hmax2_nan, __nv_bfloat162, "max.NaN.bf16x2")
FW_BINARY2(__hmin2_nan, __nv_bfloat162, "min.NaN.bf16x2")
FW_UNARY1(__hneg, __nv_bfloat16, "neg.bf16")
FW_UNARY1(__habs, __nv_bfloat16, "abs.bf16")
FW_UNARY2(__hneg2, __nv_bfloat162, "neg.bf16x2")
FW_UNARY2(__habs2, __nv_bfloat162, "abs.bf16x2")
#if __CUDA_ARCH__ >= 900
FW_BINARY1(__hadd, __nv_bfloat16, "add.bf16")
FW_BINARY1(__hsub, __nv_bfloat16, "sub.bf16")
FW_BINARY1(__hmul, __nv_bfloat16, "mul.bf16")
FW_BINARY2(__hadd2, __nv_bfloat162, "add.bf16x2")
FW_BINARY2(__hsub2, __nv_bfloat162, "sub.bf16x2")
FW_BINARY2(__hmul2, __nv_bfloat162, "mul.bf16x2")
#else
#define FW_FMA_AS(NAME, T, FMA, X, Y, Z) \
  FW_HD T NAME(const T a, const T b) { return FMA(X, Y, Z); }
#define FW_CONST2(BITS) __nv_bfloat162(FW_BF(BITS), FW_BF(BITS))
FW_FMA_AS(__hadd, __nv_bfloat16, __hfma, a, FW_BF(0x3f80), b)
FW_FMA_AS(__hsub, __nv_bfloat16, __hfma, b, FW_BF(0xbf80), a)
FW_FMA_AS(__hmul, __nv_bfloat16, __hfma, a, b, FW_BF(0x8000))
FW_FMA_AS(__hadd2, __nv_bfloat162, __hfma2, a, FW_CONST2(0x3f80), b)
FW_FMA_AS(__hsub2, __nv_bfloat162, __hfma2, b, FW_CONST2(0xbf80), a)
FW_FMA_AS(__hmul2, __nv_bfloat162, __hfma2, a, b, FW_CONST2(0x8000))
#undef FW_FMA_AS
#undef FW_CONST2
#endif
#define FW_SAME(NAME, T, OTHER) \
  FW_HD T NAME(const T a, const T b) { return OTHER(a, b); }
FW_SAME(__hadd_rn, __nv_bfloat16, __hadd)
FW_SAME(__hsub_rn, __nv_bfloat16, __hsub)
FW_SAME(__hmul_rn, __nv_bfloat16, __hmul)
FW_SAME(__hadd2_rn, __nv_bfloat162, __hadd2)
FW_SAME(__hsub2_rn, __nv_bfloat162, __hsub2)
FW_SAME(__hmul2_rn, __nv_bfloat162, __hmul2)
#undef FW_SAME
FW_HD __nv_bfloat16 __hdiv(const __nv_bfloat16 a, const __nv_bfloat16 b) {
  return __nv_bfloat16((float)a / (float)b);
}
FW_HD __nv_bfloat162 __h2div(const __nv_bfloat162 a, const __nv_bfloat162 b) {
  return __nv_bfloat162(__hdiv(a.x, b.x), __hdiv(a.y, b.y));
}

// Comparisons, exact in fp32.
#define FW_COMPARE(NAME, TEST) \
  FW_HD bool __h##NAME(const __nv_bfloat16 p, const __nv_bfloat16 q) { \
    const float a = p, b = q;                                          \
    return TEST;                                                       \
  }
FW_COMPARE(eq, a == b)
FW_COMPARE(ne, a < b || a > b)
FW_COMPARE(le, a <= b)
FW_COMPARE(ge, a >= b)
FW_COMPARE(lt, a < b)
FW_COMPARE(gt, a > b)
FW_COMPARE(equ, !(a < b || a > b))
FW_COMPARE(neu, a != b)
FW_COMPARE(leu, !(a > b))
FW_COMPARE(geu, !(a < b))
FW_COMPARE(ltu, !(a >= b))
FW_COMPARE(gtu, !(a <= b))
#undef FW_COMPARE
FW_COMPARES2(__nv_bfloat16, __nv_bfloat162)
FW_HD bool __hisnan(const __nv_bfloat16 a) { return (a.__x & 0x7fff) > 0x7f80; }
FW_HD int __hisinf(const __nv_bfloat16 a) { return a.__x == 0x7f80 ? 1 : a.__x == 0xff80 ? -1 : 0; }
FW_HD __nv_bfloat162 __hisnan2(const __nv_bfloat162 a) {
  return __nv_bfloat162(__nv_bfloat16(__hisnan(a.x) ? 1.0f : 0.0f), __nv_bfloat16(__hisnan(a.y) ? 1.0f : 0.0f));
}
FW_OPERATORS(__nv_bfloat16)
FW_OPERATORS2(__nv_bfloat162)

// Rounding to whole numbers, and elementary functions.
#define FW_THROUGH_FLOAT(NAME, F)                                                     \
  FW_D __nv_bfloat16 h##NAME(const __nv_bfloat16 v) {                                 \
    const float a = v;                                                                \
    return __nv_bfloat16(F);                                                          \
  }                                                                                   \
  FW_D __nv_bfloat162 h2##NAME(const __nv_bfloat162 a) { return __nv_bfloat162(h##NAME(a.x), h##NAME(a.y)); }
FW_THROUGH_FLOAT(trunc, truncf(a))
FW_THROUGH_FLOAT(ceil, ceilf(a))
FW_THROUGH_FLOAT(floor, floorf(a))
FW_THROUGH_FLOAT(rint, rintf(a))
FW_THROUGH_FLOAT(sqrt, __nvvm_sqrt_approx_f(a))
FW_THROUGH_FLOAT(rsqrt, __nvvm_rsqrt_approx_f(a))
FW_THROUGH_FLOAT(rcp, __nvvm_rcp_rn_f(a))
FW_THROUGH_FLOAT(exp2, __nvvm_ex2_approx_f(a))
FW_THROUGH_FLOAT(exp, __nvvm_ex2_approx_f(a * 0x1.715476p+0f))
FW_THROUGH_FLOAT(exp10, __nvvm_ex2_approx_f(a * 0x1.a934fp+1f))
FW_THROUGH_FLOAT(log2, __nvvm_lg2_approx_f(a))
FW_THROUGH_FLOAT(log, __nvvm_lg2_approx_f(a) * 0x1.62e43p-1f)
FW_THROUGH_FLOAT(log10, __nvvm_lg2_approx_f(a) * 0x1.344136p-2f)
FW_THROUGH_FLOAT(sin, __nvvm_sin_approx_f(a))
FW_THROUGH_FLOAT(cos, __nvvm_cos_approx_f(a))
FW_THROUGH_FLOAT(tanh, tanhf(a))
#undef FW_THROUGH_FLOAT

// Warp, memory, atomics. sm_80 has no atomic in this format: a loop of compare-and-swap.
FW_SHUFFLES(__nv_bfloat16, unsigned short)
FW_SHUFFLES(__nv_bfloat162, unsigned int)
FW_CACHED(__nv_bfloat16, unsigned short)
FW_CACHED(__nv_bfloat162, unsigned int)
FW_D __nv_bfloat162 atomicAdd(__nv_bfloat162* p, const __nv_bfloat162 v) {
#if __CUDA_ARCH__ >= 900
  unsigned old;
  asm volatile("atom.add.noftz.bf16x2 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(FW_U32(v)) : "memory");
  return __builtin_bit_cast(__nv_bfloat162, old);
#else
  unsigned *word = (unsigned*)(void*)p, old = *word, expected;
  do {
    expected = old;
    old = atomicCAS(word, expected, FW_U32(__hadd2(__builtin_bit_cast(__nv_bfloat162, expected), v)));
  } while (old != expected);
  return __builtin_bit_cast(__nv_bfloat162, old);
#endif
}
FW_D __nv_bfloat16 atomicAdd(__nv_bfloat16* p, const __nv_bfloat16 v) {
#if __CUDA_ARCH__ >= 900
  unsigned short old;
  asm volatile("atom.add.noftz.bf16 %0, [%1], %2;" : "=h"(old) : "l"(p), "h"(v.__x) : "memory");
  return FW_BF(old);
#else
  unsigned short *word = (unsigned short*)(void*)p, old = *word, expected;
  do {
    expected = old;
    old = atomicCAS(word, expected, __hadd(FW_BF(expected), v).__x);
  } while (old != expected);
  return FW_BF(old);
#endif
}

#undef FW_BF
#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)

#include "fullwarp/undef_half_macros.h"

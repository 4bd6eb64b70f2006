// half and half2. The arithmetic is inline PTX (fullwarp/half_macros.h); elementary functions go through fp32
// approximations and one rounding, as NVIDIA's do.
#pragma once

#include "cuda_runtime.h"
#include "fullwarp/half_macros.h"

#define __CUDA_FP16_H__
#define __CUDA_FP16_TYPES_EXIST__

struct __half;
struct __half2;

struct __align__(2) __half_raw {
  unsigned short x;
};
struct __align__(4) __half2_raw {
  unsigned short x, y;
};

// Conversions between half and every other type, first on bits.
#define FW_TO_HALF(NAME, FROM, FROM_BITS, C, MODE, PTX)                                   \
  FW_HD unsigned short NAME##_bits_##MODE(FROM a) {                                       \
    unsigned short r;                                                                     \
    asm("cvt." #MODE ".f16." PTX " %0, %1;" : "=h"(r) : C((FROM_BITS)a));                 \
    return r;                                                                             \
  }
#define FW_TO_HALF_ALL(NAME, FROM, FROM_BITS, C, PTX) \
  FW_TO_HALF(NAME, FROM, FROM_BITS, C, rn, PTX)       \
  FW_TO_HALF(NAME, FROM, FROM_BITS, C, rz, PTX)       \
  FW_TO_HALF(NAME, FROM, FROM_BITS, C, rp, PTX)       \
  FW_TO_HALF(NAME, FROM, FROM_BITS, C, rm, PTX)
FW_TO_HALF(fw_float2half, float, float, "f", rn, "f32")
FW_TO_HALF(fw_float2half, float, float, "f", rz, "f32")
FW_TO_HALF(fw_float2half, float, float, "f", rp, "f32")
FW_TO_HALF(fw_float2half, float, float, "f", rm, "f32")
FW_TO_HALF(fw_double2half, double, double, "d", rn, "f64")
FW_TO_HALF_ALL(fw_short2half, short, short, "h", "s16")
FW_TO_HALF_ALL(fw_ushort2half, unsigned short, unsigned short, "h", "u16")
FW_TO_HALF_ALL(fw_int2half, int, int, "r", "s32")
FW_TO_HALF_ALL(fw_uint2half, unsigned int, unsigned int, "r", "u32")
FW_TO_HALF_ALL(fw_ll2half, long long, long long, "l", "s64")
FW_TO_HALF_ALL(fw_ull2half, unsigned long long, unsigned long long, "l", "u64")
#undef FW_TO_HALF
#undef FW_TO_HALF_ALL

#define FW_FROM_HALF(TO, C, MODE, PTX)                                       \
  FW_HD TO fw_half2##PTX##_##MODE(unsigned short h) {                        \
    TO r;                                                                    \
    asm("cvt." #MODE "." #PTX ".f16 %0, %1;" : "=" C(r) : "h"(h));           \
    return r;                                                                \
  }
#define FW_FROM_HALF_ALL(TO, C, PTX) \
  FW_FROM_HALF(TO, C, rni, PTX)      \
  FW_FROM_HALF(TO, C, rzi, PTX)      \
  FW_FROM_HALF(TO, C, rpi, PTX)      \
  FW_FROM_HALF(TO, C, rmi, PTX)
FW_FROM_HALF_ALL(short, "h", s16)
FW_FROM_HALF_ALL(unsigned short, "h", u16)
FW_FROM_HALF_ALL(int, "r", s32)
FW_FROM_HALF_ALL(unsigned int, "r", u32)
FW_FROM_HALF_ALL(long long, "l", s64)
FW_FROM_HALF_ALL(unsigned long long, "l", u64)
#undef FW_FROM_HALF
#undef FW_FROM_HALF_ALL
FW_HD float fw_half2float(unsigned short h) {
  float r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(h));
  return r;
}
FW_HD int fw_half2byte(unsigned short h, int low, int high) {
  const int v = fw_half2s32_rzi(h);
  return v < low ? low : v > high ? high : v;
}

#define FW_MEMBER __host__ __device__ __forceinline__
struct __align__(2) __half {
  unsigned short __x;

  __half() = default;
  constexpr FW_MEMBER __half(const __half_raw& raw) : __x(raw.x) {}
  FW_MEMBER __half(float v) : __x(fw_float2half_bits_rn(v)) {}
  FW_MEMBER __half(double v) : __x(fw_double2half_bits_rn(v)) {}
  FW_MEMBER __half(short v) : __x(fw_short2half_bits_rn(v)) {}
  FW_MEMBER __half(unsigned short v) : __x(fw_ushort2half_bits_rn(v)) {}
  FW_MEMBER __half(int v) : __x(fw_int2half_bits_rn(v)) {}
  FW_MEMBER __half(unsigned int v) : __x(fw_uint2half_bits_rn(v)) {}
  FW_MEMBER __half(long v) : __x(fw_ll2half_bits_rn(v)) {}
  FW_MEMBER __half(unsigned long v) : __x(fw_ull2half_bits_rn(v)) {}
  FW_MEMBER __half(long long v) : __x(fw_ll2half_bits_rn(v)) {}
  FW_MEMBER __half(unsigned long long v) : __x(fw_ull2half_bits_rn(v)) {}

  FW_MEMBER operator float() const { return fw_half2float(__x); }
  FW_MEMBER operator __half_raw() const { return __half_raw{__x}; }
  FW_MEMBER operator signed char() const { return (signed char)fw_half2byte(__x, -128, 127); }
  FW_MEMBER operator unsigned char() const { return (unsigned char)fw_half2byte(__x, 0, 255); }
  FW_MEMBER operator char() const { return (char)fw_half2byte(__x, -128, 127); }
  FW_MEMBER operator short() const { return fw_half2s16_rzi(__x); }
  FW_MEMBER operator unsigned short() const { return fw_half2u16_rzi(__x); }
  FW_MEMBER operator int() const { return fw_half2s32_rzi(__x); }
  FW_MEMBER operator unsigned int() const { return fw_half2u32_rzi(__x); }
  FW_MEMBER operator long() const { return fw_half2s64_rzi(__x); }
  FW_MEMBER operator unsigned long() const { return fw_half2u64_rzi(__x); }
  FW_MEMBER operator long long() const { return fw_half2s64_rzi(__x); }
  FW_MEMBER operator unsigned long long() const { return fw_half2u64_rzi(__x); }
  FW_MEMBER operator bool() const { return (__x & 0x7fff) != 0; }

  FW_MEMBER static __half fw_one() { return __half(__half_raw{0x3c00}); }
};

struct __align__(4) __half2 {
  __half x, y;

  __half2() = default;
  constexpr FW_MEMBER __half2(const __half& a, const __half& b) : x(a), y(b) {}
  FW_MEMBER __half2(const __half2_raw& raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
  FW_MEMBER operator __half2_raw() const { return __half2_raw{x.__x, y.__x}; }
  FW_MEMBER static __half2 fw_one() { return __half2(__half::fw_one(), __half::fw_one()); }
};
#undef FW_MEMBER

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;

// Conversions under CUDA's names.
#define FW_HALF(BITS) (__half(__half_raw{(unsigned short)(BITS)}))
#define FW_INT_NAMES(NAME, TYPE, PTX)                                                        \
  FW_HD __half __##NAME##2half_rn(const TYPE v) { return FW_HALF(fw_##NAME##2half_bits_rn(v)); } \
  FW_HD __half __##NAME##2half_rz(const TYPE v) { return FW_HALF(fw_##NAME##2half_bits_rz(v)); } \
  FW_HD __half __##NAME##2half_ru(const TYPE v) { return FW_HALF(fw_##NAME##2half_bits_rp(v)); } \
  FW_HD __half __##NAME##2half_rd(const TYPE v) { return FW_HALF(fw_##NAME##2half_bits_rm(v)); } \
  FW_HD TYPE __half2##NAME##_rn(const __half h) { return fw_half2##PTX##_rni(h.__x); }        \
  FW_HD TYPE __half2##NAME##_rz(const __half h) { return fw_half2##PTX##_rzi(h.__x); }        \
  FW_HD TYPE __half2##NAME##_ru(const __half h) { return fw_half2##PTX##_rpi(h.__x); }        \
  FW_HD TYPE __half2##NAME##_rd(const __half h) { return fw_half2##PTX##_rmi(h.__x); }
FW_INT_NAMES(short, short, s16)
FW_INT_NAMES(ushort, unsigned short, u16)
FW_INT_NAMES(int, int, s32)
FW_INT_NAMES(uint, unsigned int, u32)
FW_INT_NAMES(ll, long long, s64)
FW_INT_NAMES(ull, unsigned long long, u64)
#undef FW_INT_NAMES
FW_HD signed char __half2char_rz(const __half h) { return (signed char)h; }
FW_HD unsigned char __half2uchar_rz(const __half h) { return (unsigned char)h; }
FW_HD __half __float2half(const float a) { return __half(a); }
FW_HD __half __float2half_rn(const float a) { return __half(a); }
FW_HD __half __float2half_rz(const float a) { return FW_HALF(fw_float2half_bits_rz(a)); }
FW_HD __half __float2half_ru(const float a) { return FW_HALF(fw_float2half_bits_rp(a)); }
FW_HD __half __float2half_rd(const float a) { return FW_HALF(fw_float2half_bits_rm(a)); }
FW_HD __half __double2half(const double a) { return __half(a); }
FW_HD float __half2float(const __half a) { return (float)a; }
FW_HD short __half_as_short(const __half a) { return (short)a.__x; }
FW_HD unsigned short __half_as_ushort(const __half a) { return a.__x; }
FW_HD __half __short_as_half(const short a) { return FW_HALF(a); }
FW_HD __half __ushort_as_half(const unsigned short a) { return FW_HALF(a); }

// Pairs.
FW_HD __half2 make_half2(const __half x, const __half y) { return __half2(x, y); }
FW_HD __half2 __halves2half2(const __half a, const __half b) { return __half2(a, b); }
FW_HD __half2 __half2half2(const __half a) { return __half2(a, a); }
FW_HD __half __low2half(const __half2 a) { return a.x; }
FW_HD __half __high2half(const __half2 a) { return a.y; }
FW_HD __half2 __low2half2(const __half2 a) { return __half2(a.x, a.x); }
FW_HD __half2 __high2half2(const __half2 a) { return __half2(a.y, a.y); }
FW_HD __half2 __lows2half2(const __half2 a, const __half2 b) { return __half2(a.x, b.x); }
FW_HD __half2 __highs2half2(const __half2 a, const __half2 b) { return __half2(a.y, b.y); }
FW_HD __half2 __lowhigh2highlow(const __half2 a) { return __half2(a.y, a.x); }
FW_HD float __low2float(const __half2 a) { return (float)a.x; }
FW_HD float __high2float(const __half2 a) { return (float)a.y; }
FW_HD float2 __half22float2(const __half2 a) { return make_float2((float)a.x, (float)a.y); }
FW_HD __half2 __floats2half2_rn(const float a, const float b) {
#if __CUDA_ARCH__ >= 800
  unsigned r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a));
  return __builtin_bit_cast(__half2, r);
#else
  return __half2(__half(a), __half(b));
#endif
}
FW_HD __half2 __float2half2_rn(const float a) { return __half2half2(__half(a)); }
FW_HD __half2 __float22half2_rn(const float2 a) { return __floats2half2_rn(a.x, a.y); }

// Arithmetic.
#define FW_ARITHMETIC(NAME, INSTRUCTION)                 \
  FW_BINARY1(__h##NAME, __half, INSTRUCTION ".f16")      \
  FW_BINARY2(__h##NAME##2, __half2, INSTRUCTION ".f16x2")
FW_ARITHMETIC(add, "add")
FW_ARITHMETIC(sub, "sub")
FW_ARITHMETIC(mul, "mul")
FW_ARITHMETIC(max, "max")
FW_ARITHMETIC(min, "min")
#undef FW_ARITHMETIC
#define FW_VARIANT(NAME, SUFFIX, INSTRUCTION)                     \
  FW_BINARY1(__h##NAME##SUFFIX, __half, INSTRUCTION ".f16")       \
  FW_BINARY2(__h##NAME##2##SUFFIX, __half2, INSTRUCTION ".f16x2")
FW_VARIANT(add, _rn, "add.rn")
FW_VARIANT(sub, _rn, "sub.rn")
FW_VARIANT(mul, _rn, "mul.rn")
FW_VARIANT(add, _sat, "add.sat")
FW_VARIANT(sub, _sat, "sub.sat")
FW_VARIANT(mul, _sat, "mul.sat")
FW_VARIANT(max, _nan, "max.NaN")
FW_VARIANT(min, _nan, "min.NaN")
#undef FW_VARIANT
FW_TERNARY1(__hfma, __half, "fma.rn.f16")
FW_TERNARY1(__hfma_sat, __half, "fma.rn.sat.f16")
FW_TERNARY1(__hfma_relu, __half, "fma.rn.relu.f16")
FW_TERNARY2(__hfma2, __half2, "fma.rn.f16x2")
FW_TERNARY2(__hfma2_sat, __half2, "fma.rn.sat.f16x2")
FW_TERNARY2(__hfma2_relu, __half2, "fma.rn.relu.f16x2")
FW_UNARY1(__hneg, __half, "neg.f16")
FW_UNARY2(__hneg2, __half2, "neg.f16x2")
FW_UNARY1(__habs, __half, "abs.f16")
FW_UNARY2(__habs2, __half2, "abs.f16x2")
// One rounding more is harmless: 24 bits are at least twice 11 and two more.
FW_HD __half __hdiv(const __half a, const __half b) { return __half((float)a / (float)b); }
FW_HD __half2 __h2div(const __half2 a, const __half2 b) { return __half2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }
FW_HD __half2 __hcmadd(const __half2 a, const __half2 b, const __half2 c) {
  const __half re = __hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x));
  return __half2(re, __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}

// Comparisons.
#define FW_COMPARE(NAME, PTX)                                                                         \
  FW_HD bool __h##NAME(const __half a, const __half b) {                                              \
    unsigned short yes;                                                                               \
    asm("{ .reg .pred p; setp." PTX ".f16 p, %1, %2; selp.u16 %0, 1, 0, p; }"                         \
        : "=h"(yes)                                                                                   \
        : "h"(a.__x), "h"(b.__x));                                                                    \
    return yes != 0;                                                                                  \
  }
FW_COMPARE(eq, "eq")
FW_COMPARE(ne, "ne")
FW_COMPARE(le, "le")
FW_COMPARE(ge, "ge")
FW_COMPARE(lt, "lt")
FW_COMPARE(gt, "gt")
FW_COMPARE(equ, "equ")
FW_COMPARE(neu, "neu")
FW_COMPARE(leu, "leu")
FW_COMPARE(geu, "geu")
FW_COMPARE(ltu, "ltu")
FW_COMPARE(gtu, "gtu")
#undef FW_COMPARE
FW_COMPARES2(__half, __half2)
FW_HD bool __hisnan(const __half a) { return (a.__x & 0x7fff) > 0x7c00; }
FW_HD int __hisinf(const __half a) { return a.__x == 0x7c00 ? 1 : a.__x == 0xfc00 ? -1 : 0; }
FW_HD __half2 __hisnan2(const __half2 a) {
  return __half2(__half(__hisnan(a.x) ? 1.0f : 0.0f), __half(__hisnan(a.y) ? 1.0f : 0.0f));
}
FW_OPERATORS(__half)
FW_OPERATORS2(__half2)

// Rounding to whole numbers, and elementary functions.
FW_UNARY1(htrunc, __half, "cvt.rzi.f16.f16")
FW_UNARY1(hceil, __half, "cvt.rpi.f16.f16")
FW_UNARY1(hfloor, __half, "cvt.rmi.f16.f16")
FW_UNARY1(hrint, __half, "cvt.rni.f16.f16")
FW_UNARY1(htanh_approx, __half, "tanh.approx.f16")
FW_UNARY2(h2tanh_approx, __half2, "tanh.approx.f16x2")
FW_D __half hsqrt(const __half a) { return __half(__nvvm_sqrt_approx_ftz_f((float)a)); }
FW_D __half hrsqrt(const __half a) { return __half(__nvvm_rsqrt_approx_ftz_f((float)a)); }
FW_D __half hrcp(const __half a) { return __half(__nvvm_div_approx_ftz_f(1.0f, (float)a)); }
FW_D __half hexp2(const __half a) { return __half(__nvvm_ex2_approx_ftz_f((float)a)); }
FW_D __half hexp(const __half a) { return __half(__nvvm_ex2_approx_ftz_f((float)a * 0x1.715476p+0f)); }
FW_D __half hexp10(const __half a) { return __half(__nvvm_ex2_approx_ftz_f((float)a * 0x1.a934fp+1f)); }
FW_D __half hlog2(const __half a) { return __half(__nvvm_lg2_approx_ftz_f((float)a)); }
FW_D __half hlog(const __half a) { return __half(__nvvm_lg2_approx_ftz_f((float)a) * 0x1.62e43p-1f); }
FW_D __half hlog10(const __half a) { return __half(__nvvm_lg2_approx_ftz_f((float)a) * 0x1.344136p-2f); }
FW_D __half hsin(const __half a) { return __half(__nvvm_sin_approx_f((float)a)); }
FW_D __half hcos(const __half a) { return __half(__nvvm_cos_approx_f((float)a)); }
FW_D __half htanh(const __half a) { return __half(tanhf((float)a)); }
#define FW_BOTH(NAME) \
  FW_D __half2 h2##NAME(const __half2 a) { return __half2(h##NAME(a.x), h##NAME(a.y)); }
FW_BOTH(trunc)
FW_BOTH(ceil)
FW_BOTH(floor)
FW_BOTH(rint)
FW_BOTH(sqrt)
FW_BOTH(rsqrt)
FW_BOTH(rcp)
FW_BOTH(exp2)
FW_BOTH(exp)
FW_BOTH(exp10)
FW_BOTH(log2)
FW_BOTH(log)
FW_BOTH(log10)
FW_BOTH(sin)
FW_BOTH(cos)
FW_BOTH(tanh)
#undef FW_BOTH

// Warp, memory, atomics.
FW_SHUFFLES(__half, unsigned short)
FW_SHUFFLES(__half2, unsigned int)
FW_CACHED(__half, unsigned short)
FW_CACHED(__half2, unsigned int)
FW_D __half2 atomicAdd(__half2* p, const __half2 v) {
  unsigned old;
  asm volatile("atom.add.noftz.f16x2 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(FW_U32(v)) : "memory");
  return __builtin_bit_cast(__half2, old);
}
FW_D __half atomicAdd(__half* p, const __half v) {
  unsigned short old;
  asm volatile("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(old) : "l"(p), "h"(v.__x) : "memory");
  return FW_HALF(old);
}

#undef FW_HALF
#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)

#include "fullwarp/undef_half_macros.h"

// libdevice functions that are one machine operation (or a handful), defined here so that clang's PTX holds the
// instruction, as nvcc's does, rather than a call. clang's headers express every CUDA intrinsic through these
// names. Functions that return values through pointers are also here: as calls they would put their results
// into local memory, which nvcc's code does not. What is not defined here (sinf, expf, powf, ...) stays a call
// and is executed by src/libdevice.
//
// FW_FTZ(a, b) is `a` under -fgpu-flush-denormals-to-zero, else `b`; LLVM folds it.
#pragma once

#define FW_NATIVE extern "C" __device__ inline __attribute__((always_inline))
#define FW_FTZ(flushed, kept) (fw_reflect("__CUDA_FTZ") ? (flushed) : (kept))

extern "C" __device__ int fw_reflect(const char*) __asm__("__nvvm_reflect");

// Integers.
FW_NATIVE int __nv_abs(int a) { return a < 0 ? (int)(0u - (unsigned)a) : a; }
FW_NATIVE long long __nv_llabs(long long a) { return a < 0 ? (long long)(0ull - (unsigned long long)a) : a; }
FW_NATIVE int __nv_max(int a, int b) { return a > b ? a : b; }
FW_NATIVE int __nv_min(int a, int b) { return a < b ? a : b; }
FW_NATIVE unsigned __nv_umax(unsigned a, unsigned b) { return a > b ? a : b; }
FW_NATIVE unsigned __nv_umin(unsigned a, unsigned b) { return a < b ? a : b; }
FW_NATIVE long long __nv_llmax(long long a, long long b) { return a > b ? a : b; }
FW_NATIVE long long __nv_llmin(long long a, long long b) { return a < b ? a : b; }
FW_NATIVE unsigned long long __nv_ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
FW_NATIVE unsigned long long __nv_ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
FW_NATIVE int __nv_clz(int a) { return a ? __builtin_clz((unsigned)a) : 32; }
FW_NATIVE int __nv_clzll(long long a) { return a ? __builtin_clzll((unsigned long long)a) : 64; }
FW_NATIVE int __nv_popc(int a) { return __builtin_popcount((unsigned)a); }
FW_NATIVE int __nv_popcll(long long a) { return __builtin_popcountll((unsigned long long)a); }
FW_NATIVE unsigned int __nv_brev(unsigned int a) { return __builtin_bitreverse32(a); }
FW_NATIVE unsigned long long __nv_brevll(unsigned long long a) { return __builtin_bitreverse64(a); }
FW_NATIVE int __nv_ffs(int a) { return __builtin_ffs(a); }
FW_NATIVE int __nv_ffsll(long long a) { return __builtin_ffsll(a); }
FW_NATIVE int __nv_byte_perm(int a, int b, int s) { return __nvvm_prmt(a, b, s); }
FW_NATIVE int __nv_mulhi(int a, int b) { return __nvvm_mulhi_i(a, b); }
FW_NATIVE unsigned __nv_umulhi(unsigned a, unsigned b) { return __nvvm_mulhi_ui(a, b); }
FW_NATIVE long long __nv_mul64hi(long long a, long long b) { return __nvvm_mulhi_ll(a, b); }
FW_NATIVE unsigned long long __nv_umul64hi(unsigned long long a, unsigned long long b) {
  return __nvvm_mulhi_ull(a, b);
}
FW_NATIVE int __nv_mul24(int a, int b) { return __nvvm_mul24_i(a, b); }
FW_NATIVE unsigned __nv_umul24(unsigned a, unsigned b) { return __nvvm_mul24_ui(a, b); }
FW_NATIVE int __nv_sad(int a, int b, int c) { return __nvvm_sad_i(a, b, c); }
FW_NATIVE unsigned __nv_usad(unsigned a, unsigned b, unsigned c) { return __nvvm_sad_ui(a, b, c); }
FW_NATIVE int __nv_hadd(int a, int b) { return (a & b) + ((a ^ b) >> 1); }
FW_NATIVE int __nv_rhadd(int a, int b) { return (a | b) - ((a ^ b) >> 1); }
FW_NATIVE int __nv_uhadd(unsigned a, unsigned b) { return (int)((a & b) + ((a ^ b) >> 1)); }
FW_NATIVE unsigned __nv_urhadd(unsigned a, unsigned b) { return (a | b) - ((a ^ b) >> 1); }

// Additions, products, quotients, fused products, reciprocals and roots with a rounding direction.
#define FW_FLOAT_ROUNDED(DIRECTION, NVVM)                                                                     \
  FW_NATIVE float __nv_fadd_##DIRECTION(float a, float b) {                                                   \
    return FW_FTZ(__nvvm_add_##NVVM##_ftz_f(a, b), __nvvm_add_##NVVM##_f(a, b));                              \
  }                                                                                                           \
  FW_NATIVE float __nv_fsub_##DIRECTION(float a, float b) {                                                   \
    return FW_FTZ(__nvvm_add_##NVVM##_ftz_f(a, -b), __nvvm_add_##NVVM##_f(a, -b));                            \
  }                                                                                                           \
  FW_NATIVE float __nv_fmul_##DIRECTION(float a, float b) {                                                   \
    return FW_FTZ(__nvvm_mul_##NVVM##_ftz_f(a, b), __nvvm_mul_##NVVM##_f(a, b));                              \
  }                                                                                                           \
  FW_NATIVE float __nv_fdiv_##DIRECTION(float a, float b) {                                                   \
    return FW_FTZ(__nvvm_div_##NVVM##_ftz_f(a, b), __nvvm_div_##NVVM##_f(a, b));                              \
  }                                                                                                           \
  FW_NATIVE float __nv_fmaf_##DIRECTION(float a, float b, float c) {                                          \
    return FW_FTZ(__nvvm_fma_##NVVM##_ftz_f(a, b, c), __nvvm_fma_##NVVM##_f(a, b, c));                        \
  }                                                                                                           \
  FW_NATIVE float __nv_fmaf_ieee_##DIRECTION(float a, float b, float c) { return __nvvm_fma_##NVVM##_f(a, b, c); } \
  FW_NATIVE float __nv_frcp_##DIRECTION(float a) {                                                            \
    return FW_FTZ(__nvvm_rcp_##NVVM##_ftz_f(a), __nvvm_rcp_##NVVM##_f(a));                                    \
  }                                                                                                           \
  FW_NATIVE float __nv_fsqrt_##DIRECTION(float a) {                                                           \
    return FW_FTZ(__nvvm_sqrt_##NVVM##_ftz_f(a), __nvvm_sqrt_##NVVM##_f(a));                                  \
  }                                                                                                           \
  FW_NATIVE double __nv_dadd_##DIRECTION(double a, double b) { return __nvvm_add_##NVVM##_d(a, b); }          \
  FW_NATIVE double __nv_dsub_##DIRECTION(double a, double b) { return __nvvm_add_##NVVM##_d(a, -b); }         \
  FW_NATIVE double __nv_dmul_##DIRECTION(double a, double b) { return __nvvm_mul_##NVVM##_d(a, b); }          \
  FW_NATIVE double __nv_ddiv_##DIRECTION(double a, double b) { return __nvvm_div_##NVVM##_d(a, b); }          \
  FW_NATIVE double __nv_fma_##DIRECTION(double a, double b, double c) { return __nvvm_fma_##NVVM##_d(a, b, c); } \
  FW_NATIVE double __nv_drcp_##DIRECTION(double a) { return __nvvm_rcp_##NVVM##_d(a); }                       \
  FW_NATIVE double __nv_dsqrt_##DIRECTION(double a) { return __nvvm_sqrt_##NVVM##_d(a); }

// Conversions with a rounding direction.
#define FW_CONVERSIONS(DIRECTION, NVVM)                                                                       \
  FW_NATIVE float __nv_double2float_##DIRECTION(double a) {                                                   \
    return FW_FTZ(__nvvm_d2f_##NVVM##_ftz(a), __nvvm_d2f_##NVVM(a));                                          \
  }                                                                                                           \
  FW_NATIVE int __nv_double2int_##DIRECTION(double a) { return __nvvm_d2i_##NVVM(a); }                        \
  FW_NATIVE unsigned __nv_double2uint_##DIRECTION(double a) { return __nvvm_d2ui_##NVVM(a); }                 \
  FW_NATIVE long long __nv_double2ll_##DIRECTION(double a) { return __nvvm_d2ll_##NVVM(a); }                  \
  FW_NATIVE unsigned long long __nv_double2ull_##DIRECTION(double a) { return __nvvm_d2ull_##NVVM(a); }       \
  FW_NATIVE int __nv_float2int_##DIRECTION(float a) {                                                         \
    return FW_FTZ(__nvvm_f2i_##NVVM##_ftz(a), __nvvm_f2i_##NVVM(a));                                          \
  }                                                                                                           \
  FW_NATIVE unsigned __nv_float2uint_##DIRECTION(float a) {                                                   \
    return FW_FTZ(__nvvm_f2ui_##NVVM##_ftz(a), __nvvm_f2ui_##NVVM(a));                                        \
  }                                                                                                           \
  FW_NATIVE long long __nv_float2ll_##DIRECTION(float a) {                                                    \
    return FW_FTZ(__nvvm_f2ll_##NVVM##_ftz(a), __nvvm_f2ll_##NVVM(a));                                        \
  }                                                                                                           \
  FW_NATIVE unsigned long long __nv_float2ull_##DIRECTION(float a) {                                          \
    return FW_FTZ(__nvvm_f2ull_##NVVM##_ftz(a), __nvvm_f2ull_##NVVM(a));                                      \
  }                                                                                                           \
  FW_NATIVE float __nv_int2float_##DIRECTION(int a) { return __nvvm_i2f_##NVVM(a); }                          \
  FW_NATIVE float __nv_uint2float_##DIRECTION(unsigned a) { return __nvvm_ui2f_##NVVM(a); }                   \
  FW_NATIVE float __nv_ll2float_##DIRECTION(long long a) { return __nvvm_ll2f_##NVVM(a); }                    \
  FW_NATIVE float __nv_ull2float_##DIRECTION(unsigned long long a) { return __nvvm_ull2f_##NVVM(a); }         \
  FW_NATIVE double __nv_ll2double_##DIRECTION(long long a) { return __nvvm_ll2d_##NVVM(a); }                  \
  FW_NATIVE double __nv_ull2double_##DIRECTION(unsigned long long a) { return __nvvm_ull2d_##NVVM(a); }

FW_FLOAT_ROUNDED(rn, rn)
FW_FLOAT_ROUNDED(rz, rz)
FW_FLOAT_ROUNDED(ru, rp)
FW_FLOAT_ROUNDED(rd, rm)
FW_CONVERSIONS(rn, rn)
FW_CONVERSIONS(rz, rz)
FW_CONVERSIONS(ru, rp)
FW_CONVERSIONS(rd, rm)
#undef FW_FLOAT_ROUNDED
#undef FW_CONVERSIONS

FW_NATIVE double __nv_int2double_rn(int a) { return a; }
FW_NATIVE double __nv_uint2double_rn(unsigned a) { return a; }
FW_NATIVE unsigned short __nv_float2half_rn(float a) {
  return (unsigned short)FW_FTZ(__nvvm_f2h_rn_ftz(a), __nvvm_f2h_rn(a));
}
FW_NATIVE float __nv_half2float(unsigned short h) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  return f;
}

// Bits.
FW_NATIVE int __nv_float_as_int(float a) { return __builtin_bit_cast(int, a); }
FW_NATIVE unsigned __nv_float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }
FW_NATIVE float __nv_int_as_float(int a) { return __builtin_bit_cast(float, a); }
FW_NATIVE float __nv_uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }
FW_NATIVE unsigned long long __nv_double_as_longlong(double a) { return __builtin_bit_cast(unsigned long long, a); }
FW_NATIVE double __nv_longlong_as_double(long long a) { return __builtin_bit_cast(double, a); }
FW_NATIVE int __nv_double2hiint(double a) { return (int)(__builtin_bit_cast(unsigned long long, a) >> 32); }
FW_NATIVE int __nv_double2loint(double a) { return (int)__builtin_bit_cast(unsigned long long, a); }
FW_NATIVE double __nv_hiloint2double(int high, int low) {
  return __builtin_bit_cast(double, (unsigned long long)(unsigned)high << 32 | (unsigned)low);
}
FW_NATIVE int __nv_signbitf(float a) { return (int)(__nv_float_as_uint(a) >> 31); }
FW_NATIVE int __nv_signbitd(double a) { return (int)(__nv_double_as_longlong(a) >> 63); }
FW_NATIVE float __nv_copysignf(float a, float b) {
  return __nv_uint_as_float((__nv_float_as_uint(a) & 0x7fffffffu) | (__nv_float_as_uint(b) & 0x80000000u));
}
FW_NATIVE double __nv_copysign(double a, double b) {
  return __nv_longlong_as_double((long long)((__nv_double_as_longlong(a) & ~(1ull << 63)) |
                                             (__nv_double_as_longlong(b) & (1ull << 63))));
}

// Classes. Comparisons with infinity hold for -ffast-math too, where __builtin_isnan is constant.
FW_NATIVE int __nv_isinff(float a) { return (__nv_float_as_uint(a) & 0x7fffffffu) == 0x7f800000u; }
FW_NATIVE int __nv_isnanf(float a) { return (__nv_float_as_uint(a) & 0x7fffffffu) > 0x7f800000u; }
FW_NATIVE int __nv_finitef(float a) { return (__nv_float_as_uint(a) & 0x7fffffffu) < 0x7f800000u; }
FW_NATIVE int __nv_isinfd(double a) { return (__nv_double_as_longlong(a) & ~(1ull << 63)) == 0x7ff0ull << 48; }
FW_NATIVE int __nv_isnand(double a) { return (__nv_double_as_longlong(a) & ~(1ull << 63)) > 0x7ff0ull << 48; }
FW_NATIVE int __nv_isfinited(double a) { return (__nv_double_as_longlong(a) & ~(1ull << 63)) < 0x7ff0ull << 48; }

// One-instruction arithmetic and rounding to whole numbers.
FW_NATIVE float __nv_fabsf(float a) { return FW_FTZ(__nvvm_fabs_ftz_f(a), __nvvm_fabs_f(a)); }
FW_NATIVE double __nv_fabs(double a) { return __nvvm_fabs_d(a); }
FW_NATIVE float __nv_fmaf(float a, float b, float c) { return __nv_fmaf_rn(a, b, c); }
FW_NATIVE double __nv_fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
FW_NATIVE float __nv_fmaxf(float a, float b) { return FW_FTZ(__nvvm_fmax_ftz_f(a, b), __nvvm_fmax_f(a, b)); }
FW_NATIVE float __nv_fminf(float a, float b) { return FW_FTZ(__nvvm_fmin_ftz_f(a, b), __nvvm_fmin_f(a, b)); }
FW_NATIVE double __nv_fmax(double a, double b) { return __nvvm_fmax_d(a, b); }
FW_NATIVE double __nv_fmin(double a, double b) { return __nvvm_fmin_d(a, b); }
FW_NATIVE float __nv_floorf(float a) { return FW_FTZ(__nvvm_floor_ftz_f(a), __nvvm_floor_f(a)); }
FW_NATIVE float __nv_ceilf(float a) { return FW_FTZ(__nvvm_ceil_ftz_f(a), __nvvm_ceil_f(a)); }
FW_NATIVE float __nv_truncf(float a) { return FW_FTZ(__nvvm_trunc_ftz_f(a), __nvvm_trunc_f(a)); }
FW_NATIVE float __nv_rintf(float a) { return __builtin_rintf(a); }
FW_NATIVE float __nv_nearbyintf(float a) { return __builtin_nearbyintf(a); }
FW_NATIVE float __nv_roundf(float a) { return __builtin_roundf(a); }
FW_NATIVE double __nv_floor(double a) { return __nvvm_floor_d(a); }
FW_NATIVE double __nv_ceil(double a) { return __nvvm_ceil_d(a); }
FW_NATIVE double __nv_trunc(double a) { return __nvvm_trunc_d(a); }
FW_NATIVE double __nv_rint(double a) { return __builtin_rint(a); }
FW_NATIVE double __nv_nearbyint(double a) { return __builtin_nearbyint(a); }
FW_NATIVE double __nv_round(double a) { return __builtin_round(a); }
FW_NATIVE long long __nv_llrintf(float a) { return __nv_float2ll_rn(a); }
FW_NATIVE long long __nv_llrint(double a) { return __nv_double2ll_rn(a); }
FW_NATIVE long long __nv_llroundf(float a) { return __nv_float2ll_rz(__nv_roundf(a)); }
FW_NATIVE long long __nv_llround(double a) { return __nv_double2ll_rz(__nv_round(a)); }
FW_NATIVE float __nv_sqrtf(float a) { return __builtin_sqrtf(a); }
FW_NATIVE double __nv_sqrt(double a) { return __nvvm_sqrt_rn_d(a); }
FW_NATIVE float __nv_rsqrtf(float a) { return FW_FTZ(__nvvm_rsqrt_approx_ftz_f(a), __nvvm_rsqrt_approx_f(a)); }
FW_NATIVE double __nv_rsqrt(double a) { return __nvvm_rsqrt_approx_d(a); }
FW_NATIVE double __nv_rcp64h(double a) { return __nvvm_rcp_approx_ftz_d(a); }
FW_NATIVE float __nv_saturatef(float a) { return FW_FTZ(__nvvm_saturate_ftz_f(a), __nvvm_saturate_f(a)); }
FW_NATIVE float __nv_fdimf(float a, float b) { return a <= b ? 0.0f : a - b; }
FW_NATIVE double __nv_fdim(double a, double b) { return a <= b ? 0.0 : a - b; }

// The approximations of CUDA's fast math, which the PTX manual names: sin.approx, ex2.approx, lg2.approx.
FW_NATIVE float __nv_exp2f(float a) { return FW_FTZ(__nvvm_ex2_approx_ftz_f(a), __nvvm_ex2_approx_f(a)); }
FW_NATIVE float __nv_fast_sinf(float a) { return FW_FTZ(__nvvm_sin_approx_ftz_f(a), __nvvm_sin_approx_f(a)); }
FW_NATIVE float __nv_fast_cosf(float a) { return FW_FTZ(__nvvm_cos_approx_ftz_f(a), __nvvm_cos_approx_f(a)); }
FW_NATIVE float __nv_fast_log2f(float a) { return FW_FTZ(__nvvm_lg2_approx_ftz_f(a), __nvvm_lg2_approx_f(a)); }
FW_NATIVE float __nv_fast_fdividef(float a, float b) {
  return FW_FTZ(__nvvm_div_approx_ftz_f(a, b), __nvvm_div_approx_f(a, b));
}
FW_NATIVE float __nv_fast_expf(float a) { return __nv_exp2f(__nv_fmul_rn(a, 0x1.715476p+0f)); }
FW_NATIVE float __nv_fast_exp10f(float a) { return __nv_exp2f(__nv_fmul_rn(a, 0x1.a934fp+1f)); }
FW_NATIVE float __nv_fast_logf(float a) { return __nv_fmul_rn(__nv_fast_log2f(a), 0x1.62e43p-1f); }
FW_NATIVE float __nv_fast_log10f(float a) { return __nv_fmul_rn(__nv_fast_log2f(a), 0x1.344136p-2f); }
FW_NATIVE float __nv_fast_powf(float a, float b) { return __nv_exp2f(__nv_fmul_rn(b, __nv_fast_log2f(a))); }
FW_NATIVE float __nv_fast_tanf(float a) { return __nv_fast_fdividef(__nv_fast_sinf(a), __nv_fast_cosf(a)); }

// Results through pointers: kept in registers.
FW_NATIVE void __nv_fast_sincosf(float a, float* s, float* c) {
  *s = __nv_fast_sinf(a);
  *c = __nv_fast_cosf(a);
}
FW_NATIVE void __nv_sincosf(float a, float* s, float* c) {
  *s = __nv_sinf(a);
  *c = __nv_cosf(a);
}
FW_NATIVE void __nv_sincos(double a, double* s, double* c) {
  *s = __nv_sin(a);
  *c = __nv_cos(a);
}
FW_NATIVE void __nv_sincospif(float a, float* s, float* c) {
  *s = __nv_sinpif(a);
  *c = __nv_cospif(a);
}
FW_NATIVE void __nv_sincospi(double a, double* s, double* c) {
  *s = __nv_sinpi(a);
  *c = __nv_cospi(a);
}
FW_NATIVE float __nv_modff(float a, float* whole) {
  float t = __nv_truncf(a);
  *whole = t;
  return __nv_copysignf(__nv_isinff(a) ? 0.0f : a - t, a);
}
FW_NATIVE double __nv_modf(double a, double* whole) {
  double t = __nv_trunc(a);
  *whole = t;
  return __nv_copysign(__nv_isinfd(a) ? 0.0 : a - t, a);
}
FW_NATIVE float __nv_frexpf(float a, int* exponent) {
  const bool denormal = __nv_fabsf(a) < 0x1p-126f;
  const unsigned bits = __nv_float_as_uint(denormal ? a * 0x1p24f : a);
  const bool plain = (bits & 0x7fffffffu) != 0 && __nv_finitef(a);
  *exponent = plain ? (int)(bits >> 23 & 0xff) - (denormal ? 150 : 126) : 0;
  return plain ? __nv_uint_as_float((bits & 0x807fffffu) | 0x3f000000u) : a + a;
}
FW_NATIVE double __nv_frexp(double a, int* exponent) {
  const bool denormal = __nv_fabs(a) < 0x1p-1022;
  const unsigned long long bits = __nv_double_as_longlong(denormal ? a * 0x1p54 : a);
  const bool plain = (bits & ~(1ull << 63)) != 0 && __nv_isfinited(a);
  *exponent = plain ? (int)(bits >> 52 & 0x7ff) - (denormal ? 1076 : 1022) : 0;
  return plain ? __nv_longlong_as_double((long long)((bits & 0x800fffffffffffffull) | 0x3fe0ull << 48)) : a + a;
}

// The norms of an array read it here, so that its loads are ordinary loads.
FW_NATIVE float __nv_normf(int count, const float* v) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum = __nv_fma(v[i], v[i], sum);
  return (float)__nv_sqrt(sum);
}
FW_NATIVE float __nv_rnormf(int count, const float* v) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum = __nv_fma(v[i], v[i], sum);
  return (float)(1 / __nv_sqrt(sum));
}
FW_NATIVE double __nv_norm(int count, const double* v) {
  double length = 0;
  for (int i = 0; i < count; ++i) length = __nv_hypot(length, v[i]);
  return length;
}
FW_NATIVE double __nv_rnorm(int count, const double* v) { return 1 / __nv_norm(count, v); }

#undef FW_NATIVE
#undef FW_FTZ

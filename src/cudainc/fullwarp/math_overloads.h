// Overloads that NVIDIA's headers add to <cmath>: min and max of every type, rsqrt(float) and the like, and host
// declarations of the functions that only CUDA has (never linked: the host side of a file is only parsed).
#pragma once

#define FW_HD static __host__ __device__ __forceinline__

// clang defines min and max of int for the device.
static __host__ __forceinline__ int min(int a, int b) { return a < b ? a : b; }
static __host__ __forceinline__ int max(int a, int b) { return a > b ? a : b; }
#define FW_MINMAX(A, B, R)                                                 \
  FW_HD R min(A a, B b) { return (R)a < (R)b ? (R)a : (R)b; }              \
  FW_HD R max(A a, B b) { return (R)a > (R)b ? (R)a : (R)b; }
FW_MINMAX(unsigned int, unsigned int, unsigned int)
FW_MINMAX(int, unsigned int, unsigned int)
FW_MINMAX(unsigned int, int, unsigned int)
FW_MINMAX(long, long, long)
FW_MINMAX(unsigned long, unsigned long, unsigned long)
FW_MINMAX(long, unsigned long, unsigned long)
FW_MINMAX(unsigned long, long, unsigned long)
FW_MINMAX(long long, long long, long long)
FW_MINMAX(unsigned long long, unsigned long long, unsigned long long)
FW_MINMAX(long long, unsigned long long, unsigned long long)
FW_MINMAX(unsigned long long, long long, unsigned long long)
#undef FW_MINMAX
FW_HD float min(float a, float b) { return fminf(a, b); }
FW_HD float max(float a, float b) { return fmaxf(a, b); }
FW_HD double min(double a, double b) { return fmin(a, b); }
FW_HD double max(double a, double b) { return fmax(a, b); }
FW_HD double min(float a, double b) { return fmin((double)a, b); }
FW_HD double max(float a, double b) { return fmax((double)a, b); }
FW_HD double min(double a, float b) { return fmin(a, (double)b); }
FW_HD double max(double a, float b) { return fmax(a, (double)b); }

// Overloads that clang declares and leaves to NVIDIA's headers.
#define FW_D static __device__ __forceinline__
FW_D float acosh(float a) { return acoshf(a); }
FW_D float asinh(float a) { return asinhf(a); }
FW_D float atanh(float a) { return atanhf(a); }
FW_D float cbrt(float a) { return cbrtf(a); }
FW_D float erfc(float a) { return erfcf(a); }
FW_D float erf(float a) { return erff(a); }
FW_D float exp2(float a) { return exp2f(a); }
FW_D float expm1(float a) { return expm1f(a); }
FW_D float lgamma(float a) { return lgammaf(a); }
FW_D float log1p(float a) { return log1pf(a); }
FW_D float log2(float a) { return log2f(a); }
FW_D float logb(float a) { return logbf(a); }
FW_D float nearbyint(float a) { return nearbyintf(a); }
FW_D float rint(float a) { return rintf(a); }
FW_D float round(float a) { return roundf(a); }
FW_D float tgamma(float a) { return tgammaf(a); }
FW_D float trunc(float a) { return truncf(a); }
FW_D float copysign(float a, float b) { return copysignf(a, b); }
FW_D float fdim(float a, float b) { return fdimf(a, b); }
FW_D float fmax(float a, float b) { return fmaxf(a, b); }
FW_D float fmin(float a, float b) { return fminf(a, b); }
FW_D float hypot(float a, float b) { return hypotf(a, b); }
FW_D float nextafter(float a, float b) { return nextafterf(a, b); }
FW_D float remainder(float a, float b) { return remainderf(a, b); }
FW_D float fma(float a, float b, float c) { return fmaf(a, b, c); }
FW_D int ilogb(float a) { return ilogbf(a); }
FW_D long long llrint(float a) { return llrintf(a); }
FW_D long lrint(float a) { return lrintf(a); }
FW_D long lround(float a) { return lroundf(a); }
FW_D long long llround(float a) { return llroundf(a); }
FW_D float remquo(float a, float b, int* quotient) { return remquof(a, b, quotient); }
FW_D float scalbn(float a, int b) { return scalbnf(a, b); }
FW_D float scalbln(float a, long b) { return scalblnf(a, b); }
// The payload that a tag would name is left out.
FW_D double nan(const char*) { return __longlong_as_double(0x7ff8ll << 48); }
FW_D float nanf(const char*) { return __int_as_float(0x7fc00000); }

// Host declarations of CUDA's own functions.
__host__ double rsqrt(double);
__host__ float rsqrtf(float);
__host__ double rcbrt(double);
__host__ float rcbrtf(float);
__host__ double sinpi(double);
__host__ float sinpif(float);
__host__ double cospi(double);
__host__ float cospif(float);
__host__ double erfinv(double);
__host__ float erfinvf(float);
__host__ double erfcinv(double);
__host__ float erfcinvf(float);
__host__ double erfcx(double);
__host__ float erfcxf(float);
__host__ double normcdf(double);
__host__ float normcdff(float);
__host__ double normcdfinv(double);
__host__ float normcdfinvf(float);
__host__ double cyl_bessel_i0(double);
__host__ float cyl_bessel_i0f(float);
__host__ double cyl_bessel_i1(double);
__host__ float cyl_bessel_i1f(float);
__host__ double norm3d(double, double, double);
__host__ float norm3df(float, float, float);
__host__ double rnorm3d(double, double, double);
__host__ float rnorm3df(float, float, float);
__host__ double norm4d(double, double, double, double);
__host__ float norm4df(float, float, float, float);
__host__ double rnorm4d(double, double, double, double);
__host__ float rnorm4df(float, float, float, float);
__host__ double rhypot(double, double);
__host__ float rhypotf(float, float);
__host__ double fdivide(double, double);
__host__ float fdividef(float, float);
__host__ double norm(int, const double*);
__host__ double rnorm(int, const double*);
__host__ float normf(int, const float*);
__host__ float rnormf(int, const float*);
__host__ void sincospi(double, double*, double*);
__host__ void sincospif(float, float*, float*);
__host__ unsigned int umin(unsigned int, unsigned int);
__host__ unsigned int umax(unsigned int, unsigned int);
__host__ long long llmin(long long, long long);
__host__ long long llmax(long long, long long);
__host__ unsigned long long ullmin(unsigned long long, unsigned long long);
__host__ unsigned long long ullmax(unsigned long long, unsigned long long);

// The C++ names on float.
FW_HD float rsqrt(float a) { return rsqrtf(a); }
FW_HD float rcbrt(float a) { return rcbrtf(a); }
FW_HD float sinpi(float a) { return sinpif(a); }
FW_HD float cospi(float a) { return cospif(a); }
FW_HD float erfinv(float a) { return erfinvf(a); }
FW_HD float erfcinv(float a) { return erfcinvf(a); }
FW_HD float erfcx(float a) { return erfcxf(a); }
FW_HD float normcdf(float a) { return normcdff(a); }
FW_HD float normcdfinv(float a) { return normcdfinvf(a); }
FW_HD float cyl_bessel_i0(float a) { return cyl_bessel_i0f(a); }
FW_HD float cyl_bessel_i1(float a) { return cyl_bessel_i1f(a); }
FW_HD float exp10(float a) { return exp10f(a); }
FW_HD float rhypot(float a, float b) { return rhypotf(a, b); }
FW_HD float fdivide(float a, float b) { return fdividef(a, b); }
FW_HD void sincos(float a, float* s, float* c) { sincosf(a, s, c); }
FW_HD void sincospi(float a, float* s, float* c) { sincospif(a, s, c); }
FW_D float j0(float a) { return j0f(a); }
FW_D float j1(float a) { return j1f(a); }
FW_D float jn(int n, float a) { return jnf(n, a); }
FW_D float y0(float a) { return y0f(a); }
FW_D float y1(float a) { return y1f(a); }
FW_D float yn(int n, float a) { return ynf(n, a); }
#undef FW_HD
#undef FW_D

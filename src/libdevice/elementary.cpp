// The functions of <cmath> and CUDA's relatives of them. Single precision is the double function rounded
// once, double precision the host's, or computed in long double where the host has none.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "libdevice/adapt.h"

namespace fullwarp::libdevice {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr long double kPi = 3.14159265358979323846264338327950288L;

// float(F(double)): one argument and two.
template <double (*F)(double)>
float single1(float a) {
  return static_cast<float>(F(a));
}
template <double (*F)(double, double)>
float single2(float a, float b) {
  return static_cast<float>(F(a, b));
}

// <cmath>'s names are overloaded; these are plain functions that a template can take.
#define PLAIN1(NAME) \
  double NAME##_(double a) { return std::NAME(a); }
#define PLAIN2(NAME) \
  double NAME##_(double a, double b) { return std::NAME(a, b); }
PLAIN1(acos)
PLAIN1(acosh)
PLAIN1(asin)
PLAIN1(asinh)
PLAIN1(atan)
PLAIN1(atanh)
PLAIN1(cos)
PLAIN1(cosh)
PLAIN1(exp)
PLAIN1(exp2)
PLAIN1(expm1)
PLAIN1(log)
PLAIN1(log10)
PLAIN1(log1p)
PLAIN1(log2)
PLAIN1(logb)
PLAIN1(sin)
PLAIN1(sinh)
PLAIN1(sqrt)
PLAIN1(tan)
PLAIN1(tanh)
PLAIN2(atan2)
PLAIN2(pow)
PLAIN2(hypot)
#undef PLAIN1
#undef PLAIN2

double exp10_(double a) { return static_cast<double>(std::pow(10.0L, static_cast<long double>(a))); }
double rsqrt_(double a) { return static_cast<double>(1 / std::sqrt(static_cast<long double>(a))); }
// The host's double cbrt is off by up to 4 ulp, more than CUDA's.
double cbrt_(double a) { return static_cast<double>(std::cbrt(static_cast<long double>(a))); }
double rcbrt_(double a) { return static_cast<double>(1 / std::cbrt(static_cast<long double>(a))); }

// sin(pi a) and cos(pi a): the argument is reduced exactly, to a quarter turn and a rest of at most an
// eighth.
void turn(double a, int* quarter, long double* rest) {
  const double in_turn = std::fmod(a, 2.0);  // in (-2, 2), in half turns
  const double quarters = std::nearbyint(in_turn * 2);
  *quarter = static_cast<int>(quarters) & 3;
  *rest = kPi * (static_cast<long double>(in_turn) - static_cast<long double>(quarters) / 2);
}
double sinpi_(double a) {
  if (!std::isfinite(a)) return kNaN;
  if (a == std::trunc(a)) return std::copysign(0.0, a);
  int quarter;
  long double rest;
  turn(a, &quarter, &rest);
  const long double s = quarter & 1 ? std::cos(rest) : std::sin(rest);
  return static_cast<double>(quarter & 2 ? -s : s);
}
double cospi_(double a) {
  if (!std::isfinite(a)) return kNaN;
  int quarter;
  long double rest;
  turn(a, &quarter, &rest);
  if (rest == 0 && (quarter & 1)) return 0.0;
  const long double c = quarter & 1 ? std::sin(rest) : std::cos(rest);
  return static_cast<double>(quarter == 1 || quarter == 2 ? -c : c);
}

template <double (*S)(double), double (*C)(double)>
void both(double a, double* s, double* c) {
  *s = S(a);
  *c = C(a);
}
template <double (*S)(double), double (*C)(double)>
void both_single(float a, float* s, float* c) {
  *s = canonical(static_cast<float>(S(a)));
  *c = canonical(static_cast<float>(C(a)));
}

// Lengths. long double's range keeps the squares; an infinite member wins over a NaN.
template <class... A>
long double length(A... a) {
  if ((std::isinf(a) || ...)) return std::numeric_limits<long double>::infinity();
  return std::sqrt(((static_cast<long double>(a) * a) + ...));
}
template <class T>
T norm3(T a, T b, T c) {
  return static_cast<T>(length(a, b, c));
}
template <class T>
T norm4(T a, T b, T c, T d) {
  return static_cast<T>(length(a, b, c, d));
}
template <class T>
T rnorm3(T a, T b, T c) {
  return static_cast<T>(1 / length(a, b, c));
}
template <class T>
T rnorm4(T a, T b, T c, T d) {
  return static_cast<T>(1 / length(a, b, c, d));
}
template <class T>
T rhypot(T a, T b) {
  return static_cast<T>(1 / length(a, b));
}
template <class T>
long double length_of(int32_t count, const T* v) {
  if (count < 0 || count > kMaxNormCount) return 0;
  long double sum = 0;
  bool infinite = false;
  for (int32_t i = 0; i < count; ++i) {
    infinite |= std::isinf(v[i]);
    sum += static_cast<long double>(v[i]) * v[i];
  }
  return infinite ? std::numeric_limits<long double>::infinity() : std::sqrt(sum);
}
template <class T>
T norm(int32_t count, const T* v) {
  return static_cast<T>(length_of(count, v));
}
template <class T>
T rnorm(int32_t count, const T* v) {
  return static_cast<T>(1 / length_of(count, v));
}

// Minimum and maximum: a number wins over a NaN, +0 over -0.
template <class T>
T fmin_(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T fmax_(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}
template <class T>
T fdim_(T a, T b) {
  return a <= b ? T{0} : a - b;
}
template <class T>
T fabs_(T a) {
  return std::fabs(a);
}
template <class T>
T fma_(T a, T b, T c) {
  return std::fma(a, b, c);
}
template <class T>
T fmod_(T a, T b) {
  return std::fmod(a, b);
}
template <class T>
T remainder_(T a, T b) {
  return std::remainder(a, b);
}
template <class T>
T remquo_(T a, T b, int32_t* quotient) {
  int q = 0;
  const T r = std::remquo(a, b, &q);
  *quotient = std::isnan(r) ? 0 : q;
  return r;
}
template <class T>
T nextafter_(T a, T b) {
  return std::nextafter(a, b);
}
float sqrtf_(float a) { return std::sqrt(a); }
float saturate(float a) { return a > 0 ? (a < 1 ? a : 1.0f) : 0.0f; }

// Parts of a number.
template <class T>
T frexp_(T a, int32_t* exponent) {
  *exponent = 0;
  if (a == 0 || !std::isfinite(a)) return a + a;
  int e = 0;
  const T fraction = std::frexp(a, &e);
  *exponent = e;
  return fraction;
}
template <class T>
T modf_(T a, T* whole) {
  *whole = canonical(std::trunc(a));
  return std::copysign(std::isinf(a) ? T{0} : a - std::trunc(a), a);
}
template <class T>
int32_t ilogb_(T a) {
  if (a == 0 || std::isnan(a)) return std::numeric_limits<int32_t>::min();
  if (std::isinf(a)) return std::numeric_limits<int32_t>::max();
  return std::ilogb(a);
}
template <class T>
T scale(T a, int32_t exponent) {
  return std::scalbn(a, exponent);
}
double powi(double a, int32_t n) { return std::pow(a, static_cast<double>(n)); }
float powif(float a, int32_t n) {
  return static_cast<float>(std::pow(static_cast<double>(a), static_cast<double>(n)));
}

double nan_(const void*) { return kNaN; }
float nanf_(const void*) { return std::bit_cast<float>(0x7fc00000u); }
// A reciprocal of the upper word only; the lower word of the result is zero.
double rcp64h(double a) {
  const double upper = std::bit_cast<double>(std::bit_cast<uint64_t>(a) & ~0xffffffffull);
  return std::bit_cast<double>(std::bit_cast<uint64_t>(1 / upper) & ~0xffffffffull);
}

// The fast functions: hardware approximations of base-2 exponential and logarithm, sine, cosine, quotient.
float fast_exp2(float a) { return static_cast<float>(std::exp2(static_cast<double>(a))); }
float fast_log2(float a) { return static_cast<float>(std::log2(static_cast<double>(a))); }
float fast_exp(float a) { return fast_exp2(a * 0x1.715476p+0f); }
float fast_exp10(float a) { return fast_exp2(a * 0x1.a934fp+1f); }
float fast_log(float a) { return fast_log2(a) * 0x1.62e43p-1f; }
float fast_log10(float a) { return fast_log2(a) * 0x1.344136p-2f; }
float fast_pow(float a, float b) { return fast_exp2(b * fast_log2(a)); }
// CUDA: for 2^126 < |b| < 2^128 the quotient is 0, or a NaN for an infinite a.
float fast_divide(float a, float b) {
  const float magnitude = std::fabs(b);
  if (magnitude > 0x1p126f && std::isfinite(b))
    return std::isfinite(a) ? std::copysign(0.0f, a * b) : static_cast<float>(kNaN);
  return a / b;
}
float fast_tan(float a) { return fast_divide(single1<&sin_>(a), single1<&cos_>(a)); }

#define BOTH1(NAME, F) Adapt<&F>::entry("__nv_" NAME), Adapt<&single1<&F>>::entry("__nv_" NAME "f")
#define BOTH2(NAME, F) Adapt<&F>::entry("__nv_" NAME), Adapt<&single2<&F>>::entry("__nv_" NAME "f")
#define SAME(NAME, F) Adapt<&F<double>>::entry("__nv_" NAME), Adapt<&F<float>>::entry("__nv_" NAME "f")

constexpr Function kFunctions[] = {
    BOTH1("acos", acos_),
    BOTH1("acosh", acosh_),
    BOTH1("asin", asin_),
    BOTH1("asinh", asinh_),
    BOTH1("atan", atan_),
    BOTH1("atanh", atanh_),
    BOTH1("cbrt", cbrt_),
    BOTH1("cos", cos_),
    BOTH1("cosh", cosh_),
    BOTH1("cospi", cospi_),
    BOTH1("exp", exp_),
    BOTH1("exp10", exp10_),
    BOTH1("exp2", exp2_),
    BOTH1("expm1", expm1_),
    BOTH1("log", log_),
    BOTH1("log10", log10_),
    BOTH1("log1p", log1p_),
    BOTH1("log2", log2_),
    BOTH1("logb", logb_),
    BOTH1("rcbrt", rcbrt_),
    BOTH1("rsqrt", rsqrt_),
    BOTH1("sin", sin_),
    BOTH1("sinh", sinh_),
    BOTH1("sinpi", sinpi_),
    BOTH1("tan", tan_),
    BOTH1("tanh", tanh_),
    BOTH2("atan2", atan2_),
    BOTH2("hypot", hypot_),
    BOTH2("pow", pow_),
    SAME("fabs", fabs_),
    SAME("fdim", fdim_),
    SAME("fma", fma_),
    SAME("fmax", fmax_),
    SAME("fmin", fmin_),
    SAME("fmod", fmod_),
    SAME("frexp", frexp_),
    SAME("ilogb", ilogb_),
    SAME("ldexp", scale),
    SAME("modf", modf_),
    SAME("nextafter", nextafter_),
    SAME("norm3d", norm3),
    SAME("norm4d", norm4),
    SAME("norm", norm),
    SAME("remainder", remainder_),
    SAME("remquo", remquo_),
    SAME("rhypot", rhypot),
    SAME("rnorm3d", rnorm3),
    SAME("rnorm4d", rnorm4),
    SAME("rnorm", rnorm),
    SAME("scalbn", scale),
    Adapt<&sqrt_>::entry("__nv_sqrt"),
    Adapt<&sqrtf_>::entry("__nv_sqrtf"),
    Adapt<&single1<&rsqrt_>>::entry("__nv_frsqrt_rn"),
    Adapt<&saturate>::entry("__nv_saturatef"),
    Adapt<&powi>::entry("__nv_powi"),
    Adapt<&powif>::entry("__nv_powif"),
    Adapt<&nan_>::entry("__nv_nan"),
    Adapt<&nanf_>::entry("__nv_nanf"),
    Adapt<&rcp64h>::entry("__nv_rcp64h"),
    Adapt<&both<&sin_, &cos_>>::entry("__nv_sincos"),
    Adapt<&both_single<&sin_, &cos_>>::entry("__nv_sincosf"),
    Adapt<&both<&sinpi_, &cospi_>>::entry("__nv_sincospi"),
    Adapt<&both_single<&sinpi_, &cospi_>>::entry("__nv_sincospif"),
    Adapt<&both_single<&sin_, &cos_>>::entry("__nv_fast_sincosf"),
    Adapt<&single1<&sin_>>::entry("__nv_fast_sinf"),
    Adapt<&single1<&cos_>>::entry("__nv_fast_cosf"),
    Adapt<&single1<&tanh_>>::entry("__nv_fast_tanhf"),
    Adapt<&fast_tan>::entry("__nv_fast_tanf"),
    Adapt<&fast_exp>::entry("__nv_fast_expf"),
    Adapt<&fast_exp10>::entry("__nv_fast_exp10f"),
    Adapt<&fast_log>::entry("__nv_fast_logf"),
    Adapt<&fast_log2>::entry("__nv_fast_log2f"),
    Adapt<&fast_log10>::entry("__nv_fast_log10f"),
    Adapt<&fast_pow>::entry("__nv_fast_powf"),
    Adapt<&fast_divide>::entry("__nv_fast_fdividef"),
};
#undef BOTH1
#undef BOTH2
#undef SAME

}  // namespace

std::span<const Function> elementary_functions() { return kFunctions; }

}  // namespace fullwarp::libdevice

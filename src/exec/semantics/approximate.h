// The approximate instructions: ex2, lg2, sin, cos, tanh, rcp, rsqrt, sqrt, div (PTX ISA 9.0, 9.7.3.8-22).
//
// The ISA bounds their error and lists special values; the tables inside the hardware are not public. So each
// function here computes in double, within about 2^-30, and rounds to nearest: inside the documented bound,
// but its last bits may differ from a GPU's. sin and cos take the one step of the hardware that shows: ptxas
// multiplies the argument by 0x3e22f983 (1/2pi as a float) toward zero before the table look-up (machine code
// of sm_90), which is where large arguments lose their accuracy.
//
// Polynomials instead of libm: branch-free, so that the lanes of a warp vectorise.
#pragma once

#include <cstdint>

#include "exec/semantics/float.h"
#include "exec/semantics/narrow_formats.h"

namespace fullwarp::exec::sem {

namespace detail {

// Adding this to a double of magnitude below 2^51 leaves its nearest integer in the low mantissa bits.
inline constexpr double kRoundMagic = 6755399441055744.0;  // 1.5 * 2^52

template <int kCount>
FULLWARP_LANE constexpr double polynomial(double x,
                                          const double (&coefficients)[kCount]) {  // highest degree first
  double sum = coefficients[0];
  for (int i = 1; i < kCount; ++i) sum = sum * x + coefficients[i];
  return sum;
}

// 2^x: 2^n by the exponent, 2^f = e^(f ln 2) for |f| <= 1/2 by Taylor's series, exact for integers. Arguments
// are cut at +-300, beyond the range of every result format.
FULLWARP_LANE constexpr double exp2_f64(double x) {
  constexpr double kL = 0.693147180559945309417;
  constexpr double kSeries[] = {kL * kL * kL * kL * kL * kL * kL * kL * kL / 362880,
                                kL * kL * kL * kL * kL * kL * kL * kL / 40320,
                                kL * kL * kL * kL * kL * kL * kL / 5040,
                                kL * kL * kL * kL * kL * kL / 720,
                                kL * kL * kL * kL * kL / 120,
                                kL * kL * kL * kL / 24,
                                kL * kL * kL / 6,
                                kL * kL / 2,
                                kL,
                                1};
  x = x > 300.0 ? 300.0 : x;
  x = x < -300.0 ? -300.0 : x;
  const double shifted = x + kRoundMagic;
  const double fraction = x - (shifted - kRoundMagic);
  const uint64_t scale = (bits(shifted) + 1023) << 52;
  return polynomial(fraction, kSeries) * as_f64(scale);
}

// log2 of a positive normal double: x = 2^e m with m in [sqrt(1/2), sqrt(2)), and with s = (m-1)/(m+1)
// log2(m) = 2/ln2 (s + s^3/3 + ...), |s| <= 0.172.
FULLWARP_LANE constexpr double log2_f64(double x) {
  constexpr double kScale = 2.88539008177792681472;  // 2 / ln 2
  constexpr double kSeries[] = {kScale / 17, kScale / 15, kScale / 13, kScale / 11, kScale / 9,
                                kScale / 7,  kScale / 5,  kScale / 3,  kScale};
  constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcdu;
  const uint64_t biased = (bits(x) - kSqrtHalf + (uint64_t{1024} << 52)) >> 52;  // e + 1024
  const double exponent = as_f64(biased | 0x4330000000000000u) - (4503599627370496.0 + 1024.0);
  const double m = as_f64(bits(x) - ((biased - 1024) << 52));
  const double s = (m - 1) / (m + 1);
  return exponent + s * polynomial(s * s, kSeries);
}

// sin(2 pi r) for |r| <= 1/4: Taylor's series to the 15th degree.
FULLWARP_LANE constexpr double sin_turns(double r) {
  constexpr double kSeries[] = {-1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880,
                                -1.0 / 5040,          1.0 / 120,        -1.0 / 6,        1};
  const double y = r * 6.28318530717958647693;
  return y * polynomial(y * y, kSeries);
}

// The argument of sin and cos in turns, less its nearest integer: in [-1/2, 1/2], NaN for infinities.
FULLWARP_LANE constexpr double fraction_of_turn(float x) {
  const double turns = narrow<Rounding::rz>(double{x} * double{as_f32(0x3e22f983u)});
  const double rounded = (turns + kRoundMagic) - kRoundMagic;
  return __builtin_fabs(turns) < 8388608.0 ? turns - rounded
                                           : turns - turns;  // floats from 2^23 are integers
}

}  // namespace detail

template <bool kFtz = false>
FULLWARP_LANE constexpr float ex2_approx_f32(float x) {
  return finish<kFtz, false>(static_cast<float>(detail::exp2_f64(flush<kFtz>(x))));
}

template <bool kFtz = false>
FULLWARP_LANE constexpr float lg2_approx_f32(float x) {
  x = flush<kFtz>(x);
  const float logarithm = static_cast<float>(detail::log2_f64(x));
  const float at_zero = x == 0 ? -__builtin_inff() : logarithm;
  const float at_end = x > 3.4028234663852886e38f ? x : at_zero;
  return finish<kFtz, false>(x >= 0 ? at_end : as_f32(kNanF32));
}

template <bool kFtz = false>
FULLWARP_LANE constexpr float sin_approx_f32(float x) {
  const double r = detail::fraction_of_turn(flush<kFtz>(x));
  const double half = __builtin_copysign(0.5, r);
  return finish<kFtz, false>(static_cast<float>(detail::sin_turns(__builtin_fabs(r) > 0.25 ? half - r : r)));
}

template <bool kFtz = false>
FULLWARP_LANE constexpr float cos_approx_f32(float x) {
  const double r = detail::fraction_of_turn(flush<kFtz>(x));
  return finish<kFtz, false>(static_cast<float>(detail::sin_turns(0.25 - __builtin_fabs(r))));
}

// tanh x = (e^2x - 1) / (e^2x + 1); x itself below 2^-12, where the two agree to 2^-25.
FULLWARP_LANE constexpr float tanh_approx_f32(float x) {
  const double magnitude = __builtin_fabs(double{x});
  const double cut = magnitude > 20.0 ? 20.0 : magnitude;
  const double power = detail::exp2_f64(cut * 2.88539008177792681472);  // e^2x
  const double quotient = (power - 1) / (power + 1);
  const float result = static_cast<float>(magnitude < 0x1p-12 ? magnitude : quotient);
  return canonical(__builtin_copysignf(result, x));
}

template <bool kFtz = false>
FULLWARP_LANE float rcp_approx_f32(float x) {
  return rcp_f32<Rounding::rn, kFtz>(x);
}

template <bool kFtz = false>
FULLWARP_LANE float sqrt_approx_f32(float x) {
  return sqrt_f32<Rounding::rn, kFtz>(x);
}

template <bool kFtz = false>
FULLWARP_LANE float rsqrt_approx_f32(float x) {
  return finish<kFtz, false>(static_cast<float>(1.0 / __builtin_sqrt(double{flush<kFtz>(x)})));
}

// Divisors of 2^126 < |b| < 2^128 have a reciprocal that the hardware takes for zero: the quotient is zero,
// of an infinite dividend NaN.
template <bool kFtz = false>
FULLWARP_LANE float div_approx_f32(float a, float b) {
  const float magnitude = __builtin_fabsf(b);
  const bool vanishes = (magnitude > 0x1p126f) & (magnitude < __builtin_inff());
  const float reciprocal_is_zero = canonical(flush<kFtz>(a) * __builtin_copysignf(0.0f, b));
  return vanishes ? reciprocal_is_zero : div_f32<Rounding::rn, kFtz>(a, b);
}

template <bool kFtz = false>
FULLWARP_LANE float div_full_f32(float a, float b) {
  return div_f32<Rounding::rn, kFtz>(a, b);
}

// ---- f64: the "gross approximations", of and to the upper 32 bits of a double ----

namespace detail {

// To 20 mantissa bits, to nearest; subnormal results are zeros.
FULLWARP_LANE constexpr double upper_half(double x) {
  const uint64_t rounded = (bits(x) + 0x80000000u) & ~uint64_t{0xffffffffu};
  const uint64_t flushed = (rounded & 0x7ff0000000000000u) == 0 ? rounded & 0x8000000000000000u : rounded;
  return x == x ? as_f64(flushed) : as_f64(0x7fffffff00000000u);
}

FULLWARP_LANE constexpr double upper_input(double x) {
  const uint64_t upper = bits(x) & ~uint64_t{0xffffffffu};
  return as_f64((upper & 0x7ff0000000000000u) == 0 ? upper & 0x8000000000000000u : upper);
}

}  // namespace detail

FULLWARP_LANE constexpr double rcp_approx_f64(double x) {
  return detail::upper_half(1.0 / detail::upper_input(x));
}

FULLWARP_LANE double rsqrt_approx_ftz_f64(double x) {
  return detail::upper_half(1.0 / __builtin_sqrt(detail::upper_input(x)));
}

FULLWARP_LANE double rsqrt_approx_f64(double x) { return with_nan(1.0 / __builtin_sqrt(x), x); }

// ---- f16 and bf16 ----

FULLWARP_LANE constexpr uint16_t ex2_approx_f16(uint16_t h) {
  return f16_from_f32(ex2_approx_f32(f32_from_f16(h)));
}

FULLWARP_LANE constexpr uint16_t tanh_approx_f16(uint16_t h) {
  return f16_from_f32(tanh_approx_f32(f32_from_f16(h)));
}

// bf16's subnormals are f32's: ex2.approx.ftz.bf16 flushes them on both sides.
FULLWARP_LANE constexpr uint16_t ex2_approx_ftz_bf16(uint16_t h) {
  return bf16_from_f32(ex2_approx_f32<true>(f32_from_bf16(h)));
}

FULLWARP_LANE constexpr uint16_t tanh_approx_bf16(uint16_t h) {
  return bf16_from_f32(tanh_approx_f32(f32_from_bf16(h)));
}

}  // namespace fullwarp::exec::sem

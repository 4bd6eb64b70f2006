// The bits of floating point that every family shares: NaN, flushing of subnormals, saturation, and the three
// tools that make directed rounding exact (two_sum, round to odd, narrow).
//
// NaN. A result in f32 that is NaN is 0x7fffffff (CUDA programming guide, "Floating-Point Standard": "the
// quiet NaN of bit pattern 0x7fffffff"), in f16 and bf16 0x7fff. f64 keeps IEEE behaviour: an operand's NaN
// comes out, made quiet, the first operand's if several are NaN (our choice, the sources leave it open); an
// invalid operation gives 0xfff8000000000000, CUDART_NAN of math_constants.h.
//
// Compile with -ffp-contract=off: fused sums are written as such, and two_sum must not be fused.
#pragma once

#include <bit>
#include <cstdint>

#include "exec/semantics/inline.h"

namespace fullwarp::exec::sem {

enum class Rounding : uint8_t {
  rn,  // to nearest, ties to even
  rz,  // toward zero
  rm,  // toward minus infinity
  rp,  // toward plus infinity
};

inline constexpr uint32_t kNanF32 = 0x7fffffffu;
inline constexpr uint64_t kNanF64 = 0xfff8000000000000u;
inline constexpr uint16_t kNanF16 = 0x7fff;  // of bf16, too

FULLWARP_LANE constexpr uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }
FULLWARP_LANE constexpr uint64_t bits(double x) { return std::bit_cast<uint64_t>(x); }
FULLWARP_LANE constexpr float as_f32(uint32_t x) { return std::bit_cast<float>(x); }
FULLWARP_LANE constexpr double as_f64(uint64_t x) { return std::bit_cast<double>(x); }

FULLWARP_LANE constexpr float canonical(float x) { return x == x ? x : as_f32(kNanF32); }

FULLWARP_LANE constexpr double quiet(double x) { return as_f64(bits(x) | 0x0008000000000000u); }

// The result of an f64 operation on a, b, c that the host computed as `result`.
FULLWARP_LANE constexpr double with_nan(double result, double a) {
  const double nan = a != a ? quiet(a) : as_f64(kNanF64);
  return result == result ? result : nan;
}
FULLWARP_LANE constexpr double with_nan(double result, double a, double b) {
  const double nan_b = b != b ? quiet(b) : as_f64(kNanF64);
  const double nan = a != a ? quiet(a) : nan_b;
  return result == result ? result : nan;
}
FULLWARP_LANE constexpr double with_nan(double result, double a, double b, double c) {
  const double nan_c = c != c ? quiet(c) : as_f64(kNanF64);
  const double nan_b = b != b ? quiet(b) : nan_c;
  const double nan = a != a ? quiet(a) : nan_b;
  return result == result ? result : nan;
}

// .ftz: a subnormal becomes the zero of its sign.
template <bool kFtz>
FULLWARP_LANE constexpr float flush(float x) {
  if constexpr (!kFtz) return x;
  const uint32_t b = bits(x);
  return as_f32((b & 0x7f800000u) == 0 ? b & 0x80000000u : b);
}

// .sat: to [0, 1]; NaN and -0 become +0.
template <bool kSat>
FULLWARP_LANE constexpr float saturate(float x) {
  if constexpr (!kSat) return x;
  const float positive = x > 0.0f ? x : 0.0f;
  return positive < 1.0f ? positive : 1.0f;
}

// The end of every f32 instruction.
template <bool kFtz, bool kSat>
FULLWARP_LANE constexpr float finish(float x) {
  return saturate<kSat>(flush<kFtz>(canonical(x)));
}

// ---- exact tools ----

// The error of a sum: a + b == sum + two_sum_error, where sum is a + b rounded to nearest. NaN if something
// is not finite.
template <class F>
FULLWARP_LANE constexpr F two_sum_error(F a, F b, F sum) {
  const F b_part = sum - a;
  const F a_part = sum - b_part;
  return (a - a_part) + (b - b_part);
}

// `rounded` is an exact value rounded to nearest and `error` has the sign of exact - rounded (0 or NaN:
// leave). Gives the exact value rounded to odd: if it lies strictly between two doubles, the one with an odd
// last bit. A second rounding to a format with at least two bits less, in whichever mode, then equals a
// single one.
FULLWARP_LANE constexpr double round_to_odd(double rounded, double error) {
  const uint64_t b = bits(rounded);
  const uint64_t away_or_closer = 1 - ((b ^ bits(error)) >> 63 << 1);  // +1 if the signs agree, else -1
  const uint64_t step = (b & 1) == 0 ? away_or_closer : 0;
  return as_f64(b + (__builtin_fabs(error) > 0 ? step : 0));
}

// The same for float.
FULLWARP_LANE constexpr float round_to_odd(float rounded, float error) {
  const uint32_t b = bits(rounded);
  const uint32_t away_or_closer = 1 - ((b ^ bits(error)) >> 31 << 1);
  const uint32_t step = (b & 1) == 0 ? away_or_closer : 0;
  return as_f32(b + (__builtin_fabsf(error) > 0 ? step : 0));
}

template <class F>
FULLWARP_LANE constexpr F add_to_odd(F a, F b) {
  const F sum = a + b;
  return round_to_odd(sum, two_sum_error(a, b, sum));
}

// double to float in any rounding mode, overflow and subnormals included. NaN stays NaN, not canonical.
template <Rounding kRounding>
FULLWARP_LANE constexpr float narrow(double x) {
  const float nearest = static_cast<float>(x);
  if constexpr (kRounding == Rounding::rn) return nearest;
  const double back = nearest;
  const uint32_t b = bits(nearest);
  const bool negative = b >> 31;
  const uint32_t away = b + 1, closer = b - 1;  // from zero
  uint32_t result = b;
  if constexpr (kRounding == Rounding::rz) {
    const double magnitude = x < 0 ? -x : x;
    const double back_magnitude = back < 0 ? -back : back;
    result = back_magnitude > magnitude ? closer : b;
  }
  if constexpr (kRounding == Rounding::rm) result = back > x ? (negative ? away : closer) : b;
  if constexpr (kRounding == Rounding::rp) result = back < x ? (negative ? closer : away) : b;
  return as_f32(result);
}

}  // namespace fullwarp::exec::sem

// f32 and f64 arithmetic of PTX as pure functions of one lane (PTX ISA 9.0, 9.7.3). Approximate instructions
// are in approximate.h, conversions in convert.h, f16 and bf16 in half.h.
//
// Rounding. To nearest is the host's own operation. Directed rounding of f32 goes through double: the product
// of two floats is exact there, sums, quotients and roots get their last bit from the sign of the error
// (round_to_odd), and one narrowing gives the result; no mode switch, so the loops vectorise. Directed
// rounding of f64 is rare in kernels and sets the host's rounding mode around one operation.
//
// Flushing happens after rounding: a result that rounds up to the least normal number stays.
#pragma once

#include <cfenv>
#include <cstdint>

#include "exec/semantics/float_bits.h"

namespace fullwarp::exec::sem {

namespace detail {

// The sign of an exactly zero sum: -0 when rounding down, unless both terms are +0.
template <Rounding kRounding>
FULLWARP_LANE constexpr double zero_sign(double sum, double a, double b) {
  if constexpr (kRounding != Rounding::rm) return sum;
  const uint64_t sign = (bits(a) | bits(b)) & 0x8000000000000000u;
  return sum == 0 ? as_f64(sign) : sum;
}

FULLWARP_LANE constexpr int host_mode(Rounding rounding) {
  switch (rounding) {
    case Rounding::rz: return FE_TOWARDZERO;
    case Rounding::rm: return FE_DOWNWARD;
    case Rounding::rp: return FE_UPWARD;
    default: return FE_TONEAREST;
  }
}

// One operation under another rounding mode. The empty asm statements keep the operation between the two mode
// switches, where the compiler would otherwise see no reason for it to stay.
template <Rounding kRounding, class Operation>
FULLWARP_LANE double with_host_rounding(double a, double b, double c, Operation operation) {
  const int before = std::fegetround();
  std::fesetround(host_mode(kRounding));
  asm volatile("" : "+m"(a), "+m"(b), "+m"(c) : : "memory");
  double result = operation(a, b, c);
  asm volatile("" : "+m"(result) : : "memory");
  std::fesetround(before);
  return result;
}

}  // namespace detail

// ---- f32: add, sub, mul, fma ----

template <Rounding kRounding = Rounding::rn, bool kFtz = false, bool kSat = false>
FULLWARP_LANE float add_f32(float a, float b) {
  a = flush<kFtz>(a);
  b = flush<kFtz>(b);
  if constexpr (kRounding == Rounding::rn) return finish<kFtz, kSat>(a + b);
  const double sum = detail::zero_sign<kRounding>(add_to_odd<double>(a, b), a, b);
  return finish<kFtz, kSat>(narrow<kRounding>(sum));
}

template <Rounding kRounding = Rounding::rn, bool kFtz = false, bool kSat = false>
FULLWARP_LANE float sub_f32(float a, float b) {
  return add_f32<kRounding, kFtz, kSat>(a, -b);
}

template <Rounding kRounding = Rounding::rn, bool kFtz = false, bool kSat = false>
FULLWARP_LANE float mul_f32(float a, float b) {
  a = flush<kFtz>(a);
  b = flush<kFtz>(b);
  if constexpr (kRounding == Rounding::rn) return finish<kFtz, kSat>(a * b);
  return finish<kFtz, kSat>(narrow<kRounding>(double{a} * double{b}));
}

template <Rounding kRounding = Rounding::rn, bool kFtz = false, bool kSat = false>
FULLWARP_LANE float fma_f32(float a, float b, float c) {
  a = flush<kFtz>(a);
  b = flush<kFtz>(b);
  c = flush<kFtz>(c);
  if constexpr (kRounding == Rounding::rn) return finish<kFtz, kSat>(__builtin_fmaf(a, b, c));
  const double product = double{a} * double{b};
  const double sum = detail::zero_sign<kRounding>(add_to_odd<double>(product, c), product, c);
  return finish<kFtz, kSat>(narrow<kRounding>(sum));
}

// ---- f32: div, rcp, sqrt (the IEEE forms) ----

template <Rounding kRounding = Rounding::rn, bool kFtz = false>
FULLWARP_LANE float div_f32(float a, float b) {
  a = flush<kFtz>(a);
  b = flush<kFtz>(b);
  if constexpr (kRounding == Rounding::rn) return finish<kFtz, false>(a / b);
  const double quotient = double{a} / double{b};
  const double remainder = __builtin_fma(-quotient, double{b}, double{a});
  return finish<kFtz, false>(narrow<kRounding>(round_to_odd(quotient, b < 0 ? -remainder : remainder)));
}

template <Rounding kRounding = Rounding::rn, bool kFtz = false>
FULLWARP_LANE float rcp_f32(float a) {
  return div_f32<kRounding, kFtz>(1.0f, a);
}

template <Rounding kRounding = Rounding::rn, bool kFtz = false>
FULLWARP_LANE float sqrt_f32(float a) {
  a = flush<kFtz>(a);
  if constexpr (kRounding == Rounding::rn) return finish<kFtz, false>(__builtin_sqrtf(a));
  const double root = __builtin_sqrt(double{a});
  const double remainder = __builtin_fma(-root, root, double{a});
  return finish<kFtz, false>(narrow<kRounding>(round_to_odd(root, remainder)));
}

// ---- f64 ----

template <Rounding kRounding = Rounding::rn>
FULLWARP_LANE double add_f64(double a, double b) {
  if constexpr (kRounding == Rounding::rn) return with_nan(a + b, a, b);
  const auto add = [](double x, double y, double) { return x + y; };
  return with_nan(detail::with_host_rounding<kRounding>(a, b, 0, add), a, b);
}

template <Rounding kRounding = Rounding::rn>
FULLWARP_LANE double sub_f64(double a, double b) {
  if constexpr (kRounding == Rounding::rn) return with_nan(a - b, a, b);
  const auto sub = [](double x, double y, double) { return x - y; };
  return with_nan(detail::with_host_rounding<kRounding>(a, b, 0, sub), a, b);
}

template <Rounding kRounding = Rounding::rn>
FULLWARP_LANE double mul_f64(double a, double b) {
  if constexpr (kRounding == Rounding::rn) return with_nan(a * b, a, b);
  const auto mul = [](double x, double y, double) { return x * y; };
  return with_nan(detail::with_host_rounding<kRounding>(a, b, 0, mul), a, b);
}

template <Rounding kRounding = Rounding::rn>
FULLWARP_LANE double fma_f64(double a, double b, double c) {
  if constexpr (kRounding == Rounding::rn) return with_nan(__builtin_fma(a, b, c), a, b, c);
  const auto fma = [](double x, double y, double z) { return __builtin_fma(x, y, z); };
  return with_nan(detail::with_host_rounding<kRounding>(a, b, c, fma), a, b, c);
}

template <Rounding kRounding = Rounding::rn>
FULLWARP_LANE double div_f64(double a, double b) {
  if constexpr (kRounding == Rounding::rn) return with_nan(a / b, a, b);
  const auto div = [](double x, double y, double) { return x / y; };
  return with_nan(detail::with_host_rounding<kRounding>(a, b, 0, div), a, b);
}

template <Rounding kRounding = Rounding::rn>
FULLWARP_LANE double rcp_f64(double a) {
  if constexpr (kRounding == Rounding::rn) return with_nan(1.0 / a, a);
  return with_nan(div_f64<kRounding>(1.0, a), a);
}

template <Rounding kRounding = Rounding::rn>
FULLWARP_LANE double sqrt_f64(double a) {
  if constexpr (kRounding == Rounding::rn) return with_nan(__builtin_sqrt(a), a);
  const auto root = [](double x, double, double) { return __builtin_sqrt(x); };
  return with_nan(detail::with_host_rounding<kRounding>(a, 0, 0, root), a);
}

// ---- sign operations ----
// abs and neg of f32: the ISA leaves the NaN open; here it is canonical, as from every other f32 operation.
// Of f64 they touch nothing but the sign bit (CUDA programming guide: "these are passed through unchanged").

template <bool kFtz = false>
FULLWARP_LANE constexpr float abs_f32(float a) {
  return finish<kFtz, false>(as_f32(bits(a) & 0x7fffffffu));
}

template <bool kFtz = false>
FULLWARP_LANE constexpr float neg_f32(float a) {
  return finish<kFtz, false>(as_f32(bits(a) ^ 0x80000000u));
}

FULLWARP_LANE constexpr double abs_f64(double a) { return as_f64(bits(a) & 0x7fffffffffffffffu); }
FULLWARP_LANE constexpr double neg_f64(double a) { return as_f64(bits(a) ^ 0x8000000000000000u); }

// The value of b under the sign of a (PTX's order).
FULLWARP_LANE constexpr uint32_t copysign_f32(uint32_t a, uint32_t b) {
  return (a & 0x80000000u) | (b & 0x7fffffffu);
}
FULLWARP_LANE constexpr uint64_t copysign_f64(uint64_t a, uint64_t b) {
  return (a & 0x8000000000000000u) | (b & 0x7fffffffffffffffu);
}

// ---- min, max: -0 is less than +0; one NaN operand gives the other operand, with .NaN the canonical NaN
// ----

namespace detail {

// Equal operands differ at most in the sign of zero, so OR picks the minimum and AND the maximum.
template <bool kMax, class F>
FULLWARP_LANE constexpr F extreme_of_numbers(F a, F b) {
  const auto merged = kMax ? bits(a) & bits(b) : bits(a) | bits(b);
  const F equal = std::bit_cast<F>(merged);
  const F greater_b = a < b ? (kMax ? b : a) : equal;
  return a > b ? (kMax ? a : b) : greater_b;
}

template <bool kMax, bool kFtz, bool kNan>
FULLWARP_LANE constexpr float extreme_f32(float a, float b) {
  a = flush<kFtz>(a);
  b = flush<kFtz>(b);
  const float number = extreme_of_numbers<kMax>(a, b);
  const float nan = as_f32(kNanF32);
  const float if_a_nan = a == a ? number : (kNan ? nan : b);
  const float if_b_nan = b == b ? if_a_nan : (kNan ? nan : a);
  return canonical(if_b_nan);
}

template <bool kMax, bool kFtz, bool kNan>
FULLWARP_LANE constexpr float extreme_xorsign_f32(float a, float b) {
  const uint32_t sign = (bits(a) ^ bits(b)) & 0x80000000u;
  const float magnitude =
      extreme_f32<kMax, kFtz, kNan>(as_f32(bits(a) & 0x7fffffffu), as_f32(bits(b) & 0x7fffffffu));
  return canonical(as_f32(bits(magnitude) | sign));
}

}  // namespace detail

template <bool kFtz = false, bool kNan = false>
FULLWARP_LANE constexpr float min_f32(float a, float b) {
  return detail::extreme_f32<false, kFtz, kNan>(a, b);
}

template <bool kFtz = false, bool kNan = false>
FULLWARP_LANE constexpr float max_f32(float a, float b) {
  return detail::extreme_f32<true, kFtz, kNan>(a, b);
}

// .xorsign.abs: the smaller (larger) magnitude under the product of the signs.
template <bool kFtz = false, bool kNan = false>
FULLWARP_LANE constexpr float min_xorsign_f32(float a, float b) {
  return detail::extreme_xorsign_f32<false, kFtz, kNan>(a, b);
}

template <bool kFtz = false, bool kNan = false>
FULLWARP_LANE constexpr float max_xorsign_f32(float a, float b) {
  return detail::extreme_xorsign_f32<true, kFtz, kNan>(a, b);
}

// Three operands, with or without .abs.
template <bool kFtz = false, bool kNan = false, bool kAbs = false>
FULLWARP_LANE constexpr float min3_f32(float a, float b, float c) {
  const auto operand = [](float x) { return kAbs ? as_f32(bits(x) & 0x7fffffffu) : x; };
  return min_f32<kFtz, kNan>(min_f32<kFtz, kNan>(operand(a), operand(b)), operand(c));
}

template <bool kFtz = false, bool kNan = false, bool kAbs = false>
FULLWARP_LANE constexpr float max3_f32(float a, float b, float c) {
  const auto operand = [](float x) { return kAbs ? as_f32(bits(x) & 0x7fffffffu) : x; };
  return max_f32<kFtz, kNan>(max_f32<kFtz, kNan>(operand(a), operand(b)), operand(c));
}

namespace detail {
template <bool kMax>
FULLWARP_LANE constexpr double extreme_f64(double a, double b) {
  const double number = extreme_of_numbers<kMax>(a, b);
  const double if_a_nan = a == a ? number : b;
  const double if_b_nan = b == b ? if_a_nan : a;
  return with_nan(if_b_nan, a, b);
}
}  // namespace detail

FULLWARP_LANE constexpr double min_f64(double a, double b) { return detail::extreme_f64<false>(a, b); }
FULLWARP_LANE constexpr double max_f64(double a, double b) { return detail::extreme_f64<true>(a, b); }

// ---- testp: zeros count as normal ----

enum class Property : uint8_t { finite, infinite, number, notanumber, normal, subnormal };

template <Property kProperty, class F>
FULLWARP_LANE constexpr bool testp(F a) {
  constexpr bool kDouble = sizeof(F) == 8;
  using U = decltype(bits(a));
  constexpr U kInfinity = kDouble ? static_cast<U>(0x7ff0000000000000u) : static_cast<U>(0x7f800000u);
  constexpr U kLeastNormal = kDouble ? static_cast<U>(0x0010000000000000u) : static_cast<U>(0x00800000u);
  const U magnitude = static_cast<U>(bits(a) << 1) >> 1;
  if constexpr (kProperty == Property::finite) return magnitude < kInfinity;
  if constexpr (kProperty == Property::infinite) return magnitude == kInfinity;
  if constexpr (kProperty == Property::number) return magnitude <= kInfinity;
  if constexpr (kProperty == Property::notanumber) return magnitude > kInfinity;
  if constexpr (kProperty == Property::normal)
    return (magnitude == 0) | ((magnitude >= kLeastNormal) & (magnitude < kInfinity));
  if constexpr (kProperty == Property::subnormal) return (magnitude != 0) & (magnitude < kLeastNormal);
}

}  // namespace fullwarp::exec::sem

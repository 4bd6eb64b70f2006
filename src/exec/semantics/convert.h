// cvt between integers, f32 and f64, and cvt.pack (PTX ISA 9.0, 9.7.9.21-22). Narrow floating formats (f16,
// bf16, tf32, fp8) are in half.h and narrow_formats.h; they start from the same tools.
//
// The functions are named TO_from_FROM. One Rounding serves .rn/.rni, .rz/.rzi, .rm/.rmi and .rp/.rpi.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "exec/semantics/float_bits.h"
#include "exec/semantics/integer.h"

namespace fullwarp::exec::sem {

// ---- integer to integer ----

// Without .sat the high bits are cut off; with .sat the value is clamped to To's range.
template <class To, bool kSat = false, class From>
FULLWARP_LANE constexpr To int_from_int(From x) {
  if constexpr (!kSat) return static_cast<To>(x);
  using Limits = std::numeric_limits<To>;
  // Compare in From's signedness, where To's limits fit or cannot be exceeded.
  if constexpr (std::is_signed_v<From>) {
    constexpr bool kLow = std::is_unsigned_v<To> || sizeof(To) < sizeof(From);
    constexpr bool kHigh = sizeof(To) < sizeof(From);
    if constexpr (kLow) x = x < static_cast<From>(Limits::min()) ? static_cast<From>(Limits::min()) : x;
    if constexpr (kHigh) x = x > static_cast<From>(Limits::max()) ? static_cast<From>(Limits::max()) : x;
  } else {
    constexpr bool kHigh = sizeof(To) < sizeof(From) || (sizeof(To) == sizeof(From) && std::is_signed_v<To>);
    if constexpr (kHigh) x = x > static_cast<From>(Limits::max()) ? static_cast<From>(Limits::max()) : x;
  }
  return static_cast<To>(x);
}

// cvt.pack.sat of two s32: a above b in 2 x kWidth bits; c's low bits fill the rest of the register. For
// .u16/.s16 (kWidth 16) nothing of c is left.
template <unsigned kWidth, bool kSigned>
FULLWARP_LANE constexpr uint32_t cvt_pack(int32_t a, int32_t b, uint32_t c = 0) {
  constexpr int32_t kMin = kSigned ? -(1 << (kWidth - 1)) : 0;
  constexpr int32_t kMax = kSigned ? (1 << (kWidth - 1)) - 1 : (1 << kWidth) - 1;
  constexpr uint32_t kMask = (1u << kWidth) - 1;
  const auto clamp = [](int32_t x) {
    return static_cast<uint32_t>(x < kMin ? kMin : (x > kMax ? kMax : x)) & kMask;
  };
  const uint32_t packed = clamp(a) << kWidth | clamp(b);
  if constexpr (kWidth == 16) return packed;
  return packed | c << (2 * kWidth % 32);
}

// ---- rounding to an integral value in the same format ----

namespace detail {
template <Rounding kRounding>
FULLWARP_LANE float integral(float x) {
  if constexpr (kRounding == Rounding::rn) return __builtin_rintf(x);
  if constexpr (kRounding == Rounding::rz) return __builtin_truncf(x);
  if constexpr (kRounding == Rounding::rm) return __builtin_floorf(x);
  if constexpr (kRounding == Rounding::rp) return __builtin_ceilf(x);
}
template <Rounding kRounding>
FULLWARP_LANE double integral(double x) {
  if constexpr (kRounding == Rounding::rn) return __builtin_rint(x);
  if constexpr (kRounding == Rounding::rz) return __builtin_trunc(x);
  if constexpr (kRounding == Rounding::rm) return __builtin_floor(x);
  if constexpr (kRounding == Rounding::rp) return __builtin_ceil(x);
}
}  // namespace detail

template <bool kSat>
FULLWARP_LANE constexpr double saturate(double x) {
  if constexpr (!kSat) return x;
  const double positive = x > 0.0 ? x : 0.0;
  return positive < 1.0 ? positive : 1.0;
}

template <Rounding kRounding, bool kFtz = false, bool kSat = false>
FULLWARP_LANE float f32_integral(float x) {
  return finish<kFtz, kSat>(detail::integral<kRounding>(flush<kFtz>(x)));
}

template <Rounding kRounding, bool kSat = false>
FULLWARP_LANE double f64_integral(double x) {
  return saturate<kSat>(with_nan(detail::integral<kRounding>(x), x));
}

// ---- float to integer ----
// The result is clamped to the target's range. NaN (ISA, "Integer Notes"): 0, if the source is not f64 and
// the target not 64 bits wide; else only the top bit of the target set.

namespace detail {

template <class To, class F>
FULLWARP_LANE constexpr To to_integer(F integral_value) {
  static_assert(sizeof(To) >= 4);
  constexpr bool kSigned = std::is_signed_v<To>;
  constexpr F kHalf = static_cast<F>(uint64_t{1} << (kBits<To> - 1));  // 2^31 or 2^63: exact
  constexpr F kLow = kSigned ? -kHalf : F(0);
  constexpr F kEnd = kSigned ? kHalf : 2 * kHalf;
  constexpr bool kNanIsZero = sizeof(F) == 4 && sizeof(To) == 4;
  constexpr To kNan = kNanIsZero ? To(0) : static_cast<To>(uint64_t{1} << (kBits<To> - 1));

  const F x = integral_value;
  const bool inside = (x >= kLow) & (x < kEnd);
  const F safe = inside ? x : F(0);
  To value;
  if constexpr (kSigned) {
    value = static_cast<To>(safe);
  } else {  // the host converts to signed integers only
    const bool upper = safe >= kHalf;
    const auto lower = static_cast<Signed<To>>(upper ? safe - kHalf : safe);
    value = static_cast<To>(lower) ^ (upper ? To(1) << (kBits<To> - 1) : To(0));
  }
  const To limit = x < kLow ? std::numeric_limits<To>::min() : std::numeric_limits<To>::max();
  const To outside = x == x ? limit : kNan;
  return inside ? value : outside;
}

}  // namespace detail

template <class To, Rounding kRounding, bool kFtz = false, class F>
FULLWARP_LANE To int_from_float(F x) {
  if constexpr (sizeof(F) == 4) x = flush<kFtz>(x);
  const F rounded = detail::integral<kRounding>(x);
  if constexpr (sizeof(To) >= 4) {
    return detail::to_integer<To>(rounded);
  } else {
    constexpr To kNan = sizeof(F) == 4 ? To(0) : static_cast<To>(1u << (kBits<To> - 1));
    const To value = int_from_int<To, true>(detail::to_integer<int32_t>(rounded));
    return x == x ? value : kNan;
  }
}

// ---- integer to float ----

namespace detail {

// Exact for integers of up to 32 bits. Unsigned ones go through signed, the only conversion AVX2 has.
template <class I>
FULLWARP_LANE constexpr double exact_f64(I x) {
  static_assert(sizeof(I) <= 4);
  if constexpr (sizeof(I) == 4 && std::is_unsigned_v<I>) {
    return static_cast<double>(static_cast<int32_t>(x ^ 0x80000000u)) + 2147483648.0;
  } else {
    return static_cast<double>(static_cast<int32_t>(x));
  }
}

// A 64-bit integer is the sum of these two doubles.
template <class I>
FULLWARP_LANE constexpr double upper_f64(I x) {
  using Half = std::conditional_t<std::is_signed_v<I>, int32_t, uint32_t>;
  return exact_f64(static_cast<Half>(x >> 32)) * 4294967296.0;
}
template <class I>
FULLWARP_LANE constexpr double lower_f64(I x) {
  return exact_f64(static_cast<uint32_t>(x));
}

// The integer, or for 64 bits its value rounded to odd: either can be rounded once more to f32 and below.
template <class I>
FULLWARP_LANE constexpr double odd_f64(I x) {
  if constexpr (sizeof(I) <= 4)
    return exact_f64(x);
  else
    return add_to_odd(upper_f64(x), lower_f64(x));
}

// A sum rounded to nearest, moved to where the mode wants it; `error` is exact - sum.
template <Rounding kRounding>
FULLWARP_LANE constexpr double direct(double sum, double error) {
  if constexpr (kRounding == Rounding::rn) return sum;
  const uint64_t b = bits(sum);
  const bool negative = b >> 63;
  const uint64_t up = negative ? b - 1 : b + 1, down = negative ? b + 1 : b - 1;
  uint64_t result = b;
  if constexpr (kRounding == Rounding::rm) result = error < 0 ? down : b;
  if constexpr (kRounding == Rounding::rp) result = error > 0 ? up : b;
  if constexpr (kRounding == Rounding::rz)
    result = ((error < 0) & !negative) | ((error > 0) & negative) ? b - 1 : b;
  return as_f64(result);
}

}  // namespace detail

template <Rounding kRounding, bool kSat = false, class I>
FULLWARP_LANE constexpr float f32_from_int(I x) {
  if constexpr (sizeof(I) < 4 || (kRounding == Rounding::rn && std::is_same_v<I, int32_t>)) {
    return saturate<kSat>(static_cast<float>(static_cast<int32_t>(x)));
  } else {
    return saturate<kSat>(narrow<kRounding>(detail::odd_f64(x)));
  }
}

template <Rounding kRounding, bool kSat = false, class I>
FULLWARP_LANE constexpr double f64_from_int(I x) {
  if constexpr (sizeof(I) <= 4) {
    return saturate<kSat>(detail::exact_f64(x));
  } else {
    const double upper = detail::upper_f64(x), lower = detail::lower_f64(x);
    const double sum = upper + lower;
    return saturate<kSat>(detail::direct<kRounding>(sum, two_sum_error(upper, lower, sum)));
  }
}

// ---- float to float ----

template <Rounding kRounding, bool kFtz = false, bool kSat = false>
FULLWARP_LANE constexpr float f32_from_f64(double x) {
  return finish<kFtz, kSat>(narrow<kRounding>(x));
}

// A NaN keeps its bits at the top of the wider mantissa: 0x7fffffff gives 0x7fffffffe0000000.
template <bool kFtz = false, bool kSat = false>
FULLWARP_LANE constexpr double f64_from_f32(float x) {
  return saturate<kSat>(static_cast<double>(flush<kFtz>(x)));
}

template <bool kFtz = false, bool kSat = false>
FULLWARP_LANE constexpr float f32_from_f32(float x) {
  return finish<kFtz, kSat>(x);
}

template <bool kSat = false>
FULLWARP_LANE constexpr double f64_from_f64(double x) {
  return saturate<kSat>(x);
}

}  // namespace fullwarp::exec::sem

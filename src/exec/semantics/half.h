// f16 and bf16 arithmetic (PTX ISA 9.0, 9.7.4, 9.7.7), one rounding per operation, values as uint16_t.
//
// Why it is exact. f16 through f32: sums and products rounded to 24 bits and then to 11 equal one rounding
// (24 >= 2 * 11 + 2). For fma that does not hold: the product is exact in f32 (22 bits), the sum is rounded
// to odd there, then to 11 bits. bf16 has f32's exponents, so its products and fused sums can leave f32's
// range and go through double, rounded to odd on the way down; its sums stay in f32.
//
// The packed forms apply an operation to each half: packed(a, b, add_f16<>).
#pragma once

#include <cstdint>

#include "exec/semantics/compare.h"
#include "exec/semantics/float.h"
#include "exec/semantics/narrow_formats.h"

namespace fullwarp::exec::sem {

template <class F>
FULLWARP_LANE constexpr uint32_t packed(uint32_t a, F f) {
  return uint32_t{f(static_cast<uint16_t>(a >> 16))} << 16 | f(static_cast<uint16_t>(a));
}
template <class F>
FULLWARP_LANE constexpr uint32_t packed(uint32_t a, uint32_t b, F f) {
  const uint16_t hi = f(static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(b >> 16));
  return uint32_t{hi} << 16 | f(static_cast<uint16_t>(a), static_cast<uint16_t>(b));
}
template <class F>
FULLWARP_LANE constexpr uint32_t packed(uint32_t a, uint32_t b, uint32_t c, F f) {
  const uint16_t hi =
      f(static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(b >> 16), static_cast<uint16_t>(c >> 16));
  return uint32_t{hi} << 16 | f(static_cast<uint16_t>(a), static_cast<uint16_t>(b), static_cast<uint16_t>(c));
}

template <bool kFtz>
FULLWARP_LANE constexpr uint16_t flush_f16(uint16_t h) {
  if constexpr (!kFtz) return h;
  return (h & 0x7c00) == 0 ? static_cast<uint16_t>(h & 0x8000) : h;
}

// .relu: a set sign makes +0, unless the value is the canonical NaN, which has none.
template <bool kRelu>
FULLWARP_LANE constexpr uint16_t relu_half(uint16_t h) {
  if constexpr (!kRelu) return h;
  return h & 0x8000 ? uint16_t{0} : h;
}

namespace detail {

template <bool kFtz, bool kSat, bool kRelu = false>
FULLWARP_LANE constexpr uint16_t finish_f16(float x) {
  const uint16_t h = relu_half<kRelu>(flush_f16<kFtz>(f16_from_f32(x)));
  if constexpr (kSat) return saturate_f16(h);
  return h;
}

}  // namespace detail

// ---- f16 ----

template <bool kFtz = false, bool kSat = false>
FULLWARP_LANE constexpr uint16_t add_f16(uint16_t a, uint16_t b) {
  return detail::finish_f16<kFtz, kSat>(f32_from_f16(flush_f16<kFtz>(a)) + f32_from_f16(flush_f16<kFtz>(b)));
}

template <bool kFtz = false, bool kSat = false>
FULLWARP_LANE constexpr uint16_t sub_f16(uint16_t a, uint16_t b) {
  return detail::finish_f16<kFtz, kSat>(f32_from_f16(flush_f16<kFtz>(a)) - f32_from_f16(flush_f16<kFtz>(b)));
}

template <bool kFtz = false, bool kSat = false>
FULLWARP_LANE constexpr uint16_t mul_f16(uint16_t a, uint16_t b) {
  return detail::finish_f16<kFtz, kSat>(f32_from_f16(flush_f16<kFtz>(a)) * f32_from_f16(flush_f16<kFtz>(b)));
}

template <bool kFtz = false, bool kSat = false, bool kRelu = false>
FULLWARP_LANE constexpr uint16_t fma_f16(uint16_t a, uint16_t b, uint16_t c) {
  const float product = f32_from_f16(flush_f16<kFtz>(a)) * f32_from_f16(flush_f16<kFtz>(b));
  const float sum = add_to_odd(product, f32_from_f16(flush_f16<kFtz>(c)));
  return detail::finish_f16<kFtz, kSat, kRelu>(sum);
}

// ---- bf16 ----

FULLWARP_LANE constexpr uint16_t add_bf16(uint16_t a, uint16_t b) {
  return bf16_from_f32(f32_from_bf16(a) + f32_from_bf16(b));
}

FULLWARP_LANE constexpr uint16_t sub_bf16(uint16_t a, uint16_t b) {
  return bf16_from_f32(f32_from_bf16(a) - f32_from_bf16(b));
}

FULLWARP_LANE constexpr uint16_t mul_bf16(uint16_t a, uint16_t b) {
  return bf16_from_f32(odd_f32(double{f32_from_bf16(a)} * double{f32_from_bf16(b)}));
}

template <bool kRelu = false>
FULLWARP_LANE constexpr uint16_t fma_bf16(uint16_t a, uint16_t b, uint16_t c) {
  const double product = double{f32_from_bf16(a)} * double{f32_from_bf16(b)};
  return relu_half<kRelu>(bf16_from_f32(odd_f32(add_to_odd(product, double{f32_from_bf16(c)}))));
}

// ---- both formats: sign, min, max, comparison ----
// kInfinity tells the formats apart: 0x7c00 is f16's, 0x7f80 bf16's. NaN comes out canonical; for abs and neg
// the ISA leaves it open. bf16 has no .ftz.

inline constexpr uint16_t kInfinityF16 = 0x7c00, kInfinityBf16 = 0x7f80;

template <uint16_t kInfinity>
FULLWARP_LANE constexpr uint16_t canonical_half(uint16_t h) {
  return (h & 0x7fff) > kInfinity ? kNanF16 : h;
}

template <uint16_t kInfinity, bool kFtz = false>
FULLWARP_LANE constexpr uint16_t abs_half(uint16_t a) {
  return flush_f16<kFtz>(canonical_half<kInfinity>(static_cast<uint16_t>(a & 0x7fff)));
}

template <uint16_t kInfinity, bool kFtz = false>
FULLWARP_LANE constexpr uint16_t neg_half(uint16_t a) {
  return flush_f16<kFtz>(canonical_half<kInfinity>(static_cast<uint16_t>(a ^ 0x8000)));
}

namespace detail {

// Numbers of either format in the order of signed integers, -0 below +0.
FULLWARP_LANE constexpr int32_t order_key(uint16_t h) {
  const int32_t magnitude = h & 0x7fff;
  return h & 0x8000 ? -magnitude - 1 : magnitude;
}

template <bool kMax, uint16_t kInfinity, bool kFtz, bool kNan>
FULLWARP_LANE constexpr uint16_t extreme_half(uint16_t a, uint16_t b) {
  a = flush_f16<kFtz>(a);
  b = flush_f16<kFtz>(b);
  const bool a_first = kMax ? order_key(a) > order_key(b) : order_key(a) < order_key(b);
  const bool a_nan = (a & 0x7fff) > kInfinity, b_nan = (b & 0x7fff) > kInfinity;
  const uint16_t number = a_first ? a : b;
  const uint16_t if_a_nan = a_nan ? (kNan ? kNanF16 : b) : number;
  const uint16_t if_b_nan = b_nan ? (kNan ? kNanF16 : a) : if_a_nan;
  return (a_nan & b_nan) ? kNanF16 : if_b_nan;
}

}  // namespace detail

template <uint16_t kInfinity, bool kFtz = false, bool kNan = false>
FULLWARP_LANE constexpr uint16_t min_half(uint16_t a, uint16_t b) {
  return detail::extreme_half<false, kInfinity, kFtz, kNan>(a, b);
}

template <uint16_t kInfinity, bool kFtz = false, bool kNan = false>
FULLWARP_LANE constexpr uint16_t max_half(uint16_t a, uint16_t b) {
  return detail::extreme_half<true, kInfinity, kFtz, kNan>(a, b);
}

// .xorsign.abs: the smaller (larger) magnitude under the product of the signs.
template <uint16_t kInfinity, bool kFtz = false, bool kNan = false>
FULLWARP_LANE constexpr uint16_t min_xorsign_half(uint16_t a, uint16_t b) {
  const uint16_t magnitude = min_half<kInfinity, kFtz, kNan>(a & 0x7fff, b & 0x7fff);
  return canonical_half<kInfinity>(static_cast<uint16_t>(magnitude | ((a ^ b) & 0x8000)));
}

template <uint16_t kInfinity, bool kFtz = false, bool kNan = false>
FULLWARP_LANE constexpr uint16_t max_xorsign_half(uint16_t a, uint16_t b) {
  const uint16_t magnitude = max_half<kInfinity, kFtz, kNan>(a & 0x7fff, b & 0x7fff);
  return canonical_half<kInfinity>(static_cast<uint16_t>(magnitude | ((a ^ b) & 0x8000)));
}

template <Cmp kCmp, bool kFtz = false>
FULLWARP_LANE constexpr bool compare_f16(uint16_t a, uint16_t b) {
  return compare<kCmp, float>(f32_from_f16(flush_f16<kFtz>(a)), f32_from_f16(flush_f16<kFtz>(b)));
}

template <Cmp kCmp>
FULLWARP_LANE constexpr bool compare_bf16(uint16_t a, uint16_t b) {
  return compare<kCmp, float>(f32_from_bf16(a), f32_from_bf16(b));
}

// What `set` writes for true into an f16 or bf16 destination: 1.0. Into .u16/.s16 it writes 0xffff.
FULLWARP_LANE constexpr uint16_t set_f16(bool t) { return t ? 0x3c00 : 0; }
FULLWARP_LANE constexpr uint16_t set_bf16(bool t) { return t ? 0x3f80 : 0; }

}  // namespace fullwarp::exec::sem

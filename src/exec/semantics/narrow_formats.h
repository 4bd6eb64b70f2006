// Conversions between f32/f64 and the narrow formats: f16, bf16, tf32, e4m3, e5m2 (PTX ISA 9.0, 9.7.9.21;
// formats in 5.2.3).
//
//            sign exponent mantissa  bias  largest         infinity  NaN
//   f16       1      5       10       15   65504  0x7bff   0x7c00    0x7fff
//   bf16      1      8        7      127          0x7f7f   0x7f80    0x7fff
//   tf32      1      8       10      127   bits of an f32 whose low 13 bits are 0
//   e5m2      1      5        2       15   57344  0x7b     0x7c      0x7f
//   e4m3      1      4        3        7   448    0x7e     none      0x7f
//
// One template does all of them by integer arithmetic on the bits of an f32: shift the mantissa (further for
// results that are subnormal), look at what fell off, add 0 or 1; a carry into the exponent is what rounding
// wants. f64 and integer sources come as an f32 rounded to odd (odd_f32), which makes the second rounding
// exact.
#pragma once

#include <cstdint>

#include "exec/semantics/convert.h"
#include "exec/semantics/float_bits.h"

namespace fullwarp::exec::sem {

enum class NarrowRounding : uint8_t { rn, rz, rm, rp, rna };  // as Rounding, and to nearest with ties away

struct F16Format {
  static constexpr int kMantissa = 10, kBias = 15;
  static constexpr uint32_t kLargest = 0x7bff, kInfinity = 0x7c00, kNan = 0x7fff, kSign = 0x8000;
};
struct Bf16Format {
  static constexpr int kMantissa = 7, kBias = 127;
  static constexpr uint32_t kLargest = 0x7f7f, kInfinity = 0x7f80, kNan = 0x7fff, kSign = 0x8000;
};
struct Tf32Format {  // before the shift by 13
  static constexpr int kMantissa = 10, kBias = 127;
  static constexpr uint32_t kLargest = 0x3fbff, kInfinity = 0x3fc00, kNan = 0x3ffff, kSign = 0x40000;
};
struct E5m2Format {
  static constexpr int kMantissa = 2, kBias = 15;
  static constexpr uint32_t kLargest = 0x7b, kInfinity = 0x7c, kNan = 0x7f, kSign = 0x80;
};
struct E4m3Format {  // kInfinity is the first code that stands for no number
  static constexpr int kMantissa = 3, kBias = 7;
  static constexpr uint32_t kLargest = 0x7e, kInfinity = 0x7f, kNan = 0x7f, kSign = 0x80;
};

// kRelu: negative results become +0. kSatFinite: beyond the largest number, infinity included, becomes the
// largest number of its sign; NaN stays NaN (without a sign).
template <class Format, NarrowRounding kRounding, bool kRelu = false, bool kSatFinite = false>
FULLWARP_LANE constexpr uint32_t narrow_from_f32(float x) {
  constexpr int kDrop = 23 - Format::kMantissa;
  constexpr int kRebias = 127 - Format::kBias;
  const uint32_t b = bits(x);
  const uint32_t magnitude = b & 0x7fffffffu;
  const bool negative = b >> 31;

  // The kept bits, and the dropped ones as a fraction of 2^drop. For Format's normal numbers exponent and
  // mantissa shift as one; for its subnormals the hidden bit is put in place and the shift grows.
  uint32_t kept = (magnitude - (uint32_t{kRebias} << 23)) >> kDrop;
  uint32_t dropped = magnitude & ((1u << kDrop) - 1);
  uint32_t half = 1u << (kDrop - 1);
  if constexpr (kRebias > 0) {
    const int exponent = static_cast<int>(magnitude >> 23);
    const int deficit = kRebias + 1 - exponent;
    const uint32_t hidden = exponent != 0 ? 0x00800000u : 0u;
    const uint32_t mantissa = (magnitude & 0x007fffffu) | hidden;
    const int wanted = kDrop + deficit;
    const int shift = deficit > 0 ? (wanted < 31 ? wanted : 31) : kDrop;
    kept = deficit > 0 ? mantissa >> shift : kept;
    dropped = deficit > 0 ? mantissa & ((1u << shift) - 1) : dropped;
    half = 1u << (shift - 1);
  }

  bool up = false;
  if constexpr (kRounding == NarrowRounding::rn)
    up = (dropped > half) | ((dropped == half) & ((kept & 1) != 0));
  if constexpr (kRounding == NarrowRounding::rna) up = dropped >= half;
  if constexpr (kRounding == NarrowRounding::rm) up = negative & (dropped != 0);
  if constexpr (kRounding == NarrowRounding::rp) up = !negative & (dropped != 0);
  uint32_t result = kept + uint32_t{up};

  // Beyond the largest number: infinity, or the largest number where the mode rounds toward zero.
  bool stays_finite = kSatFinite;
  if constexpr (kRounding == NarrowRounding::rz) stays_finite = true;
  if constexpr (kRounding == NarrowRounding::rm) stays_finite |= !negative;
  if constexpr (kRounding == NarrowRounding::rp) stays_finite |= negative;
  const bool infinite = magnitude == 0x7f800000u;
  const uint32_t beyond = (stays_finite & (kSatFinite | !infinite)) ? Format::kLargest : Format::kInfinity;
  result = ((result > Format::kLargest) | infinite) ? beyond : result;

  const bool nan = magnitude > 0x7f800000u;
  uint32_t sign = negative ? Format::kSign : 0u;
  if constexpr (kRelu) {
    result = negative ? 0u : result;
    sign = 0;
  }
  return nan ? Format::kNan : result | sign;
}

// ---- f32 and f64 sources ----

// A double as a float rounded to odd.
FULLWARP_LANE constexpr float odd_f32(double x) {
  const float nearest = static_cast<float>(x);
  const double back = nearest;
  const uint32_t b = bits(nearest);
  const uint32_t away_or_closer = __builtin_fabs(back) > __builtin_fabs(x) ? ~0u : 1u;
  const uint32_t step = (b & 1) == 0 ? away_or_closer : 0u;
  return as_f32(b + (__builtin_fabs(x - back) > 0 ? step : 0u));
}

FULLWARP_LANE constexpr float f32_from_f16(uint16_t h) {
  const uint32_t magnitude = uint32_t{h} << 13 & 0x0fffe000u;
  const uint32_t sign = uint32_t{h} << 16 & 0x80000000u;
  const uint32_t normal = magnitude + (112u << 23);
  // 2^-14 + subnormal, less 2^-14: exact.
  const uint32_t subnormal = bits(as_f32(magnitude + (113u << 23)) - as_f32(113u << 23));
  const uint32_t special = magnitude == 0x0f800000u ? 0x7f800000u : kNanF32 & ~sign;
  uint32_t result = magnitude < 0x00800000u ? subnormal : normal;
  result = magnitude >= 0x0f800000u ? special : result;
  const bool nan = magnitude > 0x0f800000u;
  return as_f32(result | (nan ? 0u : sign));
}

FULLWARP_LANE constexpr float f32_from_bf16(uint16_t h) { return canonical(as_f32(uint32_t{h} << 16)); }

// The hot one: f16, to nearest. Subnormal results come from adding 0.5, whose last bit is 2^-24.
FULLWARP_LANE constexpr uint16_t f16_from_f32(float x) {
  const uint32_t b = bits(x);
  const uint32_t magnitude = b & 0x7fffffffu;
  const uint32_t sign = b >> 16 & 0x8000u;
  const uint32_t subnormal = bits(as_f32(magnitude) + 0.5f) - 0x3f000000u;
  const uint32_t normal = (magnitude + 0x0fffu + (magnitude >> 13 & 1) - (112u << 23)) >> 13;
  uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x477ff000u ? 0x7c00u : result;
  return static_cast<uint16_t>(magnitude > 0x7f800000u ? uint32_t{kNanF16} : result | sign);
}

// The hot one of bf16.
FULLWARP_LANE constexpr uint16_t bf16_from_f32(float x) {
  const uint32_t b = bits(x);
  const uint32_t rounded = (b + 0x7fffu + (b >> 16 & 1)) >> 16;
  return static_cast<uint16_t>((b & 0x7fffffffu) > 0x7f800000u ? uint32_t{kNanF16} : rounded);
}

template <NarrowRounding kRounding, bool kRelu = false, bool kSatFinite = false>
FULLWARP_LANE constexpr uint16_t f16_from_f32(float x) {
  if constexpr (kRounding == NarrowRounding::rn && !kRelu && !kSatFinite) return f16_from_f32(x);
  return static_cast<uint16_t>(narrow_from_f32<F16Format, kRounding, kRelu, kSatFinite>(x));
}

template <NarrowRounding kRounding, bool kRelu = false, bool kSatFinite = false>
FULLWARP_LANE constexpr uint16_t bf16_from_f32(float x) {
  if constexpr (kRounding == NarrowRounding::rn && !kRelu && !kSatFinite) return bf16_from_f32(x);
  return static_cast<uint16_t>(narrow_from_f32<Bf16Format, kRounding, kRelu, kSatFinite>(x));
}

// f32 bits whose low 13 mantissa bits are zero; NaN is 0x7fffffff (the ISA fixes no encoding).
template <NarrowRounding kRounding, bool kRelu = false, bool kSatFinite = false>
FULLWARP_LANE constexpr uint32_t tf32_from_f32(float x) {
  const uint32_t result = narrow_from_f32<Tf32Format, kRounding, kRelu, kSatFinite>(x);
  return result == Tf32Format::kNan ? kNanF32 : result << 13;
}

template <NarrowRounding kRounding>
FULLWARP_LANE constexpr uint16_t f16_from_f64(double x) {
  return f16_from_f32<kRounding>(odd_f32(x));
}

template <NarrowRounding kRounding>
FULLWARP_LANE constexpr uint16_t bf16_from_f64(double x) {
  return bf16_from_f32<kRounding>(odd_f32(x));
}

FULLWARP_LANE constexpr double f64_from_f16(uint16_t h) { return static_cast<double>(f32_from_f16(h)); }
FULLWARP_LANE constexpr double f64_from_bf16(uint16_t h) { return static_cast<double>(f32_from_bf16(h)); }

// ---- integers and f16, bf16 ----

template <NarrowRounding kRounding, class I>
FULLWARP_LANE constexpr uint16_t f16_from_int(I x) {
  return f16_from_f32<kRounding>(odd_f32(detail::odd_f64(x)));
}

template <NarrowRounding kRounding, class I>
FULLWARP_LANE constexpr uint16_t bf16_from_int(I x) {
  return bf16_from_f32<kRounding>(odd_f32(detail::odd_f64(x)));
}

template <class To, Rounding kRounding>
FULLWARP_LANE To int_from_f16(uint16_t h) {
  return int_from_float<To, kRounding>(f32_from_f16(h));
}

template <class To, Rounding kRounding>
FULLWARP_LANE To int_from_bf16(uint16_t h) {
  return int_from_float<To, kRounding>(f32_from_bf16(h));
}

template <Rounding kRounding>
FULLWARP_LANE uint16_t f16_integral(uint16_t h) {
  return f16_from_f32(f32_integral<kRounding>(f32_from_f16(h)));
}

// .sat of an f16 result: to [0, 1], NaN and -0 to +0.
FULLWARP_LANE constexpr uint16_t saturate_f16(uint16_t h) {
  const uint16_t positive = h <= 0x7c00 ? h : uint16_t{0};
  return positive < 0x3c00 ? positive : uint16_t{0x3c00};
}

// ---- packed destinations: a in the upper half, b in the lower ----

template <NarrowRounding kRounding, bool kRelu = false, bool kSatFinite = false>
FULLWARP_LANE constexpr uint32_t f16x2_from_f32(float a, float b) {
  return uint32_t{f16_from_f32<kRounding, kRelu, kSatFinite>(a)} << 16 |
         f16_from_f32<kRounding, kRelu, kSatFinite>(b);
}

template <NarrowRounding kRounding, bool kRelu = false, bool kSatFinite = false>
FULLWARP_LANE constexpr uint32_t bf16x2_from_f32(float a, float b) {
  return uint32_t{bf16_from_f32<kRounding, kRelu, kSatFinite>(a)} << 16 |
         bf16_from_f32<kRounding, kRelu, kSatFinite>(b);
}

// ---- fp8: Format is E4m3Format or E5m2Format; .rn.satfinite is the only form to fp8 ----

template <class Format, bool kRelu = false>
FULLWARP_LANE constexpr uint8_t fp8_from_f32(float x) {
  return static_cast<uint8_t>(narrow_from_f32<Format, NarrowRounding::rn, kRelu, true>(x));
}

template <class Format, bool kRelu = false>
FULLWARP_LANE constexpr uint16_t fp8x2_from_f32(float a, float b) {
  return static_cast<uint16_t>(fp8_from_f32<Format, kRelu>(a) << 8 | fp8_from_f32<Format, kRelu>(b));
}

template <class Format, bool kRelu = false>
FULLWARP_LANE constexpr uint16_t fp8x2_from_f16x2(uint32_t a) {
  return fp8x2_from_f32<Format, kRelu>(f32_from_f16(static_cast<uint16_t>(a >> 16)),
                                       f32_from_f16(static_cast<uint16_t>(a)));
}

// Every fp8 number is an f16. e5m2 is the upper byte of an f16; e4m3's exponent is 8 smaller there.
template <class Format, bool kRelu = false>
FULLWARP_LANE constexpr uint16_t f16_from_fp8(uint8_t x) {
  const uint32_t magnitude = x & 0x7fu;
  const uint32_t sign = uint32_t{x} << 8 & 0x8000u;
  uint32_t result = 0;
  bool nan = false;
  if constexpr (Format::kMantissa == 2) {
    result = magnitude << 8;
    nan = magnitude > Format::kInfinity;
  } else {
    // As an f32 whose exponent field starts at e4m3's, times 2^120: exact for normals and subnormals alike.
    result = f16_from_f32(as_f32(magnitude << 20) * as_f32(247u << 23));
    nan = magnitude == Format::kNan;
  }
  if constexpr (kRelu) result = sign != 0 ? 0u : result;
  const uint32_t number = kRelu ? result : result | sign;
  return static_cast<uint16_t>(nan ? uint32_t{kNanF16} : number);
}

template <class Format, bool kRelu = false>
FULLWARP_LANE constexpr uint32_t f16x2_from_fp8x2(uint16_t a) {
  return uint32_t{f16_from_fp8<Format, kRelu>(static_cast<uint8_t>(a >> 8))} << 16 |
         f16_from_fp8<Format, kRelu>(static_cast<uint8_t>(a));
}

}  // namespace fullwarp::exec::sem

// f16 and bf16 as bits: conversions that round once, to nearest even.
#pragma once

#include <bit>
#include <cstdint>

namespace fullwarp::input {

// A double to a float format of `fraction_bits` and an exponent of `exponent_bits`, 16 bits in all. NaN
// becomes the canonical quiet NaN of the GPU (0x7fff), overflow infinity, small values denormals.
template <unsigned exponent_bits, unsigned fraction_bits>
uint16_t small_float_bits(double value) {
  static_assert(1 + exponent_bits + fraction_bits == 16);
  constexpr int kBias = (1 << (exponent_bits - 1)) - 1;
  constexpr uint32_t kInfinity = ((1u << exponent_bits) - 1) << fraction_bits;
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 48 & 0x8000);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  if (exponent == 0x7ff) return fraction != 0 ? uint16_t{0x7fff} : static_cast<uint16_t>(sign | kInfinity);
  if (exponent == 0) return sign;  // doubles that small round to zero
  fraction |= uint64_t{1} << 52;
  int biased = exponent - 1023 + kBias;
  unsigned shift = 52 - fraction_bits;  // bits that do not fit
  if (biased <= 0) {                    // a denormal: the exponent field is 0
    const unsigned extra = static_cast<unsigned>(1 - biased);
    if (extra > fraction_bits + 2) return sign;
    shift += extra;
    biased = 0;
  }
  uint64_t kept = fraction >> shift;
  const uint64_t rest = fraction & ((uint64_t{1} << shift) - 1), half = uint64_t{1} << (shift - 1);
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  // `kept` holds the leading one for normal numbers; adding carries into the exponent as it should.
  const uint64_t magnitude = biased == 0 ? kept : (static_cast<uint64_t>(biased - 1) << fraction_bits) + kept;
  return static_cast<uint16_t>(sign | (magnitude >= kInfinity ? kInfinity : magnitude));
}

inline uint16_t f16_bits(double value) { return small_float_bits<5, 10>(value); }
inline uint16_t bf16_bits(double value) { return small_float_bits<8, 7>(value); }

inline float bf16_value(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }
inline float f16_value(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16;
  const uint32_t exponent = bits >> 10 & 31u, fraction = bits & 1023u;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

}  // namespace fullwarp::input

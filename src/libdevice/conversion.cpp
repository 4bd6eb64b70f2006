// Floating point to integer, to and from half, to whole numbers. A value out of range saturates; a NaN gives
// 0 where both sides have 32 bits, else the integer with only the top bit set (PTX ISA, cvt).
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "libdevice/adapt.h"

namespace fullwarp::libdevice {
namespace {

// To the nearest, ties to even: the direction in which the program runs.
template <class F>
F rint_even(F a) {
  return std::nearbyint(a);
}

enum Direction { kNearest, kZero, kUp, kDown };
template <Direction kDirection, class F>
F whole(F a) {
  if constexpr (kDirection == kNearest) return rint_even(a);
  if constexpr (kDirection == kZero) return std::trunc(a);
  if constexpr (kDirection == kUp) return std::ceil(a);
  return std::floor(a);
}

template <class I, class F>
I saturate(F a) {
  using Limits = std::numeric_limits<I>;
  if (std::isnan(a)) {
    if (sizeof(I) == 4 && sizeof(F) == 4) return 0;
    return static_cast<I>(uint64_t{1} << (sizeof(I) * 8 - 1));
  }
  const F above = std::ldexp(F{1}, Limits::digits);  // the first value too large
  if (a >= above) return Limits::max();
  if (a <= -above) return Limits::min();
  if (!Limits::is_signed && a <= 0) return 0;
  return static_cast<I>(a);
}
template <class I, class F, Direction kDirection>
I to_integer(F a) {
  return saturate<I>(whole<kDirection>(a));
}

template <class F>
F round_away(F a) {
  return std::round(a);
}
template <class F>
int64_t to_integer_away(F a) {
  return saturate<int64_t>(std::round(a));
}
template <class F>
F up(F a) {
  return std::ceil(a);
}
template <class F>
F down(F a) {
  return std::floor(a);
}
template <class F>
F cut(F a) {
  return std::trunc(a);
}

uint32_t to_half(float a) {
  const uint32_t bits = std::bit_cast<uint32_t>(a), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0x7fff;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;  // 65520 and more round to infinity
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  // Bits to drop from the 24-bit significand: 13 of a normal half, more of a denormal one.
  const int drop = exponent < -14 ? 13 + (-14 - exponent) : 13;
  if (drop > 25) return sign;
  const uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
  const uint32_t kept = significand >> drop, rest = significand & ((1u << drop) - 1), half = 1u << (drop - 1);
  const uint32_t rounded = kept + (rest > half || (rest == half && (kept & 1)));
  // A carry out of the significand runs into the exponent, which is right.
  return sign | (exponent < -14 ? rounded : (static_cast<uint32_t>(exponent + 14) << 10) + rounded);
}
float from_half(uint32_t h) {
  const uint32_t sign = (h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ff;
  if (exponent == 31) {
    return std::bit_cast<float>(fraction != 0 ? 0x7fffffffu : sign | 0x7f800000u);
  }
  const float magnitude =
      exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                    : std::ldexp(static_cast<float>(fraction | 0x400), static_cast<int>(exponent) - 25);
  return sign != 0 ? -magnitude : magnitude;
}

double from_i32(int32_t a) { return a; }
double from_u32(uint32_t a) { return a; }

#define FOUR(PREFIX, I, F)                                          \
  Adapt<&to_integer<I, F, kNearest>>::entry("__nv_" PREFIX "_rn"),  \
      Adapt<&to_integer<I, F, kZero>>::entry("__nv_" PREFIX "_rz"), \
      Adapt<&to_integer<I, F, kUp>>::entry("__nv_" PREFIX "_ru"),   \
      Adapt<&to_integer<I, F, kDown>>::entry("__nv_" PREFIX "_rd")

constexpr Function kFunctions[] = {
    FOUR("float2int", int32_t, float),
    FOUR("float2uint", uint32_t, float),
    FOUR("float2ll", int64_t, float),
    FOUR("float2ull", uint64_t, float),
    FOUR("double2int", int32_t, double),
    FOUR("double2uint", uint32_t, double),
    FOUR("double2ll", int64_t, double),
    FOUR("double2ull", uint64_t, double),
    Adapt<&to_integer<int64_t, float, kNearest>>::entry("__nv_llrintf"),
    Adapt<&to_integer<int64_t, double, kNearest>>::entry("__nv_llrint"),
    Adapt<&to_integer_away<float>>::entry("__nv_llroundf"),
    Adapt<&to_integer_away<double>>::entry("__nv_llround"),
    Adapt<&rint_even<float>>::entry("__nv_rintf"),
    Adapt<&rint_even<double>>::entry("__nv_rint"),
    Adapt<&rint_even<float>>::entry("__nv_nearbyintf"),
    Adapt<&rint_even<double>>::entry("__nv_nearbyint"),
    Adapt<&round_away<float>>::entry("__nv_roundf"),
    Adapt<&round_away<double>>::entry("__nv_round"),
    Adapt<&up<float>>::entry("__nv_ceilf"),
    Adapt<&up<double>>::entry("__nv_ceil"),
    Adapt<&down<float>>::entry("__nv_floorf"),
    Adapt<&down<double>>::entry("__nv_floor"),
    Adapt<&cut<float>>::entry("__nv_truncf"),
    Adapt<&cut<double>>::entry("__nv_trunc"),
    Adapt<&to_half>::entry("__nv_float2half_rn"),
    Adapt<&from_half>::entry("__nv_half2float"),
    Adapt<&from_i32>::entry("__nv_int2double_rn"),
    Adapt<&from_u32>::entry("__nv_uint2double_rn"),
};
#undef FOUR

}  // namespace

std::span<const Function> conversion_functions() { return kFunctions; }

}  // namespace fullwarp::libdevice

// Logic, shifts, bit fields and selection of PTX as pure functions of one lane (PTX ISA 9.0, 9.7.1.14-22,
// 9.7.6.3-4, 9.7.8, 9.7.9.7).
//
// and, or, xor and not are C++'s own operators and have no function here. C++ leaves shifts by the width or
// more undefined, x86 masks the amount and PTX clamps it: every shift below says which of these it does.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "exec/semantics/integer.h"

namespace fullwarp::exec::sem {

// ---- shifts: amounts of the width and more give 0, or the sign for signed shr ----

template <class T>
FULLWARP_LANE constexpr T shl(T a, uint32_t amount) {
  const Wrapping<T> shifted = Wrapping<T>(a) << (amount & (kBits<T> - 1));
  return amount >= kBits<T> ? T(0) : static_cast<T>(shifted);
}

template <class T>
FULLWARP_LANE constexpr T shr(T a, uint32_t amount) {
  if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(a >> (amount >= kBits<T> ? kBits<T> - 1 : amount));
  } else {
    const T shifted = static_cast<T>(a >> (amount & (kBits<T> - 1)));
    return amount >= kBits<T> ? T(0) : shifted;
  }
}

// Funnel shifts of b:a (b holds bits 63..32): left gives the upper word, right the lower.
FULLWARP_LANE constexpr uint64_t funnel(uint32_t a, uint32_t b) { return uint64_t{b} << 32 | a; }
FULLWARP_LANE constexpr uint32_t shf_l_wrap(uint32_t a, uint32_t b, uint32_t c) {
  return static_cast<uint32_t>(funnel(a, b) << (c & 31) >> 32);
}
FULLWARP_LANE constexpr uint32_t shf_r_wrap(uint32_t a, uint32_t b, uint32_t c) {
  return static_cast<uint32_t>(funnel(a, b) >> (c & 31));
}
FULLWARP_LANE constexpr uint32_t shf_l_clamp(uint32_t a, uint32_t b, uint32_t c) {
  return static_cast<uint32_t>(funnel(a, b) << (c < 32 ? c : 32) >> 32);
}
FULLWARP_LANE constexpr uint32_t shf_r_clamp(uint32_t a, uint32_t b, uint32_t c) {
  return static_cast<uint32_t>(funnel(a, b) >> (c < 32 ? c : 32));
}

// ---- logic ----

// Bit i of the result is bit (a_i, b_i, c_i) of the table, a_i being the most significant index bit: so the
// tables of plain operands are a = 0xf0, b = 0xcc, c = 0xaa.
template <uint8_t kTable>
FULLWARP_LANE constexpr uint32_t lop3(uint32_t a, uint32_t b, uint32_t c) {
  constexpr auto row = [](unsigned i) { return kTable >> i & 1 ? 0xffffffffu : 0u; };
  const auto select = [](uint32_t s, uint32_t one, uint32_t zero) { return (s & one) | (~s & zero); };
  return select(a, select(b, select(c, row(7), row(6)), select(c, row(5), row(4))),
                select(b, select(c, row(3), row(2)), select(c, row(1), row(0))));
}

FULLWARP_LANE constexpr uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  const auto row = [table](unsigned i) { return 0u - (table >> i & 1); };
  const auto select = [](uint32_t s, uint32_t one, uint32_t zero) { return (s & one) | (~s & zero); };
  return select(a, select(b, select(c, row(7), row(6)), select(c, row(5), row(4))),
                select(b, select(c, row(3), row(2)), select(c, row(1), row(0))));
}

template <class T>
FULLWARP_LANE constexpr T cnot(T a) {
  return a == 0 ? T(1) : T(0);
}

// ---- selection ----

template <class T>
FULLWARP_LANE constexpr T selp(T a, T b, bool c) {
  return c ? a : b;
}

template <class T>
FULLWARP_LANE constexpr T slct(T a, T b, int32_t c) {
  return c >= 0 ? a : b;
}

// slct with an f32 selector, given by its bits: -0 is zero, NaN selects b; with .ftz a negative subnormal is
// zero and selects a.
template <class T, bool kFtz = false>
FULLWARP_LANE constexpr T slct_f32(T a, T b, uint32_t c) {
  const uint32_t magnitude = c & 0x7fffffffu;
  const bool zero = magnitude < (kFtz ? 0x00800000u : 1u);
  const bool positive = (c == magnitude) & (magnitude <= 0x7f800000u);
  return (zero | positive) ? a : b;
}

// ---- counting and searching ----

template <class T>
FULLWARP_LANE constexpr uint32_t popc(T a) {
  return static_cast<uint32_t>(std::popcount(Unsigned<T>(a)));
}

template <class T>
FULLWARP_LANE constexpr uint32_t clz(T a) {  // the width for 0
  return static_cast<uint32_t>(std::countl_zero(Unsigned<T>(a)));
}

// Position of the most significant bit that differs from the sign; 0xffffffff if there is none.
template <class T>
FULLWARP_LANE constexpr uint32_t bfind(T a) {
  const Unsigned<T> bits = a < 0 ? ~Unsigned<T>(a) : Unsigned<T>(a);
  return kBits<T> - 1 - clz(bits);  // clz = width gives -1
}

template <class T>
FULLWARP_LANE constexpr uint32_t bfind_shiftamt(T a) {
  const uint32_t position = bfind(a);
  return position == 0xffffffffu ? position : kBits<T> - 1 - position;
}

template <class T>
FULLWARP_LANE constexpr T brev(T a) {
  using U = Unsigned<T>;
  U x = U(a);
  constexpr U k1 = static_cast<U>(0x5555555555555555u), k2 = static_cast<U>(0x3333333333333333u);
  constexpr U k4 = static_cast<U>(0x0f0f0f0f0f0f0f0fu), k8 = static_cast<U>(0x00ff00ff00ff00ffu);
  x = (x >> 1 & k1) | (x & k1) << 1;
  x = (x >> 2 & k2) | (x & k2) << 2;
  x = (x >> 4 & k4) | (x & k4) << 4;
  x = (x >> 8 & k8) | (x & k8) << 8;
  if constexpr (sizeof(T) == 8) {
    constexpr U k16 = 0x0000ffff0000ffffu;
    x = (x >> 16 & k16) | (x & k16) << 16;
  }
  return static_cast<T>(x >> kBits<T> / 2 | x << kBits<T> / 2);
}

// Position of the |offset|-th set bit from `base`, upward for positive offsets and downward for negative;
// offset 0 asks for the bit at base itself. 0xffffffff if there is none. The ISA leaves base > 31 undefined;
// here nothing is found.
FULLWARP_LANE constexpr uint32_t fns(uint32_t mask, uint32_t base, int32_t offset) {
  if (base > 31) return 0xffffffffu;
  if (offset == 0) return mask >> base & 1 ? base : 0xffffffffu;
  const int step = offset > 0 ? 1 : -1;
  int64_t left = offset > 0 ? int64_t{offset} : -int64_t{offset};
  for (int position = static_cast<int>(base); position >= 0 && position < 32; position += step)
    if ((mask >> position & 1) != 0 && --left == 0) return static_cast<uint32_t>(position);
  return 0xffffffffu;
}

// ---- bit fields: position and length are taken modulo 256 ----

template <class T>
FULLWARP_LANE constexpr T bfe(T a, uint32_t position, uint32_t length) {
  position &= 0xff;
  length &= 0xff;
  const uint32_t pad =
      kBits<T> - (length < kBits<T> ? length : kBits<T>);  // 0 .. width; width only for length 0
  const uint32_t safe_pad = pad & (kBits<T> - 1);
  const T field = static_cast<T>(shl(shr(a, position), safe_pad)) >> safe_pad;
  return length == 0 ? T(0) : field;
}

template <class U>  // uint32_t or uint64_t
FULLWARP_LANE constexpr U bfi(U a, U b, uint32_t position, uint32_t length) {
  position &= 0xff;
  length &= 0xff;
  const U ones = static_cast<U>(~shl<U>(~U(0), length));  // all ones for lengths beyond the width
  const U mask = shl<U>(ones, position);
  return (b & ~mask) | (shl<U>(a, position) & mask);
}

FULLWARP_LANE constexpr uint32_t bmsk_wrap(uint32_t position, uint32_t width) {
  return shl<uint32_t>(~shl<uint32_t>(~0u, width & 31), position & 31);
}

FULLWARP_LANE constexpr uint32_t bmsk_clamp(uint32_t position, uint32_t width) {
  return shl<uint32_t>(~shl<uint32_t>(~0u, width), position);
}

// Keep the low b bits of a, extended by sign (int32_t) or zero (uint32_t). b = 0 gives 0; b >= 32 keeps all
// bits (clamp) or counts modulo 32 (wrap).
template <class T>
FULLWARP_LANE constexpr T szext_clamp(T a, uint32_t b) {
  const uint32_t pad = 32 - (b < 32 ? b : 32);
  const T extended = static_cast<T>(static_cast<uint32_t>(a) << (pad & 31)) >> (pad & 31);
  return b == 0 ? T(0) : extended;
}

template <class T>
FULLWARP_LANE constexpr T szext_wrap(T a, uint32_t b) {
  return szext_clamp<T>(a, b & 31);
}

// ---- prmt ----

enum class PrmtMode : uint8_t { generic, f4e, b4e, rc8, ecl, ecr, rc16 };

// One byte of b:a by a 4-bit selector whose top bit asks for the byte's sign instead of the byte.
FULLWARP_LANE constexpr uint32_t prmt_byte(uint64_t bytes, uint32_t selector) {
  const auto byte = static_cast<uint32_t>(bytes >> (selector & 7) * 8) & 0xffu;
  const uint32_t sign = (0u - (byte >> 7)) & 0xffu;
  return selector & 8 ? sign : byte;
}

FULLWARP_LANE constexpr uint32_t prmt(uint32_t a, uint32_t b, uint32_t selectors) {
  const uint64_t bytes = funnel(a, b);
  return prmt_byte(bytes, selectors) | prmt_byte(bytes, selectors >> 4) << 8 |
         prmt_byte(bytes, selectors >> 8) << 16 | prmt_byte(bytes, selectors >> 12) << 24;
}

// The generic selectors that each special mode stands for, by the two low bits of c. Digits read d.b3 ..
// d.b0.
inline constexpr std::array<std::array<uint16_t, 4>, 7> kPrmtSelectors = {{
    {0x3210, 0x3210, 0x3210, 0x3210},  // generic: not looked up
    {0x3210, 0x4321, 0x5432, 0x6543},  // f4e
    {0x5670, 0x6701, 0x7012, 0x0123},  // b4e
    {0x0000, 0x1111, 0x2222, 0x3333},  // rc8
    {0x3210, 0x3211, 0x3222, 0x3333},  // ecl
    {0x0000, 0x1110, 0x2210, 0x3210},  // ecr
    {0x1010, 0x3232, 0x1010, 0x3232},  // rc16
}};

FULLWARP_LANE constexpr uint32_t prmt(uint32_t a, uint32_t b, uint32_t c, PrmtMode mode) {
  const uint32_t selectors =
      mode == PrmtMode::generic ? c : kPrmtSelectors[static_cast<unsigned>(mode)][c & 3];
  return prmt(a, b, selectors);
}

}  // namespace fullwarp::exec::sem

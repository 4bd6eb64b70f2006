// Integer arithmetic of PTX as pure functions of one lane (PTX ISA 9.0, 9.7.1 and 9.7.2).
//
// Every function is a template over the C++ type that stands for the PTX type (int16_t for .s16, uint64_t for
// .u64, ...) and is written without branches, so that a loop over the 32 lanes of a register vectorises.
// Arithmetic goes through unsigned types: PTX wraps, C++ signed overflow is undefined. Bit operations and
// shifts live in bits.h, the video instructions in video.h.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "exec/semantics/inline.h"

namespace fullwarp::exec::sem {

__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

template <class T>
using Unsigned = std::make_unsigned_t<T>;
template <class T>
using Signed = std::make_signed_t<T>;

// The unsigned type in which arithmetic on T wraps: at least 32 bits, since C++ would promote 16-bit operands
// to (signed) int.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) < 4, uint32_t, Unsigned<T>>;

namespace detail {
template <class T>
struct WideOf;
template <>
struct WideOf<int8_t> {
  using type = int16_t;
};
template <>
struct WideOf<uint8_t> {
  using type = uint16_t;
};
template <>
struct WideOf<int16_t> {
  using type = int32_t;
};
template <>
struct WideOf<uint16_t> {
  using type = uint32_t;
};
template <>
struct WideOf<int32_t> {
  using type = int64_t;
};
template <>
struct WideOf<uint32_t> {
  using type = uint64_t;
};
template <>
struct WideOf<int64_t> {
  using type = int128;
};
template <>
struct WideOf<uint64_t> {
  using type = uint128;
};
}  // namespace detail

template <class T>
using Wide = typename detail::WideOf<T>::type;  // twice as many bits, same signedness

template <class T>
inline constexpr unsigned kBits = sizeof(T) * 8;

// ---- add, sub, mul, mad ----

template <class T>
FULLWARP_LANE constexpr T add(T a, T b) {
  return static_cast<T>(Wrapping<T>(a) + Wrapping<T>(b));
}

template <class T>
FULLWARP_LANE constexpr T sub(T a, T b) {
  return static_cast<T>(Wrapping<T>(a) - Wrapping<T>(b));
}

template <class T>
FULLWARP_LANE constexpr T mul_lo(T a, T b) {
  return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b));
}

template <class T>
FULLWARP_LANE constexpr Wide<T> mul_wide(T a, T b) {
  using W = Wide<T>;
  return static_cast<W>(W(a) * W(b));
}

template <class T>
FULLWARP_LANE constexpr T mul_hi(T a, T b) {
  return static_cast<T>(mul_wide(a, b) >> kBits<T>);
}

template <class T>
FULLWARP_LANE constexpr T mad_lo(T a, T b, T c) {
  return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b) + Wrapping<T>(c));
}

template <class T>
FULLWARP_LANE constexpr T mad_hi(T a, T b, T c) {
  return add<T>(mul_hi(a, b), c);
}

template <class T>
FULLWARP_LANE constexpr Wide<T> mad_wide(T a, T b, Wide<T> c) {
  return add<Wide<T>>(mul_wide(a, b), c);
}

// ---- .sat (s32 only) ----

// The sum overflowed if its sign differs from both operands' (for the difference: a's and b's signs differ
// and the result's differs from a's); the limit then has a's sign.
FULLWARP_LANE constexpr int32_t add_sat(int32_t a, int32_t b) {
  const int32_t sum = add(a, b);
  return ((sum ^ a) & (sum ^ b)) < 0 ? (a >> 31) ^ std::numeric_limits<int32_t>::max() : sum;
}
FULLWARP_LANE constexpr int32_t sub_sat(int32_t a, int32_t b) {
  const int32_t difference = sub(a, b);
  return ((a ^ b) & (difference ^ a)) < 0 ? (a >> 31) ^ std::numeric_limits<int32_t>::max() : difference;
}
FULLWARP_LANE constexpr int32_t mad_hi_sat(int32_t a, int32_t b, int32_t c) {
  return add_sat(mul_hi(a, b), c);
}

// ---- 24-bit forms: the operands' low 24 bits, sign-extended for .s32; .hi is bits 47..16 of the product
// ----

FULLWARP_LANE constexpr uint32_t low24(uint32_t a) { return a & 0xffffffu; }
FULLWARP_LANE constexpr int32_t low24(int32_t a) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) << 8) >> 8;
}

template <class T>  // uint32_t or int32_t
FULLWARP_LANE constexpr T mul24_lo(T a, T b) {
  return static_cast<T>(mul_wide(low24(a), low24(b)));
}

template <class T>
FULLWARP_LANE constexpr T mul24_hi(T a, T b) {
  return static_cast<T>(mul_wide(low24(a), low24(b)) >> 16);
}

template <class T>
FULLWARP_LANE constexpr T mad24_lo(T a, T b, T c) {
  return add<T>(mul24_lo(a, b), c);
}

template <class T>
FULLWARP_LANE constexpr T mad24_hi(T a, T b, T c) {
  return add<T>(mul24_hi(a, b), c);
}

FULLWARP_LANE constexpr int32_t mad24_hi_sat(int32_t a, int32_t b, int32_t c) {
  return add_sat(mul24_hi(a, b), c);
}

// ---- extended precision ----
// The carry flag CC.CF is 0 or 1. Each instruction has two functions, one for the value and one, with _carry,
// for the flag that its .cc form writes; add.cc is addc with carry_in 0. After sub it is the borrow.

template <class T>
FULLWARP_LANE constexpr T addc(T a, T b, uint32_t carry_in) {
  using U = Unsigned<T>;
  return static_cast<T>(U(a) + U(b) + U(carry_in));
}

template <class T>
FULLWARP_LANE constexpr uint32_t addc_carry(T a, T b, uint32_t carry_in) {
  using U = Unsigned<T>;
  const U sum = U(a) + U(b);
  const U total = sum + U(carry_in);
  return uint32_t{sum < U(a)} | uint32_t{total < sum};
}

template <class T>
FULLWARP_LANE constexpr T subc(T a, T b, uint32_t borrow_in) {
  using U = Unsigned<T>;
  return static_cast<T>(U(a) - U(b) - U(borrow_in));
}

template <class T>
FULLWARP_LANE constexpr uint32_t subc_carry(T a, T b, uint32_t borrow_in) {
  using U = Unsigned<T>;
  return uint32_t{U(a) < U(b)} | uint32_t{U(a) - U(b) < U(borrow_in)};
}

template <class T>
FULLWARP_LANE constexpr T madc_lo(T a, T b, T c, uint32_t carry_in) {
  return addc<T>(mul_lo(a, b), c, carry_in);
}

template <class T>
FULLWARP_LANE constexpr uint32_t madc_lo_carry(T a, T b, T c, uint32_t carry_in) {
  return addc_carry<T>(mul_lo(a, b), c, carry_in);
}

template <class T>
FULLWARP_LANE constexpr T madc_hi(T a, T b, T c, uint32_t carry_in) {
  return addc<T>(mul_hi(a, b), c, carry_in);
}

template <class T>
FULLWARP_LANE constexpr uint32_t madc_hi_carry(T a, T b, T c, uint32_t carry_in) {
  return addc_carry<T>(mul_hi(a, b), c, carry_in);
}

// ---- div, rem ----
// The ISA leaves a zero divisor open ("machine-specific"). What ptxas 13.0 emits for sm_90 (read from the
// machine code of each type): after the division a select on divisor == 0 puts all ones, for the quotient and
// for the remainder, in all six types. MIN / -1 goes through absolute values as unsigned numbers and gives
// quotient MIN, remainder 0.

namespace detail {

// 32 bits and less: through double, which vectorises. A quotient of integers below 2^32 lies at least 2^-32
// of itself below the next integer, so that rounding to 53 bits never reaches it. Divisors 0 and 1 are taken
// out first, which also keeps the quotient below 2^31, in reach of a signed conversion.
FULLWARP_LANE constexpr uint32_t div_u32(uint32_t a, uint32_t b) {
  constexpr double kOffset = 2147483648.0;
  const uint32_t divisor = b <= 1 ? 2 : b;
  const double numerator = static_cast<double>(static_cast<int32_t>(a ^ 0x80000000u)) + kOffset;
  const double denominator = static_cast<double>(static_cast<int32_t>(divisor ^ 0x80000000u)) + kOffset;
  const uint32_t quotient = static_cast<uint32_t>(static_cast<int32_t>(numerator / denominator));
  const uint32_t small = b == 0 ? 0xffffffffu : a;
  return b <= 1 ? small : quotient;
}

FULLWARP_LANE constexpr int32_t div_s32(int32_t a, int32_t b) {
  const bool overflow = (a == std::numeric_limits<int32_t>::min()) & (b == -1);
  const int32_t divisor = ((b == 0) | overflow) ? 1 : b;
  const int32_t quotient = static_cast<int32_t>(static_cast<double>(a) / static_cast<double>(divisor));
  return b == 0 ? -1 : quotient;
}

}  // namespace detail

template <class T>
FULLWARP_LANE constexpr T div(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    const bool overflow = std::is_signed_v<T> && a == std::numeric_limits<T>::min() && b == T(-1);
    const T divisor = b == 0 || overflow ? T(1) : b;
    return b == 0 ? T(-1) : static_cast<T>(a / divisor);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(detail::div_s32(a, b));
  } else {
    return static_cast<T>(detail::div_u32(a, b));
  }
}

template <class T>
FULLWARP_LANE constexpr T rem(T a, T b) {
  const T remainder = sub<T>(a, mul_lo<T>(div(a, b), b));
  return b == 0 ? T(-1) : remainder;
}

// ---- abs, neg, min, max, sad ----

template <class T>
FULLWARP_LANE constexpr T neg(T a) {
  return static_cast<T>(Wrapping<T>(0) - Wrapping<T>(a));
}

template <class T>
FULLWARP_LANE constexpr T abs(T a) {  // abs(MIN) is MIN
  return a < 0 ? neg(a) : a;
}

template <class T>
FULLWARP_LANE constexpr T min(T a, T b) {
  return a < b ? a : b;
}

template <class T>
FULLWARP_LANE constexpr T max(T a, T b) {
  return a > b ? a : b;
}

template <class T>
FULLWARP_LANE constexpr T min_relu(T a, T b) {
  return max<T>(min(a, b), 0);
}

template <class T>
FULLWARP_LANE constexpr T max_relu(T a, T b) {
  return max<T>(max(a, b), 0);
}

template <class T>
FULLWARP_LANE constexpr T sad(T a, T b, T c) {
  return add<T>(c, a < b ? sub(b, a) : sub(a, b));
}

// ---- two 16-bit lanes in one register: .u16x2 and .s16x2 ----

template <class Half, class F>
FULLWARP_LANE constexpr uint32_t map_x2(uint32_t a, uint32_t b, F f) {
  const auto lo = static_cast<uint16_t>(f(static_cast<Half>(a), static_cast<Half>(b)));
  const auto hi = static_cast<uint16_t>(f(static_cast<Half>(a >> 16), static_cast<Half>(b >> 16)));
  return uint32_t{hi} << 16 | lo;
}

FULLWARP_LANE constexpr uint32_t add_x2(uint32_t a, uint32_t b) {
  return map_x2<uint16_t>(a, b, add<uint16_t>);
}

template <class Half>  // uint16_t or int16_t
FULLWARP_LANE constexpr uint32_t min_x2(uint32_t a, uint32_t b) {
  return map_x2<Half>(a, b, min<Half>);
}

template <class Half>
FULLWARP_LANE constexpr uint32_t max_x2(uint32_t a, uint32_t b) {
  return map_x2<Half>(a, b, max<Half>);
}

FULLWARP_LANE constexpr uint32_t min_relu_s16x2(uint32_t a, uint32_t b) {
  return map_x2<int16_t>(a, b, min_relu<int16_t>);
}

FULLWARP_LANE constexpr uint32_t max_relu_s16x2(uint32_t a, uint32_t b) {
  return map_x2<int16_t>(a, b, max_relu<int16_t>);
}

// ---- dot products: A and B are uint8_t/int8_t (dp4a), or uint16_t/int16_t and uint8_t/int8_t (dp2a) ----

template <class A, class B>
FULLWARP_LANE constexpr uint32_t dp4a(uint32_t a, uint32_t b, uint32_t c) {
  int32_t sum = 0;
  for (unsigned i = 0; i < 32; i += 8)
    sum += int32_t{static_cast<A>(a >> i)} * int32_t{static_cast<B>(b >> i)};
  return c + static_cast<uint32_t>(sum);
}

template <class A, class B, bool kHi>
FULLWARP_LANE constexpr uint32_t dp2a(uint32_t a, uint32_t b, uint32_t c) {
  constexpr unsigned kShift = kHi ? 16 : 0;
  const int32_t lo = int32_t{static_cast<A>(a)} * int32_t{static_cast<B>(b >> kShift)};
  const int32_t hi = int32_t{static_cast<A>(a >> 16)} * int32_t{static_cast<B>(b >> (kShift + 8))};
  return c + static_cast<uint32_t>(lo) + static_cast<uint32_t>(hi);
}

}  // namespace fullwarp::exec::sem

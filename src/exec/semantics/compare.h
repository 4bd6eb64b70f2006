// Comparison and boolean combination: set, setp (PTX ISA 9.0, 9.7.6). f16 and bf16 compare through float; see
// half.h.
#pragma once

#include <cstdint>
#include <type_traits>

#include "exec/semantics/float_bits.h"

namespace fullwarp::exec::sem {

enum class Cmp : uint8_t {
  eq,
  ne,
  lt,
  le,
  gt,
  ge,  // floats: false if an operand is NaN, ne included
  lo,
  ls,
  hi,
  hs,  // unsigned integers
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,  // floats: true if an operand is NaN
  num,
  nan,  // floats: no operand is NaN, some operand is
};

template <Cmp kCmp, class T>
FULLWARP_LANE constexpr bool compare(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if constexpr (kCmp == Cmp::eq) return a == b;
    if constexpr (kCmp == Cmp::ne) return (a < b) | (a > b);
    if constexpr (kCmp == Cmp::lt) return a < b;
    if constexpr (kCmp == Cmp::le) return a <= b;
    if constexpr (kCmp == Cmp::gt) return a > b;
    if constexpr (kCmp == Cmp::ge) return a >= b;
    if constexpr (kCmp == Cmp::equ) return !((a < b) | (a > b));
    if constexpr (kCmp == Cmp::neu) return a != b;
    if constexpr (kCmp == Cmp::ltu) return !(a >= b);
    if constexpr (kCmp == Cmp::leu) return !(a > b);
    if constexpr (kCmp == Cmp::gtu) return !(a <= b);
    if constexpr (kCmp == Cmp::geu) return !(a < b);
    if constexpr (kCmp == Cmp::num) return (a == a) & (b == b);
    if constexpr (kCmp == Cmp::nan) return (a != a) | (b != b);
  } else {
    using U = std::make_unsigned_t<T>;
    if constexpr (kCmp == Cmp::eq) return a == b;
    if constexpr (kCmp == Cmp::ne) return a != b;
    if constexpr (kCmp == Cmp::lt) return a < b;
    if constexpr (kCmp == Cmp::le) return a <= b;
    if constexpr (kCmp == Cmp::gt) return a > b;
    if constexpr (kCmp == Cmp::ge) return a >= b;
    if constexpr (kCmp == Cmp::lo) return U(a) < U(b);
    if constexpr (kCmp == Cmp::ls) return U(a) <= U(b);
    if constexpr (kCmp == Cmp::hi) return U(a) > U(b);
    if constexpr (kCmp == Cmp::hs) return U(a) >= U(b);
  }
}

template <Cmp kCmp, bool kFtz = false>
FULLWARP_LANE constexpr bool compare_f32(float a, float b) {
  return compare<kCmp, float>(flush<kFtz>(a), flush<kFtz>(b));
}

enum class BoolOp : uint8_t { and_, or_, xor_ };

// setp.CMP.BOOL p|q, a, b, c: p = combine(t, c) and q = combine(!t, c), where t is the comparison.
template <BoolOp kOp>
FULLWARP_LANE constexpr bool combine(bool t, bool c) {
  if constexpr (kOp == BoolOp::and_) return t & c;
  if constexpr (kOp == BoolOp::or_) return t | c;
  if constexpr (kOp == BoolOp::xor_) return t ^ c;
}

// What `set` writes, as bits: all ones or 1.0f for true, zero for false.
FULLWARP_LANE constexpr uint32_t set_integer(bool t) { return 0u - uint32_t{t}; }
FULLWARP_LANE constexpr uint32_t set_f32(bool t) { return t ? 0x3f800000u : 0u; }

}  // namespace fullwarp::exec::sem

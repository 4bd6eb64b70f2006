// Integer functions, and those that look at a float's bits.
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "libdevice/adapt.h"

namespace fullwarp::libdevice {
namespace {

int32_t abs32(int32_t a) {
  return static_cast<int32_t>(a < 0 ? 0u - static_cast<uint32_t>(a) : static_cast<uint32_t>(a));
}
int64_t abs64(int64_t a) {
  return static_cast<int64_t>(a < 0 ? 0ull - static_cast<uint64_t>(a) : static_cast<uint64_t>(a));
}

template <class T>
T lesser(T a, T b) {
  return b < a ? b : a;
}
template <class T>
T greater(T a, T b) {
  return a < b ? b : a;
}

int32_t clz32(uint32_t a) { return std::countl_zero(a); }
int32_t clz64(uint64_t a) { return std::countl_zero(a); }
int32_t popc32(uint32_t a) { return std::popcount(a); }
int32_t popc64(uint64_t a) { return std::popcount(a); }
int32_t ffs32(uint32_t a) { return a == 0 ? 0 : std::countr_zero(a) + 1; }
int32_t ffs64(uint64_t a) { return a == 0 ? 0 : std::countr_zero(a) + 1; }

uint64_t brev64(uint64_t a) {
  uint64_t reversed = 0;
  for (int bit = 0; bit < 64; ++bit) reversed |= (a >> bit & 1) << (63 - bit);
  return reversed;
}
uint32_t brev32(uint32_t a) { return static_cast<uint32_t>(brev64(a) >> 32); }

// Each nibble of the selector picks one of the eight bytes of b:a, or with its top bit that byte's sign.
uint32_t byte_perm(uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t bytes = static_cast<uint64_t>(b) << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t pick = selector >> (4 * i) & 0xf;
    uint32_t byte = static_cast<uint32_t>(bytes >> (8 * (pick & 7))) & 0xff;
    if (pick & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

int32_t mulhi(int32_t a, int32_t b) { return static_cast<int32_t>(int64_t{a} * b >> 32); }
uint32_t umulhi(uint32_t a, uint32_t b) { return static_cast<uint32_t>(uint64_t{a} * b >> 32); }
uint64_t umul64hi(uint64_t a, uint64_t b) {
  const uint64_t al = a & 0xffffffff, ah = a >> 32, bl = b & 0xffffffff, bh = b >> 32;
  const uint64_t middle = (al * bl >> 32) + (ah * bl & 0xffffffff) + al * bh;
  return ah * bh + (ah * bl >> 32) + (middle >> 32);
}
int64_t mul64hi(int64_t a, int64_t b) {
  uint64_t high = umul64hi(static_cast<uint64_t>(a), static_cast<uint64_t>(b));
  if (a < 0) high -= static_cast<uint64_t>(b);
  if (b < 0) high -= static_cast<uint64_t>(a);
  return static_cast<int64_t>(high);
}
// The low 32 bits of the product of the low 24 bits, sign-extended or not.
int32_t mul24(int32_t a, int32_t b) {
  const int64_t x = static_cast<int32_t>(static_cast<uint32_t>(a) << 8) >> 8;
  const int64_t y = static_cast<int32_t>(static_cast<uint32_t>(b) << 8) >> 8;
  return static_cast<int32_t>(static_cast<uint64_t>(x * y));
}
uint32_t umul24(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(uint64_t{a & 0xffffff} * (b & 0xffffff));
}
uint32_t sad(int32_t a, int32_t b, uint32_t c) {
  const int64_t d = int64_t{a} - b;
  return c + static_cast<uint32_t>(d < 0 ? -d : d);
}
uint32_t usad(uint32_t a, uint32_t b, uint32_t c) { return c + (a < b ? b - a : a - b); }
int32_t hadd(int32_t a, int32_t b) { return static_cast<int32_t>((int64_t{a} + b) >> 1); }
int32_t rhadd(int32_t a, int32_t b) { return static_cast<int32_t>((int64_t{a} + b + 1) >> 1); }
uint32_t uhadd(uint32_t a, uint32_t b) { return static_cast<uint32_t>((uint64_t{a} + b) >> 1); }
uint32_t urhadd(uint32_t a, uint32_t b) { return static_cast<uint32_t>((uint64_t{a} + b + 1) >> 1); }

// A NaN keeps its payload where only bits move: these take and give integers, whose lanes are the same 32 or
// 64 bits.
template <class T>
T same(T a) {
  return a;
}
int32_t high_word(uint64_t a) { return static_cast<int32_t>(a >> 32); }
int32_t low_word(uint64_t a) { return static_cast<int32_t>(a); }
uint64_t from_words(uint32_t high, uint32_t low) { return static_cast<uint64_t>(high) << 32 | low; }

constexpr uint32_t kSign32 = 0x80000000u, kInfinity32 = 0x7f800000u;
constexpr uint64_t kSign64 = 1ull << 63, kInfinity64 = 0x7ff0ull << 48;
int32_t signbit32(uint32_t a) { return a >> 31; }
int32_t signbit64(uint64_t a) { return static_cast<int32_t>(a >> 63); }
int32_t isinf32(uint32_t a) { return (a & ~kSign32) == kInfinity32; }
int32_t isinf64(uint64_t a) { return (a & ~kSign64) == kInfinity64; }
int32_t isnan32(uint32_t a) { return (a & ~kSign32) > kInfinity32; }
int32_t isnan64(uint64_t a) { return (a & ~kSign64) > kInfinity64; }
int32_t finite32(uint32_t a) { return (a & ~kSign32) < kInfinity32; }
int32_t finite64(uint64_t a) { return (a & ~kSign64) < kInfinity64; }
uint32_t copysign32(uint32_t a, uint32_t b) { return (a & ~kSign32) | (b & kSign32); }
uint64_t copysign64(uint64_t a, uint64_t b) { return (a & ~kSign64) | (b & kSign64); }

// An entry whose lanes are float bits: `Adapt` on integers, the types of the table as the caller sees them.
template <auto F>
constexpr Function on_bits(std::string_view name, Type result, Type first, Type second = Type::kNone) {
  Function f = Adapt<F>::entry(name);
  f.result = result;
  f.parameters[0] = first;
  f.parameters[1] = second;
  return f;
}

constexpr Function kFunctions[] = {
    Adapt<&abs32>::entry("__nv_abs"),
    Adapt<&abs64>::entry("__nv_llabs"),
    Adapt<&lesser<int32_t>>::entry("__nv_min"),
    Adapt<&lesser<uint32_t>>::entry("__nv_umin"),
    Adapt<&lesser<int64_t>>::entry("__nv_llmin"),
    Adapt<&lesser<uint64_t>>::entry("__nv_ullmin"),
    Adapt<&greater<int32_t>>::entry("__nv_max"),
    Adapt<&greater<uint32_t>>::entry("__nv_umax"),
    Adapt<&greater<int64_t>>::entry("__nv_llmax"),
    Adapt<&greater<uint64_t>>::entry("__nv_ullmax"),
    Adapt<&clz32>::entry("__nv_clz"),
    Adapt<&clz64>::entry("__nv_clzll"),
    Adapt<&popc32>::entry("__nv_popc"),
    Adapt<&popc64>::entry("__nv_popcll"),
    Adapt<&ffs32>::entry("__nv_ffs"),
    Adapt<&ffs64>::entry("__nv_ffsll"),
    Adapt<&brev32>::entry("__nv_brev"),
    Adapt<&brev64>::entry("__nv_brevll"),
    Adapt<&byte_perm>::entry("__nv_byte_perm"),
    Adapt<&mulhi>::entry("__nv_mulhi"),
    Adapt<&umulhi>::entry("__nv_umulhi"),
    Adapt<&mul64hi>::entry("__nv_mul64hi"),
    Adapt<&umul64hi>::entry("__nv_umul64hi"),
    Adapt<&mul24>::entry("__nv_mul24"),
    Adapt<&umul24>::entry("__nv_umul24"),
    Adapt<&sad>::entry("__nv_sad"),
    Adapt<&usad>::entry("__nv_usad"),
    Adapt<&hadd>::entry("__nv_hadd"),
    Adapt<&rhadd>::entry("__nv_rhadd"),
    Adapt<&uhadd>::entry("__nv_uhadd"),
    Adapt<&urhadd>::entry("__nv_urhadd"),
    on_bits<&same<uint32_t>>("__nv_float_as_int", Type::kI32, Type::kF32),
    on_bits<&same<uint32_t>>("__nv_float_as_uint", Type::kI32, Type::kF32),
    on_bits<&same<uint32_t>>("__nv_int_as_float", Type::kF32, Type::kI32),
    on_bits<&same<uint32_t>>("__nv_uint_as_float", Type::kF32, Type::kI32),
    on_bits<&same<uint64_t>>("__nv_double_as_longlong", Type::kI64, Type::kF64),
    on_bits<&same<uint64_t>>("__nv_longlong_as_double", Type::kF64, Type::kI64),
    on_bits<&high_word>("__nv_double2hiint", Type::kI32, Type::kF64),
    on_bits<&low_word>("__nv_double2loint", Type::kI32, Type::kF64),
    on_bits<&from_words>("__nv_hiloint2double", Type::kF64, Type::kI32, Type::kI32),
    on_bits<&signbit32>("__nv_signbitf", Type::kI32, Type::kF32),
    on_bits<&signbit64>("__nv_signbitd", Type::kI32, Type::kF64),
    on_bits<&isinf32>("__nv_isinff", Type::kI32, Type::kF32),
    on_bits<&isinf64>("__nv_isinfd", Type::kI32, Type::kF64),
    on_bits<&isnan32>("__nv_isnanf", Type::kI32, Type::kF32),
    on_bits<&isnan64>("__nv_isnand", Type::kI32, Type::kF64),
    on_bits<&finite32>("__nv_finitef", Type::kI32, Type::kF32),
    on_bits<&finite64>("__nv_isfinited", Type::kI32, Type::kF64),
    on_bits<&copysign32>("__nv_copysignf", Type::kF32, Type::kF32, Type::kF32),
    on_bits<&copysign64>("__nv_copysign", Type::kF64, Type::kF64, Type::kF64),
};

}  // namespace

std::span<const Function> integer_functions() { return kFunctions; }

}  // namespace fullwarp::libdevice

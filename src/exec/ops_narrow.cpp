// cvt with the narrow floating formats (f16, bf16, tf32, fp8), and cvt.pack. The frequent ones (f32 <-> f16
// and bf16, to nearest) are lane loops; the others go through f32, a step at a time, by lane functions:
// narrow formats fit in f32, and f64 and integers come as an f32 rounded to odd, so that one rounding
// decides.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/ops_narrow.cpp"
#include <algorithm>
#include <bit>
#include <type_traits>

#include "exec/targets.h"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "exec/handlers.h"
#include "exec/lane_function.h"
#include "exec/lanes-inl.h"
#include "exec/narrow_ops.h"
#include "exec/semantics/convert.h"
#include "exec/semantics/narrow_formats.h"

HWY_BEFORE_NAMESPACE();
namespace fullwarp::exec {
namespace HWY_NAMESPACE {
namespace {

template <auto kFunction, class D, class A>
Handlers convert1() {
  return {unary<Fn<kFunction>, true, D, A>, nullptr};
}

// Overloads and templates need a name of their own to be bound.
HWY_INLINE uint16_t to_f16(float x) { return sem::f16_from_f32(x); }
HWY_INLINE uint16_t to_bf16(float x) { return sem::bf16_from_f32(x); }
HWY_INLINE uint32_t to_f16x2(float a, float b) {
  return uint32_t{sem::f16_from_f32(a)} << 16 | sem::f16_from_f32(b);
}
HWY_INLINE uint32_t to_bf16x2(float a, float b) {
  return uint32_t{sem::bf16_from_f32(a)} << 16 | sem::bf16_from_f32(b);
}
HWY_INLINE uint32_t to_tf32(float x) { return sem::tf32_from_f32<sem::NarrowRounding::rna>(x); }

}  // namespace

Handlers frequent_conversion_target(FrequentConversion which) {
  switch (which) {
    case FrequentConversion::f16_to_f32: return convert1<sem::f32_from_f16, float, uint16_t>();
    case FrequentConversion::bf16_to_f32: return convert1<sem::f32_from_bf16, float, uint16_t>();
    case FrequentConversion::f32_to_f16: return convert1<to_f16, uint16_t, float>();
    case FrequentConversion::f32_to_bf16: return convert1<to_bf16, uint16_t, float>();
    case FrequentConversion::f32_to_tf32: return convert1<to_tf32, uint32_t, float>();
    case FrequentConversion::f32_to_f16x2:
      return {binary<Fn<to_f16x2>, true, uint32_t, float, float>, nullptr};
    default: return {binary<Fn<to_bf16x2>, true, uint32_t, float, float>, nullptr};
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fullwarp::exec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fullwarp::exec {

HWY_EXPORT(frequent_conversion_target);

namespace {

using ptx::Mod;
using ptx::Op;
using ptx::Type;
using sem::NarrowRounding;
using sem::Rounding;

bool is_half(Type t) { return t == Type::f16 || t == Type::bf16; }

NarrowRounding rounding_of(const ptx::Instruction& i) {
  if (i.has(Mod::rz)) return NarrowRounding::rz;
  if (i.has(Mod::rm)) return NarrowRounding::rm;
  if (i.has(Mod::rp)) return NarrowRounding::rp;
  if (i.has(Mod::rna)) return NarrowRounding::rna;
  return NarrowRounding::rn;
}

template <class Format>
uint32_t narrow(float x, NarrowRounding rounding, bool relu, bool finite) {
  auto with = [&](auto r) {
    constexpr NarrowRounding kR = r.value;
    if (relu)
      return finite ? sem::narrow_from_f32<Format, kR, true, true>(x)
                    : sem::narrow_from_f32<Format, kR, true, false>(x);
    return finite ? sem::narrow_from_f32<Format, kR, false, true>(x)
                  : sem::narrow_from_f32<Format, kR, false, false>(x);
  };
  switch (rounding) {
    case NarrowRounding::rz: return with(std::integral_constant<NarrowRounding, NarrowRounding::rz>{});
    case NarrowRounding::rm: return with(std::integral_constant<NarrowRounding, NarrowRounding::rm>{});
    case NarrowRounding::rp: return with(std::integral_constant<NarrowRounding, NarrowRounding::rp>{});
    case NarrowRounding::rna: return with(std::integral_constant<NarrowRounding, NarrowRounding::rna>{});
    default: return with(std::integral_constant<NarrowRounding, NarrowRounding::rn>{});
  }
}

template <class I>
float odd_from_int(uint64_t x) {
  return sem::odd_f32(sem::detail::odd_f64(static_cast<I>(x)));
}

// cvt where at least one side is f16 or bf16.
struct HalfConversion {
  Type to = Type::none, from = Type::none;
  NarrowRounding rounding = NarrowRounding::rn;
  bool integral = false;  // rni, rzi, rmi, rpi, or an integer result
  Rounding integral_rounding = Rounding::rz;
  bool ftz = false, sat = false, relu = false, finite = false;

  float source(uint64_t x) const {
    switch (from) {
      case Type::f16: return sem::f32_from_f16(static_cast<uint16_t>(x));
      case Type::bf16: return sem::f32_from_bf16(static_cast<uint16_t>(x));
      case Type::f32: return std::bit_cast<float>(static_cast<uint32_t>(x));
      case Type::f64: return sem::odd_f32(std::bit_cast<double>(x));
      case Type::u8: return odd_from_int<uint8_t>(x);
      case Type::s8: return odd_from_int<int8_t>(x);
      case Type::u16: return odd_from_int<uint16_t>(x);
      case Type::s16: return odd_from_int<int16_t>(x);
      case Type::u32: return odd_from_int<uint32_t>(x);
      case Type::s32: return odd_from_int<int32_t>(x);
      case Type::u64: return odd_from_int<uint64_t>(x);
      default: return odd_from_int<int64_t>(x);
    }
  }
  template <class I>
  static uint64_t to_int(float x) {  // extended by its sign, as cvt fills a wider register
    return static_cast<uint64_t>(static_cast<int64_t>(sem::int_from_float<I, Rounding::rz>(x)));
  }

  uint64_t operator()(uint64_t a, uint64_t, uint64_t) const {
    float x = source(a);
    if (ftz) x = sem::flush<true>(x);
    if (integral) {
      switch (integral_rounding) {
        case Rounding::rn: x = sem::f32_integral<Rounding::rn>(x); break;
        case Rounding::rm: x = sem::f32_integral<Rounding::rm>(x); break;
        case Rounding::rp: x = sem::f32_integral<Rounding::rp>(x); break;
        default: x = sem::f32_integral<Rounding::rz>(x); break;
      }
    }
    if (sat && (is_half(to) || to == Type::f32 || to == Type::f64)) x = sem::saturate<true>(x);
    switch (to) {
      case Type::f16: return narrow<sem::F16Format>(x, rounding, relu, finite);
      case Type::bf16: return narrow<sem::Bf16Format>(x, rounding, relu, finite);
      case Type::f32: return std::bit_cast<uint32_t>(ftz ? sem::flush<true>(x) : x);
      case Type::f64: return std::bit_cast<uint64_t>(sem::f64_from_f32<>(x));
      case Type::u8: return to_int<uint8_t>(x);
      case Type::s8: return to_int<int8_t>(x);
      case Type::u16: return to_int<uint16_t>(x);
      case Type::s16: return to_int<int16_t>(x);
      case Type::u32: return to_int<uint32_t>(x);
      case Type::s32: return to_int<int32_t>(x);
      case Type::u64: return to_int<uint64_t>(x);
      default: return to_int<int64_t>(x);
    }
  }
};

Handlers frequent(FrequentConversion which) {
  return HWY_DYNAMIC_DISPATCH(frequent_conversion_target)(which);
}

bool convertible(Type t) {
  switch (t) {
    case Type::u8:
    case Type::s8:
    case Type::u16:
    case Type::s16:
    case Type::u32:
    case Type::s32:
    case Type::u64:
    case Type::s64:
    case Type::f16:
    case Type::bf16:
    case Type::f32:
    case Type::f64: return true;
    default: return false;
  }
}

bool decode_half_conversion(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  HalfConversion c;
  c.to = i.type(0);
  c.from = i.type(1);
  if (!convertible(c.to) || !convertible(c.from)) return false;
  c.rounding = rounding_of(i);
  c.ftz = i.has(Mod::ftz) && (c.to == Type::f32 || c.from == Type::f32);
  c.sat = i.has(Mod::sat);
  c.relu = i.has(Mod::relu);
  c.finite = i.has(Mod::satfinite);
  c.integral = i.has(Mod::rni) || i.has(Mod::rzi) || i.has(Mod::rmi) || i.has(Mod::rpi);
  c.integral_rounding = i.has(Mod::rni)   ? Rounding::rn
                        : i.has(Mod::rmi) ? Rounding::rm
                        : i.has(Mod::rpi) ? Rounding::rp
                                          : Rounding::rz;
  const unsigned from_bytes = ptx::size_bytes(c.from), to_bytes = ptx::size_bytes(c.to);
  const uint32_t a = d.source(1, c.from);
  const ptx::Operand& dst = d.operand(0);
  const unsigned have = dst.kind == ptx::Operand::Kind::reg
                            ? ptx::size_bytes(d.register_type(static_cast<int32_t>(dst.index)))
                            : to_bytes;
  if (have < to_bytes && !(to_bytes <= 2 && have >= 1)) return d.fail("has a destination that is too narrow");
  const unsigned bytes = have == 8 ? 8 : have == 4 ? 4 : 2;
  const bool plain = !c.integral && !c.sat && !c.relu && !c.finite && !c.ftz;
  const uint32_t row = d.destination(0, bytes == 8 ? Type::b64 : bytes == 4 ? Type::b32 : Type::b16);
  if (plain && bytes != 8) {
    if (c.to == Type::f32 && is_half(c.from)) {
      d.emit(frequent(c.from == Type::f16 ? FrequentConversion::f16_to_f32 : FrequentConversion::bf16_to_f32),
             row, a);
      return true;
    }
    if (c.from == Type::f32 && is_half(c.to) && c.rounding == NarrowRounding::rn) {
      d.emit(frequent(c.to == Type::f16 ? FrequentConversion::f32_to_f16 : FrequentConversion::f32_to_bf16),
             row, a);
      return true;
    }
  }
  emit_lane_function(d, c, row, bytes, {{a, from_bytes == 8}});
  return true;
}

// f16x2 and bf16x2 from two f32: the first goes to the upper half.
bool decode_pair_conversion(Decoder& d, bool brain) {
  const ptx::Instruction& i = d.instruction();
  const uint32_t a = d.source(1, Type::f32), b = d.source(2, Type::f32), row = d.destination(0, Type::b32);
  const NarrowRounding rounding = rounding_of(i);
  const bool relu = i.has(Mod::relu), finite = i.has(Mod::satfinite);
  if (rounding == NarrowRounding::rn && !relu && !finite) {
    d.emit(frequent(brain ? FrequentConversion::f32_to_bf16x2 : FrequentConversion::f32_to_f16x2), row, a, b);
    return true;
  }
  emit_lane_function(d,
                     [=](uint64_t x, uint64_t y, uint64_t) -> uint64_t {
                       auto half = [&](uint64_t bits) {
                         const float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
                         return brain ? narrow<sem::Bf16Format>(value, rounding, relu, finite)
                                      : narrow<sem::F16Format>(value, rounding, relu, finite);
                       };
                       return half(x) << 16 | half(y);
                     },
                     row, 4, {{a}, {b}});
  return true;
}

bool decode_tf32_conversion(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  const uint32_t a = d.source(1, Type::f32), row = d.destination(0, Type::b32);
  const NarrowRounding rounding = rounding_of(i);
  const bool relu = i.has(Mod::relu), finite = i.has(Mod::satfinite);
  if (rounding == NarrowRounding::rna && !relu && !finite) {
    d.emit(frequent(FrequentConversion::f32_to_tf32), row, a);
    return true;
  }
  emit_lane_function(d,
                     [=](uint64_t x, uint64_t, uint64_t) -> uint64_t {
                       const uint32_t result = narrow<sem::Tf32Format>(
                           std::bit_cast<float>(static_cast<uint32_t>(x)), rounding, relu, finite);
                       return result == sem::Tf32Format::kNan ? sem::kNanF32 : result << 13;
                     },
                     row, 4, {{a}});
  return true;
}

template <class Format>
bool decode_fp8(Decoder& d, bool to_fp8) {
  const ptx::Instruction& i = d.instruction();
  const bool relu = i.has(Mod::relu);
  if (!to_fp8) {
    const uint32_t a = d.source(1, Type::b16), row = d.destination(0, Type::b32);
    emit_lane_function(d,
                       [relu](uint64_t x, uint64_t, uint64_t) -> uint64_t {
                         const auto pair = static_cast<uint16_t>(x);
                         return relu ? sem::f16x2_from_fp8x2<Format, true>(pair)
                                     : sem::f16x2_from_fp8x2<Format>(pair);
                       },
                       row, 4, {{a}});
  } else if (i.type(1) == Type::f16x2) {
    const uint32_t a = d.source(1, Type::b32), row = d.destination(0, Type::b16);
    emit_lane_function(d,
                       [relu](uint64_t x, uint64_t, uint64_t) -> uint64_t {
                         const auto pair = static_cast<uint32_t>(x);
                         return relu ? sem::fp8x2_from_f16x2<Format, true>(pair)
                                     : sem::fp8x2_from_f16x2<Format>(pair);
                       },
                       row, 2, {{a}});
  } else {
    const uint32_t a = d.source(1, Type::f32), b = d.source(2, Type::f32), row = d.destination(0, Type::b16);
    emit_lane_function(d,
                       [relu](uint64_t x, uint64_t y, uint64_t) -> uint64_t {
                         const auto high = std::bit_cast<float>(static_cast<uint32_t>(x)),
                                    low = std::bit_cast<float>(static_cast<uint32_t>(y));
                         return relu ? sem::fp8x2_from_f32<Format, true>(high, low)
                                     : sem::fp8x2_from_f32<Format>(high, low);
                       },
                       row, 2, {{a}, {b}});
  }
  return true;
}

// cvt.pack.sat: a and b clamped to narrow integers side by side, b lowest; c, if there is one, above them.
bool decode_pack(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  unsigned bits = 0;
  bool sign = false;
  switch (i.type(0)) {
    case Type::u16: bits = 16; break;
    case Type::s16:
      bits = 16;
      sign = true;
      break;
    case Type::u8: bits = 8; break;
    case Type::s8:
      bits = 8;
      sign = true;
      break;
    case Type::u4: bits = 4; break;
    case Type::s4:
      bits = 4;
      sign = true;
      break;
    case Type::u2: bits = 2; break;
    case Type::s2:
      bits = 2;
      sign = true;
      break;
    default: return false;
  }
  const uint32_t a = d.source(1, Type::s32), b = d.source(2, Type::s32);
  const uint32_t c = d.operand_count() > 3 ? d.source(3, Type::b32) : d.constant32(0);
  const int32_t high = sign ? (1 << (bits - 1)) - 1 : (1 << bits) - 1, low = sign ? -high - 1 : 0;
  const uint32_t mask = (1u << bits) - 1;
  emit_lane_function(d,
                     [=](uint64_t x, uint64_t y, uint64_t z) -> uint64_t {
                       auto cut = [&](uint64_t value) {
                         return static_cast<uint32_t>(std::clamp(
                                    static_cast<int32_t>(static_cast<uint32_t>(value)), low, high)) &
                                mask;
                       };
                       return cut(x) << bits | cut(y) |
                              (bits < 16 ? static_cast<uint32_t>(z) << 2 * bits : 0u);
                     },
                     d.destination(0, Type::b32), 4, {{a}, {b}, {c}});
  return true;
}

}  // namespace

bool decode_narrow(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  if (i.op != Op::cvt || i.has(Mod::rs)) return false;
  if (i.has(Mod::pack)) return decode_pack(d);
  const Type to = i.type(0), from = i.type(1);
  if (from == Type::f32 && i.operand_count == 3) {
    if (to == Type::f16x2 || to == Type::bf16x2) return decode_pair_conversion(d, to == Type::bf16x2);
  }
  if (to == Type::tf32 && from == Type::f32) return decode_tf32_conversion(d);
  if (to == Type::e4m3x2) return decode_fp8<sem::E4m3Format>(d, true);
  if (to == Type::e5m2x2) return decode_fp8<sem::E5m2Format>(d, true);
  if (to == Type::f16x2 && from == Type::e4m3x2) return decode_fp8<sem::E4m3Format>(d, false);
  if (to == Type::f16x2 && from == Type::e5m2x2) return decode_fp8<sem::E5m2Format>(d, false);
  if (is_half(to) || is_half(from)) return i.operand_count == 2 && decode_half_conversion(d);
  return false;
}

}  // namespace fullwarp::exec
#endif

// cvt between integers, f32 and f64, as a chain of simple steps (extend the source, flush, round, convert,
// saturate, cut to the destination): few kinds of steps serve the hundreds of forms. The narrow floating
// formats are in ops_half.cpp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/ops_convert.cpp"
#include "exec/targets.h"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "exec/handlers.h"
#include "exec/lanes-inl.h"
#include "exec/semantics/convert.h"

HWY_BEFORE_NAMESPACE();
namespace fullwarp::exec {
namespace HWY_NAMESPACE {
namespace {

using ptx::Mod;
using ptx::Op;
using ptx::Type;
using sem::Rounding;

// A row of narrow integers to full lanes, and full lanes cut back.
template <class T>
struct Extend32 {
  HWY_INLINE uint32_t operator()(uint32_t x) const {
    return static_cast<uint32_t>(static_cast<int32_t>(static_cast<T>(x)));
  }
};
template <uint32_t kKeep>
struct Keep {
  HWY_INLINE uint32_t operator()(uint32_t x) const { return x & kKeep; }
};
// Saturation of 64-bit lanes to a range; bounds are constant rows.
struct ClampSigned {
  HWY_INLINE int64_t operator()(int64_t x, int64_t low, int64_t high) const {
    return x < low ? low : x > high ? high : x;
  }
};
struct ClampUnsigned {
  HWY_INLINE uint64_t operator()(uint64_t x, uint64_t low, uint64_t high) const {
    return x < low ? low : x > high ? high : x;
  }
};

template <class F>
struct Saturate {
  HWY_INLINE F operator()(F x) const { return sem::saturate<true>(x); }
};
struct Flush {
  HWY_INLINE float operator()(float x) const { return sem::flush<true>(x); }
};
template <Rounding kRounding, class F>
struct Integral {
  HWY_INLINE F operator()(F x) const {
    if constexpr (sizeof(F) == 4)
      return sem::f32_integral<kRounding>(x);
    else
      return sem::f64_integral<kRounding>(x);
  }
};
template <class To, class F>
struct ToInteger {
  HWY_INLINE To operator()(F x) const { return sem::int_from_float<To, Rounding::rz>(x); }
};
template <class F, Rounding kRounding, class I>
struct FromInteger {
  HWY_INLINE F operator()(I x) const {
    if constexpr (sizeof(F) == 4)
      return sem::f32_from_int<kRounding>(x);
    else
      return sem::f64_from_int<kRounding>(x);
  }
};

Rounding rounding_of(const ptx::Instruction& i) {
  if (i.has(Mod::rz) || i.has(Mod::rzi)) return Rounding::rz;
  if (i.has(Mod::rm) || i.has(Mod::rmi)) return Rounding::rm;
  if (i.has(Mod::rp) || i.has(Mod::rpi)) return Rounding::rp;
  return Rounding::rn;
}

template <class F>
Handlers by_rounding(Rounding r, F f) {
  switch (r) {
    case Rounding::rz: return f(std::integral_constant<Rounding, Rounding::rz>{});
    case Rounding::rm: return f(std::integral_constant<Rounding, Rounding::rm>{});
    case Rounding::rp: return f(std::integral_constant<Rounding, Rounding::rp>{});
    default: return f(std::integral_constant<Rounding, Rounding::rn>{});
  }
}

bool is_float(Type t) { return t == Type::f32 || t == Type::f64; }
bool is_signed(Type t) { return t == Type::s8 || t == Type::s16 || t == Type::s32 || t == Type::s64; }
unsigned size(Type t) { return ptx::size_bytes(t); }

// Appends steps; each reads the row of the one before.
struct Chain {
  Decoder& d;
  uint32_t row;

  void step(Handlers h, unsigned bytes, uint32_t b = 0, uint32_t c = 0) {
    const uint32_t to = d.temporary(bytes == 8 ? kRow64 : kRow32);
    d.emit(h, to, row, b, c);
    row = to;
  }
  // An integer of `type` fills lanes of 32 bits (64 where it has them).
  void extend(Type type) {
    switch (type) {
      case Type::s8: step(bind1<Extend32<int8_t>, uint32_t, uint32_t>(), 4); break;
      case Type::s16: step(bind1<Extend32<int16_t>, uint32_t, uint32_t>(), 4); break;
      case Type::u8:
      case Type::b8: step(bind1<Keep<0xff>, uint32_t, uint32_t>(), 4); break;
      default: break;  // rows of 16 bits are zero-extended already
    }
  }
};

// To an integer of type `to` from lanes of `from_bytes` (4 or 8) that hold a `from_signed` number.
void cut(Chain& chain, Type to, unsigned from_bytes, bool from_signed, bool saturate) {
  if (saturate) {
    if (from_bytes == 4) chain.step(widen_row_handlers(from_signed), 8);
    const unsigned bits = size(to) * 8;
    const bool to_signed = is_signed(to);
    Decoder& d = chain.d;
    if (from_signed) {
      const int64_t low = to_signed ? (bits == 64 ? INT64_MIN : -(int64_t{1} << (bits - 1))) : 0;
      const int64_t high = bits == 64  ? INT64_MAX
                           : to_signed ? (int64_t{1} << (bits - 1)) - 1
                                       : (int64_t{1} << bits) - 1;
      chain.step(bind3<ClampSigned, int64_t, int64_t>(), 8, d.constant64(static_cast<uint64_t>(low)),
                 d.constant64(static_cast<uint64_t>(high)));
    } else {
      const uint64_t high = to_signed    ? (uint64_t{1} << (bits - 1)) - 1
                            : bits == 64 ? UINT64_MAX
                                         : (uint64_t{1} << bits) - 1;
      chain.step(bind3<ClampUnsigned, uint64_t, uint64_t>(), 8, d.constant64(0), d.constant64(high));
    }
    from_bytes = 8;
  }
  if (size(to) == 8) {
    if (from_bytes == 4) chain.step(widen_row_handlers(from_signed), 8);
    return;
  }
  if (from_bytes == 8) chain.step(narrow_row_handlers(), 4);
  switch (to) {  // a narrow result fills the destination with its sign, as the ISA says of cvt
    case Type::u8:
    case Type::b8: chain.step(bind1<Keep<0xff>, uint32_t, uint32_t>(), 4); break;
    case Type::s8: chain.step(bind1<Extend32<int8_t>, uint32_t, uint32_t>(), 4); break;
    case Type::u16:
    case Type::b16: chain.step(bind1<Keep<0xffff>, uint32_t, uint32_t>(), 4); break;
    case Type::s16: chain.step(bind1<Extend32<int16_t>, uint32_t, uint32_t>(), 4); break;
    default: break;
  }
}

template <class F>
void float_to_integer(Chain& chain, const ptx::Instruction& i, Type to) {
  if (sizeof(F) == 4 && i.has(Mod::ftz)) chain.step(bind1<Flush, float, float>(), 4);
  const Rounding r = rounding_of(i);
  if (r != Rounding::rz)
    chain.step(by_rounding(r, [](auto k) { return bind1<Integral<k.value, F>, F, F>(); }), sizeof(F));
  switch (to) {
    case Type::s64: chain.step(bind1<ToInteger<int64_t, F>, int64_t, F>(), 8); break;
    case Type::u64:
    case Type::b64: chain.step(bind1<ToInteger<uint64_t, F>, uint64_t, F>(), 8); break;
    case Type::u32:
    case Type::b32: chain.step(bind1<ToInteger<uint32_t, F>, uint32_t, F>(), 4); break;
    case Type::s32: chain.step(bind1<ToInteger<int32_t, F>, int32_t, F>(), 4); break;
    case Type::s16: chain.step(bind1<ToInteger<int16_t, F>, int16_t, F>(), 4); break;
    case Type::s8: chain.step(bind1<ToInteger<int8_t, F>, int8_t, F>(), 4); break;
    case Type::u16:
    case Type::b16: chain.step(bind1<ToInteger<uint16_t, F>, uint16_t, F>(), 4); break;
    default: chain.step(bind1<ToInteger<uint8_t, F>, uint8_t, F>(), 4); break;
  }
  if (to == Type::s8) chain.step(bind1<Extend32<int8_t>, uint32_t, uint32_t>(), 4);
  if (to == Type::s16) chain.step(bind1<Extend32<int16_t>, uint32_t, uint32_t>(), 4);
}

template <class F>
void integer_to_float(Chain& chain, const ptx::Instruction& i, Type from) {
  const Rounding r = rounding_of(i);
  auto step = [&](auto x) {
    using I = decltype(x);
    chain.step(by_rounding(r, [](auto k) { return bind1<FromInteger<F, k.value, I>, F, I>(); }), sizeof(F));
  };
  if (size(from) == 8)
    is_signed(from) ? step(int64_t{}) : step(uint64_t{});
  else
    is_signed(from) ? step(int32_t{}) : step(uint32_t{});
  if (i.has(Mod::sat)) chain.step(bind1<Saturate<F>, F, F>(), sizeof(F));
}

bool has_integral_rounding(const ptx::Instruction& i) {
  return i.has(Mod::rni) || i.has(Mod::rzi) || i.has(Mod::rmi) || i.has(Mod::rpi);
}

void float_to_float(Chain& chain, const ptx::Instruction& i, Type to, Type from) {
  if (from == Type::f32 && i.has(Mod::ftz)) chain.step(bind1<Flush, float, float>(), 4);
  if (to == Type::f64 && from == Type::f32) {
    chain.step(bind1<Fn<sem::f64_from_f32<>>, double, float>(), 8);
  } else if (to == Type::f32 && from == Type::f64) {
    chain.step(by_rounding(rounding_of(i),
                           [](auto k) { return bind1<Fn<sem::f32_from_f64<k.value>>, float, double>(); }),
               4);
    if (i.has(Mod::ftz)) chain.step(bind1<Flush, float, float>(), 4);
  } else if (has_integral_rounding(i)) {
    chain.step(by_rounding(rounding_of(i),
                           [&](auto k) {
                             return to == Type::f32 ? bind1<Integral<k.value, float>, float, float>()
                                                    : bind1<Integral<k.value, double>, double, double>();
                           }),
               size(to));
  } else {
    chain.step(to == Type::f32 ? bind1<Fn<sem::f32_from_f32<>>, float, float>()
                               : bind1<Fn<sem::f64_from_f64<>>, double, double>(),
               size(to));
  }
  if (i.has(Mod::sat))
    chain.step(
        to == Type::f32 ? bind1<Saturate<float>, float, float>() : bind1<Saturate<double>, double, double>(),
        size(to));
}

bool wide_enough(Type t) {
  switch (t) {
    case Type::b8:
    case Type::u8:
    case Type::s8:
    case Type::b16:
    case Type::u16:
    case Type::s16:
    case Type::b32:
    case Type::u32:
    case Type::s32:
    case Type::b64:
    case Type::u64:
    case Type::s64:
    case Type::f32:
    case Type::f64: return true;
    default: return false;
  }
}

bool decode_convert_here(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  const Type to = i.type(0), from = i.type(1);
  if (i.op != Op::cvt || i.type_count != 2 || i.operand_count != 2 || !wide_enough(to) || !wide_enough(from))
    return false;
  const ptx::Operand& dst = d.operand(0);
  const unsigned have =
      dst.kind == ptx::Operand::Kind::reg ? size(d.register_type(static_cast<int32_t>(dst.index))) : size(to);
  Chain chain{d, d.source(1, from)};
  if (!is_float(from)) chain.extend(from);
  const size_t before = d.out.ops.size();
  if (is_float(from) && is_float(to)) {
    float_to_float(chain, i, to, from);
  } else if (is_float(from)) {
    if (from == Type::f32)
      float_to_integer<float>(chain, i, to);
    else
      float_to_integer<double>(chain, i, to);
  } else if (is_float(to)) {
    if (to == Type::f32)
      integer_to_float<float>(chain, i, from);
    else
      integer_to_float<double>(chain, i, from);
  } else {
    cut(chain, to, size(from) == 8 ? 8 : 4, is_signed(from), i.has(Mod::sat));
  }
  if (d.error()) return true;
  // The last step writes the destination: directly where the rows have one shape.
  const bool wide_row = size(to) == 8;
  if (have == 8 && !wide_row) {
    d.emit(widen_row_handlers(is_signed(to)), d.destination(0, Type::b32), chain.row);
  } else if (have <= 2 && is_signed(to)) {
    d.emit(bind1<Keep<0xffff>, uint32_t, uint32_t>(), d.destination(0, Type::b16), chain.row);
  } else if (d.out.ops.size() > before && d.out.ops.back().dst == chain.row) {
    d.out.ops.back().dst = d.destination(0, have < size(to) ? to
                                            : wide_row      ? Type::b64
                                            : have == 4     ? Type::b32
                                                            : Type::b16);
  } else {
    d.emit(move_handlers(wide_row),
           d.destination(0, wide_row    ? Type::b64
                            : have == 4 ? Type::b32
                                        : Type::b16),
           chain.row);
  }
  return true;
}

}  // namespace

bool decode_convert_target(Decoder& d) { return decode_convert_here(d); }

}  // namespace HWY_NAMESPACE
}  // namespace fullwarp::exec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fullwarp::exec {
HWY_EXPORT(decode_convert_target);
bool decode_convert(Decoder& d) { return HWY_DYNAMIC_DISPATCH(decode_convert_target)(d); }
}  // namespace fullwarp::exec
#endif

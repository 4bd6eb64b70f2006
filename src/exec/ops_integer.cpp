// Integer arithmetic and bit operations: the table from forms to the functions of semantics/integer.h and
// bits.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/ops_integer.cpp"
#include "exec/targets.h"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "exec/handlers.h"
#include "exec/lanes-inl.h"
#include "exec/semantics/bits.h"
#include "exec/semantics/integer.h"
#include "exec/types-inl.h"
#include "exec/worker.h"

HWY_BEFORE_NAMESPACE();
namespace fullwarp::exec {
namespace HWY_NAMESPACE {
namespace {

using ptx::Mod;
using ptx::Op;
using ptx::Type;

// Is the divisor one value in all lanes of the whole launch?
template <class T>
HWY_NOINLINE const MicroOp* observe_divisor(Warp& w, const MicroOp* op) {
  Divisor& d = w.worker->divisors[op->site];
  if (!d.uniform) return op + 1;
  const Row<T>* b = w.row<Row<T>>(op->b);
  const Row<T> first = b[std::countr_zero(w.exec)];
  Row<T> difference = 0;
  for (unsigned i = 0; i < kWarpSize; ++i) difference |= (w.exec >> i) & 1 ? b[i] ^ first : 0;
  if (difference != 0 || (d.seen && d.value != first)) d.uniform = false;
  d.seen = true;
  d.value = first;
  return op + 1;
}

// Operations that set or use the carry: kind by template, lane by lane.
enum class Carry : uint8_t { add, sub, mad_lo, mad_hi };

template <class T, Carry kKind, bool kIn, bool kOut>
HWY_NOINLINE const MicroOp* with_carry(Warp& w, const MicroOp* op) {
  const Row<T>* a = w.row<Row<T>>(op->a);
  const Row<T>* b = w.row<Row<T>>(op->b);
  const Row<T>* c = w.row<Row<T>>(op->c);
  Row<T>* d = w.row<Row<T>>(op->dst);
  for (unsigned i = 0; i < kWarpSize; ++i) {
    if (!((w.exec >> i) & 1)) continue;
    const uint32_t in = kIn ? (w.carry >> i) & 1 : 0;
    const T x = get<T>(a, i), y = get<T>(b, i);
    T result;
    uint32_t out;
    if constexpr (kKind == Carry::add) {
      result = sem::addc<T>(x, y, in);
      out = sem::addc_carry<T>(x, y, in);
    } else if constexpr (kKind == Carry::sub) {
      result = sem::subc<T>(x, y, in);
      out = sem::subc_carry<T>(x, y, in);
    } else if constexpr (kKind == Carry::mad_lo) {
      result = sem::madc_lo<T>(x, y, get<T>(c, i), in);
      out = sem::madc_lo_carry<T>(x, y, get<T>(c, i), in);
    } else {
      result = sem::madc_hi<T>(x, y, get<T>(c, i), in);
      out = sem::madc_hi_carry<T>(x, y, get<T>(c, i), in);
    }
    d[i] = bits<T>(result);
    if constexpr (kOut) w.carry = (w.carry & ~(LaneMask{1} << i)) | (out & 1) << i;
  }
  return op + 1;
}

template <Carry kKind>
Handlers carry_handlers(Type type, bool in, bool out) {
  return by_integer(type, [&](auto x) -> Handlers {
    using T = decltype(x);
    if constexpr (sizeof(T) == 2)
      return {};
    else {
      const Handler h = in ? (out ? with_carry<T, kKind, true, true> : with_carry<T, kKind, true, false>)
                           : (out ? with_carry<T, kKind, false, true> : with_carry<T, kKind, false, false>);
      return {h, h};
    }
  });
}

struct Lop3 {  // the table is a constant of the op
  static HWY_NOINLINE const MicroOp* run(Warp& w, const MicroOp* op) {
    const uint32_t* a = w.row<uint32_t>(op->a);
    const uint32_t* b = w.row<uint32_t>(op->b);
    const uint32_t* c = w.row<uint32_t>(op->c);
    const uint32_t table = static_cast<uint32_t>(op->imm);
    write_row<uint32_t, true>(w, op->dst, [&](uint32_t* d) HWY_ATTR {
      FULLWARP_LANE_LOOP
      for (unsigned i = 0; i < kWarpSize; ++i) d[i] = sem::lop3(a[i], b[i], c[i], table);
    });
    return op + 1;
  }
};

// bfi has four sources.
template <class T>
HWY_NOINLINE const MicroOp* insert_field(Warp& w, const MicroOp* op) {
  const T* a = w.row<T>(op->a);
  const T* b = w.row<T>(op->b);
  const uint32_t* c = w.row<uint32_t>(op->c);
  const uint32_t* d = w.row<uint32_t>(op->d);
  write_row<T, true>(w, op->dst, [&](T* to) HWY_ATTR {
    FULLWARP_LANE_LOOP
    for (unsigned i = 0; i < kWarpSize; ++i) to[i] = sem::bfi<T>(a[i], b[i], c[i], d[i]);
  });
  return op + 1;
}

template <sem::PrmtMode kMode>
struct Prmt {
  HWY_INLINE uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    return sem::prmt(a, b, c, kMode);
  }
};

bool done(Decoder& d, Handlers h, unsigned sources, Type type, Type last = Type::none, Type to = Type::none) {
  if (!h.full) return d.fail("has a type that is not supported");
  uint32_t rows[4] = {};
  for (unsigned k = 0; k < sources; ++k)
    rows[k] = d.source(k + 1, k + 1 == sources && last != Type::none ? last : type);
  const uint32_t dst = d.destination(0, to == Type::none ? type : to);
  d.emit(h, dst, rows[0], rows[1], rows[2], rows[3]);
  return true;
}

Type widened(Type type) {
  switch (type) {
    case Type::u16: return Type::u32;
    case Type::s16: return Type::s32;
    case Type::u32: return Type::u64;
    default: return Type::s64;
  }
}

template <class Pick>
Handlers pair16(Type type, Pick pick) {  // u16x2, s16x2
  return type == Type::s16x2 ? pick(int16_t{}) : pick(uint16_t{});
}

bool decode_add(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  const Type type = i.type(0);
  const bool sub = i.op == Op::sub || i.op == Op::subc;
  const bool in = i.op == Op::addc || i.op == Op::subc;
  if (type == Type::u16x2 || type == Type::s16x2)
    return sub ? d.fail("is not supported")
               : done(d, bind2<Fn<sem::add_x2>, uint32_t, uint32_t>(), 2, Type::b32);
  if (i.has(Mod::sat))
    return done(
        d, sub ? bind2<Fn<sem::sub_sat>, int32_t, int32_t>() : bind2<Fn<sem::add_sat>, int32_t, int32_t>(), 2,
        type);
  if (in || i.has(Mod::cc))
    return done(d,
                sub ? carry_handlers<Carry::sub>(type, in, i.has(Mod::cc))
                    : carry_handlers<Carry::add>(type, in, i.has(Mod::cc)),
                2, type);
  if (sub)
    return done(d,
                by_integer(type,
                           [](auto x) {
                             using T = decltype(x);
                             return bind2<Fn<sem::sub<T>>, T, T>();
                           }),
                2, type);
  return done(d,
              by_integer(type,
                         [](auto x) {
                           using T = decltype(x);
                           return bind2<Fn<sem::add<T>>, T, T>();
                         }),
              2, type);
}

bool decode_mul(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  const Type type = i.type(0);
  if (i.op == Op::mul24)
    return done(d,
                by_integer32(type,
                             [&](auto x) {
                               using T = decltype(x);
                               return i.has(Mod::hi) ? bind2<Fn<sem::mul24_hi<T>>, T, T>()
                                                     : bind2<Fn<sem::mul24_lo<T>>, T, T>();
                             }),
                2, type);
  if (i.has(Mod::wide))
    return done(d,
                by_integer(type,
                           [](auto x) -> Handlers {
                             using T = decltype(x);
                             if constexpr (sizeof(T) == 8)
                               return {};
                             else
                               return bind2<Fn<sem::mul_wide<T>>, sem::Wide<T>, T>();
                           }),
                2, type, Type::none, widened(type));
  if (i.has(Mod::hi))
    return done(d,
                by_integer(type,
                           [](auto x) {
                             using T = decltype(x);
                             return bind2<Fn<sem::mul_hi<T>>, T, T>();
                           }),
                2, type);
  return done(d,
              by_integer(type,
                         [](auto x) {
                           using T = decltype(x);
                           return bind2<Fn<sem::mul_lo<T>>, T, T>();
                         }),
              2, type);
}

bool decode_mad(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  const Type type = i.type(0);
  const bool in = i.op == Op::madc;
  if (i.op == Op::mad24) {
    if (i.has(Mod::sat)) return done(d, bind3<Fn<sem::mad24_hi_sat>, int32_t, int32_t>(), 3, type);
    return done(d,
                by_integer32(type,
                             [&](auto x) {
                               using T = decltype(x);
                               return i.has(Mod::hi) ? bind3<Fn<sem::mad24_hi<T>>, T, T>()
                                                     : bind3<Fn<sem::mad24_lo<T>>, T, T>();
                             }),
                3, type);
  }
  if (in || i.has(Mod::cc))
    return done(d,
                i.has(Mod::hi) ? carry_handlers<Carry::mad_hi>(type, in, i.has(Mod::cc))
                               : carry_handlers<Carry::mad_lo>(type, in, i.has(Mod::cc)),
                3, type);
  if (i.has(Mod::sat)) return done(d, bind3<Fn<sem::mad_hi_sat>, int32_t, int32_t>(), 3, type);
  if (i.has(Mod::wide))
    return done(d,
                by_integer(type,
                           [](auto x) -> Handlers {
                             using T = decltype(x);
                             if constexpr (sizeof(T) == 8)
                               return {};
                             else
                               return bind3<Fn<sem::mad_wide<T>>, sem::Wide<T>, T, T, sem::Wide<T>>();
                           }),
                3, type, widened(type), widened(type));
  if (i.has(Mod::hi))
    return done(d,
                by_integer(type,
                           [](auto x) {
                             using T = decltype(x);
                             return bind3<Fn<sem::mad_hi<T>>, T, T>();
                           }),
                3, type);
  return done(d,
              by_integer(type,
                         [](auto x) {
                           using T = decltype(x);
                           return bind3<Fn<sem::mad_lo<T>>, T, T>();
                         }),
              3, type);
}

bool decode_divide(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  const Type type = i.type(0);
  if (d.operand(2).kind == ptx::Operand::Kind::reg) {
    const Handlers observe = by_bits(type, [](auto x) -> Handlers {
      return {observe_divisor<decltype(x)>, nullptr};
    });
    const uint32_t b = d.source(2, type);
    d.emit(observe, 0, 0, b).site = d.new_division();
  }
  if (i.op == Op::rem)
    return done(d,
                by_integer(type,
                           [](auto x) {
                             using T = decltype(x);
                             return bind2<Fn<sem::rem<T>>, T, T>();
                           }),
                2, type);
  return done(d,
              by_integer(type,
                         [](auto x) {
                           using T = decltype(x);
                           return bind2<Fn<sem::div<T>>, T, T>();
                         }),
              2, type);
}

bool decode_extreme(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  const Type type = i.type(0);
  const bool max = i.op == Op::max;
  if (type == Type::u16x2 || type == Type::s16x2) {
    if (i.has(Mod::relu))
      return done(d,
                  max ? bind2<Fn<sem::max_relu_s16x2>, uint32_t, uint32_t>()
                      : bind2<Fn<sem::min_relu_s16x2>, uint32_t, uint32_t>(),
                  2, Type::b32);
    return done(d,
                pair16(type,
                       [&](auto x) {
                         using T = decltype(x);
                         return max ? bind2<Fn<sem::max_x2<T>>, uint32_t, uint32_t>()
                                    : bind2<Fn<sem::min_x2<T>>, uint32_t, uint32_t>();
                       }),
                2, Type::b32);
  }
  return done(d,
              by_integer(type,
                         [&](auto x) {
                           using T = decltype(x);
                           if (i.has(Mod::relu))
                             return max ? bind2<Fn<sem::max_relu<T>>, T, T>()
                                        : bind2<Fn<sem::min_relu<T>>, T, T>();
                           return max ? bind2<Fn<sem::max<T>>, T, T>() : bind2<Fn<sem::min<T>>, T, T>();
                         }),
              2, type);
}

bool decode_shift(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  const Type type = i.type(0);
  if (i.op == Op::shl)
    return done(d,
                by_bits(type,
                        [](auto x) {
                          using T = decltype(x);
                          return bind2<Fn<sem::shl<T>>, T, T, uint32_t>();
                        }),
                2, type, Type::u32);
  return done(d,
              by_integer(type,
                         [](auto x) {
                           using T = decltype(x);
                           return bind2<Fn<sem::shr<T>>, T, T, uint32_t>();
                         }),
              2, type, Type::u32);
}

bool decode_dot(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  const bool a = i.type(0) == Type::s32, b = i.type(1) == Type::s32, hi = i.has(Mod::hi);
  auto four = [&](auto x, auto y) {
    return bind3<Fn<sem::dp4a<decltype(x), decltype(y)>>, uint32_t, uint32_t>();
  };
  auto two = [&](auto x, auto y) {
    using A = std::conditional_t<std::is_signed_v<decltype(x)>, int16_t, uint16_t>;
    using B = decltype(y);
    return hi ? bind3<Fn<sem::dp2a<A, B, true>>, uint32_t, uint32_t>()
              : bind3<Fn<sem::dp2a<A, B, false>>, uint32_t, uint32_t>();
  };
  auto pick = [&](auto f) {
    return a ? (b ? f(int8_t{}, int8_t{}) : f(int8_t{}, uint8_t{}))
             : (b ? f(uint8_t{}, int8_t{}) : f(uint8_t{}, uint8_t{}));
  };
  return done(d, i.op == Op::dp4a ? pick(four) : pick(two), 3, Type::b32);
}

bool decode_integer_here(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  const Type type = i.type(0);
  switch (type) {
    case Type::f16:
    case Type::f16x2:
    case Type::bf16:
    case Type::bf16x2:
    case Type::f32:
    case Type::f32x2:
    case Type::f64: return false;
    default: break;
  }
  switch (i.op) {
    case Op::add:
    case Op::sub:
    case Op::addc:
    case Op::subc: return decode_add(d);
    case Op::mul:
    case Op::mul24: return decode_mul(d);
    case Op::mad:
    case Op::madc:
    case Op::mad24: return decode_mad(d);
    case Op::div:
    case Op::rem: return decode_divide(d);
    case Op::min:
    case Op::max: return decode_extreme(d);
    case Op::shl:
    case Op::shr: return decode_shift(d);
    case Op::dp2a:
    case Op::dp4a: return decode_dot(d);
    case Op::abs:
      return done(d,
                  by_integer(type,
                             [](auto x) {
                               using T = decltype(x);
                               return bind1<Fn<sem::abs<T>>, T, T>();
                             }),
                  1, type);
    case Op::neg:
      return done(d,
                  by_integer(type,
                             [](auto x) {
                               using T = decltype(x);
                               return bind1<Fn<sem::neg<T>>, T, T>();
                             }),
                  1, type);
    case Op::sad:
      return done(d,
                  by_integer(type,
                             [](auto x) {
                               using T = decltype(x);
                               return bind3<Fn<sem::sad<T>>, T, T>();
                             }),
                  3, type);
    case Op::popc:
      return done(d,
                  by_bits(type,
                          [](auto x) {
                            using T = decltype(x);
                            return bind1<Fn<sem::popc<T>>, uint32_t, T>();
                          }),
                  1, type, Type::none, Type::u32);
    case Op::clz:
      return done(d,
                  by_bits(type,
                          [](auto x) {
                            using T = decltype(x);
                            return bind1<Fn<sem::clz<T>>, uint32_t, T>();
                          }),
                  1, type, Type::none, Type::u32);
    case Op::bfind:
      return done(d,
                  by_integer(type,
                             [&](auto x) -> Handlers {
                               using T = decltype(x);
                               if constexpr (sizeof(T) == 2)
                                 return {};
                               else
                                 return i.has(Mod::shiftamt)
                                            ? bind1<Fn<sem::bfind_shiftamt<T>>, uint32_t, T>()
                                            : bind1<Fn<sem::bfind<T>>, uint32_t, T>();
                             }),
                  1, type, Type::none, Type::u32);
    case Op::brev:
      return done(d,
                  by_bits(type,
                          [](auto x) {
                            using T = decltype(x);
                            return bind1<Fn<sem::brev<T>>, T, T>();
                          }),
                  1, type);
    case Op::fns:
      d.emit(bind3<Fn<sem::fns>, uint32_t, uint32_t, uint32_t, int32_t>(), d.destination(0, Type::b32),
             d.source(1, Type::b32), d.source(2, Type::b32), d.source(3, Type::s32));
      return true;
    case Op::bfe:
      d.emit(by_integer(type,
                        [](auto x) -> Handlers {
                          using T = decltype(x);
                          if constexpr (sizeof(T) == 2)
                            return {};
                          else
                            return bind3<Fn<sem::bfe<T>>, T, T, uint32_t, uint32_t>();
                        }),
             d.destination(0, type), d.source(1, type), d.source(2, Type::u32), d.source(3, Type::u32));
      return true;
    case Op::bfi: {
      const uint32_t dst = d.destination(0, type), a = d.source(1, type), b = d.source(2, type),
                     c = d.source(3, Type::u32), e = d.source(4, Type::u32);
      d.emit({ptx::size_bytes(type) == 8 ? insert_field<uint64_t> : insert_field<uint32_t>, nullptr}, dst, a,
             b, c, e);
      return true;
    }
    case Op::bmsk:
      return done(d,
                  i.has(Mod::wrap) ? bind2<Fn<sem::bmsk_wrap>, uint32_t, uint32_t>()
                                   : bind2<Fn<sem::bmsk_clamp>, uint32_t, uint32_t>(),
                  2, Type::b32);
    case Op::szext:
      return done(d,
                  by_integer32(type,
                               [&](auto x) {
                                 using T = decltype(x);
                                 return i.has(Mod::wrap) ? bind2<Fn<sem::szext_wrap<T>>, T, T, uint32_t>()
                                                         : bind2<Fn<sem::szext_clamp<T>>, T, T, uint32_t>();
                               }),
                  2, type, Type::u32);
    case Op::shf: {
      const bool left = i.has(Mod::l), wrap = i.has(Mod::wrap);
      return done(d,
                  left ? (wrap ? bind3<Fn<sem::shf_l_wrap>, uint32_t, uint32_t>()
                               : bind3<Fn<sem::shf_l_clamp>, uint32_t, uint32_t>())
                       : (wrap ? bind3<Fn<sem::shf_r_wrap>, uint32_t, uint32_t>()
                               : bind3<Fn<sem::shf_r_clamp>, uint32_t, uint32_t>()),
                  3, Type::b32);
    }
    case Op::lop3: {
      if (d.operand_count() != 5 || d.operand(4).kind != ptx::Operand::Kind::imm)
        return d.fail("of this form is not supported");
      const uint32_t dst = d.destination(0, Type::b32), a = d.source(1, Type::b32),
                     b = d.source(2, Type::b32), c = d.source(3, Type::b32);
      d.emit({Lop3::run, nullptr}, dst, a, b, c).imm = d.operand(4).value & 0xff;
      return true;
    }
    case Op::prmt: {
      using sem::PrmtMode;
      const Handlers h = i.has(Mod::f4e)    ? bind3<Prmt<PrmtMode::f4e>, uint32_t, uint32_t>()
                         : i.has(Mod::b4e)  ? bind3<Prmt<PrmtMode::b4e>, uint32_t, uint32_t>()
                         : i.has(Mod::rc8)  ? bind3<Prmt<PrmtMode::rc8>, uint32_t, uint32_t>()
                         : i.has(Mod::ecl)  ? bind3<Prmt<PrmtMode::ecl>, uint32_t, uint32_t>()
                         : i.has(Mod::ecr)  ? bind3<Prmt<PrmtMode::ecr>, uint32_t, uint32_t>()
                         : i.has(Mod::rc16) ? bind3<Prmt<PrmtMode::rc16>, uint32_t, uint32_t>()
                                            : bind3<Prmt<PrmtMode::generic>, uint32_t, uint32_t>();
      return done(d, h, 3, Type::b32);
    }
    default: return false;
  }
}

}  // namespace

bool decode_integer_target(Decoder& d) { return decode_integer_here(d); }

}  // namespace HWY_NAMESPACE
}  // namespace fullwarp::exec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fullwarp::exec {
HWY_EXPORT(decode_integer_target);
bool decode_integer(Decoder& d) { return HWY_DYNAMIC_DISPATCH(decode_integer_target)(d); }
}  // namespace fullwarp::exec
#endif

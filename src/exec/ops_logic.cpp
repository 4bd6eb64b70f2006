// Logic and comparisons: and, or, xor, not, cnot (registers and predicates), setp, set, slct, testp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/ops_logic.cpp"
#include "exec/targets.h"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "exec/handlers.h"
#include "exec/lanes-inl.h"
#include "exec/semantics/bits.h"
#include "exec/semantics/compare.h"
#include "exec/semantics/float.h"
#include "exec/semantics/half.h"
#include "exec/types-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fullwarp::exec {
namespace HWY_NAMESPACE {
namespace {

using ptx::Mod;
using ptx::Op;
using ptx::Operand;
using ptx::Type;
using sem::BoolOp;
using sem::Cmp;

template <class T>
struct AndOp {
  HWY_INLINE T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct OrOp {
  HWY_INLINE T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct XorOp {
  HWY_INLINE T operator()(T a, T b) const { return a ^ b; }
};
template <class T>
struct NotOp {
  HWY_INLINE T operator()(T a) const { return static_cast<T>(~a); }
};

HWY_INLINE void write_pred(Warp& w, uint32_t row, LaneMask value) {
  LaneMask& d = w.pred(row);
  d = (d & ~w.exec) | (value & w.exec);
}

enum class PredOp : uint8_t { and_, or_, xor_, not_ };
template <PredOp kOp>
HWY_NOINLINE const MicroOp* predicate_logic(Warp& w, const MicroOp* op) {
  const LaneMask a = w.pred(op->a), b = w.pred(op->b);
  write_pred(w, op->dst,
             kOp == PredOp::and_   ? a & b
             : kOp == PredOp::or_  ? a | b
             : kOp == PredOp::xor_ ? a ^ b
                                   : ~a);
  return op + 1;
}

// How the result of a comparison is combined with a predicate; the value of MicroOp::flags & 7.
constexpr uint32_t kPlain = 0, kAnd = 1, kOr = 2, kXor = 3, kNegatedC = 4;

HWY_INLINE LaneMask combined(const Warp& w, const MicroOp* op, LaneMask t, uint32_t c_row) {
  const uint32_t how = op->flags & 3;
  if (how == kPlain) return t;
  LaneMask c = *reinterpret_cast<const LaneMask*>(w.regs + static_cast<int32_t>(c_row));
  if (op->flags & kNegatedC) c = ~c;
  return how == kAnd ? t & c : how == kOr ? t | c : t ^ c;
}

// setp: dst = predicate, d = second predicate (or a scratch one), c = combining predicate.
template <class F, class T>
HWY_NOINLINE const MicroOp* set_predicate(Warp& w, const MicroOp* op) {
  const Row<T>* a = w.row<Row<T>>(op->a);
  const Row<T>* b = w.row<Row<T>>(op->b);
  const LaneMask t = collect([&](unsigned i) HWY_ATTR { return F{}(get<T>(a, i), get<T>(b, i)); });
  if (HWY_LIKELY(op->flags == 0)) {
    write_pred(w, op->dst, t);
    return op + 1;
  }
  const LaneMask p = combined(w, op, t, op->c), q = combined(w, op, ~t, op->c);
  write_pred(w, op->dst, p);
  if (op->flags & 8) write_pred(w, op->d, q);
  return op + 1;
}

// set: a register of all ones (or 1.0) where the comparison holds.
template <class F, class T>
HWY_NOINLINE const MicroOp* set_register(Warp& w, const MicroOp* op) {
  const Row<T>* a = w.row<Row<T>>(op->a);
  const Row<T>* b = w.row<Row<T>>(op->b);
  const LaneMask t =
      combined(w, op, collect([&](unsigned i) HWY_ATTR { return F{}(get<T>(a, i), get<T>(b, i)); }), op->c);
  const uint32_t one = static_cast<uint32_t>(op->imm);
  write_row<uint32_t, true>(w, op->dst, [&](uint32_t* d) HWY_ATTR {
    FULLWARP_LANE_LOOP
    for (unsigned i = 0; i < kWarpSize; ++i) d[i] = (t >> i) & 1 ? one : 0;
  });
  return op + 1;
}

template <Cmp kCmp, class T>
struct Compare {
  HWY_INLINE bool operator()(T a, T b) const { return sem::compare<kCmp, T>(a, b); }
};
template <Cmp kCmp>
struct CompareFtz {
  HWY_INLINE bool operator()(float a, float b) const { return sem::compare_f32<kCmp, true>(a, b); }
};
template <Cmp kCmp, bool kFtz>
struct CompareF16 {
  HWY_INLINE bool operator()(uint16_t a, uint16_t b) const { return sem::compare_f16<kCmp, kFtz>(a, b); }
};
template <Cmp kCmp>
struct CompareBf16 {
  HWY_INLINE bool operator()(uint16_t a, uint16_t b) const { return sem::compare_bf16<kCmp>(a, b); }
};

// Two halves of a register, compared apart: h0 and h1 of setp.f16x2 and set.f16x2.
template <class F, bool kHigh>
struct Half {
  HWY_INLINE bool operator()(uint32_t a, uint32_t b) const {
    return kHigh ? F{}(static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(b >> 16))
                 : F{}(static_cast<uint16_t>(a), static_cast<uint16_t>(b));
  }
};

template <class F>
HWY_NOINLINE const MicroOp* set_predicate_x2(Warp& w, const MicroOp* op) {
  const uint32_t* a = w.row<uint32_t>(op->a);
  const uint32_t* b = w.row<uint32_t>(op->b);
  const LaneMask low = collect([&](unsigned i) HWY_ATTR { return Half<F, false>{}(a[i], b[i]); });
  const LaneMask high = collect([&](unsigned i) HWY_ATTR { return Half<F, true>{}(a[i], b[i]); });
  const LaneMask p = combined(w, op, low, op->c), q = combined(w, op, high, op->c);
  write_pred(w, op->dst, p);
  write_pred(w, op->d, q);
  return op + 1;
}

template <class F>
HWY_NOINLINE const MicroOp* set_register_x2(Warp& w, const MicroOp* op) {
  const uint32_t* a = w.row<uint32_t>(op->a);
  const uint32_t* b = w.row<uint32_t>(op->b);
  const LaneMask low =
      combined(w, op, collect([&](unsigned i) HWY_ATTR { return Half<F, false>{}(a[i], b[i]); }), op->c);
  const LaneMask high =
      combined(w, op, collect([&](unsigned i) HWY_ATTR { return Half<F, true>{}(a[i], b[i]); }), op->c);
  const uint32_t one = static_cast<uint32_t>(op->imm);
  write_row<uint32_t, true>(w, op->dst, [&](uint32_t* d) HWY_ATTR {
    FULLWARP_LANE_LOOP
    for (unsigned i = 0; i < kWarpSize; ++i)
      d[i] = ((low >> i) & 1 ? one & 0xffff : 0) | ((high >> i) & 1 ? one << 16 : 0);
  });
  return op + 1;
}

// Calls f with the comparison as a type-carried constant; false where the modifier is none for this kind.
template <class F>
bool with_comparison(const ptx::Instruction& i, bool is_float, F f) {
  struct Row {
    Mod mod;
    Cmp cmp;
    bool ints, floats;
  };
  static constexpr Row kRows[] = {{Mod::eq, Cmp::eq, true, true},    {Mod::ne, Cmp::ne, true, true},
                                  {Mod::lt, Cmp::lt, true, true},    {Mod::le, Cmp::le, true, true},
                                  {Mod::gt, Cmp::gt, true, true},    {Mod::ge, Cmp::ge, true, true},
                                  {Mod::lo, Cmp::lo, true, false},   {Mod::ls, Cmp::ls, true, false},
                                  {Mod::hi, Cmp::hi, true, false},   {Mod::hs, Cmp::hs, true, false},
                                  {Mod::equ, Cmp::equ, false, true}, {Mod::neu, Cmp::neu, false, true},
                                  {Mod::ltu, Cmp::ltu, false, true}, {Mod::leu, Cmp::leu, false, true},
                                  {Mod::gtu, Cmp::gtu, false, true}, {Mod::geu, Cmp::geu, false, true},
                                  {Mod::num, Cmp::num, false, true}, {Mod::cmp_nan, Cmp::nan, false, true}};
  for (const Row& row : kRows)
    if (i.has(row.mod) && (is_float ? row.floats : row.ints)) {
      f(row.cmp);
      return true;
    }
  return false;
}

// Rows of cases, which the formatter takes for statements.
// clang-format off
template <bool kFloat, class F>
Handler by_comparison(Cmp cmp, F f) {
  switch (cmp) {
#define FULLWARP_CASE(name) case Cmp::name: return f(std::integral_constant<Cmp, Cmp::name>{});
    FULLWARP_CASE(eq) FULLWARP_CASE(ne) FULLWARP_CASE(lt) FULLWARP_CASE(le) FULLWARP_CASE(gt) FULLWARP_CASE(ge)
    default: break;
  }
  if constexpr (kFloat) {
    switch (cmp) {
      FULLWARP_CASE(equ) FULLWARP_CASE(neu) FULLWARP_CASE(ltu) FULLWARP_CASE(leu) FULLWARP_CASE(gtu) FULLWARP_CASE(geu)
      FULLWARP_CASE(num) FULLWARP_CASE(nan)
      default: break;
    }
  } else {
    switch (cmp) {
      FULLWARP_CASE(lo) FULLWARP_CASE(ls) FULLWARP_CASE(hi) FULLWARP_CASE(hs)
      default: break;
    }
  }
#undef FULLWARP_CASE
  return nullptr;
}
// clang-format on

template <class F, class T, bool kSet>
Handler comparison() {
  if constexpr (kSet)
    return set_register<F, T>;
  else
    return set_predicate<F, T>;
}
template <class F, bool kSet>
Handler comparison_x2() {
  if constexpr (kSet)
    return set_register_x2<F>;
  else
    return set_predicate_x2<F>;
}

template <bool kSet>
Handler comparison_handler(Type type, Cmp cmp, bool ftz) {
  switch (type) {
    case Type::f32:
      if (ftz)
        return by_comparison<true>(cmp,
                                   [](auto c) { return comparison<CompareFtz<c.value>, float, kSet>(); });
      return by_comparison<true>(cmp,
                                 [](auto c) { return comparison<Compare<c.value, float>, float, kSet>(); });
    case Type::f64:
      return by_comparison<true>(cmp,
                                 [](auto c) { return comparison<Compare<c.value, double>, double, kSet>(); });
    case Type::f16:
      if (ftz)
        return by_comparison<true>(
            cmp, [](auto c) { return comparison<CompareF16<c.value, true>, uint16_t, kSet>(); });
      return by_comparison<true>(
          cmp, [](auto c) { return comparison<CompareF16<c.value, false>, uint16_t, kSet>(); });
    case Type::bf16:
      return by_comparison<true>(cmp,
                                 [](auto c) { return comparison<CompareBf16<c.value>, uint16_t, kSet>(); });
    case Type::f16x2:
      if (ftz)
        return by_comparison<true>(cmp,
                                   [](auto c) { return comparison_x2<CompareF16<c.value, true>, kSet>(); });
      return by_comparison<true>(cmp,
                                 [](auto c) { return comparison_x2<CompareF16<c.value, false>, kSet>(); });
    case Type::bf16x2:
      return by_comparison<true>(cmp, [](auto c) { return comparison_x2<CompareBf16<c.value>, kSet>(); });
    default:
      return by_integer(type,
                        [&](auto x) -> Handlers {
                          using T = decltype(x);
                          return {by_comparison<false>(
                                      cmp, [](auto c) { return comparison<Compare<c.value, T>, T, kSet>(); }),
                                  nullptr};
                        })
          .full;
  }
}

bool is_float(Type type) {
  switch (type) {
    case Type::f16:
    case Type::f16x2:
    case Type::bf16:
    case Type::bf16x2:
    case Type::f32:
    case Type::f64: return true;
    default: return false;
  }
}

bool decode_comparison(Decoder& d, bool set) {
  const ptx::Instruction& i = d.instruction();
  const Type type = i.type(set ? 1 : 0);  // set.CMP.dtype.stype
  const bool pair = type == Type::f16x2 || type == Type::bf16x2;
  Cmp cmp = Cmp::eq;
  if (!with_comparison(i, is_float(type), [&](Cmp c) { cmp = c; }))
    return d.fail("has no comparison for this type");
  const Handler h = set ? comparison_handler<true>(type, cmp, i.has(Mod::ftz))
                        : comparison_handler<false>(type, cmp, i.has(Mod::ftz));
  if (!h) return d.fail("compares a type that is not supported");
  const uint32_t a = d.source(1, type), b = d.source(2, type);
  uint32_t c = 0, flags = 0, q = 0;
  if (i.operand_count > 3) {
    Operand p = d.operand(3);
    if (p.negated) flags |= kNegatedC;
    p.negated = false;
    c = d.source(p, Type::pred);
    flags |= i.has(Mod::and_) ? kAnd : i.has(Mod::or_) ? kOr : kXor;
  }
  int64_t one = 0xffffffffll;
  uint32_t dst = 0;
  if (set) {
    const Type to = i.type(0);
    dst = d.destination(0, ptx::size_bytes(to) == 2 ? Type::b16 : Type::b32);
    if (to == Type::f32)
      one = 0x3f800000;
    else if (to == Type::f16 || to == Type::f16x2)
      one = 0x3c00;
    else if (to == Type::bf16 || to == Type::bf16x2)
      one = 0x3f80;
    else if (ptx::size_bytes(to) == 2)
      one = 0xffff;
    if (pair && to != type) one = 0xffff;
  } else {
    const Operand& to = d.operand(0);
    dst = d.destination(0, Type::pred);
    if (to.pair >= 0) {
      q = d.register_row(to.pair);
      flags |= 8;
    } else if (pair) {
      q = d.temporary(4);
      flags |= 8;
    }
  }
  MicroOp& op = d.emit({h, nullptr}, dst, a, b, c, q);
  op.flags = flags;
  op.imm = one;
  return true;
}

template <template <class> class F>
Handlers bitwise(Type type) {
  return by_bits(type, [](auto x) {
    using T = decltype(x);
    return bind2<F<T>, T, T>();
  });
}

bool decode_bitwise(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  const Type type = i.type(0);
  const bool one = i.op == Op::not_;
  if (type == Type::pred) {
    const uint32_t a = d.source(1, type), b = one ? a : d.source(2, type), dst = d.destination(0, type);
    const Handler h = i.op == Op::and_   ? predicate_logic<PredOp::and_>
                      : i.op == Op::or_  ? predicate_logic<PredOp::or_>
                      : i.op == Op::xor_ ? predicate_logic<PredOp::xor_>
                                         : predicate_logic<PredOp::not_>;
    d.emit({h, nullptr}, dst, a, b);
    return true;
  }
  const Handlers h = i.op == Op::and_   ? bitwise<AndOp>(type)
                     : i.op == Op::or_  ? bitwise<OrOp>(type)
                     : i.op == Op::xor_ ? bitwise<XorOp>(type)
                                        : by_bits(type, [](auto x) {
                                            using T = decltype(x);
                                            return bind1<NotOp<T>, T, T>();
                                          });
  if (!h.full) return d.fail("has a type that is not supported");
  const uint32_t a = d.source(1, type), b = one ? 0 : d.source(2, type);
  d.emit(h, d.destination(0, type), a, b);
  return true;
}

template <class F, class T>
HWY_NOINLINE const MicroOp* test_property(Warp& w, const MicroOp* op) {
  const Row<T>* a = w.row<Row<T>>(op->a);
  write_pred(w, op->dst, collect([&](unsigned i) HWY_ATTR { return F{}(get<T>(a, i)); }));
  return op + 1;
}
template <sem::Property kProperty, class T>
struct Tests {
  HWY_INLINE bool operator()(T a) const { return sem::testp<kProperty>(a); }
};

template <class T>
Handler property_handler(const ptx::Instruction& i) {
  using sem::Property;
  if (i.has(Mod::finite)) return test_property<Tests<Property::finite, T>, T>;
  if (i.has(Mod::infinite)) return test_property<Tests<Property::infinite, T>, T>;
  if (i.has(Mod::number)) return test_property<Tests<Property::number, T>, T>;
  if (i.has(Mod::notanumber)) return test_property<Tests<Property::notanumber, T>, T>;
  if (i.has(Mod::normal)) return test_property<Tests<Property::normal, T>, T>;
  return test_property<Tests<Property::subnormal, T>, T>;
}

bool decode_logic_here(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  switch (i.op) {
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::not_: return decode_bitwise(d);
    case Op::cnot: {
      const Type type = i.type(0);
      d.emit(by_bits(type,
                     [](auto x) {
                       using T = decltype(x);
                       return bind1<Fn<sem::cnot<T>>, T, T>();
                     }),
             d.destination(0, type), d.source(1, type));
      return true;
    }
    case Op::setp: return decode_comparison(d, false);
    case Op::set: return decode_comparison(d, true);
    case Op::slct: {  // slct.dtype.ctype
      const Type type = i.type(0), by = i.type(1);
      const Handlers h = by_bits(type, [&](auto x) {
        using T = decltype(x);
        if (by == Type::s32) return bind3<Fn<sem::slct<T>>, T, T, T, int32_t>();
        return i.has(Mod::ftz) ? bind3<Fn<sem::slct_f32<T, true>>, T, T, T, uint32_t>()
                               : bind3<Fn<sem::slct_f32<T>>, T, T, T, uint32_t>();
      });
      const uint32_t a = d.source(1, type), b = d.source(2, type), c = d.source(3, Type::b32);
      d.emit(h, d.destination(0, type), a, b, c);
      return true;
    }
    case Op::testp: {
      const Type type = i.type(0);
      const uint32_t a = d.source(1, type);
      d.emit({type == Type::f64 ? property_handler<double>(i) : property_handler<float>(i), nullptr},
             d.destination(0, Type::pred), a);
      return true;
    }
    default: return false;
  }
}

}  // namespace

bool decode_logic_target(Decoder& d) { return decode_logic_here(d); }

}  // namespace HWY_NAMESPACE
}  // namespace fullwarp::exec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fullwarp::exec {
HWY_EXPORT(decode_logic_target);
bool decode_logic(Decoder& d) { return HWY_DYNAMIC_DISPATCH(decode_logic_target)(d); }
}  // namespace fullwarp::exec
#endif

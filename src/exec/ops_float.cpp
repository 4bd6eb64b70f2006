// f32 and f64 arithmetic: the table from forms to the functions of semantics/float.h and approximate.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/ops_float.cpp"
#include "exec/targets.h"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "exec/handlers.h"
#include "exec/lanes-inl.h"
#include "exec/semantics/approximate.h"
#include "exec/semantics/float.h"
#include "exec/types-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fullwarp::exec {
namespace HWY_NAMESPACE {
namespace {

using ptx::Mod;
using ptx::Op;
using ptx::Type;
using sem::Rounding;

// Calls f with the rounding modifier as a constant; nearest where there is none.
template <class F>
Handlers by_rounding(const ptx::Instruction& i, F f) {
  if (i.has(Mod::rz)) return f(std::integral_constant<Rounding, Rounding::rz>{});
  if (i.has(Mod::rm)) return f(std::integral_constant<Rounding, Rounding::rm>{});
  if (i.has(Mod::rp)) return f(std::integral_constant<Rounding, Rounding::rp>{});
  return f(std::integral_constant<Rounding, Rounding::rn>{});
}

template <class F>
Handlers by_ftz_sat(const ptx::Instruction& i, F f) {
  using Yes = std::true_type;
  using No = std::false_type;
  if (i.has(Mod::ftz)) return i.has(Mod::sat) ? f(Yes{}, Yes{}) : f(Yes{}, No{});
  return i.has(Mod::sat) ? f(No{}, Yes{}) : f(No{}, No{});
}

template <class F>
Handlers by_ftz(const ptx::Instruction& i, F f) {
  return i.has(Mod::ftz) ? f(std::true_type{}) : f(std::false_type{});
}

bool done(Decoder& d, Handlers h, unsigned sources, Type type) {
  uint32_t rows[3] = {};
  for (unsigned k = 0; k < sources; ++k) rows[k] = d.source(k + 1, type);
  d.emit(h, d.destination(0, type), rows[0], rows[1], rows[2]);
  return true;
}

Handlers f32_add(const ptx::Instruction& i) {
  return by_rounding(i, [&](auto r) {
    return by_ftz_sat(i, [&](auto ftz, auto sat) {
      return bind2<Fn<sem::add_f32<r.value, ftz.value, sat.value>>, float, float>();
    });
  });
}
Handlers f32_sub(const ptx::Instruction& i) {
  return by_rounding(i, [&](auto r) {
    return by_ftz_sat(i, [&](auto ftz, auto sat) {
      return bind2<Fn<sem::sub_f32<r.value, ftz.value, sat.value>>, float, float>();
    });
  });
}
Handlers f32_mul(const ptx::Instruction& i) {
  return by_rounding(i, [&](auto r) {
    return by_ftz_sat(i, [&](auto ftz, auto sat) {
      return bind2<Fn<sem::mul_f32<r.value, ftz.value, sat.value>>, float, float>();
    });
  });
}
Handlers f32_fma(const ptx::Instruction& i) {
  return by_rounding(i, [&](auto r) {
    return by_ftz_sat(i, [&](auto ftz, auto sat) {
      return bind3<Fn<sem::fma_f32<r.value, ftz.value, sat.value>>, float, float>();
    });
  });
}
Handlers f32_div(const ptx::Instruction& i) {
  if (i.has(Mod::approx))
    return by_ftz(i, [&](auto ftz) { return bind2<Fn<sem::div_approx_f32<ftz.value>>, float, float>(); });
  if (i.has(Mod::full))
    return by_ftz(i, [&](auto ftz) { return bind2<Fn<sem::div_full_f32<ftz.value>>, float, float>(); });
  return by_rounding(i, [&](auto r) {
    return by_ftz(i, [&](auto ftz) { return bind2<Fn<sem::div_f32<r.value, ftz.value>>, float, float>(); });
  });
}
Handlers f32_rcp(const ptx::Instruction& i) {
  return by_rounding(i, [&](auto r) {
    return by_ftz(i, [&](auto ftz) { return bind1<Fn<sem::rcp_f32<r.value, ftz.value>>, float, float>(); });
  });
}
Handlers f32_sqrt(const ptx::Instruction& i) {
  return by_rounding(i, [&](auto r) {
    return by_ftz(i, [&](auto ftz) { return bind1<Fn<sem::sqrt_f32<r.value, ftz.value>>, float, float>(); });
  });
}

Handlers f32_extreme(const ptx::Instruction& i, bool max) {
  return by_ftz(i, [&](auto ftz) {
    auto pick = [&](auto nan) {
      if (i.has(Mod::xorsign))
        return max ? bind2<Fn<sem::max_xorsign_f32<ftz.value, nan.value>>, float, float>()
                   : bind2<Fn<sem::min_xorsign_f32<ftz.value, nan.value>>, float, float>();
      return max ? bind2<Fn<sem::max_f32<ftz.value, nan.value>>, float, float>()
                 : bind2<Fn<sem::min_f32<ftz.value, nan.value>>, float, float>();
    };
    return i.has(Mod::nan) ? pick(std::true_type{}) : pick(std::false_type{});
  });
}

Handlers f32_extreme3(const ptx::Instruction& i, bool max) {
  return by_ftz(i, [&](auto ftz) {
    auto pick = [&](auto nan, auto abs) {
      return max ? bind3<Fn<sem::max3_f32<ftz.value, nan.value, abs.value>>, float, float>()
                 : bind3<Fn<sem::min3_f32<ftz.value, nan.value, abs.value>>, float, float>();
    };
    using Yes = std::true_type;
    using No = std::false_type;
    if (i.has(Mod::nan)) return i.has(Mod::abs_) ? pick(Yes{}, Yes{}) : pick(Yes{}, No{});
    return i.has(Mod::abs_) ? pick(No{}, Yes{}) : pick(No{}, No{});
  });
}

bool decode_f32(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  const Type t = Type::f32;
  switch (i.op) {
    case Op::add: return done(d, f32_add(i), 2, t);
    case Op::sub: return done(d, f32_sub(i), 2, t);
    case Op::mul: return done(d, f32_mul(i), 2, t);
    case Op::fma:
    case Op::mad: return done(d, f32_fma(i), 3, t);
    case Op::div: return done(d, f32_div(i), 2, t);
    case Op::rcp: return done(d, f32_rcp(i), 1, t);
    case Op::sqrt: return done(d, f32_sqrt(i), 1, t);
    case Op::min:
      return d.operand_count() == 4 ? done(d, f32_extreme3(i, false), 3, t)
                                    : done(d, f32_extreme(i, false), 2, t);
    case Op::max:
      return d.operand_count() == 4 ? done(d, f32_extreme3(i, true), 3, t)
                                    : done(d, f32_extreme(i, true), 2, t);
    case Op::abs:
      return done(d, by_ftz(i, [](auto z) { return bind1<Fn<sem::abs_f32<z.value>>, float, float>(); }), 1,
                  t);
    case Op::neg:
      return done(d, by_ftz(i, [](auto z) { return bind1<Fn<sem::neg_f32<z.value>>, float, float>(); }), 1,
                  t);
    case Op::copysign: return done(d, bind2<Fn<sem::copysign_f32>, uint32_t, uint32_t>(), 2, t);
    case Op::rsqrt:
      return done(d,
                  by_ftz(i, [](auto z) { return bind1<Fn<sem::rsqrt_approx_f32<z.value>>, float, float>(); }),
                  1, t);
    case Op::sin:
      return done(
          d, by_ftz(i, [](auto z) { return bind1<Fn<sem::sin_approx_f32<z.value>>, float, float>(); }), 1, t);
    case Op::cos:
      return done(
          d, by_ftz(i, [](auto z) { return bind1<Fn<sem::cos_approx_f32<z.value>>, float, float>(); }), 1, t);
    case Op::lg2:
      return done(
          d, by_ftz(i, [](auto z) { return bind1<Fn<sem::lg2_approx_f32<z.value>>, float, float>(); }), 1, t);
    case Op::ex2:
      return done(
          d, by_ftz(i, [](auto z) { return bind1<Fn<sem::ex2_approx_f32<z.value>>, float, float>(); }), 1, t);
    case Op::tanh: return done(d, bind1<Fn<sem::tanh_approx_f32>, float, float>(), 1, t);
    default: return false;
  }
}

// Two f32 in 64 bits. A plain function of any target, as for packed halves: one of a wider target cannot be
// inlined.
template <auto kFunction, class... A>
FULLWARP_LANE uint64_t on_pair(A... packed) {
  const float low = kFunction(std::bit_cast<float>(static_cast<uint32_t>(packed))...);
  const float high = kFunction(std::bit_cast<float>(static_cast<uint32_t>(packed >> 32))...);
  return std::bit_cast<uint32_t>(low) | uint64_t{std::bit_cast<uint32_t>(high)} << 32;
}
template <auto kFunction>
FULLWARP_LANE uint64_t on_pairs2(uint64_t a, uint64_t b) {
  return on_pair<kFunction>(a, b);
}
template <auto kFunction>
FULLWARP_LANE uint64_t on_pairs3(uint64_t a, uint64_t b, uint64_t c) {
  return on_pair<kFunction>(a, b, c);
}

bool decode_f32x2(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  const Type t = Type::b64;
  auto two = [&](auto function) {
    return done(d, by_rounding(i, [&](auto r) { return by_ftz(i, [&](auto z) { return function(r, z); }); }),
                2, t);
  };
  switch (i.op) {
    case Op::add:
      return two([](auto r, auto z) {
        return bind2<Fn<on_pairs2<sem::add_f32<r.value, z.value, false>>>, uint64_t, uint64_t>();
      });
    case Op::sub:
      return two([](auto r, auto z) {
        return bind2<Fn<on_pairs2<sem::sub_f32<r.value, z.value, false>>>, uint64_t, uint64_t>();
      });
    case Op::mul:
      return two([](auto r, auto z) {
        return bind2<Fn<on_pairs2<sem::mul_f32<r.value, z.value, false>>>, uint64_t, uint64_t>();
      });
    case Op::fma:
      return done(
          d,
          by_rounding(
              i,
              [&](auto r) {
                return by_ftz(i, [&](auto z) {
                  return bind3<Fn<on_pairs3<sem::fma_f32<r.value, z.value, false>>>, uint64_t, uint64_t>();
                });
              }),
          3, t);
    default: return false;
  }
}

struct ReciprocalRoot {
  HWY_INLINE double operator()(double x) const { return sem::with_nan(1.0 / __builtin_sqrt(x), x); }
};

bool decode_f64(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  const Type t = Type::f64;
  switch (i.op) {
    case Op::add:
      return done(
          d, by_rounding(i, [](auto r) { return bind2<Fn<sem::add_f64<r.value>>, double, double>(); }), 2, t);
    case Op::sub:
      return done(
          d, by_rounding(i, [](auto r) { return bind2<Fn<sem::sub_f64<r.value>>, double, double>(); }), 2, t);
    case Op::mul:
      return done(
          d, by_rounding(i, [](auto r) { return bind2<Fn<sem::mul_f64<r.value>>, double, double>(); }), 2, t);
    case Op::fma:
    case Op::mad:
      return done(
          d, by_rounding(i, [](auto r) { return bind3<Fn<sem::fma_f64<r.value>>, double, double>(); }), 3, t);
    case Op::div:
      return done(
          d, by_rounding(i, [](auto r) { return bind2<Fn<sem::div_f64<r.value>>, double, double>(); }), 2, t);
    case Op::rcp:
      if (i.has(Mod::approx)) return done(d, bind1<Fn<sem::rcp_f64<Rounding::rn>>, double, double>(), 1, t);
      return done(
          d, by_rounding(i, [](auto r) { return bind1<Fn<sem::rcp_f64<r.value>>, double, double>(); }), 1, t);
    case Op::sqrt:
      return done(d,
                  by_rounding(i, [](auto r) { return bind1<Fn<sem::sqrt_f64<r.value>>, double, double>(); }),
                  1, t);
    case Op::rsqrt: return done(d, bind1<ReciprocalRoot, double, double>(), 1, t);
    case Op::min: return done(d, bind2<Fn<sem::min_f64>, double, double>(), 2, t);
    case Op::max: return done(d, bind2<Fn<sem::max_f64>, double, double>(), 2, t);
    case Op::abs: return done(d, bind1<Fn<sem::abs_f64>, double, double>(), 1, t);
    case Op::neg: return done(d, bind1<Fn<sem::neg_f64>, double, double>(), 1, t);
    case Op::copysign: return done(d, bind2<Fn<sem::copysign_f64>, uint64_t, uint64_t>(), 2, t);
    default: return false;
  }
}

// add, sub and fma of f32 whose first operands, all but the last, are f16 or bf16.
bool decode_mixed(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  const Type narrow = i.type(1);
  if (i.type(0) != Type::f32 || (narrow != Type::f16 && narrow != Type::bf16)) return false;
  Handlers h;
  switch (i.op) {
    case Op::add: h = f32_add(i); break;
    case Op::sub: h = f32_sub(i); break;
    case Op::fma: h = f32_fma(i); break;
    default: return false;
  }
  const Handlers widen = narrow == Type::f16 ? bind1<Fn<sem::f32_from_f16>, float, uint16_t>()
                                             : bind1<Fn<sem::f32_from_bf16>, float, uint16_t>();
  const unsigned operands = i.op == Op::fma ? 3 : 2;
  uint32_t rows[3] = {};
  for (unsigned k = 0; k + 1 < operands; ++k) {
    rows[k] = d.temporary(kRow32);
    d.emit(widen, rows[k], d.source(k + 1, Type::b16));
  }
  rows[operands - 1] = d.source(operands, Type::f32);
  d.emit(h, d.destination(0, Type::f32), rows[0], rows[1], rows[2]);
  return true;
}

}  // namespace

bool decode_float_target(Decoder& d) {
  if (d.instruction().type_count == 2) return decode_mixed(d);
  if (d.instruction().type_count != 1) return false;
  switch (d.instruction().type(0)) {
    case Type::f32: return decode_f32(d);
    case Type::f64: return decode_f64(d);
    case Type::f32x2: return decode_f32x2(d);
    default: return false;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fullwarp::exec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fullwarp::exec {
HWY_EXPORT(decode_float_target);
bool decode_float(Decoder& d) { return HWY_DYNAMIC_DISPATCH(decode_float_target)(d); }
}  // namespace fullwarp::exec
#endif

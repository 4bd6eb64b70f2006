// f16, f16x2, bf16 and bf16x2 arithmetic, and pairs of f32: one lane loop for an operation, one small step
// each for .ftz, .sat and .relu (flush what goes in and out, then clamp, in that order). Conversions:
// ops_narrow.cpp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/ops_half.cpp"
#include "exec/targets.h"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "exec/handlers.h"
#include "exec/lane_function.h"
#include "exec/lanes-inl.h"
#include "exec/semantics/approximate.h"
#include "exec/semantics/half.h"

HWY_BEFORE_NAMESPACE();
namespace fullwarp::exec {
namespace HWY_NAMESPACE {
namespace {

using ptx::Mod;
using ptx::Op;
using ptx::Type;

constexpr uint16_t kF16 = sem::kInfinityF16, kBf16 = sem::kInfinityBf16;

template <auto kFunction>
struct Both {  // a function of halves on each half of a register
  HWY_INLINE uint32_t operator()(uint32_t a) const { return sem::packed(a, kFunction); }
  HWY_INLINE uint32_t operator()(uint32_t a, uint32_t b) const { return sem::packed(a, b, kFunction); }
  HWY_INLINE uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    return sem::packed(a, b, c, kFunction);
  }
};

// One form for full and partial warps: the blend is little beside the conversions.
template <auto kFunction>
Handlers bind(bool two) {
  if constexpr (std::is_invocable_v<decltype(kFunction), uint16_t>) {
    return {two ? unary<Both<kFunction>, true, uint32_t, uint32_t>
                : unary<Fn<kFunction>, true, uint16_t, uint16_t>,
            nullptr};
  } else if constexpr (std::is_invocable_v<decltype(kFunction), uint16_t, uint16_t>) {
    return {two ? binary<Both<kFunction>, true, uint32_t, uint32_t, uint32_t>
                : binary<Fn<kFunction>, true, uint16_t, uint16_t, uint16_t>,
            nullptr};
  } else {
    return {two ? ternary<Both<kFunction>, true, uint32_t, uint32_t, uint32_t, uint32_t>
                : ternary<Fn<kFunction>, true, uint16_t, uint16_t, uint16_t, uint16_t>,
            nullptr};
  }
}

template <uint16_t kInfinity>
Handlers extreme(const ptx::Instruction& i, bool two) {
  const bool max = i.op == Op::max;
  if (i.has(Mod::nan))
    return max ? bind<sem::max_half<kInfinity, false, true>>(two)
               : bind<sem::min_half<kInfinity, false, true>>(two);
  return max ? bind<sem::max_half<kInfinity>>(two) : bind<sem::min_half<kInfinity>>(two);
}

Handlers operation(const ptx::Instruction& i, bool brain, bool two) {
  switch (i.op) {
    case Op::add: return brain ? bind<sem::add_bf16>(two) : bind<sem::add_f16<>>(two);
    case Op::sub: return brain ? bind<sem::sub_bf16>(two) : bind<sem::sub_f16<>>(two);
    case Op::mul: return brain ? bind<sem::mul_bf16>(two) : bind<sem::mul_f16<>>(two);
    case Op::fma: return brain ? bind<sem::fma_bf16<>>(two) : bind<sem::fma_f16<>>(two);
    case Op::neg: return brain ? bind<sem::neg_half<kBf16>>(two) : bind<sem::neg_half<kF16>>(two);
    case Op::abs: return brain ? bind<sem::abs_half<kBf16>>(two) : bind<sem::abs_half<kF16>>(two);
    case Op::min:
    case Op::max: return brain ? extreme<kBf16>(i, two) : extreme<kF16>(i, two);
    case Op::ex2: return brain ? bind<sem::ex2_approx_ftz_bf16>(two) : bind<sem::ex2_approx_f16>(two);
    case Op::tanh: return brain ? bind<sem::tanh_approx_bf16>(two) : bind<sem::tanh_approx_f16>(two);
    default: return {};
  }
}

// .xorsign.abs: the rare form of min and max.
LaneFunction xorsign(const ptx::Instruction& i, bool brain, bool two) {
  auto pick = [&](auto plain, auto nan) { return i.has(Mod::nan) ? nan : plain; };
  using F = uint16_t (*)(uint16_t, uint16_t);
  const F f =
      i.op == Op::max
          ? (brain ? pick(F{sem::max_xorsign_half<kBf16>}, F{sem::max_xorsign_half<kBf16, false, true>})
                   : pick(F{sem::max_xorsign_half<kF16>}, F{sem::max_xorsign_half<kF16, false, true>}))
          : (brain ? pick(F{sem::min_xorsign_half<kBf16>}, F{sem::min_xorsign_half<kBf16, false, true>})
                   : pick(F{sem::min_xorsign_half<kF16>}, F{sem::min_xorsign_half<kF16, false, true>}));
  return [f, two](uint64_t a, uint64_t b, uint64_t) -> uint64_t {
    const uint64_t low = f(static_cast<uint16_t>(a), static_cast<uint16_t>(b));
    return two ? low | uint64_t{f(static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(b >> 16))} << 16
               : low;
  };
}

bool decode_halves(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  const Type type = i.type(0);
  const bool brain = type == Type::bf16 || type == Type::bf16x2,
             two = type == Type::f16x2 || type == Type::bf16x2;
  const Handlers h = operation(i, brain, two);
  if (!h.full) return false;
  if (i.has(Mod::oob)) return d.fail(".oob is not supported");
  const unsigned operands = i.op == Op::fma                                                             ? 3
                            : i.op == Op::neg || i.op == Op::abs || i.op == Op::ex2 || i.op == Op::tanh ? 1
                                                                                                        : 2;
  const Type row_type = two ? Type::b32 : Type::b16;
  const bool ftz = i.has(Mod::ftz) && !brain;  // the one bf16 form with .ftz, ex2, always flushes
  uint32_t rows[3] = {};
  for (unsigned k = 0; k < operands; ++k) {
    rows[k] = d.source(k + 1, row_type);
    if (ftz) {
      const uint32_t flushed = d.temporary(kRow32);
      d.emit(bind<sem::flush_f16<true>>(two), flushed, rows[k]);
      rows[k] = flushed;
    }
  }
  const uint32_t dst = d.destination(0, row_type);
  if (i.has(Mod::xorsign)) {
    emit_lane_function(d, xorsign(i, brain, two), dst, two ? 4 : 2, {{rows[0]}, {rows[1]}});
    return true;
  }
  d.emit(h, dst, rows[0], rows[1], rows[2]);
  if (ftz) d.emit(bind<sem::flush_f16<true>>(two), dst, dst);
  if (i.has(Mod::relu)) d.emit(bind<sem::relu_half<true>>(two), dst, dst);
  if (i.has(Mod::sat)) d.emit(bind<sem::saturate_f16>(two), dst, dst);
  return true;
}

}  // namespace

bool decode_half_target(Decoder& d) {
  switch (d.instruction().type(0)) {
    case Type::f16:
    case Type::f16x2:
    case Type::bf16:
    case Type::bf16x2: return d.instruction().type_count == 1 && decode_halves(d);
    default: return false;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fullwarp::exec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fullwarp::exec {
HWY_EXPORT(decode_half_target);
bool decode_half(Decoder& d) { return HWY_DYNAMIC_DISPATCH(decode_half_target)(d) || decode_narrow(d); }
}  // namespace fullwarp::exec
#endif

// Operations on tagged registers (steady.h): they write the row as any addition does, and the tag beside it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/ops_steady.cpp"
#include "exec/targets.h"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "exec/lanes-inl.h"
#include "exec/steady_ops.h"
#include "exec/worker.h"

HWY_BEFORE_NAMESPACE();
namespace fullwarp::exec {
namespace HWY_NAMESPACE {
namespace {

// d: the destination's tag; c and imm: those of the operands, offset 0 for an operand that is the same in all
// lanes.
template <class T, class F, bool kMasked>
HWY_NOINLINE const MicroOp* steady(Warp& w, const MicroOp* op) {
  const T* a = w.row<T>(op->a);
  const T* b = w.row<T>(op->b);
  write_row<T, kMasked>(w, op->dst, [&](T* d) HWY_ATTR {
    FULLWARP_LANE_LOOP
    for (unsigned i = 0; i < kWarpSize; ++i) d[i] = F{}(a[i], b[i]);
  });
  const auto tag_at = [&](uint32_t row) { return row ? *w.row<uint64_t>(row) : 0; };
  uint64_t tag = tag_at(op->c);
  const uint64_t other = tag_at(static_cast<uint32_t>(op->imm));
  if (other != 0) tag = tag == 0 && F::kCommutes ? other : ++w.worker->last_tag;
  *w.row<uint64_t>(op->d) = kMasked ? ++w.worker->last_tag : tag;
  return op + 1;
}

struct Add {
  static constexpr bool kCommutes = true;
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct Sub {
  static constexpr bool kCommutes = false;
  template <class T>
  T operator()(T a, T b) const {
    return a - b;
  }
};
struct First {
  static constexpr bool kCommutes = false;
  template <class T>
  T operator()(T a, T) const {
    return a;
  }
};

template <class T>
Handlers pick(SteadyOp op) {
  switch (op) {
    case SteadyOp::add: return {steady<T, Add, false>, steady<T, Add, true>};
    case SteadyOp::sub: return {steady<T, Sub, false>, steady<T, Sub, true>};
    default: return {steady<T, First, false>, steady<T, First, true>};
  }
}

}  // namespace

Handlers steady_handlers(SteadyOp op, bool wide) { return wide ? pick<uint64_t>(op) : pick<uint32_t>(op); }

}  // namespace HWY_NAMESPACE
}  // namespace fullwarp::exec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fullwarp::exec {
HWY_EXPORT(steady_handlers);

Handlers steady_handlers(SteadyOp op, bool wide) { return HWY_DYNAMIC_DISPATCH(steady_handlers)(op, wide); }

namespace {

const MicroOp* renew_tag(Warp& w, const MicroOp* op) {
  *w.row<uint64_t>(op->d) = ++w.worker->last_tag;
  return op + 1;
}

const MicroOp* clear_tag(Warp& w, const MicroOp* op) {
  *w.row<uint64_t>(op->d) = 0;
  return op + 1;
}

}  // namespace

bool Decoder::is_uniform(const ptx::Operand& o) const { return exec::is_uniform(*this, uniform_, o); }

uint32_t Decoder::tag_row(const ptx::Operand& o) const {
  const bool reg = o.kind == ptx::Operand::Kind::reg ||
                   (o.kind == ptx::Operand::Kind::address && o.base == ptx::Operand::Kind::reg);
  return reg && !tag_row_.empty() ? tag_row_[o.index] : 0;
}

void Decoder::find_tags(const Cfg& cfg) {
  uniform_.assign(function.registers.size(), false);
  SteadyRegisters steady = find_steady_registers(*this, cfg);
  uniform_ = std::move(steady.uniform);
  tag_row_.assign(function.registers.size(), 0);
  for (size_t r = 0; r < tag_row_.size(); ++r)
    if (steady.tagged[r]) tag_row_[r] = temporary(8);
}

bool Decoder::decode_steady() {
  const ptx::Instruction& i = instruction();
  const Kept kept = kept_distances(module, i);
  const uint32_t to = kept.op == ptx::Op::count ? 0 : tag_row(operand(0));
  if (!to) return false;
  uint32_t tag[2] = {};
  const ptx::Operand* const operands[2] = {kept.a, kept.b};
  for (unsigned k = 0; k < 2; ++k) {
    if (!operands[k] || is_uniform(*operands[k])) continue;
    tag[k] = tag_row(*operands[k]);
    if (!tag[k]) return false;
  }
  if (!tag[0] && !tag[1]) return false;
  const ptx::Type type = i.type(0);
  const SteadyOp kind = kept.op == ptx::Op::add   ? SteadyOp::add
                        : kept.op == ptx::Op::sub ? SteadyOp::sub
                                                  : SteadyOp::move;
  const uint32_t dst = destination(0, type), a = source(*kept.a, type),
                 b = kept.b ? source(*kept.b, type) : a;
  if (error()) return true;
  emit(steady_handlers(kind, ptx::size_bytes(type) == 8), dst, a, b, tag[0], to).imm = tag[1];
  return true;
}

void Decoder::renew_tags() {
  const ptx::Instruction& i = instruction();
  if (!ptx::writes_first_operand(i)) return;
  const bool uniform = has_uniform_result(*this, uniform_, i);
  ptx::for_each_written(module, i, [&](uint32_t reg) {
    if (reg < tag_row_.size() && tag_row_[reg])
      emit({uniform ? clear_tag : renew_tag, renew_tag}, 0, 0, 0, 0, tag_row_[reg]);
  });
}

}  // namespace fullwarp::exec
#endif

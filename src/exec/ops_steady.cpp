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

// c and d: the tags of `a` and of the destination.
template <class T, class F, bool kMasked>
HWY_NOINLINE const MicroOp* steady(Warp& w, const MicroOp* op) {
  const T* a = w.row<T>(op->a);
  const T* b = w.row<T>(op->b);
  write_row<T, kMasked>(w, op->dst, [&](T* d) HWY_ATTR {
    FULLWARP_LANE_LOOP
    for (unsigned i = 0; i < kWarpSize; ++i) d[i] = F{}(a[i], b[i]);
  });
  *w.row<uint64_t>(op->d) = kMasked ? ++w.worker->last_tag : *w.row<uint64_t>(op->c);
  return op + 1;
}

struct Add {
  template <class T> T operator()(T a, T b) const { return a + b; }
};
struct Sub {
  template <class T> T operator()(T a, T b) const { return a - b; }
};
struct First {
  template <class T> T operator()(T a, T) const { return a; }
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

}  // namespace

bool Decoder::is_uniform(const ptx::Operand& o) const {
  if (o.kind == ptx::Operand::Kind::reg) return uniform_[o.index];
  if (o.kind == ptx::Operand::Kind::special && static_cast<ptx::Special>(o.index) == ptx::Special::ctaid) return true;
  return constant_value(o).has_value();
}

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
  const Kept kept = kept_distances(module, i, [&](const ptx::Operand& o) { return is_uniform(o); });
  if (!kept.of) return false;
  const uint32_t to = tag_row(operand(0)), from = tag_row(*kept.of);
  if (!to || !from) return false;
  const ptx::Type type = i.type(0);
  const bool wide = ptx::size_bytes(type) == 8;
  const SteadyOp kind = !kept.by ? SteadyOp::move : i.op == ptx::Op::add ? SteadyOp::add : SteadyOp::sub;
  const uint32_t dst = destination(0, type), a = source(*kept.of, type), b = kept.by ? source(*kept.by, type) : a;
  if (!error()) emit(steady_handlers(kind, wide), dst, a, b, from, to);
  return true;
}

void Decoder::renew_tags() {
  if (!ptx::writes_first_operand(instruction())) return;
  ptx::for_each_written(module, instruction(), [&](uint32_t reg) {
    if (reg < tag_row_.size() && tag_row_[reg]) emit({renew_tag, nullptr}, 0, 0, 0, 0, tag_row_[reg]);
  });
}

}  // namespace fullwarp::exec
#endif

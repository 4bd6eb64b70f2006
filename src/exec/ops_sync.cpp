// What lanes and warps do together: barriers, fences, votes, shuffles, matches, reductions over a warp. A
// `.sync` instruction is a rendezvous: it runs when every live lane of its member mask has come to a `.sync`
// instruction with that mask, at whatever place; emit_rendezvous puts that wait before it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "exec/block_order.h"
#include "exec/handlers.h"
#include "exec/move_ops.h"
#include "exec/scheduling.h"
#include "exec/semantics/float.h"
#include "exec/worker.h"

namespace fullwarp::exec {

using ptx::Mod;
using ptx::Op;
using ptx::Operand;
using ptx::Type;

namespace {

template <class F>
void for_lanes(LaneMask mask, F f) {
  for (; mask; mask &= mask - 1) f(static_cast<unsigned>(std::countr_zero(mask)));
}

void set_pred(Warp& w, uint32_t row, LaneMask value) {
  LaneMask& d = w.pred(row);
  d = (d & ~w.exec) | (value & w.exec);
}

const MicroOp* nothing(Warp&, const MicroOp* op) { return op + 1; }

// Before a .sync op: op[1] runs when the members are there.
const MicroOp* rendezvous(Warp& w, const MicroOp* op) {
  const LaneMask members = w.row<uint32_t>(op->a)[std::countr_zero(w.exec)];
  const LaneMask needed = members & w.live;
  if ((w.exec & needed) == needed) {
    w.participants = w.exec;
    return op + 1;
  }
  return wait_for_members(w, op, members);
}

const MicroOp* warp_barrier(Warp& w, const MicroOp* op) {
  w.block->shadow.warp_sync(w.index);
  return op + 1;
}

// vote: c = predicate row; participants' values count, everybody of exec gets the result.
enum class Vote : uint8_t { all, any, uni, ballot };

template <Vote kVote>
const MicroOp* vote(Warp& w, const MicroOp* op) {
  const LaneMask p = (w.pred(op->a) ^ static_cast<LaneMask>(op->imm)) & w.participants;
  if constexpr (kVote == Vote::ballot) {
    uint32_t* d = w.row<uint32_t>(op->dst);
    for_lanes(w.exec, [&](unsigned i) { d[i] = p; });
  } else {
    const bool all = p == w.participants, none = p == 0;
    const bool result = kVote == Vote::all ? all : kVote == Vote::any ? !none : all || none;
    set_pred(w, op->dst, result ? kFullMask : 0);
  }
  return op + 1;
}

const MicroOp* active_mask(Warp& w, const MicroOp* op) {
  uint32_t* d = w.row<uint32_t>(op->dst);
  const LaneMask active = w.active;
  for_lanes(w.exec, [&](unsigned i) { d[i] = active; });
  return op + 1;
}

const MicroOp* elect(Warp& w, const MicroOp* op) {  // dst: leader's lane, b: predicate
  const unsigned leader = static_cast<unsigned>(std::countr_zero(w.participants));
  uint32_t* d = w.row<uint32_t>(op->dst);
  for_lanes(w.exec, [&](unsigned i) { d[i] = leader; });
  set_pred(w, op->b, LaneMask{1} << leader);
  return op + 1;
}

enum class Shuffle : uint8_t { up, down, bfly, idx };

// shfl: a value, b lane, c clamp and segment mask, d predicate row (0: none asked for).
template <Shuffle kMode>
const MicroOp* shuffle(Warp& w, const MicroOp* op) {
  uint32_t from[kWarpSize];
  std::memcpy(from, w.row<uint32_t>(op->a), sizeof from);
  const uint32_t* b = w.row<uint32_t>(op->b);
  const uint32_t* c = w.row<uint32_t>(op->c);
  uint32_t* d = w.row<uint32_t>(op->dst);
  LaneMask in_range = 0;
  uint32_t result[kWarpSize];
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const uint32_t distance = b[lane] & 0x1f, clamp = c[lane] & 0x1f, segment = (c[lane] >> 8) & 0x1f;
    const uint32_t max_lane = (lane & segment) | (clamp & ~segment), min_lane = lane & segment;
    uint32_t j = 0;
    bool ok = false;
    if constexpr (kMode == Shuffle::up) {
      j = lane - distance;
      ok = static_cast<int32_t>(j) >= static_cast<int32_t>(max_lane);
    } else if constexpr (kMode == Shuffle::down) {
      j = lane + distance;
      ok = j <= max_lane;
    } else if constexpr (kMode == Shuffle::bfly) {
      j = lane ^ distance;
      ok = j <= max_lane;
    } else {
      j = min_lane | (distance & ~segment);
      ok = j <= max_lane;
    }
    if (!ok) j = lane;
    in_range |= static_cast<LaneMask>(ok) << lane;
    result[lane] = from[j & 31];
  }
  for_lanes(w.exec, [&](unsigned i) { d[i] = result[i]; });
  if (op->flags) set_pred(w, op->d, in_range);
  return op + 1;
}

// match: a value (32 or 64 bits), d predicate row for match.all.
template <class T, bool kAll>
const MicroOp* match(Warp& w, const MicroOp* op) {
  const T* a = w.row<T>(op->a);
  uint32_t* d = w.row<uint32_t>(op->dst);
  LaneMask agree = 0;
  if constexpr (kAll) {
    const T first = a[std::countr_zero(w.participants)];
    bool all = true;
    for_lanes(w.participants, [&](unsigned i) { all &= a[i] == first; });
    agree = all ? w.participants : 0;
    for_lanes(w.exec, [&](unsigned i) { d[i] = agree; });
    if (op->flags) set_pred(w, op->d, all ? kFullMask : 0);
  } else {
    uint32_t result[kWarpSize] = {};
    for_lanes(w.exec, [&](unsigned i) {
      for_lanes(w.participants, [&](unsigned j) { result[i] |= static_cast<uint32_t>(a[j] == a[i]) << j; });
    });
    for_lanes(w.exec, [&](unsigned i) { d[i] = result[i]; });
  }
  return op + 1;
}

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct And {
  template <class T>
  T operator()(T a, T b) const {
    return a & b;
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return a | b;
  }
};
struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return a ^ b;
  }
};
struct Min {
  template <class T>
  T operator()(T a, T b) const {
    return std::min(a, b);
  }
};
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    return std::max(a, b);
  }
};

template <class T, class F>
const MicroOp* reduce(Warp& w, const MicroOp* op) {
  const T* a = w.row<T>(op->a);
  T* d = w.row<T>(op->dst);
  T result = a[std::countr_zero(w.participants)];
  for_lanes(w.participants & (w.participants - 1), [&](unsigned i) { result = F{}(result, a[i]); });
  for_lanes(w.exec, [&](unsigned i) { d[i] = result; });
  return op + 1;
}

// bar: imm = number, or a row in `a` if flags says so; b = row of the thread count, c = predicate row.
constexpr uint32_t kNumberInRow = 1, kHasCount = 2, kArriveOnly = 4, kReduce = 8, kNegated = 16;
enum class Reduce : uint32_t { popc = 0, all = 1, any = 2 };
constexpr uint32_t kReduceShift = 8;

const MicroOp* barrier(Warp& w, const MicroOp* op) {
  const unsigned first = static_cast<unsigned>(std::countr_zero(w.exec));
  const uint32_t number =
      op->flags & kNumberInRow ? w.row<uint32_t>(op->a)[first] : static_cast<uint32_t>(op->imm);
  uint32_t threads = op->flags & kHasCount ? w.row<uint32_t>(op->b)[first] : 0;
  if (threads >= (w.block->threads + kWarpSize - 1) / kWarpSize * kWarpSize) threads = 0;
  LaneMask predicate = 0;
  if (op->flags & kReduce) predicate = op->flags & kNegated ? ~w.pred(op->c) : w.pred(op->c);
  return arrive_at_barrier(w, op, number, threads, !(op->flags & kArriveOnly), predicate);
}

const MicroOp* sleep(Warp& w, const MicroOp* op) {
  w.polls += 32;  // whoever sleeps waits for somebody
  return op + 1;
}

uint32_t scratch_pred(Decoder& d) { return d.temporary(4); }

bool decode_barrier_op(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  if (i.has(Mod::warp)) {
    const uint32_t members = d.source(0, Type::u32);
    emit_rendezvous(d, members);
    d.emit({warp_barrier, nullptr});
    return true;
  }
  if (i.has(Mod::cluster)) return d.fail("clusters of blocks are not supported");
  const bool reduce_form = i.has(Mod::red);
  const unsigned first = reduce_form ? 1 : 0;
  uint32_t flags = i.has(Mod::arrive) ? kArriveOnly : 0;
  if (i.operand_count <= first) return d.fail("has too few operands");
  const Operand& number = d.operand(first);
  uint32_t a = 0, b = 0, c = 0, dst = 0;
  int64_t imm = 0;
  if (number.kind == Operand::Kind::imm) {
    imm = number.value;
    if (imm < 0 || imm > 15) return d.fail("names a barrier that is not 0 to 15");
  } else {
    a = d.source(number, Type::u32);
    flags |= kNumberInRow;
  }
  unsigned next = first + 1;
  const unsigned last = i.operand_count - (reduce_form ? 1 : 0);
  if (next < last) {
    b = d.source(next, Type::u32);
    flags |= kHasCount;
  }
  if (reduce_form) {
    const Operand& p = d.operand(i.operand_count - 1);
    Operand plain = p;
    plain.negated = false;
    c = d.source(plain, Type::pred);
    flags |= kReduce | (p.negated ? kNegated : 0);
    const bool popc = i.has(Mod::popc_);
    flags |= static_cast<uint32_t>(popc               ? Reduce::popc
                                   : i.has(Mod::and_) ? Reduce::all
                                                      : Reduce::any)
             << kReduceShift;
    dst = d.destination(0, popc ? Type::u32 : Type::pred);
  }
  MicroOp& op = d.emit({barrier, nullptr}, dst, a, b, c);
  op.imm = imm;
  op.flags = flags;
  return true;
}

bool decode_vote(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  const bool sync = i.has(Mod::sync);
  const bool ballot = i.has(Mod::ballot);
  Operand p = d.operand(1);
  const bool negated = p.negated;
  p.negated = false;
  const uint32_t a = d.source(p, Type::pred);
  const uint32_t dst = d.destination(0, ballot ? Type::b32 : Type::pred);
  const uint32_t members = sync ? d.source(2, Type::u32) : 0;
  if (sync)
    emit_rendezvous(d, members);
  else
    d.emit({active_mask, nullptr}, d.temporary(kRow32));  // participants are the active lanes already
  const Handler h = ballot            ? vote<Vote::ballot>
                    : i.has(Mod::all) ? vote<Vote::all>
                    : i.has(Mod::any) ? vote<Vote::any>
                                      : vote<Vote::uni>;
  d.emit({h, nullptr}, dst, a).imm = negated ? 0xffffffffll : 0;
  return true;
}

bool decode_shuffle(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  const bool sync = i.has(Mod::sync);
  const uint32_t a = d.source(1, Type::b32), b = d.source(2, Type::b32), c = d.source(3, Type::b32);
  const uint32_t dst = d.destination(0, Type::b32);
  const int32_t pair = d.operand(0).pair;
  const uint32_t members = sync ? d.source(4, Type::u32) : 0;
  if (sync) emit_rendezvous(d, members);
  const Handler h = i.has(Mod::up)     ? shuffle<Shuffle::up>
                    : i.has(Mod::down) ? shuffle<Shuffle::down>
                    : i.has(Mod::bfly) ? shuffle<Shuffle::bfly>
                                       : shuffle<Shuffle::idx>;
  MicroOp& op = d.emit({h, nullptr}, dst, a, b, c, pair >= 0 ? d.register_row(pair) : 0);
  op.flags = pair >= 0;
  return true;
}

bool decode_match(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  const bool wide = ptx::size_bytes(i.type(0)) == 8, all = i.has(Mod::all);
  const uint32_t a = d.source(1, wide ? Type::b64 : Type::b32), dst = d.destination(0, Type::b32);
  const int32_t pair = d.operand(0).pair;
  emit_rendezvous(d, d.source(2, Type::u32));
  const Handler h = wide ? (all ? match<uint64_t, true> : match<uint64_t, false>)
                         : (all ? match<uint32_t, true> : match<uint32_t, false>);
  MicroOp& op = d.emit({h, nullptr}, dst, a, 0, 0, pair >= 0 ? d.register_row(pair) : 0);
  op.flags = pair >= 0;
  return true;
}

// min and max of f32: NaNs count only with .NaN, or where there is nothing else.
template <bool kMax, bool kNan, bool kAbs>
const MicroOp* reduce_f32(Warp& w, const MicroOp* op) {
  const float* a = w.row<float>(op->a);
  float* d = w.row<float>(op->dst);
  const auto value = [&](unsigned i) { return kAbs ? std::fabs(a[i]) : a[i]; };
  const auto pick = [](float x, float y) {
    return kMax ? sem::max_f32<false, kNan>(x, y) : sem::min_f32<false, kNan>(x, y);
  };
  const unsigned first = static_cast<unsigned>(std::countr_zero(w.participants));
  float result = pick(value(first), value(first));
  for_lanes(w.participants & (w.participants - 1), [&](unsigned i) { result = pick(result, value(i)); });
  for_lanes(w.exec, [&](unsigned i) { d[i] = result; });
  return op + 1;
}

Handler reduction_f32(const ptx::Instruction& i) {
  const auto by_abs = [&](auto max, auto nan) -> Handler {
    return i.has(Mod::abs_) ? reduce_f32<max.value, nan.value, true>
                            : reduce_f32<max.value, nan.value, false>;
  };
  const auto by_nan = [&](auto max) {
    return i.has(Mod::nan) ? by_abs(max, std::true_type{}) : by_abs(max, std::false_type{});
  };
  return i.has(Mod::max_) ? by_nan(std::true_type{}) : by_nan(std::false_type{});
}

bool decode_redux(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  const bool is_signed = i.type(0) == Type::s32;
  const uint32_t a = d.source(1, Type::b32), dst = d.destination(0, Type::b32);
  emit_rendezvous(d, d.source(2, Type::u32));
  Handler h = nullptr;
  if (i.type(0) == Type::f32)
    h = reduction_f32(i);
  else if (i.has(Mod::add_))
    h = reduce<uint32_t, Add>;
  else if (i.has(Mod::and_))
    h = reduce<uint32_t, And>;
  else if (i.has(Mod::or_))
    h = reduce<uint32_t, Or>;
  else if (i.has(Mod::xor_))
    h = reduce<uint32_t, Xor>;
  else if (i.has(Mod::min_))
    h = is_signed ? reduce<int32_t, Min> : reduce<uint32_t, Min>;
  else if (i.has(Mod::max_))
    h = is_signed ? reduce<int32_t, Max> : reduce<uint32_t, Max>;
  if (!h) return d.fail("has no known reduction");
  d.emit({h, nullptr}, dst, a);
  return true;
}

}  // namespace

void emit_rendezvous(Decoder& d, uint32_t members_row) { d.emit({rendezvous, nullptr}, 0, members_row); }

void finish_barrier_op(Warp& w, Fragment& f, const Barrier& barrier_state) {
  const MicroOp* op = f.pc;
  if (op->flags & kReduce) {
    std::byte* regs = f.frame->regs;
    const Reduce kind = static_cast<Reduce>((op->flags >> kReduceShift) & 3);
    if (kind == Reduce::popc) {
      auto* d = reinterpret_cast<uint32_t*>(regs + static_cast<int32_t>(op->dst));
      for_lanes(f.mask, [&](unsigned i) { d[i] = barrier_state.count; });
    } else {
      auto* d = reinterpret_cast<LaneMask*>(regs + static_cast<int32_t>(op->dst));
      const bool result = kind == Reduce::all ? barrier_state.all : barrier_state.any;
      *d = (*d & ~f.mask) | (result ? f.mask : 0);
    }
  }
  (void)w;
  f.pc = op + 1;
}

void run_together(Warp& w, const std::vector<Fragment>& group, LaneMask together) {
  // The value each lane brings lies in the source row of its own op: every op gets to see all of them, in its
  // own row, while it runs for its own lanes.
  for (const Fragment& f : group) {
    const MicroOp* op = f.pc + 1;
    w.frame = f.frame;
    w.regs = f.frame->regs;
    w.join = f.join;
    w.set_active(f.mask);
    w.participants = together;
    std::vector<std::pair<uint32_t, uint64_t>> undo;  // lane, old value
    for (const Fragment& g : group) {
      if (&g == &f || (g.pc == f.pc && g.frame == f.frame)) continue;
      const MicroOp* other = g.pc + 1;
      if (other->run[0] != op->run[0]) continue;  // another instruction: nothing to exchange
      const auto* from = reinterpret_cast<const uint32_t*>(g.frame->regs + static_cast<int32_t>(other->a));
      uint32_t* to = w.row<uint32_t>(op->a);
      if (op->run[0] == vote<Vote::all> || op->run[0] == vote<Vote::any> || op->run[0] == vote<Vote::uni> ||
          op->run[0] == vote<Vote::ballot>) {
        undo.emplace_back(kWarpSize, *to);
        *to = (*to & ~g.mask) | (*from & g.mask);
        continue;
      }
      for_lanes(g.mask, [&](unsigned i) {
        undo.emplace_back(i, to[i]);
        to[i] = from[i];
      });
    }
    w.masked = 1;
    op->run[1](w, op);
    for (auto it = undo.rbegin(); it != undo.rend(); ++it) {
      uint32_t* to = w.row<uint32_t>(op->a);
      if (it->first == kWarpSize) {
        const LaneMask mine = f.mask;  // what the op itself wrote stays
        *to = op->a == op->dst ? (*to & mine) | (static_cast<uint32_t>(it->second) & ~mine)
                               : static_cast<uint32_t>(it->second);
      } else {
        to[it->first] = static_cast<uint32_t>(it->second);
      }
    }
    w.ready.push_back().set(op + 1, f.mask, f.frame, f.join);
  }
}

bool decode_barrier(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  switch (i.op) {
    case Op::bar:
    case Op::barrier: return decode_barrier_op(d);
    case Op::membar:
    case Op::fence:
      if (i.has(Mod::gl) || i.has(Mod::gpu) || i.has(Mod::sys)) {
        emit_block_fence(d);
        return true;
      }
      [[fallthrough]];
    case Op::pmevent:
    case Op::setmaxnreg:
    case Op::griddepcontrol:
    case Op::brkpt: d.emit({nothing, nullptr}); return true;
    case Op::nanosleep: d.emit({sleep, nullptr}); return true;
    default: return false;
  }
}

bool decode_warp(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  switch (i.op) {
    case Op::vote: return decode_vote(d);
    case Op::shfl: return decode_shuffle(d);
    case Op::match: return decode_match(d);
    case Op::redux: return decode_redux(d);
    case Op::activemask: d.emit({active_mask, nullptr}, d.destination(0, Type::b32)); return true;
    case Op::elect: {
      const int32_t pair = d.operand(0).pair;
      const uint32_t dst = d.destination(0, Type::b32);
      emit_rendezvous(d, d.source(1, Type::u32));
      d.emit({elect, nullptr}, dst, 0, pair >= 0 ? d.register_row(pair) : scratch_pred(d));
      return true;
    }
    default: return false;
  }
}

}  // namespace fullwarp::exec

// Control flow: blocks, branches, joins, calls, returns, exits. Nothing here works on lanes' values, so
// nothing is compiled per target.
#include <algorithm>
#include <cstring>

#include "exec/builtins.h"
#include "exec/handlers.h"
#include "exec/worker.h"

namespace fullwarp::exec {
namespace {

using ptx::Op;
using ptx::Operand;

const MicroOp* enter_block(Warp& w, const MicroOp* op) {
  if (--w.budget < 0) {
    w.stop = Stop::yield;
    w.saved = op;
    return nullptr;
  }
  BlockCounter& counter = w.worker->blocks[op->site];
  ++counter.warps;
  counter.lanes += lane_count(w.active);
  w.steps += static_cast<uint64_t>(op->imm);
  return op + 1;
}

const MicroOp* enter_join(Warp& w, const MicroOp* op) {
  while (w.join && w.join->at == op && w.join->frame == w.frame)
    if (!arrive_at_join(w)) return nullptr;
  return enter_block(w, op);
}

const MicroOp* jump(Warp&, const MicroOp* op) { return op->target; }

const MicroOp* after(const MicroOp* op) { return op + 1 + (op->flags & kNamesReconvergence); }

const MicroOp* branch(Warp& w, const MicroOp* op) {
  const LaneMask taken = w.active & (w.pred(op->a) ^ static_cast<LaneMask>(op->imm));
  const MicroOp* next = after(op);
  if (taken == 0) return next;
  w.worker->taken_lanes[op->site] += lane_count(taken);
  if (taken == w.active) return op->target;
  ++w.worker->divergent[op->site];
  const LaneMask rest = w.active & ~taken;
  if (op->flags & kNamesReconvergence) w.join = join_at(w, op[1].target);
  part(w, taken, op->target, w.join);
  w.set_active(rest);
  return next;
}

const MicroOp* guard(Warp& w, const MicroOp* op) {
  const LaneMask on = w.active & (w.pred(op->a) ^ static_cast<LaneMask>(op->imm));
  const uint32_t count = static_cast<uint32_t>(static_cast<uint64_t>(op->imm) >> 32);
  w.worker->guard_lanes[op->site] += lane_count(on);
  if (on == w.active) return op + 1;
  if (on != 0) {
    w.exec = on;
    for (uint32_t k = 1; k <= count; ++k) op[k].run[1](w, op + k);
    w.exec = w.active;
  }
  return op + 1 + count;
}

const MicroOp* exit_op(Warp& w, const MicroOp*) {
  exit_lanes(w, w.active);
  return nullptr;
}

const MicroOp* trap_op(Warp& w, const MicroOp* op) {
  report_fault(w, op, profile::FaultKind::trap, static_cast<unsigned>(std::countr_zero(w.active)));
  exit_lanes(w, w.active);
  return nullptr;
}

void copy_words(Warp& w, std::byte* to, const ParamSlot& to_slot, const std::byte* from,
                const ParamSlot& from_slot, LaneMask mask) {
  const uint32_t words = (std::min(to_slot.bytes, from_slot.bytes) + 3) / 4;
  (void)w;
  for (uint32_t k = 0; k < words; ++k) {
    auto* d = reinterpret_cast<uint32_t*>(to + static_cast<int32_t>(to_slot.offset) + k * kRow32);
    auto* s = reinterpret_cast<const uint32_t*>(from + static_cast<int32_t>(from_slot.offset) + k * kRow32);
    for (unsigned i = 0; i < kWarpSize; ++i)
      if ((mask >> i) & 1) d[i] = s[i];
  }
}

const MicroOp* enter_function(Warp& w, const MicroOp* op, const CallInfo& info,
                              const FunctionProgram& callee) {
  Frame* frame = push_frame(w, callee, w.frame, op, w.active);
  if (!frame) return nullptr;
  const size_t arguments = std::min(info.arguments.size(), callee.parameters.size());
  for (size_t k = 0; k < arguments; ++k)
    copy_words(w, frame->regs, callee.parameters[k], w.regs, info.arguments[k], w.active);
  w.frame = frame;
  w.regs = frame->regs;
  return callee.ops.data();
}

const MicroOp* call(Warp& w, const MicroOp* op) {
  const CallInfo& info = *static_cast<const CallInfo*>(op->info);
  return enter_function(w, op, info, *w.worker->program->functions[static_cast<size_t>(info.function)]);
}

// Splits the running lanes by the value that `key` gives for a lane; the lanes of the first lane's value go
// on here, the others come back to `op` later. Returns the first lane.
template <class Key>
unsigned split_by(Warp& w, const MicroOp* op, Key key) {
  const unsigned first = static_cast<unsigned>(std::countr_zero(w.active));
  const auto value = key(first);
  LaneMask same = 0;
  for (unsigned i = 0; i < kWarpSize; ++i)
    if ((w.active >> i) & 1 && key(i) == value) same |= LaneMask{1} << i;
  if (same != w.active) {
    if (op->flags & kNamesReconvergence) w.join = join_at(w, op[1].target);
    part(w, w.active & ~same, op, w.join);
    w.set_active(same);
    ++w.worker->divergent[op->site];
  }
  return first;
}

const MicroOp* call_indirect(Warp& w, const MicroOp* op) {
  const CallInfo& info = *static_cast<const CallInfo*>(op->info);
  const uint64_t* target = w.row<uint64_t>(op->a);
  const unsigned first = split_by(w, op, [&](unsigned i) { return target[i]; });
  const uint64_t address = target[first];
  const auto& functions = w.worker->program->functions;
  const uint64_t index = offset_of(address) / 16 - 1;
  if (window_of(address) != kFunctionWindow || offset_of(address) % 16 != 0 || index >= functions.size() ||
      !functions[index]) {
    profile::Fault& fault = report_fault(w, op, profile::FaultKind::invalid_instruction, first);
    fault.detail = "call through a pointer that is not a device function's";
    exit_lanes(w, w.active);
    return nullptr;
  }
  return enter_function(w, op, info, *functions[index]);
}

const MicroOp* branch_indexed(Warp& w, const MicroOp* op) {
  const BranchTable& table = *static_cast<const BranchTable*>(op->info);
  const uint32_t* index = w.row<uint32_t>(op->a);
  const unsigned first = split_by(w, op, [&](unsigned i) { return index[i]; });
  if (index[first] >= table.targets.size()) {
    profile::Fault& fault = report_fault(w, op, profile::FaultKind::invalid_instruction, first);
    fault.detail = "branch index outside its table";
    exit_lanes(w, w.active);
    return nullptr;
  }
  return table.targets[index[first]];
}

const MicroOp* function_end(Warp& w, const MicroOp*) {
  Frame* frame = w.frame;
  if (!frame->call) {
    exit_lanes(w, w.active);
    return nullptr;
  }
  const MicroOp* call_op = frame->call;
  const CallInfo& info = *static_cast<const CallInfo*>(call_op->info);
  Frame* caller = frame->parent;
  const size_t results = std::min(info.results.size(), frame->program->results.size());
  for (size_t k = 0; k < results; ++k)
    copy_words(w, caller->regs, info.results[k], frame->regs, frame->program->results[k], w.active);
  leave_frame(w, frame, w.active);
  w.frame = caller;
  w.regs = caller->regs;
  return after(call_op);
}

const MicroOp* call_builtin(Warp& w, const MicroOp* op) {
  const BuiltinInfo& info = *static_cast<const BuiltinInfo*>(op->info);
  reinterpret_cast<const Builtin*>(info.function)->run(w, op, info);
  if (w.stop == Stop::exited) return nullptr;
  return after(op);
}

// alloca: a row of sizes (flags: 64-bit). Lanes of a frame share one layout, so all get room for the largest.
constexpr uint32_t kWideSize = 1, kWideAddress = 2;

void write_address(Warp& w, const MicroOp* op, uint64_t address) {
  for (LaneMask left = w.exec; left; left &= left - 1) {
    const unsigned i = static_cast<unsigned>(std::countr_zero(left));
    if (op->flags & kWideAddress)
      w.row<uint64_t>(op->dst)[i] = address;
    else
      w.row<uint32_t>(op->dst)[i] = static_cast<uint32_t>(address);
  }
}

const MicroOp* allocate_local(Warp& w, const MicroOp* op) {
  uint64_t most = 0;
  for (LaneMask left = w.exec; left; left &= left - 1) {
    const unsigned i = static_cast<unsigned>(std::countr_zero(left));
    most = std::max(most, op->flags & kWideSize ? w.row<uint64_t>(op->a)[i] : w.row<uint32_t>(op->a)[i]);
  }
  const uint64_t align = static_cast<uint64_t>(op->imm);
  const uint64_t base = (w.frame->local_top + align - 1) / align * align;
  if (most > UINT32_MAX || !reserve_local(w, base + most)) {
    report_fault(w, op, profile::FaultKind::stack_overflow,
                 static_cast<unsigned>(std::countr_zero(w.active)));
    exit_lanes(w, w.active);
    return nullptr;
  }
  w.frame->local_top = static_cast<uint32_t>(base + most);
  write_address(w, op, base);
  return op + 1;
}

const MicroOp* save_stack(Warp& w, const MicroOp* op) {
  write_address(w, op, w.frame->local_top);
  return op + 1;
}

// Gives memory back only when no other lanes of the frame could still be using it.
const MicroOp* restore_stack(Warp& w, const MicroOp* op) {
  const unsigned first = static_cast<unsigned>(std::countr_zero(w.exec));
  const uint64_t top = op->flags & kWideSize ? w.row<uint64_t>(op->a)[first] : w.row<uint32_t>(op->a)[first];
  if (w.exec == w.frame->lanes && top >= w.frame->local_base && top <= w.frame->local_top)
    w.frame->local_top = static_cast<uint32_t>(top);
  return op + 1;
}

}  // namespace

void emit_block_entry(Decoder& d, uint32_t counter, uint32_t instructions, bool join_point) {
  MicroOp& op = d.emit({join_point ? enter_join : enter_block, nullptr});
  op.site = counter;
  op.imm = instructions;
}

void emit_jump(Decoder& d) { d.emit({jump, nullptr}); }

void emit_function_end(Decoder& d) { d.emit({function_end, nullptr}); }

void emit_guard(Decoder& d, uint32_t predicate, bool negated) {
  d.program.guards.push_back(
      {d.out.function, static_cast<uint32_t>(&d.instruction() - d.function.instructions.data())});
  MicroOp& op = d.emit({guard, nullptr}, 0, predicate);
  op.imm = negated ? 0xffffffffll : 0;
  op.site = d.program.guard_count++;
}

static uint32_t new_branch(Decoder& d) {
  d.program.branches.push_back(
      {d.out.function, static_cast<uint32_t>(&d.instruction() - d.function.instructions.data())});
  return d.program.branch_count++;
}

void emit_branch(Decoder& d, uint32_t predicate, bool negated) {
  MicroOp& op = d.emit({branch, nullptr}, 0, predicate);
  op.imm = negated ? 0xffffffffll : 0;
  op.site = new_branch(d);
}

static bool decode_call(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  // call (results), target, (arguments), prototype;
  const Operand* target = nullptr;
  const Operand* results = nullptr;
  const Operand* arguments = nullptr;
  for (unsigned k = 0; k < i.operand_count; ++k) {
    const Operand& o = d.operand(k);
    if (o.kind == Operand::Kind::list) {
      (target ? arguments : results) = &o;
    } else if (!target && (o.kind == Operand::Kind::function || o.kind == Operand::Kind::reg)) {
      target = &o;
    }
  }
  if (!target) return d.fail("the function that is called is not known");
  auto slots = [&](const Operand* list, std::vector<ParamSlot>& into) {
    for (unsigned k = 0; list && k < list->count; ++k) {
      const Operand& o = d.element(*list, k);
      const ParamSlot* slot = d.slot_of(o);
      if (!slot) {
        d.fail("arguments must be .param variables");
        return;
      }
      into.push_back(*slot);
    }
  };
  if (target->kind == Operand::Kind::function) {
    const ptx::Function& callee = d.module.functions[target->index];
    if (callee.declared_only || find_builtin(callee.name)) {
      const Builtin* builtin = find_builtin(callee.name);
      if (!builtin)
        return d.fail("calls " + std::string(callee.name) + ", which the file declares but does not define");
      auto info = std::make_unique<BuiltinInfo>();
      info->function = builtin;
      info->name = std::string(callee.name);
      slots(arguments, info->arguments);
      slots(results, info->results);
      d.emit({call_builtin, nullptr}).info = info.get();
      d.out.builtins.push_back(std::move(info));
      return true;
    }
  }
  auto info = std::make_unique<CallInfo>();
  slots(arguments, info->arguments);
  slots(results, info->results);
  if (target->kind == Operand::Kind::function) {
    info->function = static_cast<int32_t>(target->index);
    d.emit({call, nullptr}).info = info.get();
  } else {
    uint32_t row = d.source(*target, ptx::Type::u64);
    MicroOp& op = d.emit({call_indirect, nullptr}, 0, row);
    op.info = info.get();
    op.site = new_branch(d);
  }
  d.out.calls.push_back(std::move(info));
  return true;
}

bool decode_control(Decoder& d, const Cfg& cfg, const Item& item, uint32_t block) {
  (void)item;
  switch (d.instruction().op) {
    case Op::exit: d.emit({exit_op, nullptr}); return true;
    case Op::ret:
      d.emit({exit_op, nullptr});  // of an entry; other functions jump to their last block
      return true;
    case Op::trap: d.emit({trap_op, nullptr}); return true;
    case Op::call: return decode_call(d);
    case Op::brx: {
      auto table = std::make_unique<BranchTable>();
      for (uint32_t target : cfg.blocks[block].successors)  // resolved when all blocks have their place
        table->targets.push_back(reinterpret_cast<const MicroOp*>(static_cast<uintptr_t>(target)));
      uint32_t row = d.source(0, ptx::Type::u32);
      MicroOp& op = d.emit({branch_indexed, nullptr}, 0, row);
      op.info = table.get();
      op.site = new_branch(d);
      d.out.tables.push_back(std::move(table));
      return true;
    }
    case Op::alloca_: {
      const ptx::Type type = d.instruction().type(0);
      const bool wide = ptx::size_bytes(type) == 8;
      int64_t align = 16;
      if (d.operand_count() > 2 && d.operand(2).kind == Operand::Kind::imm)
        align = std::max<int64_t>(d.operand(2).value, 16);
      const uint32_t size = d.source(1, type), dst = d.destination(0, type);
      MicroOp& op = d.emit({allocate_local, nullptr}, dst, size);
      op.imm = align;
      op.flags = wide ? kWideSize | kWideAddress : 0;
      return true;
    }
    case Op::stacksave:
      d.emit({save_stack, nullptr}, d.destination(0, d.instruction().type(0))).flags =
          ptx::size_bytes(d.instruction().type(0)) == 8 ? kWideAddress : 0;
      return true;
    case Op::stackrestore: {
      const ptx::Type type = d.instruction().type(0);
      const uint32_t top = d.source(0, type);
      d.emit({restore_stack, nullptr}, 0, top).flags = ptx::size_bytes(type) == 8 ? kWideSize : 0;
      return true;
    }
    default: return false;
  }
}

}  // namespace fullwarp::exec

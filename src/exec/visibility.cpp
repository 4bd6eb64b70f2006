// Can the blocks of this launch see each other while they run? Then they run in one fixed order; else on all
// cores. Also: the narrowest accesses, which set the grain of the race detector's shadows.
#include <algorithm>

#include "exec/decode.h"
#include "exec/handlers.h"

namespace fullwarp::exec {

using ptx::Mod;
using ptx::Op;
using ptx::Operand;
using ptx::Type;

namespace {

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

// Is the register written by `index` read anywhere in the function?
bool result_is_used(const ptx::Module& module, const ptx::Function& function,
                    const ptx::Instruction& writer) {
  const Operand& to = module.operands_of(writer)[0];
  if (to.kind == Operand::Kind::sink) return false;
  if (to.kind != Operand::Kind::reg) return true;
  for (const ptx::Instruction& i : function.instructions) {
    if (i.guard == static_cast<int32_t>(to.index)) return true;
    for (unsigned o = 0; o < i.operand_count; ++o) {
      if (&i == &writer && o == 0) continue;
      const Operand& operand = module.operands_of(i)[o];
      const bool names = (operand.kind == Operand::Kind::reg && operand.index == to.index) ||
                         (operand.kind == Operand::Kind::address && operand.base == Operand::Kind::reg &&
                          operand.index == to.index);
      if (names) {
        // A destination that is only written again is no reading; to be safe only `atom` ones count as such.
        if (o == 0 && operand.kind == Operand::Kind::reg && i.op == Op::atom) continue;
        return true;
      }
      if (operand.kind == Operand::Kind::vector || operand.kind == Operand::Kind::list)
        for (unsigned e = 0; e < operand.count; ++e) {
          const Operand& x = module.operands[operand.first + e];
          if (x.kind == Operand::Kind::reg && x.index == to.index) return true;
        }
    }
  }
  return false;
}

}  // namespace

bool atomic_result_is_used(const Decoder& d) { return result_is_used(d.module, d.function, d.instruction()); }

void scan_visibility(Program& program, const std::vector<int32_t>& functions) {
  const ptx::Module& module = *program.module;
  for (int32_t f : functions) {
    const ptx::Function& function = module.functions[static_cast<size_t>(f)];
    for (const ptx::Instruction& i : function.instructions) {
      const ptx::Space space = space_of(i);
      const bool sees_global = space == ptx::Space::global || space == ptx::Space::generic;
      switch (i.op) {
        case Op::atom:
          if (sees_global && (i.has(Mod::inc) || i.has(Mod::dec) || i.has(Mod::exch) || i.has(Mod::cas) ||
                              result_is_used(module, function, i)))
            program.ordered = true;
          else if (sees_global && is_float(i.type(0)))
            program.sums_in_order = true;
          break;
        case Op::red:
          if (sees_global && (i.has(Mod::inc) || i.has(Mod::dec)))
            program.ordered = true;
          else if (sees_global && is_float(i.type(0)))
            program.sums_in_order = true;
          break;
        case Op::call: {
          // Which addresses malloc gives depends on the order of the calls.
          const Operand& callee = module.operands_of(i)[1];
          if (callee.kind == Operand::Kind::function && module.functions[callee.index].name == "malloc")
            program.ordered = true;
          break;
        }
        case Op::ld:
          if (sees_global && is_strong(i)) program.ordered = true;
          break;
        default: break;
      }
      const bool orders = i.has(Mod::acquire) || i.has(Mod::release) || i.has(Mod::acq_rel);
      if (i.op == Op::membar || i.op == Op::fence || (orders && i.op != Op::mbarrier)) program.fences = true;
      const bool accesses = i.op == Op::ld || i.op == Op::st || i.op == Op::ldu;
      if (!accesses) continue;
      const unsigned bytes = ptx::size_bytes(i.type(0));
      const unsigned shift = bytes == 1 ? 0 : bytes == 2 ? 1 : 2;
      if (space == ptx::Space::shared || space == ptx::Space::generic)
        program.shared_granule_shift = std::min(program.shared_granule_shift, shift);
      if (sees_global) program.global_granule_shift = std::min(program.global_granule_shift, shift);
    }
  }
}

StoredParameters stored_parameters(const ptx::Module& module, const ptx::Function& function) {
  // Which parameters' values flow, through any arithmetic, into the address of a store? One bit a parameter
  // and register, to a fixed point. Pointers that come out of memory or go into calls are not followed: a
  // store through one is noticed while running.
  const size_t registers = function.registers.size();
  std::vector<uint64_t> from(registers, 0);
  auto of = [&](const Operand& o) -> uint64_t {
    if (o.kind == Operand::Kind::reg || (o.kind == Operand::Kind::address && o.base == Operand::Kind::reg))
      return from[o.index];
    if ((o.kind == Operand::Kind::param ||
         (o.kind == Operand::Kind::address && o.base == Operand::Kind::param)) &&
        o.index < 64)
      return uint64_t{1} << o.index;
    return 0;
  };
  uint64_t stored = 0, altered = 0, read = 0;
  bool complete = true;
  for (bool changed = true; changed;) {
    changed = false;
    complete = true;
    for (const ptx::Instruction& i : function.instructions) {
      if (i.operand_count == 0) continue;
      const Operand* operands = module.operands_of(i);
      const bool store =
          i.op == Op::st || (i.op == Op::wmma && i.has(Mod::store)) || (i.op == Op::cp && i.has(Mod::bulk));
      const bool atomic = i.op == Op::red || (i.op == Op::atom && i.operand_count > 1);
      const ptx::Space space = space_of(i);
      const bool sees_global = space == ptx::Space::global || space == ptx::Space::generic;
      if (sees_global && (i.op == Op::ld || i.op == Op::ldu) && i.operand_count > 1)
        read |= of(operands[1]) ? of(operands[1]) : ~uint64_t{0};
      else if (sees_global && !store && !atomic &&
               std::any_of(operands, operands + i.operand_count,
                           [](const Operand& o) { return o.kind == Operand::Kind::address; }))
        read = ~uint64_t{0};
      if (store || atomic) {
        const uint64_t to = of(operands[i.op == Op::atom ? 1 : 0]);
        (store ? stored : altered) |= to;
        if (to == 0 && sees_global) complete = false;
        continue;
      }
      if (i.op == Op::call) complete = false;
      if (i.op == Op::ld && space_of(i) != ptx::Space::param) continue;
      uint64_t all = 0;
      for (unsigned o = 1; o < i.operand_count; ++o) {
        all |= of(operands[o]);
        if (operands[o].kind == Operand::Kind::vector)
          for (unsigned e = 0; e < operands[o].count; ++e) all |= of(module.operands[operands[o].first + e]);
      }
      auto flow = [&](const Operand& to) {
        if (to.kind == Operand::Kind::reg && (from[to.index] | all) != from[to.index]) {
          from[to.index] |= all;
          changed = true;
        }
      };
      if (all == 0) continue;
      flow(operands[0]);
      if (operands[0].kind == Operand::Kind::vector)
        for (unsigned e = 0; e < operands[0].count; ++e) flow(module.operands[operands[0].first + e]);
    }
  }
  StoredParameters result;
  for (size_t p = 0; p < function.params.size(); ++p) {
    result.stored.push_back(p >= 64 || ((stored >> p) & 1));
    result.atomic.push_back(p >= 64 || ((altered >> p) & 1));
    result.changed.push_back(result.stored[p] || result.atomic[p]);
    result.read.push_back(p >= 64 || ((read >> p) & 1));
  }
  result.complete = complete;
  return result;
}

}  // namespace fullwarp::exec

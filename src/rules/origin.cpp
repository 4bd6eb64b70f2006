#include "rules/origin.h"

#include <set>

namespace fullwarp::rules {
namespace {

using ptx::Mod;
using ptx::Op;
using ptx::Operand;

// Enough for any address a compiler writes; a bound for one made to be long.
constexpr size_t kMaxVisited = 512;

bool writes_first_operand(const ptx::Instruction& instruction) {
  switch (instruction.op) {
    case Op::st:
    case Op::red:
    case Op::bra:
    case Op::bar:
    case Op::barrier:
    case Op::ret:
    case Op::exit: return false;
    default: return instruction.operand_count > 0;
  }
}

}  // namespace

Definitions::Definitions(const ptx::Module& module, int32_t function)
    : module_(module), function_(module.functions[static_cast<size_t>(function)]) {
  by_register_.resize(function_.registers.size());
  const auto add = [&](uint32_t reg, uint32_t instruction) {
    if (reg < by_register_.size()) by_register_[reg].push_back(instruction);
  };
  for (uint32_t i = 0; i < function_.instructions.size(); ++i) {
    const ptx::Instruction& instruction = function_.instructions[i];
    if (!writes_first_operand(instruction)) continue;
    const Operand& first = module.operands_of(instruction)[0];
    if (first.kind == Operand::Kind::reg) {
      add(first.index, i);
    } else if (first.kind == Operand::Kind::vector || first.kind == Operand::Kind::list) {
      for (uint32_t e = 0; e < first.count; ++e) {
        const Operand& element = module.operands[first.first + e];
        if (element.kind == Operand::Kind::reg) add(element.index, i);
      }
    }
  }
}

Origin Definitions::origin(uint32_t index, mem::AccessSpace space) const {
  const ptx::Instruction& instruction = function_.instructions[index];
  const Operand* operands = module_.operands_of(instruction);
  const Operand* address = nullptr;
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    if (operands[i].kind != Operand::Kind::address) continue;
    address = &operands[i];
    // cp.async [shared], [global]: the last address is the global one.
    if (space == mem::AccessSpace::shared) break;
  }
  if (!address) return {};

  std::set<uint32_t> variables, pointers, converted;
  std::set<uint32_t> visited;  // registers
  std::vector<uint32_t> pending;
  const auto take = [&](Operand::Kind kind, uint32_t which) {
    if (kind == Operand::Kind::variable) variables.insert(which);
    if (kind == Operand::Kind::reg && visited.size() < kMaxVisited && visited.insert(which).second)
      pending.push_back(which);
  };
  // The parameter that `cvta.to.global %rd3, %rd1` converts is a pointer for certain; other 64-bit parameters
  // may be sizes.
  const auto param_of = [&](uint32_t reg) -> int32_t {
    if (reg >= by_register_.size() || by_register_[reg].size() != 1) return -1;
    const ptx::Instruction& load = function_.instructions[by_register_[reg][0]];
    const Operand* o = module_.operands_of(load);
    return load.op == Op::ld && load.has(Mod::param) && load.operand_count > 1 &&
                   o[1].base == Operand::Kind::param
               ? static_cast<int32_t>(o[1].index)
               : -1;
  };

  take(address->base, address->index);
  while (!pending.empty()) {
    const uint32_t reg = pending.back();
    pending.pop_back();
    if (reg >= by_register_.size()) continue;
    for (const uint32_t i : by_register_[reg]) {
      const ptx::Instruction& def = function_.instructions[i];
      const Operand* o = module_.operands_of(def);
      if (def.op == Op::ld) {
        if (const int32_t param = param_of(reg); param >= 0 && ptx::size_bytes(def.type()) == 8)
          pointers.insert(static_cast<uint32_t>(param));
        continue;
      }
      if (def.op == Op::cvta && def.operand_count > 1 && o[1].kind == Operand::Kind::reg) {
        if (const int32_t param = param_of(o[1].index); param >= 0) {
          converted.insert(static_cast<uint32_t>(param));
          continue;
        }
      }
      if (def.op == Op::call || def.op == Op::atom) continue;
      for (unsigned k = 1; k < def.operand_count; ++k) take(o[k].kind, o[k].index);
    }
  }
  const std::set<uint32_t>& params = converted.empty() ? pointers : converted;
  Origin origin;
  if (variables.size() == 1) origin.variable = static_cast<int32_t>(*variables.begin());
  if (variables.empty() && params.size() == 1) origin.param = static_cast<int32_t>(*params.begin());
  return origin;
}

Definitions::Sources Definitions::sources_of(uint32_t first) const {
  Sources found;
  std::set<uint32_t> visited{first};  // registers
  std::vector<uint32_t> pending{first};
  while (!pending.empty()) {
    const uint32_t reg = pending.back();
    pending.pop_back();
    if (reg >= by_register_.size()) continue;
    if (visited.size() > kMaxVisited) return {.memory = true, .parameter = true};
    for (const uint32_t i : by_register_[reg]) {
      const ptx::Instruction& def = function_.instructions[i];
      const bool parameter = def.op == Op::ld && def.has(Mod::param);
      found.parameter |= parameter;
      found.memory |= !parameter && (def.op == Op::ld || def.op == Op::call || def.op == Op::atom);
      const Operand* o = module_.operands_of(def);
      for (unsigned k = 1; k < def.operand_count; ++k)
        if (o[k].kind == Operand::Kind::reg && visited.insert(o[k].index).second)
          pending.push_back(o[k].index);
    }
  }
  return found;
}

bool Definitions::guard_depends_on_memory(uint32_t index) const {
  const int32_t guard = function_.instructions[index].guard;
  return guard >= 0 && sources_of(static_cast<uint32_t>(guard)).memory;
}

bool Definitions::is_bounds_check(uint32_t index) const {
  const int32_t guard = function_.instructions[index].guard;
  if (guard < 0) return false;
  const Sources sources = sources_of(static_cast<uint32_t>(guard));
  if (sources.memory || !sources.parameter) return false;
  // The comparisons behind it, through `or` and `and`.
  std::set<uint32_t> visited;
  std::vector<uint32_t> pending{static_cast<uint32_t>(guard)};
  bool compares = false;
  while (!pending.empty()) {
    const uint32_t reg = pending.back();
    pending.pop_back();
    if (reg >= by_register_.size() || !visited.insert(reg).second) continue;
    for (const uint32_t i : by_register_[reg]) {
      const ptx::Instruction& def = function_.instructions[i];
      const Operand* o = module_.operands_of(def);
      if (def.op == Op::setp) {
        if (def.has(Mod::eq) || def.has(Mod::ne)) return false;
        compares = true;
      }
      if (def.op != Op::setp && def.op != Op::and_ && def.op != Op::or_ && def.op != Op::not_) return false;
      for (unsigned k = 1; k < def.operand_count; ++k) {
        const bool predicate = o[k].kind == Operand::Kind::reg && o[k].index < function_.registers.size() &&
                               function_.registers[o[k].index].type == ptx::Type::pred;
        if (predicate) pending.push_back(o[k].index);
      }
    }
  }
  return compares;
}

}  // namespace fullwarp::rules

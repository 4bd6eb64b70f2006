// Address registers whose lanes keep their distances from each other while a loop runs: pointers that move by the same
// amount in every lane, or not at all. Such a register gets a tag beside its row in the frame. Adding a value that is
// the same in all lanes keeps the tag, everything else (a partial write too) renews it, so that equal tags
// mean equal distances, and a memory operation that has compared its address with the site's pattern once need not do
// so again (ops_memory.cpp). Tag 0 stands for lanes that are all equal.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/cfg.h"
#include "ptx/module.h"

namespace fullwarp::exec {

class Decoder;

struct SteadyRegisters {
  std::vector<bool> tagged;   // by register
  std::vector<bool> uniform;  // by register: the same in all lanes that have written it
};
SteadyRegisters find_steady_registers(const Decoder& decoder, const Cfg& cfg);

// How the instruction's result follows from a register whose distances it keeps: that register plus or minus a uniform
// value, or a copy. `of` null: it does not.
struct Kept {
  const ptx::Operand* of = nullptr;
  const ptx::Operand* by = nullptr;  // null for a copy
};
template <class IsUniform>
Kept kept_distances(const ptx::Module& module, const ptx::Instruction& i, IsUniform is_uniform) {
  using ptx::Op;
  if (i.has(ptx::Mod::cc) || i.has(ptx::Mod::sat) || i.operand_count < 2) return {};
  const ptx::Operand* const o = &module.operands_of(i)[0];
  const auto is_register = [](const ptx::Operand& x) { return x.kind == ptx::Operand::Kind::reg && !x.negated; };
  if (!is_register(o[0]) || o[0].pair != -1) return {};
  const ptx::Type type = i.type(0);
  if (i.op == Op::mov && i.operand_count == 2 && (ptx::size_bytes(type) == 4 || ptx::size_bytes(type) == 8))
    return is_register(o[1]) ? Kept{&o[1], nullptr} : Kept{};
  const bool integer = type == ptx::Type::s32 || type == ptx::Type::u32 || type == ptx::Type::s64 || type == ptx::Type::u64;
  if ((i.op != Op::add && i.op != Op::sub) || !integer || i.operand_count != 3) return {};
  if (is_register(o[1]) && is_uniform(o[2])) return {&o[1], &o[2]};
  if (i.op == Op::add && is_register(o[2]) && is_uniform(o[1])) return {&o[2], &o[1]};
  return {};
}

}  // namespace fullwarp::exec

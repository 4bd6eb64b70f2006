// Address registers whose lanes keep their distances from each other while a loop runs: pointers that move by
// the same amount in every lane, or not at all. Such a register gets a tag beside its row in the frame. Equal
// tags mean equal distances, and tag 0 means that all lanes are equal: adding what has tag 0 keeps the
// other's tag, everything else (a partial write too) makes a new one. A memory operation that has compared a
// tagged address with its site's pattern once need not do so again (ops_memory.cpp).
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

// A copy, sum or difference of integers, from which a tag can pass on.
struct Kept {
  ptx::Op op = ptx::Op::count;  // mov, add or sub; count: none of them
  const ptx::Operand* a = nullptr;
  const ptx::Operand* b = nullptr;  // null for a copy
};
Kept kept_distances(const ptx::Module& module, const ptx::Instruction& instruction);

// Is the operand the same in all lanes, given which registers are (SteadyRegisters::uniform)? Is the result
// of the instruction, as a function of nothing but its operands?
bool is_uniform(const Decoder& decoder, const std::vector<bool>& uniform, const ptx::Operand& operand);
bool has_uniform_result(const Decoder& decoder, const std::vector<bool>& uniform,
                        const ptx::Instruction& instruction);

}  // namespace fullwarp::exec

// Which operands an instruction writes.
#pragma once

#include <cstdint>

#include "ptx/module.h"

namespace fullwarp::ptx {

// Does operand 0 name what the instruction writes? (Not so for a call: its results are .param variables.)
bool writes_first_operand(const Instruction& instruction);

// Does it read what operand 0 names too, as an accumulator?
inline bool reads_first_operand(const Instruction& instruction) { return instruction.op == Op::wgmma; }

// Calls `visit(register)` for every register that operand 0 names, in order; for instructions that write it.
template <class Visit>
void for_each_written(const Module& module, const Instruction& instruction, Visit visit) {
  using Kind = Operand::Kind;
  if (instruction.operand_count == 0) return;
  const Operand& first = module.operands_of(instruction)[0];
  if (first.kind == Kind::reg) {
    visit(static_cast<uint32_t>(first.index));
    if (first.pair >= 0) visit(static_cast<uint32_t>(first.pair));
  }
  if (first.kind == Kind::vector || first.kind == Kind::list)
    for (uint32_t i = 0; i < first.count; ++i)
      if (module.operands[first.first + i].kind == Kind::reg)
        visit(static_cast<uint32_t>(module.operands[first.first + i].index));
}

}  // namespace fullwarp::ptx

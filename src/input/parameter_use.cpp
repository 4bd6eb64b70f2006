// Which parameters are pointers, where no C++ type says it. Triton and Numba write PTX whose parameters are
// called by number and whose pointers are .u64 like a length; what the kernel does with the value tells: a
// pointer reaches an address, directly or with offsets added, and a factor, a shift or a bound does not.
// A value that a call, a store or anything unusual takes away counts as a pointer: it may be one.
#include "input/parameter_use.h"

#include <algorithm>
#include <vector>

#include "ptx/writes.h"

namespace fullwarp::input {
namespace {

using ptx::Operand;
using Carried = uint64_t;  // bit i: may hold parameter i plus an offset

constexpr unsigned kFollowed = 64;  // parameters; those behind stay unknown

// May the result be operand `o` with an offset? Products, shifts, quotients and conditions are none.
bool carries(const ptx::Instruction& instruction, unsigned o) {
  switch (instruction.op) {
    case ptx::Op::mad: return o == 3;
    case ptx::Op::mul:
    case ptx::Op::shl:
    case ptx::Op::shr:
    case ptx::Op::div:
    case ptx::Op::rem:
    case ptx::Op::setp:
    case ptx::Op::min:
    case ptx::Op::max: return false;
    default: return true;
  }
}

struct Walk {
  const ptx::Module& module;
  std::vector<Carried> registers;
  Carried read = 0, address = 0;
  bool changed = false;

  Carried of(const Operand& operand) const {
    if (operand.kind == Operand::Kind::reg)
      return operand.index < registers.size() ? registers[operand.index] : 0;
    Carried all = 0;
    if (operand.kind == Operand::Kind::vector || operand.kind == Operand::Kind::list)
      for (unsigned i = 0; i < operand.count; ++i) all |= of(module.operands[operand.first + i]);
    return all;
  }

  void see(const ptx::Instruction& instruction) {
    const bool writes = ptx::writes_first_operand(instruction);
    Carried result = 0;
    for (unsigned o = 0; o < instruction.operand_count; ++o) {
      const Operand& operand = module.operands_of(instruction)[o];
      const bool in_brackets = operand.kind == Operand::Kind::address;
      const bool parameter =
          operand.kind == Operand::Kind::param || (in_brackets && operand.base == Operand::Kind::param);
      if (parameter && operand.index < kFollowed) {
        read |= Carried{1} << operand.index;
        // The value where it is loaded; else the parameter's own address, which goes anywhere.
        (instruction.op == ptx::Op::ld ? result : address) |= Carried{1} << operand.index;
      } else if (in_brackets && operand.base == Operand::Kind::reg) {
        address |= operand.index < registers.size() ? registers[operand.index] : 0;
      } else if (writes && o == 0) {
        continue;
      } else if (!writes && instruction.op != ptx::Op::bra) {
        address |= of(operand);  // stored, or handed to a call
      } else if (carries(instruction, o)) {
        result |= of(operand);
      }
    }
    if (!writes) return;
    ptx::for_each_written(module, instruction, [&](uint32_t written) {
      if (written >= registers.size() || (registers[written] | result) == registers[written]) return;
      registers[written] |= result;
      changed = true;
    });
  }
};

}  // namespace

void note_uses(const ptx::Module& module, const ptx::Function& function,
               std::vector<ParameterInfo>* parameters) {
  const auto open = [](const ParameterInfo& p) {
    return p.type.empty() && !p.is_struct && p.ptx_type == ptx::Type::u64;
  };
  if (std::none_of(parameters->begin(), parameters->end(), open)) return;
  Walk walk{module, std::vector<Carried>(function.registers.size()), 0, 0, false};
  constexpr int kPasses = 4;  // a value that goes round a loop needs one more than it passes back edges
  for (int pass = 0; pass < kPasses && (pass == 0 || walk.changed); ++pass) {
    walk.changed = false;
    for (const ptx::Instruction& instruction : function.instructions) walk.see(instruction);
  }
  for (size_t i = 0; i < std::min<size_t>(parameters->size(), kFollowed); ++i) {
    ParameterInfo& parameter = (*parameters)[i];
    if (!open(parameter)) continue;
    const Carried bit = Carried{1} << i;
    parameter.use = (walk.address & bit) != 0 ? Use::address
                    : (walk.read & bit) != 0  ? Use::number
                                              : Use::none;
  }
}

}  // namespace fullwarp::input

// Any bytes as PTX: the parser gives a module or an error, never a crash, a hang or unbounded memory. What
// the tree says is checked too: an index out of range would crash whoever reads it.
#include <cstdint>
#include <cstdlib>

#include "ptx/forms.h"
#include "ptx/parser.h"

namespace {

using namespace fullwarp::ptx;

void require(bool good) {
  if (!good) std::abort();
}

void check(const Module& module, const Function& function, const Operand& operand, int depth) {
  using Kind = Operand::Kind;
  Kind kind = operand.kind == Kind::address ? operand.base : operand.kind;
  switch (kind) {
    case Kind::reg: require(operand.index < function.registers.size()); break;
    case Kind::variable: require(operand.index < module.variables.size()); break;
    case Kind::param: require(operand.index < function.params.size()); break;
    case Kind::ret_param: require(operand.index < function.returns.size()); break;
    case Kind::function: require(operand.index < module.functions.size()); break;
    case Kind::label:
      require(operand.value >= 0 && operand.value <= static_cast<int64_t>(function.instructions.size()));
      break;
    case Kind::targets: require(operand.index < function.branch_targets.size()); break;
    case Kind::prototype: require(operand.index < function.prototypes.size()); break;
    default: break;
  }
  require(operand.pair >= -2 && operand.pair < static_cast<int64_t>(function.registers.size()));
  require(operand.first + operand.count <= module.operands.size() && depth < 4);
  for (unsigned i = 0; i < operand.count; ++i)
    check(module, function, module.operands[operand.first + i], depth + 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto module = parse(std::string(reinterpret_cast<const char*>(data), size), "fuzz.ptx");
  if (!module) {
    require(!module.error().message.empty());
    return 0;
  }
  for (const Function& function : module->functions) {
    for (const Instruction& instruction : function.instructions) {
      require(instruction.op < Op::count && instruction.form < forms().size());
      require(instruction.guard < static_cast<int64_t>(function.registers.size()));
      require(instruction.location < static_cast<int64_t>(module->locations.size()));
      require(instruction.first_operand + instruction.operand_count <= module->operands.size());
      for (unsigned i = 0; i < instruction.operand_count; ++i)
        check(*module, function, module->operands_of(instruction)[i], 0);
    }
    for (const BranchTargets& targets : function.branch_targets)
      for (uint32_t target : targets.instructions) require(target <= function.instructions.size());
  }
  for (const Variable& variable : module->variables) {
    require(variable.init.size() <= variable.bytes);
    for (const Relocation& relocation : variable.relocations)
      require(relocation.offset + uint64_t{relocation.size_bytes} <= variable.bytes &&
              relocation.variable < static_cast<int64_t>(module->variables.size()) &&
              relocation.function < static_cast<int64_t>(module->functions.size()));
  }
  return 0;
}

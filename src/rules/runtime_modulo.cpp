// runtime-modulo: divisions and remainders by a value that is the same in the whole launch but unknown to the
// compiler.
#include <fmt/format.h>

#include <bit>
#include <map>

#include "rules/context.h"
#include "rules/source_text.h"
#include "rules/text.h"

namespace fullwarp::rules {
namespace {

constexpr Threshold kThresholds[] = {
    {"min-share", 0.02,
     "such divisions as a share of the kernel's PTX instructions; each is about 20 machine "
     "instructions, so that 0.02 is more than a quarter of the work"},
};

bool is_integer(ptx::Type type) {
  switch (type) {
    case ptx::Type::u16:
    case ptx::Type::u32:
    case ptx::Type::u64:
    case ptx::Type::s16:
    case ptx::Type::s32:
    case ptx::Type::s64: return true;
    default: return false;
  }
}

bool is_signed(ptx::Type type) {
  return type == ptx::Type::s16 || type == ptx::Type::s32 || type == ptx::Type::s64;
}

// A register that only ever holds an immediate is a constant to ptxas too.
bool is_constant(Context& context, profile::InstructionId id, const ptx::Instruction& division) {
  if (division.operand_count < 3) return true;
  const ptx::Operand& divisor = context.module.operands_of(division)[2];
  if (divisor.kind != ptx::Operand::Kind::reg) return true;
  const auto& definitions = context.definitions(id.function).of(divisor.index);
  if (definitions.size() != 1) return false;
  const ptx::Function& function = context.module.functions[static_cast<size_t>(id.function)];
  const ptx::Instruction& definition = function.instructions[definitions.front()];
  return definition.op == ptx::Op::mov && definition.operand_count > 1 &&
         context.module.operands_of(definition)[1].kind == ptx::Operand::Kind::imm;
}

struct Line {
  profile::InstructionId first;
  const ptx::Instruction* division = nullptr;
  uint64_t warps = 0;
  uint64_t value = 0;
  size_t count = 0;
  bool remainder = false, quotient = false;
};

void run(Context& context, std::vector<diag::Finding>& findings) {
  const Rule& rule = runtime_modulo_rule;
  // Of one line and one divisor: `i / n` and `i % n` have one cure.
  std::map<std::tuple<std::string, uint32_t, uint64_t>, Line> lines;
  for (const profile::DivisorObservation& seen : context.profile.divisors) {
    const ptx::Instruction* division = context.instruction(seen.instruction);
    const profile::ExecutionCounters* executed = context.executed(seen.instruction);
    if (!seen.uniform || !division || !executed || executed->warps == 0 || !is_integer(division->type()))
      continue;
    if (is_constant(context, seen.instruction, *division)) continue;
    const diag::Place place = context.place(seen.instruction);
    Line& line = lines[{place.file, place.line, seen.value}];
    if (line.count++ == 0) {
      line.first = seen.instruction;
      line.division = division;
      line.value = seen.value;
    }
    line.warps += executed->warps;
    (division->op == ptx::Op::rem ? line.remainder : line.quotient) = true;
  }
  const double total = static_cast<double>(context.profile.warp_instructions);
  for (const auto& [key, line] : lines) {
    const double share = total > 0 ? static_cast<double>(line.warps) / total : 0;
    if (share < context.threshold(rule, "min-share")) continue;
    diag::Finding finding = context.finding(rule, line.first);
    finding.count = line.count;
    const char op = line.remainder ? '%' : '/';
    std::string divisor = "the divisor";
    if (const auto found = divisor_in(context.line(finding.place), op)) {
      divisor = found->text;
      finding.place.column = found->column;
      finding.place.end_column = found->end_column;
    }
    const bool named = divisor != "the divisor";
    finding.message = fmt::format("{} by {}, which is {} in the whole launch but not known to the compiler",
                                  line.remainder && line.quotient ? "division and remainder"
                                  : line.remainder                ? "remainder"
                                                                  : "division",
                                  named ? fmt::format("`{}`", divisor) : "a value", line.value);
    finding.label = "about 20 machine instructions each";
    finding.share = share;
    finding.notes.insert(finding.notes.begin(),
                         {fmt::format("{} by a warp: {} of this kernel's PTX instructions",
                                      counted(line.warps, "execution"), percent(share)),
                          {}});
    const bool power = std::has_single_bit(line.value);
    finding.evidence = {{"executions", static_cast<int64_t>(line.warps)},
                        {"divisor", static_cast<int64_t>(line.value)},
                        {"power_of_two", static_cast<int64_t>(power)}};
    if (power) {
      finding.notes.push_back({fmt::format("{} is a power of two here", line.value), {}});
      finding.fix = fmt::format(
          "if it always is one, use `{}` (on unsigned values, or where the dividend is not negative)",
          line.remainder ? fmt::format("& ({} - 1)", named ? divisor : std::to_string(line.value))
                         : fmt::format(">> {}", std::countr_zero(line.value)));
      finding.fix += "; if it is fixed, make it a template parameter or `constexpr`";
    } else {
      finding.fix =
          "make it a template parameter or `constexpr` if it takes few values; else multiply by a reciprocal "
          "computed once on the host (fast division)";
    }
    if (is_signed(line.division->type())) finding.fix += "; unsigned operands are cheaper than signed ones";
    findings.push_back(std::move(finding));
  }
}

}  // namespace

const Rule runtime_modulo_rule = {
    {"runtime-modulo", "integer division by a value fixed in the launch but not in the code",
     diag::Level::warning, kThresholds},
    run};

}  // namespace fullwarp::rules

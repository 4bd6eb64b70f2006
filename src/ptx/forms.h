// The rows of instructions.def at run time: which forms an instruction may take. The parser checks every
// instruction against them and notes the row it found in Instruction::form, so that whoever reads the tree
// can ask for its memory kind, its cost class and its operand shape:
//
//   const Form& form = forms()[instruction.form];
//   if (form.memory == MemoryKind::load) ...
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/module.h"

namespace fullwarp::ptx {

// What an instruction does to memory.
enum class MemoryKind : uint8_t { none, load, store, atomic, reduction, async, matrix, prefetch, fence };

// The unit that issues it.
enum class Cost : uint8_t {
  alu,
  imul,
  fma,
  half,
  fp64,
  sfu,
  convert,
  tensor,
  memory,
  texture,
  warp,
  sync,
  control,
};

// A dotted component after the first: a modifier or a type.
struct Component {
  uint16_t code = 0;
  static Component of(Mod mod) { return {static_cast<uint16_t>(mod)}; }
  static Component of(Type type) { return {static_cast<uint16_t>(0x8000u | static_cast<unsigned>(type))}; }
  bool is_type() const { return (code & 0x8000u) != 0; }
  Mod mod() const { return static_cast<Mod>(code); }
  Type type() const { return static_cast<Type>(code & 0x7fffu); }
  bool operator==(const Component&) const = default;
};

// One place of a pattern: any one of `choices`, or nothing if it is optional.
struct PatternStep {
  bool optional = false;
  std::vector<Component> choices;
};

// The kinds an operand may have at one position: bit i allows Operand::Kind i.
struct OperandShape {
  uint32_t kinds = 0;
  bool pair = false;  // may carry a second register, `%p|%q`
  bool allows(const Operand& operand) const {
    return (kinds >> static_cast<unsigned>(operand.kind) & 1u) != 0 && (pair || operand.pair == -1);
  }
};

struct Form {
  Op op = Op::count;
  std::string_view pattern;   // as in instructions.def
  std::string_view operands;  // as in instructions.def
  MemoryKind memory = MemoryKind::none;
  Cost cost = Cost::alu;
  uint16_t min_ptx = 0;  // times ten
  uint16_t min_sm = 0;
  std::vector<PatternStep> steps;
  std::vector<OperandShape> shapes;
  uint32_t required_operands = 0;  // shapes from here on may be left out

  // Whether the components are of this pattern. As ptxas does, the second takes modifiers in any order, where
  // the types keep theirs; it gives the components in the order of the pattern.
  bool matches(std::span<const Component> components) const;
  bool matches_reordered(std::span<const Component> components, std::vector<Component>& in_order) const;
  bool accepts(std::span<const Operand> operand_list) const;
};

// All rows, in the order of instructions.def. Built on first use; safe from several threads.
const std::vector<Form>& forms();

// The rows of one Op: forms()[first] up to forms()[last - 1].
struct FormRange {
  uint16_t first = 0, last = 0;
};
FormRange forms_of(Op op);

std::string_view to_string(MemoryKind kind);
std::string_view to_string(Cost cost);

// What is wrong with the table: words that are no modifier, type or set, rows that say the same twice,
// operand letters that do not exist. Empty if it is in order; a test holds it to that.
std::vector<std::string> table_problems();

}  // namespace fullwarp::ptx

// Turns the text columns of instructions.def into steps that can be compared with an instruction. Patterns
// are compiled once per process; matching tries optional components greedily and goes back where that fails,
// which costs little because the parser matches once per distinct instruction, not once per instruction.
#include "ptx/forms.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "ptx/names.h"

namespace fullwarp::ptx {
namespace {

struct Set {
  std::string_view name, text;
};

constexpr Set kSets[] = {
#define FULLWARP_PTX_SET(name, text) {#name, text},
#include "ptx/instructions.def"
};

struct Row {
  Op op;
  std::string_view pattern, operands;
  MemoryKind memory;
  Cost cost;
  uint16_t ptx, sm;
};

constexpr Row kRows[] = {
#define FULLWARP_PTX_FORM(op, pattern, operands, memory, cost, ptx, sm) \
  {Op::op, pattern, operands, MemoryKind::memory, Cost::cost, ptx, sm},
#include "ptx/instructions.def"
};

constexpr uint32_t bit(Operand::Kind kind) { return 1u << static_cast<unsigned>(kind); }

uint32_t kinds_of(char letter) {
  using Kind = Operand::Kind;
  constexpr uint32_t value = bit(Kind::reg) | bit(Kind::imm) | bit(Kind::special) | bit(Kind::variable) |
                             bit(Kind::param) | bit(Kind::ret_param) | bit(Kind::function);
  switch (letter) {
    case 'r': return bit(Kind::reg) | bit(Kind::sink);
    case 'v': return bit(Kind::reg) | bit(Kind::sink) | bit(Kind::vector);
    case 'a': return value;
    case 'b': return value | bit(Kind::vector);
    case 'p': return bit(Kind::reg) | bit(Kind::imm);
    case 'm': return bit(Kind::address);
    case 'l': return bit(Kind::label);
    case 't': return bit(Kind::targets);
    case 'f': return bit(Kind::function) | bit(Kind::reg);
    case 's': return bit(Kind::list);
    case 'o': return bit(Kind::none) | bit(Kind::prototype);
    default: return 0;
  }
}

// Calls `found` with each part of `text` between `separator`s.
template <class Found>
void split(std::string_view text, char separator, const Found& found) {
  while (!text.empty()) {
    size_t end = text.find(separator);
    if (end == std::string_view::npos) end = text.size();
    if (end != 0) found(text.substr(0, end));
    text.remove_prefix(end == text.size() ? end : end + 1);
  }
}

void add_choices(std::string_view text, std::vector<Component>& choices, std::vector<std::string>* problems) {
  split(text, '|', [&](std::string_view word) {
    for (const Set& set : kSets)
      if (set.name == word) return add_choices(set.text, choices, problems);
    if (word.ends_with('*')) {
      for (unsigned i = 0; i < static_cast<unsigned>(Mod::count); ++i)
        if (to_string(static_cast<Mod>(i)).starts_with(word.substr(0, word.size() - 1)))
          choices.push_back(Component::of(static_cast<Mod>(i)));
    } else if (auto type = type_from(word)) {
      choices.push_back(Component::of(*type));
    } else if (auto mod = mod_from(word)) {
      choices.push_back(Component::of(*mod));
    } else if (problems != nullptr) {
      problems->push_back("no modifier, type or set is called '" + std::string(word) + "'");
    }
  });
}

Form compile(const Row& row, std::vector<std::string>* problems) {
  Form form;
  form.op = row.op;
  form.pattern = row.pattern;
  form.operands = row.operands;
  form.memory = row.memory;
  form.cost = row.cost;
  form.min_ptx = row.ptx;
  form.min_sm = row.sm;
  split(row.pattern, ' ', [&](std::string_view word) {
    PatternStep step;
    step.optional = word.ends_with('?');
    if (step.optional) word.remove_suffix(1);
    add_choices(word, step.choices, problems);
    form.steps.push_back(std::move(step));
  });
  split(row.operands, ' ', [&](std::string_view word) {
    OperandShape shape;
    shape.kinds = kinds_of(word[0]);
    shape.pair = word.find('|') != std::string_view::npos;
    if (!word.ends_with('?')) {
      if (problems != nullptr && form.required_operands != form.shapes.size())
        problems->push_back("an operand that must be there follows one that may be left out: " +
                            std::string(row.operands));
      form.required_operands = static_cast<uint32_t>(form.shapes.size()) + 1;
    }
    if (problems != nullptr && shape.kinds == 0)
      problems->push_back("no operand letter '" + std::string(word) + "'");
    form.shapes.push_back(shape);
  });
  return form;
}

bool match_from(std::span<const PatternStep> steps, std::span<const Component> components) {
  if (components.size() > steps.size()) return false;
  if (steps.empty()) return true;
  const PatternStep& step = steps.front();
  if (!components.empty()) {
    for (Component choice : step.choices) {
      if (choice != components.front()) continue;
      if (match_from(steps.subspan(1), components.subspan(1))) return true;
      break;
    }
  }
  return step.optional && match_from(steps.subspan(1), components);
}

// The same in any order: `used` marks the components that already have their place.
bool match_reordered(std::span<const PatternStep> steps, std::span<const Component> components, uint32_t used,
                     std::vector<Component>& in_order) {
  size_t open = components.size() - in_order.size();
  if (open > steps.size()) return false;
  if (steps.empty()) return true;
  const PatternStep& step = steps.front();
  bool type_passed = false;  // types keep their order: only the first open one may be taken
  for (size_t i = 0; i < components.size(); ++i) {
    if ((used >> i & 1u) != 0 || (components[i].is_type() && type_passed)) continue;
    type_passed = type_passed || components[i].is_type();
    if (std::find(step.choices.begin(), step.choices.end(), components[i]) == step.choices.end()) continue;
    in_order.push_back(components[i]);
    if (match_reordered(steps.subspan(1), components, used | 1u << i, in_order)) return true;
    in_order.pop_back();
    break;
  }
  return step.optional && match_reordered(steps.subspan(1), components, used, in_order);
}

}  // namespace

bool Form::matches_reordered(std::span<const Component> components, std::vector<Component>& in_order) const {
  in_order.clear();
  return components.size() <= 32 && match_reordered(steps, components, 0, in_order);
}

bool Form::matches(std::span<const Component> components) const { return match_from(steps, components); }

bool Form::accepts(std::span<const Operand> operand_list) const {
  if (operand_list.size() < required_operands || operand_list.size() > shapes.size()) return false;
  for (size_t i = 0; i < operand_list.size(); ++i)
    if (!shapes[i].allows(operand_list[i])) return false;
  return true;
}

const std::vector<Form>& forms() {
  static const std::vector<Form> all = [] {
    std::vector<Form> result;
    for (const Row& row : kRows) result.push_back(compile(row, nullptr));
    return result;
  }();
  return all;
}

FormRange forms_of(Op op) {
  static const auto ranges = [] {
    std::array<FormRange, static_cast<size_t>(Op::count)> result;
    for (size_t i = 0; i < std::size(kRows); ++i) {
      FormRange& range = result[static_cast<size_t>(kRows[i].op)];
      if (range.last == 0) range.first = static_cast<uint16_t>(i);
      range.last = static_cast<uint16_t>(i + 1);
    }
    return result;
  }();
  return op < Op::count ? ranges[static_cast<size_t>(op)] : FormRange{};
}

std::string_view to_string(MemoryKind kind) {
  constexpr std::string_view names[] = {"none",  "load",   "store",    "atomic", "reduction",
                                        "async", "matrix", "prefetch", "fence"};
  return names[static_cast<size_t>(kind)];
}

std::string_view to_string(Cost cost) {
  constexpr std::string_view names[] = {"alu",    "imul",   "fma",     "half", "fp64", "sfu",    "convert",
                                        "tensor", "memory", "texture", "warp", "sync", "control"};
  return names[static_cast<size_t>(cost)];
}

std::vector<std::string> table_problems() {
  std::vector<std::string> problems;
  std::set<std::string> seen;
  Op current = Op::count;
  std::set<Op> closed;
  for (const Row& row : kRows) {
    std::string name(to_string(row.op));
    if (row.op != current && !closed.insert(row.op).second)
      problems.push_back(name + " has rows in two places");
    current = row.op;
    if (!seen.insert(name + " " + std::string(row.pattern) + " " + std::string(row.operands)).second)
      problems.push_back(name + " has this row twice: " + std::string(row.pattern));
    size_t before = problems.size();
    compile(row, &problems);
    for (size_t i = before; i < problems.size(); ++i) problems[i] = name + ": " + problems[i];
  }
  std::map<std::string_view, int> words;
  for (unsigned i = 0; i < static_cast<unsigned>(Op::count); ++i) {
    Op op = static_cast<Op>(i);
    if (words[to_string(op)]++ != 0) problems.push_back("two rows for " + std::string(to_string(op)));
    if (forms_of(op).last == 0) problems.push_back("no form of " + std::string(to_string(op)));
  }
  words.clear();
  for (unsigned i = 0; i < static_cast<unsigned>(Mod::count); ++i)
    if (words[to_string(static_cast<Mod>(i))]++ != 0)
      problems.push_back("two modifiers ." + std::string(to_string(static_cast<Mod>(i))));
  for (unsigned i = 1; i < static_cast<unsigned>(Type::count); ++i)
    if (words[to_string(static_cast<Type>(i))]++ != 0)
      problems.push_back("modifier and type ." + std::string(to_string(static_cast<Type>(i))));
  return problems;
}

}  // namespace fullwarp::ptx

// The statements of a function body: blocks, labels, instructions. A label may be used before it stands in
// the text, and an inner block may reuse an outer block's name, so a use that cannot be settled yet waits for
// the end of its block and, if the block did not define it, moves one block out.
#include <utility>

#include "ptx/parser_impl.h"

namespace fullwarp::ptx {

using Kind = Operand::Kind;

bool Parser::open_scope() {
  if (scope_open_.size() == kMaxScopes) return fail("blocks are nested too deeply");
  symbols_.open_scope();
  scope_open_.push_back(open_.size());
  return true;
}

bool Parser::close_scope() {
  size_t begin = scope_open_.back(), kept = begin;
  scope_open_.pop_back();
  for (size_t i = begin; i < open_.size(); ++i) {
    Symbol symbol = symbols_.find(open_[i].name);
    bool here = symbol.kind != Symbol::Kind::none && symbol.depth == symbols_.depth();
    if (here) {
      if (!resolve(open_[i], symbol)) return false;
    } else if (scope_open_.empty()) {
      return fail_at(open_[i].name.data(), "label " + quoted(open_[i].name) + " is not defined");
    } else {
      open_[kept++] = open_[i];
    }
  }
  open_.resize(kept);
  symbols_.close_scope();
  return true;
}

// Fills in an operand or a table entry once its name is known.
bool Parser::resolve(const OpenName& open, const Symbol& symbol) {
  if (open.targets >= 0) {
    if (symbol.kind != Symbol::Kind::label)
      return fail_at(open.name.data(), quoted(open.name) + " is not a label");
    f_->branch_targets[static_cast<size_t>(open.targets)].instructions[open.operand] = symbol.index;
    return true;
  }
  Operand& operand = m_.operands[open.operand];
  Kind wanted = operand.kind;
  if (!set_target(operand, symbol) || operand.kind != wanted)
    return fail_at(open.name.data(),
                   quoted(open.name) + (wanted == Kind::label     ? " is not a label"
                                        : wanted == Kind::targets ? " is not a list of targets"
                                                                  : " is not a prototype"));
  return true;
}

bool Parser::set_target(Operand& operand, const Symbol& symbol) const {
  switch (symbol.kind) {
    case Symbol::Kind::label:
      operand.kind = Kind::label;
      operand.value = symbol.index;
      operand.index = 0;
      return true;
    case Symbol::Kind::targets:
      operand.kind = Kind::targets;
      operand.index = symbol.index;
      return true;
    case Symbol::Kind::prototype:
      operand.kind = Kind::prototype;
      operand.index = symbol.index;
      return true;
    default: return false;
  }
}

bool Parser::body() {
  c_.advance();  // {
  open_.clear();
  scope_open_.clear();
  if (!open_scope()) return false;
  if (!declare_parameters(f_->returns, Symbol::Kind::ret_param) ||
      !declare_parameters(f_->params, Symbol::Kind::param))
    return false;
  while (!scope_open_.empty()) {
    c_.skip_space();
    switch (c_.peek()) {
      case '}':
        c_.advance();
        if (!close_scope()) return false;
        break;
      case '{':
        c_.advance();
        if (!open_scope()) return false;
        break;
      case ';': c_.advance(); break;
      case '.':
        if (!body_directive()) return false;
        break;
      case '@': {
        int32_t reg = -1;
        bool negated = false;
        if (!guard(reg, negated)) return false;
        c_.skip_space();
        Place place{c_.line(), c_.column()};
        const char* where = c_.position();
        const Opcode* known = known_opcode();
        std::string_view text = known != nullptr ? known->text : c_.opcode();
        if (text.empty()) return fail_expected("an instruction");
        if (!instruction(place, where, known != nullptr ? *known : opcodes_.find(text), reg, negated))
          return false;
        break;
      }
      default:
        if (c_.at_end()) return fail("the file ends inside function " + quoted(f_->name), "a '}' is missing");
        if (!label_or_instruction()) return false;
    }
  }
  // What grew keeps its room for the next function; this one gets a copy that fits.
  instructions_room_.swap(f_->instructions);
  registers_room_.swap(f_->registers);
  f_->instructions.assign(instructions_room_.begin(), instructions_room_.end());
  f_->registers.assign(registers_room_.begin(), registers_room_.end());
  f_ = nullptr;
  f_index_ = -1;
  location_ = -1;
  return true;
}

bool Parser::guard(int32_t& reg, bool& negated) {
  c_.advance();
  c_.skip_space();
  negated = c_.accept('!');
  c_.skip_space();
  const char* where = c_.position();
  if (uint32_t plain = 0; c_.peek() == '%' && plain_register(plain)) {
    reg = static_cast<int32_t>(plain);
    if (is_predicate(plain)) return true;
    return fail_at(where, "register " + quoted(f_->registers[plain].name) + " is not a predicate");
  }
  std::string_view word;
  if (!name(word)) return false;
  Symbol symbol = lookup(word);
  if (symbol.kind != Symbol::Kind::reg) return fail_at(where, quoted(word) + " is not a declared predicate");
  if (!is_predicate(symbol.index)) return fail_at(where, "register " + quoted(word) + " is not a predicate");
  reg = static_cast<int32_t>(symbol.index);
  return true;
}

// The instruction whose name comes next, if it was met before; null, with nothing read, if not.
const Opcode* Parser::known_opcode() {
  const char* p = c_.position();
  if (c_.end() - p < static_cast<ptrdiff_t>(kReadAhead)) return nullptr;
  ShortText text = short_text(p);
  const Opcode* known = opcodes_.find_again(text);
  if (known != nullptr) c_.advance(text.length);
  return known;
}

bool Parser::label_or_instruction() {
  const char* where = c_.position();
  Place place{c_.line(), c_.column()};
  if (const Opcode* known = known_opcode()) {
    c_.skip_space();
    if (c_.peek() != ':') return instruction(place, where, *known, -1, false);
    c_.advance();
    return label(where, known->text);
  }
  std::string_view text = c_.opcode();
  if (text.empty() || c_.peek() == '$' || c_.peek() == '%') {
    c_.word();
    text = {where, static_cast<size_t>(c_.position() - where)};
    if (text.empty()) return fail_expected("an instruction");
  }
  c_.skip_space();
  if (c_.peek() == ':') {
    c_.advance();
    return label(where, text);
  }
  return instruction(place, where, opcodes_.find(text), -1, false);
}

bool Parser::label(const char* where, std::string_view name) {
  if (is(name[0], kDigitChar) || name.find('.') != std::string_view::npos)
    return fail_at(where, quoted(name) + " cannot be the name of a label");
  Symbol symbol;
  c_.skip_space();
  if (c_.peek() == '.') {
    const char* directive_at = c_.position();
    c_.advance();
    std::string_view word = c_.word();
    if (word == "branchtargets") return branch_targets(name);
    if (word == "calltargets") return call_targets(name);
    if (word == "callprototype") return call_prototype(name);
    // Another directive: a label before it. Go back to its dot.
    c_.back_to(directive_at);
  }
  symbol.kind = Symbol::Kind::label;
  symbol.index = static_cast<uint32_t>(f_->instructions.size());
  if (!symbols_.declare(name, symbol)) return fail_at(where, quoted(name) + " is defined twice");
  return true;
}

bool Parser::branch_targets(std::string_view name_of_table) {
  Symbol symbol;
  symbol.kind = Symbol::Kind::targets;
  symbol.index = static_cast<uint32_t>(f_->branch_targets.size());
  f_->branch_targets.emplace_back();
  std::vector<uint32_t>& list = f_->branch_targets.back().instructions;
  do {
    std::string_view target;
    if (!name(target)) return false;
    open_.push_back({target, static_cast<uint32_t>(list.size()), static_cast<int32_t>(symbol.index)});
    list.push_back(0);
  } while (c_.accept(','));
  if (!symbols_.declare(name_of_table, symbol))
    return fail_at(name_of_table.data(), quoted(name_of_table) + " is defined twice");
  return expect(';');
}

// A list of functions that a call may reach: they all have one signature, which stands for the prototype.
bool Parser::call_targets(std::string_view name_of_table) {
  Symbol symbol;
  symbol.kind = Symbol::Kind::prototype;
  symbol.index = static_cast<uint32_t>(f_->prototypes.size());
  Prototype prototype;
  do {
    c_.skip_space();
    const char* where = c_.position();
    std::string_view target;
    if (!name(target)) return false;
    Symbol function = symbols_.find(target);
    if (function.kind != Symbol::Kind::function) return fail_at(where, quoted(target) + " is not a function");
    prototype.returns = m_.functions[function.index].returns;
    prototype.params = m_.functions[function.index].params;
  } while (c_.accept(','));
  f_->prototypes.push_back(std::move(prototype));
  if (!symbols_.declare(name_of_table, symbol))
    return fail_at(name_of_table.data(), quoted(name_of_table) + " is defined twice");
  return expect(';');
}

bool Parser::call_prototype(std::string_view name_of_prototype) {
  Symbol symbol;
  symbol.kind = Symbol::Kind::prototype;
  symbol.index = static_cast<uint32_t>(f_->prototypes.size());
  Prototype prototype;
  Function ignored;
  std::string_view placeholder;
  c_.skip_space();
  if (c_.peek() == '(' && !parameter_list(prototype.returns, true)) return false;
  if (!name(placeholder)) return false;
  c_.skip_space();
  if (c_.peek() == '(' && !parameter_list(prototype.params, true)) return false;
  if (!function_directives(ignored) || !expect(';')) return false;
  f_->prototypes.push_back(std::move(prototype));
  if (!symbols_.declare(name_of_prototype, symbol))
    return fail_at(name_of_prototype.data(), quoted(name_of_prototype) + " is defined twice");
  return true;
}

bool Parser::body_directive() {
  const char* where = c_.position();
  c_.advance();
  std::string_view word = c_.word();
  if (word == "loc") return loc_directive();
  if (word == "reg") return registers();
  if (word == "param") return variable(Space::param, {});
  if (word == "shared") return variable(Space::shared, {});
  if (word == "local") return variable(Space::local, {});
  if (word == "global") return variable(Space::global, {});
  if (word == "const") return variable(Space::const_, {});
  if (word == "file") return file_directive();
  if (word == "section") return section();
  if (word == "pragma") return skip_statement();
  if (word == "extern") {
    c_.skip_space();
    if (c_.peek() == '.') {
      c_.advance();
      word = c_.word();
      Linkage linkage;
      linkage.external = true;
      if (word == "shared") return variable(Space::shared, linkage);
    }
  }
  return fail_at(where, "directive " + quoted(word, ".") + " is not known in a function");
}

bool Parser::instruction(Place place, const char* where, const Opcode& opcode, int32_t guard_reg,
                         bool guard_negated) {
  if (opcode.forms.empty()) {
    if (!is(opcode.text[0], kWordChar) || is(opcode.text[0], kDigitChar))
      return fail_at(where, "expected an instruction");
    not_supported(opcode.problem, place);
    return skip_statement();
  }
  scratch_.clear();
  open_here_.clear();
  op_ = opcode.op;
  if (!(op_ == Op::call ? call_operands() : operands())) return false;

  uint16_t row = 0;
  if (!find_form(opcode, row)) {
    not_supported("the operands of '" + std::string(opcode.text) + "' are not of a form that is supported",
                  place);
    return true;
  }
  uint32_t first = static_cast<uint32_t>(m_.operands.size());
  Instruction& result = f_->instructions.emplace_back();
  result.op = opcode.op;
  result.mod_count = opcode.mod_count;
  result.type_count = opcode.type_count;
  result.mods = opcode.mods;
  result.types = opcode.types;
  result.guard = guard_reg;
  result.guard_negated = guard_negated;
  result.operand_count = static_cast<uint8_t>(scratch_.size());
  result.first_operand = first;
  result.line = place.line;
  result.column = place.column;
  result.location = location_;
  result.form = row;
  m_.operands.insert(m_.operands.end(), scratch_.begin(), scratch_.end());
  for (OpenName open : open_here_) {
    open.operand += first;
    open_.push_back(open);
  }
  return true;
}

// The row of the table whose operand shape fits. It depends on the operands' kinds only (OperandShape), and
// those are mostly the same as the last time.
bool Parser::find_form(const Opcode& opcode, uint16_t& row) {
  static_assert(static_cast<unsigned>(Kind::list) < 16);
  uint64_t kinds = 0;
  for (const Operand& operand : scratch_)
    kinds = kinds << 5 | static_cast<unsigned>(operand.kind) << 1 | (operand.pair != -1 ? 1u : 0u);
  kinds = scratch_.size() <= 12 ? kinds << 4 | scratch_.size() : kNoKinds;
  if (kinds == opcode.last_kinds && kinds != kNoKinds) {
    row = opcode.last_form;
    return true;
  }
  for (uint16_t candidate : opcode.forms) {
    row = candidate;
    if (!forms_[candidate].accepts(scratch_)) continue;
    opcode.last_kinds = kinds;
    opcode.last_form = candidate;
    return true;
  }
  // `ld.shared.u32 %r1, x[4]` has a variable without brackets where an address belongs.
  bool changed = false;
  for (Operand& operand : scratch_) {
    if (operand.kind != Kind::variable && operand.kind != Kind::param && operand.kind != Kind::ret_param)
      continue;
    operand.base = operand.kind;
    operand.kind = Kind::address;
    changed = true;
  }
  return changed && find_form(opcode, row);
}

bool Parser::operands() {
  label_kind_ = op_ == Op::bra ? Kind::label : op_ == Op::brx ? Kind::targets : Kind::none;
  c_.skip_space();
  if (c_.peek() == ';') {
    c_.advance();
    return true;
  }
  while (true) {
    c_.skip_space();
    const char* start = c_.position();
    if (uint32_t reg = 0; *start == '%' && plain_register(reg) && is(c_.peek(), kEndChar)) {
      Operand& plain = scratch_.emplace_back();  // made in place: a copy of fresh bytes would wait for them
      plain.kind = Kind::reg;
      plain.index = reg;
    } else {
      Operand result;
      c_.back_to(start);
      if (!operand(result)) return false;
      scratch_.push_back(result);
    }
    if (scratch_.size() > kMaxOperands) return fail("the instruction has too many operands");
    c_.skip_space();
    if (c_.peek() == ',') {
      c_.advance();
    } else if (c_.peek() == ';') {
      c_.advance();
      return true;
    } else {
      return fail_expected("',' or ';' after an operand");
    }
  }
}

// call (returns), function, (arguments), prototype; each list and the prototype may be missing.
bool Parser::call_operands() {
  label_kind_ = Kind::none;
  Operand returns, target, arguments, prototype;
  returns.kind = arguments.kind = Kind::list;
  c_.skip_space();
  if (c_.peek() == '(' && (!call_list(returns) || !expect(','))) return false;
  c_.skip_space();
  const char* where = c_.position();
  if (!is(c_.peek(), kWordChar) || is(c_.peek(), kDigitChar)) return fail_expected("a function");
  if (!named_operand(target)) return false;
  if (target.kind != Kind::function && target.kind != Kind::reg)
    return fail_at(where, "what is called is neither a function nor a register");
  bool more = c_.accept(',');
  c_.skip_space();
  if (more && c_.peek() == '(') {
    if (!call_list(arguments)) return false;
    more = c_.accept(',');
  }
  scratch_.insert(scratch_.end(), {returns, target, arguments});
  if (more) {
    std::string_view word;
    c_.skip_space();
    where = c_.position();
    if (!name(word)) return false;
    Symbol symbol = symbols_.find(word);
    if (symbol.kind == Symbol::Kind::none) {
      open_here_.push_back({word, static_cast<uint32_t>(scratch_.size()), -1});
      prototype.kind = Kind::prototype;
    } else if (symbol.kind != Symbol::Kind::prototype || !set_target(prototype, symbol)) {
      return fail_at(where, quoted(word) + " is not a prototype or a list of functions");
    }
  }
  scratch_.push_back(prototype);
  return expect(';');
}

bool Parser::call_list(Operand& list) {
  c_.advance();
  size_t mark = scratch_.size();
  if (!c_.accept(')')) {
    do {
      Operand element;
      if (scratch_.size() - mark == kMaxVectorElements) return fail("the call has more than 255 arguments");
      if (!simple_operand(element)) return false;
      scratch_.push_back(element);
    } while (c_.accept(','));
    if (!expect(')')) return false;
  }
  list = store_elements(Kind::list, mark);
  return true;
}

}  // namespace fullwarp::ptx

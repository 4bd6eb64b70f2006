// Operands: registers, constants, addresses, vectors. Elements of vectors and lists go into Module::operands
// as soon as their list is complete; the operands of the instruction itself follow them, next to each other.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <utility>

#include "ptx/parser_impl.h"

namespace fullwarp::ptx {

using Kind = Operand::Kind;

Operand Parser::Constant::operand() const {
  Operand result;
  result.kind = Kind::imm;
  result.value = static_cast<int64_t>(bits);
  result.is_float = float_type != Type::none;
  result.float_type = float_type;
  return result;
}

double Parser::Constant::as_double() const {
  if (float_type == Type::f64) return std::bit_cast<double>(bits);
  if (float_type == Type::f32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  return is_unsigned ? static_cast<double>(bits) : static_cast<double>(static_cast<int64_t>(bits));
}

uint32_t Parser::add_register(std::string_view name, Type type) {
  f_->registers.push_back({name, type});
  return static_cast<uint32_t>(f_->registers.size() - 1);
}

const Symbol& Parser::find_prefix(uint64_t key, unsigned length) {
  Prefix& known = prefixes_[(key * 0x9e3779b97f4a7c15ull) >> 60];
  if (known.key != key || known.version != symbols_.version()) {
    char text[8];
    std::memcpy(text, &key, 8);
    known = {key, symbols_.version(), symbols_.find({text, length})};
  }
  return known.symbol;
}

// `%rd12`, a member of a range.
bool Parser::plain_register(uint32_t& reg) {
  const char* p = c_.position();
  if (c_.end() - p < static_cast<ptrdiff_t>(kReadAhead) || names_overlap_ranges_) return false;
  uint64_t word = load_word(p);
  uint64_t marks = not_digits(word) ^ kHighBits;
  if (marks == 0) return false;
  unsigned length = bytes_before(marks);
  uint64_t rest = load_word(p + length);
  uint64_t ends = not_digits(rest);
  if (ends == 0 || length == 0) return false;
  unsigned digits = bytes_before(ends);
  char next = p[length + digits];
  const Symbol& range = find_prefix(low_bytes(word, length), length);
  uint32_t number = decimal(rest, digits);
  if (range.kind != Symbol::Kind::range || number >= range.count || range.width != 1 ||
      is(next, kWordChar | kOpcodeChar) || (p[length] == '0' && digits != 1))
    return false;
  int32_t& member = members_.at(range.index, number);
  if (member < 0) member = static_cast<int32_t>(add_register({p, length + digits}, range.type));
  reg = static_cast<uint32_t>(member);
  c_.advance(length + digits);
  return true;
}

// A decimal number of up to seven digits with one of these characters behind it.
bool Parser::plain_number(uint64_t& value, unsigned ends_with) {
  const char* p = c_.position();
  if (c_.end() - p < static_cast<ptrdiff_t>(kReadAhead)) return false;
  uint64_t word = load_word(p);
  uint64_t ends = not_digits(word);
  if (ends == 0) return false;
  unsigned digits = bytes_before(ends);
  if (digits == 0 || (*p == '0' && digits != 1) || !is(p[digits], ends_with)) return false;
  value = decimal(word, digits);
  c_.advance(digits);
  return true;
}

// What a name means here. A member of a range gets its register now.
Symbol Parser::lookup(std::string_view name) {
  size_t digits = name.size();
  uint32_t number = 0, scale = 1;
  for (; digits > 1 && is(name[digits - 1], kDigitChar); --digits, scale *= 10)
    number += scale * static_cast<uint32_t>(name[digits - 1] - '0');
  size_t length = name.size() - digits;
  if (length != 0 && length <= 8 && (name[digits] != '0' || length == 1)) {
    Symbol range;
    if (digits < 8) {
      uint64_t key = 0;
      std::memcpy(&key, name.data(), digits);
      range = find_prefix(key, static_cast<unsigned>(digits));
    } else {
      range = symbols_.find(name.substr(0, digits));
    }
    if (range.kind == Symbol::Kind::range && number < range.count) {
      if (names_overlap_ranges_) {
        Symbol exact = symbols_.find(name);
        if (exact.kind != Symbol::Kind::none && exact.depth >= range.depth) return exact;
      }
      int32_t& reg = members_.at(range.index, number);
      if (reg < 0) {
        reg = static_cast<int32_t>(add_register(name, range.type));
        for (unsigned i = 1; i < range.width; ++i) add_register(name, range.type);
      }
      Symbol result;
      result.kind = range.width == 1 ? Symbol::Kind::reg : Symbol::Kind::vector_reg;
      result.index = static_cast<uint32_t>(reg);
      result.type = range.type;
      result.width = range.width;
      return result;
    }
  }
  Symbol exact = symbols_.find(name);
  // A prefix is no name itself.
  if (exact.kind == Symbol::Kind::range) return {};
  if (exact.kind == Symbol::Kind::none && name.starts_with("%envreg")) {
    uint32_t register_number = 32;
    auto [end, problem] = std::from_chars(name.data() + 7, name.data() + name.size(), register_number);
    if (problem == std::errc() && end == name.data() + name.size() && register_number < 32) {
      exact.kind = Symbol::Kind::special;
      exact.index = static_cast<uint32_t>(Special::envreg);
      exact.count = register_number;
    }
  }
  return exact;
}

// Moves the elements above `mark` from the stack to Module::operands.
Operand Parser::store_elements(Kind kind, size_t mark) {
  Operand result;
  result.kind = kind;
  result.count = static_cast<uint8_t>(scratch_.size() - mark);
  result.first = static_cast<uint32_t>(m_.operands.size());
  m_.operands.insert(m_.operands.end(), scratch_.begin() + static_cast<ptrdiff_t>(mark), scratch_.end());
  scratch_.resize(mark);
  return result;
}

bool Parser::operand(Operand& result) {
  c_.skip_space();
  switch (c_.peek()) {
    case '[': return address(result);
    case '{': return vector(result);
    default:
      if (!simple_operand(result)) return false;
      if (c_.peek() == '|') return pair(result);
      if (result.kind == Kind::reg) {  // `%r1+4`: in PTX, but no compiler writes it and no form has it
        c_.skip_space();
        if (c_.peek() == '+' || c_.peek() == '-') {
          result.kind = Kind::none;
          return address_offset(result);
        }
      }
      return true;
  }
}

bool Parser::simple_operand(Operand& result) {
  c_.skip_space();
  char c = c_.peek();
  if (c == '%' && plain_register(result.index)) {
    result.kind = Kind::reg;
    return true;
  }
  if (uint64_t number = 0; is(c, kDigitChar) && plain_number(number, kEndChar)) {
    result.kind = Kind::imm;
    result.value = static_cast<int64_t>(number);
    return true;
  }
  bool warp_size =
      c == 'W' &&
      std::string_view(c_.position(), std::min<size_t>(8, static_cast<size_t>(c_.end() - c_.position())))
          .starts_with("WARP_SZ") &&
      !is(c_.position()[7], kWordChar);
  if (is(c, kWordChar) && !is(c, kDigitChar) && !warp_size) return named_operand(result);
  char next = c_.peek_after();
  if ((c == '!' || c == '-') && is(next, kWordChar) && !is(next, kDigitChar)) {
    const char* where = c_.position();
    c_.advance();
    if (!named_operand(result)) return false;
    bool allowed = result.kind == Kind::reg && (c == '-' ? op_ == Op::vmad : is_predicate(result.index));
    if (!allowed)
      return fail_at(
          where, c == '!' ? "only a predicate can be negated by '!'" : "a register cannot be negated here",
          c == '!' ? "" : "write `neg`");
    result.negated = true;
    return true;
  }
  Constant value;
  if (!is(c, kDigitChar) && !warp_size &&
      (c == '\0' || std::string_view("-+(~!.").find(c) == std::string_view::npos))
    return fail_expected("an operand");
  if (!constant(value)) return false;
  result = value.operand();
  return true;
}

// `.b7610` and `.h20`: bytes or halves of two registers, for vadd4 and vadd2.
static bool is_packed_selector(std::string_view component) {
  auto of = [&](char kind, size_t parts, char last) {
    return component.size() == parts + 1 && component[0] == kind &&
           std::all_of(component.begin() + 1, component.end(), [&](char c) { return c >= '0' && c <= last; });
  };
  return of('b', 4, '7') || of('h', 2, '3');
}

// Sets what a symbol stands for, except for labels and the like (set_target).
bool Parser::named_operand(Operand& result) {
  const char* where = c_.position();
  std::string_view word = c_.word();
  if (word == "_") {
    result.kind = Kind::sink;
    return true;
  }
  Symbol symbol = lookup(word);
  result.index = symbol.index;
  switch (symbol.kind) {
    case Symbol::Kind::reg: result.kind = Kind::reg; break;
    case Symbol::Kind::vector_reg: {
      if (c_.peek() == '.') break;
      size_t mark = scratch_.size();
      for (uint32_t i = 0; i < symbol.width; ++i) {
        Operand element;
        element.kind = Kind::reg;
        element.index = symbol.index + i;
        scratch_.push_back(element);
      }
      result = store_elements(Kind::vector, mark);
      return true;
    }
    case Symbol::Kind::special:
      result.kind = Kind::special;
      result.value = symbol.count;
      break;
    case Symbol::Kind::variable: result.kind = Kind::variable; return index_suffix(result);
    case Symbol::Kind::param: result.kind = Kind::param; return index_suffix(result);
    case Symbol::Kind::ret_param: result.kind = Kind::ret_param; return index_suffix(result);
    case Symbol::Kind::function: result.kind = Kind::function; return true;
    default:
      if (label_kind_ != Kind::none) {
        result.kind = label_kind_;
        result.index = 0;
        if (symbol.kind == Symbol::Kind::none || symbol.depth != symbols_.depth() ||
            !set_target(result, symbol))
          open_here_.push_back({word, static_cast<uint32_t>(scratch_.size()), -1});
        return true;
      }
      if (symbol.kind == Symbol::Kind::none)
        return fail_at(where, quoted(word) + " is not declared here",
                       word[0] == '%' ? "a register is declared by .reg in this function or block" : "");
      return fail_at(where, "label " + quoted(word) + " cannot be an operand of this instruction");
  }
  if (c_.peek() == '.') {
    c_.advance();
    const char* component_at = c_.position();
    std::string_view component = c_.word();
    constexpr std::string_view xyzw = "xyzw", rgba = "rgba";
    size_t number = component.size() == 1 ? xyzw.find(component[0]) : std::string_view::npos;
    if (number == std::string_view::npos && component.size() == 1) number = rgba.find(component[0]);
    if (symbol.kind == Symbol::Kind::vector_reg && number < symbol.width) {
      result.kind = Kind::reg;
      result.index = symbol.index + static_cast<uint32_t>(number);
      return true;
    }
    // The selectors of video instructions.
    if (symbol.kind == Symbol::Kind::reg && component.size() == 2 &&
        ((component[0] == 'b' && component[1] >= '0' && component[1] <= '3') ||
         (component[0] == 'h' && component[1] >= '0' && component[1] <= '1'))) {
      result.component = static_cast<uint8_t>(component[1] - '0' + (component[0] == 'b' ? 1 : 5));
      return true;
    }
    if (symbol.kind == Symbol::Kind::reg && is_packed_selector(component)) {
      // `.b3210` and `.h10` take the parts as they lie, which is what stands for no selector.
      if (component != "b3210" && component != "h10")
        not_supported("the selector " + quoted(component, ".") + " is not supported",
                      {c_.line(), c_.column()});
      return true;
    }
    if (symbol.kind != Symbol::Kind::special || number > 3)
      return fail_at(component_at, quoted(word) + " has no component " + quoted(component));
    result.component = static_cast<uint8_t>(number);
  }
  return true;
}

// `x[3]`: the address of an element; `x+8`: that of a byte.
bool Parser::index_suffix(Operand& result) {
  c_.skip_space();
  if (c_.peek() == '+' || c_.peek() == '-') {
    if (!address_offset(result)) return false;
  } else if (c_.peek() == '[') {
    c_.advance();
    Constant index;
    if (!constant(index)) return false;
    Type type = result.kind == Kind::variable ? m_.variables[result.index].type
                : result.kind == Kind::param  ? f_->params[result.index].type
                                              : f_->returns[result.index].type;
    result.value += static_cast<int64_t>(index.bits * size_bytes(type));
    return expect(']');
  }
  return true;
}

bool Parser::pair(Operand& result) {
  c_.advance();
  c_.skip_space();
  Operand second;
  if (!is(c_.peek(), kWordChar) || is(c_.peek(), kDigitChar)) return fail_expected("a register after '|'");
  if (!named_operand(second)) return false;
  if (second.kind == Kind::reg) {
    result.pair = static_cast<int32_t>(second.index);
  } else if (second.kind == Kind::sink) {
    result.pair = -2;
  } else {
    return fail("what stands after '|' is not a register");
  }
  return true;
}

bool Parser::vector(Operand& result) {
  c_.advance();
  size_t mark = scratch_.size();
  do {
    Operand element;
    c_.skip_space();
    if (c_.peek() == '}' && scratch_.size() == mark) break;
    if (scratch_.size() - mark == kMaxVectorElements) return fail("the vector has more than 255 elements");
    if (!simple_operand(element)) return false;
    scratch_.push_back(element);
  } while (c_.accept(','));
  result = store_elements(Kind::vector, mark);
  return expect('}');
}

// `+4`, `-4`, `+-4`, `+ 4*8` after the base of an address.
bool Parser::address_offset(Operand& result) {
  bool minus = c_.peek() == '-';
  c_.advance();
  if (uint64_t number = 0; plain_number(number, kEndChar)) {
    result.value += minus ? -static_cast<int64_t>(number) : static_cast<int64_t>(number);
    return true;
  }
  Constant offset;
  if (!expression(offset, 5, 0)) return false;
  if (offset.float_type != Type::none) return fail("the offset of an address is not an integer");
  uint64_t value = static_cast<uint64_t>(result.value);
  result.value = static_cast<int64_t>(minus ? value - offset.bits : value + offset.bits);
  c_.skip_space();
  return (c_.peek() != '+' && c_.peek() != '-') || address_offset(result);
}

bool Parser::address(Operand& result) {
  c_.advance();
  Operand base;
  if (!simple_operand(base)) return false;
  c_.skip_space();
  if (base.kind == Kind::reg || base.kind == Kind::function) {
    if ((c_.peek() == '+' || c_.peek() == '-') && !address_offset(base)) return false;
  } else if (base.kind != Kind::imm && base.kind != Kind::variable && base.kind != Kind::param &&
             base.kind != Kind::ret_param) {
    return fail("this cannot be the base of an address");
  }
  c_.skip_space();
  if (c_.peek() == ',') {  // [tensor, {x, y}]
    size_t mark = scratch_.size();
    scratch_.push_back(base);
    while (c_.accept(',')) {
      if (scratch_.size() - mark == kMaxOperands) return fail("the address has too many parts");
      Operand part;
      c_.skip_space();
      if (!(c_.peek() == '{' ? vector(part) : simple_operand(part))) return false;
      scratch_.push_back(part);
    }
    result = store_elements(Kind::address, mark);
  }
  result.kind = Kind::address;
  result.base = base.kind;
  result.index = base.index;
  result.value = base.value;
  return expect(']');
}

}  // namespace fullwarp::ptx

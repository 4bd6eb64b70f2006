// Registers, variables of every space, and what initialisers put into them. Initialiser bytes are kept only
// as far as values were written: what a file declares costs nothing, what it writes costs what it writes.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "ptx/names.h"
#include "ptx/parser_impl.h"

namespace fullwarp::ptx {

bool Parser::alignment(uint32_t& result) {
  uint64_t value;
  c_.skip_space();
  const char* where = c_.position();
  if (!integer(value, "an alignment")) return false;
  if (!std::has_single_bit(value) || value > (1u << 20))
    return fail_at(where, "the alignment " + std::to_string(value) + " is not a power of two up to 1048576");
  result = static_cast<uint32_t>(value);
  return true;
}

bool Parser::registers() {
  Variable attributes;
  uint8_t width = 1;
  if (!type_and_attributes(attributes, width)) return false;
  do {
    std::string_view word;
    c_.skip_space();
    const char* where = c_.position();
    if (!name(word)) return false;
    Symbol symbol;
    symbol.type = attributes.type;
    symbol.width = width;
    if (c_.accept('<')) {
      Constant number_of;
      if (!expression(number_of, 9, 0) || !expect('>')) return false;  // no comparison: `>` ends it
      uint64_t count = number_of.bits;
      if (count > kMaxRangeCount)
        return fail_at(where, "the range " + quoted(word) + " of " + std::to_string(count) +
                                  " registers is larger than the limit of " + std::to_string(kMaxRangeCount));
      symbol.kind = Symbol::Kind::range;
      symbol.index = members_.declare(static_cast<uint32_t>(count));
      symbol.count = static_cast<uint32_t>(count);
    } else {
      symbol.kind = width == 1 ? Symbol::Kind::reg : Symbol::Kind::vector_reg;
      symbol.index = add_register(word, attributes.type);
      for (unsigned i = 1; i < width; ++i) add_register(word, attributes.type);
      names_overlap_ranges_ = names_overlap_ranges_ || is(word.back(), kDigitChar);
    }
    if (!symbols_.declare(word, symbol))
      return fail_at(where, "register " + quoted(word) + " is declared twice");
  } while (c_.accept(','));
  return expect(';');
}

// .align 4 .v2 .f32, in any order.
bool Parser::type_and_attributes(Variable& variable, uint8_t& width) {
  while (true) {
    c_.skip_space();
    if (c_.peek() != '.') break;
    const char* where = c_.position();
    c_.advance();
    std::string_view word = c_.word();
    if (word == "align") {
      if (!alignment(variable.align)) return false;
    } else if (word == "attribute") {
      const char* start = c_.position();
      if (!skip_parentheses()) return false;
      std::string_view text(start, static_cast<size_t>(c_.position() - start));
      variable.managed = variable.managed || text.find(".managed") != std::string_view::npos;
    } else if (word == "v2" || word == "v4" || word == "v8") {
      width = static_cast<uint8_t>(word[1] - '0');
    } else if (auto type = type_from(word)) {
      variable.type = *type;
    } else {
      return fail_at(where, quoted(word, ".") + " is not known in a declaration");
    }
  }
  if (variable.type == Type::none) return fail_expected("a type");
  return true;
}

bool Parser::variable(Space space, Linkage linkage) {
  Variable shared_part;
  uint8_t width = 1;
  shared_part.align = 0;
  shared_part.space = space;
  shared_part.external = linkage.external;
  shared_part.function = f_index_;
  // `.const[3]`, the banks of old versions.
  if (space == Space::const_ && c_.peek() == '[') {
    while (c_.peek() != ']' && !c_.at_end()) c_.step();
    if (!expect(']')) return false;
  }
  if (!type_and_attributes(shared_part, width)) return false;
  if (shared_part.align == 0) shared_part.align = size_bytes(shared_part.type) * width;
  do {
    if (!declarator(shared_part, width)) return false;
  } while (c_.accept(','));
  return expect(';');
}

bool Parser::declarator(Variable variable, uint8_t width) {
  c_.skip_space();
  const char* where = c_.position();
  variable.line = c_.line();
  if (!name(variable.name)) return false;
  std::vector<uint64_t> dims;
  bool sized = true;
  while (c_.accept('[')) {
    uint64_t count = 0;
    c_.skip_space();
    if (c_.peek() == ']' && dims.empty()) {
      sized = false;
    } else if (!integer(count, "the size of the array")) {
      return false;
    }
    if (!expect(']')) return false;
    if (dims.size() == 8)
      return fail_at(where, "array " + quoted(variable.name) + " has more than 8 dimensions");
    dims.push_back(count);
  }
  variable.array = !dims.empty();
  if (width > 1) dims.push_back(width);
  uint64_t element = size_bytes(variable.type);
  std::vector<uint64_t> strides(dims.size() + 1, element);  // strides[i]: bytes of one element of level i
  uint64_t total = element;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i + 1] = total;
    uint64_t count = i == 0 && !sized ? 1 : dims[i];
    if (count >= kMaxVariableBytes || (total *= count) >= kMaxVariableBytes)
      return fail_at(where, "variable " + quoted(variable.name) + " is larger than 2 GB");
  }
  strides.erase(strides.begin());
  if (dims.empty()) strides = {element};
  variable.bytes = sized ? total : 0;

  // An initialiser may name other variables, not this one.
  if (c_.accept('=')) {
    if (variable.space != Space::global && variable.space != Space::const_)
      return fail_at(where, "only .global and .const variables can have initial values");
    uint64_t end = 0;
    c_.skip_space();
    uint64_t bound = variable.bytes;
    if (!sized) variable.bytes = kMaxVariableBytes - 1;
    if (c_.peek() == '{') {
      if (!initialiser(variable, strides, 0, 0, end)) return false;
    } else if (c_.peek() == '"') {
      if (!init_string(variable, end)) return false;
    } else {
      if (!init_value(variable, 0)) return false;
      end = element;
    }
    uint64_t outer = strides.front();
    variable.bytes = sized ? bound : (end + outer - 1) / outer * outer;
  }
  Symbol symbol;
  symbol.kind = Symbol::Kind::variable;
  symbol.index = static_cast<uint32_t>(m_.variables.size());
  Symbol known = symbols_.find(variable.name);
  if (known.kind == Symbol::Kind::variable && known.depth == symbols_.depth() && f_ == nullptr &&
      (m_.variables[known.index].external || variable.external)) {
    // A declaration and its definition are one variable.
    if (!variable.external) m_.variables[known.index] = std::move(variable);
    return true;
  }
  if (!symbols_.declare(variable.name, symbol))
    return fail_at(where, quoted(variable.name) + " is declared twice");
  if (f_ != nullptr) f_->variables.push_back(static_cast<int32_t>(symbol.index));
  m_.variables.push_back(std::move(variable));
  return true;
}

// { ... } at `level` of the array; `end` becomes the end of what was written.
bool Parser::initialiser(Variable& variable, const std::vector<uint64_t>& strides, size_t level,
                         uint64_t offset, uint64_t& end) {
  if (level >= strides.size())
    return fail("the initialiser has more braces than the variable has dimensions");
  if (!expect('{')) return false;
  if (c_.accept('}')) return true;
  do {
    c_.skip_space();
    if (c_.peek() == '}') break;
    if (offset >= variable.bytes)
      return fail("the initialiser of " + quoted(variable.name) + " has more values than the variable");
    if (c_.peek() == '{') {
      if (!initialiser(variable, strides, level + 1, offset, end)) return false;
      offset += strides[level];
    } else {
      if (!init_value(variable, offset)) return false;
      offset += size_bytes(variable.type);
      end = std::max(end, offset);
    }
  } while (c_.accept(','));
  end = std::max(end, std::min(offset, variable.bytes));
  return expect('}');
}

bool Parser::init_value(Variable& variable, uint64_t offset) {
  c_.skip_space();
  char c = c_.peek();
  if (is(c, kWordChar) && !is(c, kDigitChar)) return init_address(variable, offset, -1);
  const char* where = c_.position();
  Constant value;
  if (!constant(value)) return false;
  c_.skip_space();
  if (c_.peek() == '(' && value.float_type == Type::none) {  // 0xFF00(address): one byte of an address
    int low = value.bits == 0 ? 64 : std::countr_zero(value.bits);
    if (low % 8 != 0 || low == 64 || value.bits != uint64_t{0xff} << low || size_bytes(variable.type) != 1)
      return fail_at(where, "the mask of an address does not select one byte");
    c_.advance();
    c_.skip_space();
    return init_address(variable, offset, low / 8) && expect(')');
  }
  unsigned bytes = size_bytes(variable.type);
  bool is_float = variable.type == Type::f32 || variable.type == Type::f64;
  uint64_t bits = value.bits;
  if (value.float_type != Type::none || is_float) {
    bool exact = value.float_type != Type::none && size_bytes(value.float_type) == bytes;
    if (!exact && bytes == 4) bits = std::bit_cast<uint32_t>(static_cast<float>(value.as_double()));
    if (!exact && bytes == 8) bits = std::bit_cast<uint64_t>(value.as_double());
    if (!exact && bytes != 4 && bytes != 8)
      return fail_at(where, "a floating-point constant cannot initialise this type");
  }
  return put(variable, offset, bits, bytes);
}

// x, x+4, generic(x)+4. `mask_shift` >= 0: only byte number `mask_shift` of the address.
bool Parser::init_address(Variable& variable, uint64_t offset, int mask_shift) {
  Relocation relocation;
  c_.skip_space();
  const char* where = c_.position();
  std::string_view word;
  if (!name(word)) return false;
  if (word == "generic") {
    relocation.generic = true;
    if (!expect('(')) return false;
    c_.skip_space();
    where = c_.position();
    if (!name(word) || !expect(')')) return false;
  }
  Symbol symbol = symbols_.find(word);
  if (symbol.kind == Symbol::Kind::variable) {
    relocation.variable = static_cast<int32_t>(symbol.index);
  } else if (symbol.kind == Symbol::Kind::function) {
    relocation.function = static_cast<int32_t>(symbol.index);
  } else {
    return fail_at(where, quoted(word) + " is not a variable or function declared before");
  }
  c_.skip_space();
  if (c_.peek() == '+' || c_.peek() == '-') {
    bool minus = c_.peek() == '-';
    Constant addend;
    c_.advance();
    if (!constant(addend)) return false;
    relocation.addend = static_cast<int64_t>(minus ? 0 - addend.bits : addend.bits);
  }
  unsigned element = size_bytes(variable.type);
  if (mask_shift < 0 && element != 4 && element != 8)
    return fail_at(where, "an address does not fit into an element of " + std::to_string(element) + " bytes");
  relocation.offset = static_cast<uint32_t>(offset);
  relocation.size_bytes = mask_shift < 0 ? element : 1;
  relocation.shift_bytes = static_cast<uint8_t>(mask_shift < 0 ? 0 : mask_shift);
  if (!put(variable, offset, 0, relocation.size_bytes)) return false;
  if (mask_shift > 0 && !variable.relocations.empty()) {  // joins the byte before it
    Relocation& last = variable.relocations.back();
    if (last.offset + last.size_bytes == offset &&
        last.size_bytes + last.shift_bytes == relocation.shift_bytes &&
        last.variable == relocation.variable && last.function == relocation.function &&
        last.addend == relocation.addend && last.generic == relocation.generic) {
      ++last.size_bytes;
      return true;
    }
  }
  variable.relocations.push_back(relocation);
  return true;
}

bool Parser::init_string(Variable& variable, uint64_t& end) {
  const char* where = c_.position();
  std::string_view text;
  if (!string_literal(text)) return false;
  if (size_bytes(variable.type) != 1) return fail_at(where, "a string can initialise an array of bytes only");
  std::string bytes = unescaped(text);
  bytes.push_back('\0');
  if (bytes.size() - 1 > variable.bytes) return fail_at(where, "the string is longer than the variable");
  for (uint64_t i = 0; i < bytes.size() && i < variable.bytes; ++i)
    if (!put(variable, i, static_cast<unsigned char>(bytes[i]), 1)) return false;
  end = bytes.size();
  return true;
}

bool Parser::put(Variable& variable, uint64_t offset, uint64_t value, unsigned bytes) {
  size_t end = static_cast<size_t>(offset) + bytes;
  if (end > variable.bytes)
    return fail("the initialiser of " + quoted(variable.name) + " has more values than the variable");
  if (end > variable.init.size()) {
    init_bytes_ += end - variable.init.size();
    if (init_bytes_ > kMaxInitBytes + 4 * m_.text->size())
      return fail("the initial values of the variables are larger than the limit of 64 MB");
    variable.init.resize(end);
  }
  std::memcpy(variable.init.data() + offset, &value, bytes < 8 ? bytes : 8);  // little endian, as the GPU is
  return true;
}

}  // namespace fullwarp::ptx

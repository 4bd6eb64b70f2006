#include "input/launch_values.h"

#include <algorithm>
#include <array>
#include <limits>

namespace fullwarp::input::detail {
namespace {

struct TypeName {
  std::string_view name;
  ElementType type;
  unsigned bytes;
};
constexpr std::array<TypeName, 12> kTypes = {{{"i8", ElementType::i8, 1},
                                              {"i16", ElementType::i16, 2},
                                              {"i32", ElementType::i32, 4},
                                              {"i64", ElementType::i64, 8},
                                              {"u8", ElementType::u8, 1},
                                              {"u16", ElementType::u16, 2},
                                              {"u32", ElementType::u32, 4},
                                              {"u64", ElementType::u64, 8},
                                              {"f16", ElementType::f16, 2},
                                              {"bf16", ElementType::bf16, 2},
                                              {"f32", ElementType::f32, 4},
                                              {"f64", ElementType::f64, 8}}};
constexpr std::string_view kTypeList = "the types are i8..i64, u8..u64, f16, bf16, f32, f64";
constexpr std::string_view kFillList = "write zero, uninit, iota, uniform(SEED), below(K, SEED) or @file.npy";

// What a CUDA programmer may write where an element type stands.
std::string type_hint(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kSpoken = {
      {{"float", "f32"},
       {"double", "f64"},
       {"int", "i32"},
       {"unsigned", "u32"},
       {"char", "i8"},
       {"short", "i16"},
       {"half", "f16"},
       {"long", "i64"},
       {"bool", "u8"}}};
  for (const auto& [spoken, ours] : kSpoken) {
    if (spoken == name) return "write `" + std::string(ours) + "`; " + std::string(kTypeList);
  }
  return std::string(kTypeList);
}

}  // namespace

std::optional<ElementType> find_type(std::string_view name) {
  for (const TypeName& t : kTypes) {
    if (t.name == name) return t.type;
  }
  return std::nullopt;
}

std::string found(const Token& token) {
  switch (token.kind) {
    case TokenKind::end: return "found the end";
    case TokenKind::newline: return "found the end of the line";
    case TokenKind::path: return "found `@" + std::string(token.text) + "`";
    default: return "found `" + std::string(token.text) + "`";
  }
}

bool ValueParser::fail(size_t offset, std::string message, std::string hint) {
  if (!error_) error_ = lexer_.error_at(offset, std::move(message), std::move(hint));
  return false;
}

bool ValueParser::fail(const Token& token, const std::string& wanted, std::string hint) {
  if (token.kind == TokenKind::bad && token.text == "/*") return fail(token.offset, "`/*` is not closed");
  if (token.kind == TokenKind::bad && token.text == "\"") return fail(token.offset, "`\"` is not closed");
  if (token.kind == TokenKind::end && !open_.empty()) {
    return fail(open_.back().offset, quoted(open_.back().text) + " is not closed", "expected " + wanted);
  }
  return fail(token.offset, "expected " + wanted + ", " + found(token), std::move(hint));
}

bool ValueParser::open(std::string_view bracket) {
  const Token token = lexer_.next();
  if (!token.is(bracket)) return fail(token, quoted(bracket));
  open_.push_back(token);
  return true;
}

bool ValueParser::close(std::string_view bracket, std::string_view or_wanted) {
  const Token token = lexer_.peek();
  if (!token.is(bracket)) {
    return fail(token, (or_wanted.empty() ? "" : std::string(or_wanted) + " or ") + quoted(bracket));
  }
  lexer_.next();
  open_.pop_back();
  return true;
}

bool ValueParser::accept(std::string_view punctuation) {
  if (!lexer_.peek().is(punctuation)) return false;
  lexer_.next();
  return true;
}

bool ValueParser::accept_name(std::string_view name) {
  const Token token = lexer_.peek();
  if (token.kind != TokenKind::name || token.text != name) return false;
  lexer_.next();
  return true;
}

bool ValueParser::parse_expression(Number* value) { return parse_binary(0, value); }

bool ValueParser::parse_binary(unsigned level, Number* value) {
  static constexpr std::array<std::array<std::string_view, 3>, 3> kLevels = {
      {{"<<", ">>", ""}, {"+", "-", ""}, {"*", "/", "%"}}};
  if (level == kLevels.size()) return parse_unary(value);
  if (!parse_binary(level + 1, value)) return false;
  while (true) {
    const Token token = lexer_.peek();
    const auto& ops = kLevels[level];
    if (token.kind != TokenKind::punctuation || std::find(ops.begin(), ops.end(), token.text) == ops.end()) {
      return true;
    }
    lexer_.next();
    Number right;
    if (!parse_binary(level + 1, &right)) return false;
    if (!set(value, detail::apply(token.text, *value, right, &problem_), token.offset)) return false;
  }
}

bool ValueParser::set(Number* value, const std::optional<Number>& result, size_t offset) {
  if (!result) return fail(offset, problem_);
  *value = *result;
  return true;
}

bool ValueParser::parse_unary(Number* value) {
  if (++nesting_ > kMaxNesting) return fail(lexer_.peek().offset, "nested too deeply");
  const bool good = parse_unary_inner(value);
  --nesting_;
  return good;
}

bool ValueParser::parse_unary_inner(Number* value) {
  const Token token = lexer_.peek();
  if (token.is("-")) {
    lexer_.next();
    return parse_unary(value) && set(value, detail::negate(*value, &problem_), token.offset);
  }
  if (token.is("+")) {
    lexer_.next();
    return parse_unary(value);
  }
  if (token.is("(")) return open("(") && parse_expression(value) && close(")", "an operator");
  if (token.kind == TokenKind::number) {
    lexer_.next();
    return set(value, detail::parse_literal(token.text, &problem_), token.offset);
  }
  if (token.kind == TokenKind::name) return parse_named_value(value);
  return fail(token, "a number");
}

bool ValueParser::parse_named_value(Number* value) {
  const Token name = lexer_.next();
  if (name.text == "min" || name.text == "max" || name.text == "ceil_div") {
    Number right;
    if (!open("(") || !parse_expression(value)) return false;
    if (!accept(",")) return fail(lexer_.peek(), "`,` and a second value");
    return parse_expression(&right) && close(")") &&
           set(value, detail::apply(name.text, *value, right, &problem_), name.offset);
  }
  if (const Number* constant = find_constant(name.text)) {
    *value = *constant;
    return true;
  }
  if (buffers_.count(name.text) != 0) {
    return fail(name.offset, quoted(name.text) + " is a buffer, a number is needed here");
  }
  return fail(name.offset, "unknown name `" + std::string(name.text) + "`",
              "define the number first: `" + std::string(name.text) + " = 1024`");
}

const Number* ValueParser::find_constant(std::string_view name) {
  static const std::map<std::string_view, Number> kBuiltIn = [] {
    Number one, infinity, nan;
    one.integer = 1;
    infinity.is_float = nan.is_float = infinity.single = nan.single = true;
    infinity.real = std::numeric_limits<double>::infinity();
    nan.real = std::numeric_limits<double>::quiet_NaN();
    return std::map<std::string_view, Number>{{"true", one}, {"false", {}},     {"nullptr", {}},
                                              {"NULL", {}},  {"inf", infinity}, {"nan", nan}};
  }();
  if (const auto it = constants_.find(name); it != constants_.end()) return &it->second;
  const auto it = kBuiltIn.find(name);
  return it == kBuiltIn.end() ? nullptr : &it->second;
}

bool ValueParser::parse_integer(std::string_view what, Int128 least, Int128 most, Int128* value) {
  const size_t at = lexer_.peek().offset;
  Number number;
  if (!parse_expression(&number)) return false;
  if (number.is_float) return fail(at, std::string(what) + " must be a whole number");
  *value = number.integer;
  if (*value < least || *value > most) {
    return fail(at, std::string(what) + " must be from " + to_text(least) + " to " + to_text(most) +
                        ", this is " + to_text(*value));
  }
  return true;
}

std::string ValueParser::to_text(Int128 value) {
  return value < 0 ? std::to_string(static_cast<int64_t>(value))
                   : std::to_string(static_cast<uint64_t>(value));
}

bool ValueParser::at_buffer() {
  const LaunchLexer::State state = lexer_.state();
  const Token name = lexer_.next();
  const bool yes = name.kind == TokenKind::name && lexer_.peek().is("[") && name.text != "ptr";
  lexer_.restore(state);
  return yes;
}

bool ValueParser::parse_buffer(BufferSpec* spec) {
  const Token type = lexer_.next();
  const std::optional<ElementType> found_type =
      type.kind == TokenKind::name ? find_type(type.text) : std::nullopt;
  if (!found_type) {
    if (type.kind != TokenKind::name) return fail(type, "a buffer such as `f32[1024]`");
    return fail(type.offset, "unknown element type `" + std::string(type.text) + "`", type_hint(type.text));
  }
  spec->type = *found_type;
  if (!open("[")) return false;
  const Token count = lexer_.peek();
  const bool counted = !count.is("]");
  if (counted) {
    Int128 value = 0;
    if (!parse_integer("the count", 0, std::numeric_limits<int64_t>::max(), &value)) return false;
    spec->count = static_cast<uint64_t>(value);
    if (spec->count > kMaxBufferBytes / size_bytes(spec->type)) {
      return fail(count.offset,
                  "the buffer has " + to_text(value) + " x " + std::to_string(size_bytes(spec->type)) +
                      " bytes, more than 16 GiB",
                  "use a smaller problem: what a kernel does wrong shows on a few blocks");
    }
  }
  if (!close("]", "an operator")) return false;
  if (accept(":") && !parse_fill(&spec->fill, spec->type)) return false;
  if (!counted && spec->fill.kind != Fill::Kind::file) {
    return fail(count.offset, "the buffer has no count", "write `" + std::string(type.text) + "[1024]`");
  }
  if (counted && spec->count == 0) return fail(count.offset, "the count must be at least 1");
  return true;
}

bool ValueParser::parse_seed(Fill* fill) {
  Int128 seed = 0;
  if (!parse_integer("the seed", 0, std::numeric_limits<uint64_t>::max(), &seed)) return false;
  fill->seed = static_cast<uint64_t>(seed);
  return true;
}

bool ValueParser::parse_fill(Fill* fill, ElementType type) {
  const Token token = lexer_.next();
  if (token.kind == TokenKind::path) {
    if (token.text.empty()) return fail(token.offset, "a path must follow `@`");
    fill->kind = Fill::Kind::file;
    fill->path = token.text;
    return true;
  }
  if (token.kind != TokenKind::name) return fail(token, "initial values", std::string(kFillList));
  if (token.text == "zero" || token.text == "uninit" || token.text == "iota") {
    fill->kind = token.text == "zero"     ? Fill::Kind::zero
                 : token.text == "uninit" ? Fill::Kind::uninit
                                          : Fill::Kind::iota;
    return true;
  }
  if (token.text == "uniform") {
    fill->kind = Fill::Kind::uniform;
    if (!lexer_.peek().is("(")) return true;
    return open("(") && (lexer_.peek().is(")") || parse_seed(fill)) && close(")");
  }
  if (token.text == "below") {
    fill->kind = Fill::Kind::below;
    if (!open("(")) return false;
    const bool integer = type != ElementType::f16 && type < ElementType::f16;
    const bool is_signed = type <= ElementType::i64;
    const unsigned value_bits = size_bytes(type) * 8 - (is_signed ? 1 : 0);
    const Int128 most =
        integer && value_bits < 64 ? Int128{1} << value_bits : Int128{std::numeric_limits<uint64_t>::max()};
    Int128 below = 0;
    if (!parse_integer("the bound of below()", 1, most, &below)) return false;
    fill->below = static_cast<uint64_t>(below);
    if (accept(",") && !parse_seed(fill)) return false;
    return close(")", fill->seed ? "" : "`, SEED`");
  }
  return fail(token.offset, "unknown initial values `" + std::string(token.text) + "`",
              std::string(kFillList));
}

}  // namespace fullwarp::input::detail

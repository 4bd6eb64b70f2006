// Launch statements, by recursive descent; docs/launches.md is the user's page.
//
//   script     = { statement ( newline | ";" ) }           # a newline inside brackets is a blank
//   statement  = NAME "=" ( buffer | expression )           # a buffer, or a constant for later expressions
//              | "symbol" QUALIFIED "=" buffer
//              | KERNEL "<<<" dims "," dims [ "," shared [ "," stream ] ] ">>>" "(" [ arguments ] ")"
//              | "expect" NAME [ range ] ( "=" | "~" ) reference [ "(" tolerances ")" ]
//              | "save" NAME "->" PATH  |  "print" NAME [ range ]
//   buffer     = TYPE "[" [ expression ] "]" [ ":" fill ]   # the count may be left out for a file
//   fill       = "zero" | "uninit" | "iota" | "uniform" [ "(" [ SEED ] ")" ]
//              | "below" "(" K [ "," SEED ] ")" | "@" PATH
//   dims       = [ "dim3" ] ( "(" | "{" ) x [ "," y [ "," z ] ] ( ")" | "}" ) | expression
//   argument   = "{" arguments "}" | "ptr" "[" "]" "{" arguments "}" | buffer offset | NAME offset
//              | TYPE expression | expression
//   offset     = { ( "+" | "-" ) product }                  # in elements
//
// The first error ends the parse: it carries file, line, column and what to write instead.
#include <algorithm>
#include <limits>

#include "input/launch_values.h"

namespace fullwarp::input {
namespace {

using detail::Int128;
using detail::kMaxNesting;
using detail::LaunchLexer;
using detail::Number;
using detail::Token;
using detail::TokenKind;

class LaunchParser : private detail::ValueParser {
 public:
  LaunchParser(std::string_view text, std::string_view file, uint32_t first_line)
      : ValueParser(text, file, first_line), file_(file) {}

  Result<Script> parse() {
    Script script;
    while (true) {
      const Token token = lexer_.peek();
      if (token.kind == TokenKind::end) return script;
      if (token.ends_statement()) {
        lexer_.next();
        continue;
      }
      Statement statement;
      bool constant = false;
      if (!parse_statement(token, &statement, &constant)) return std::move(*error_);
      if (!constant) script.push_back(std::move(statement));
    }
  }

 private:
  // ---- launches ----
  bool at_dims() {
    const LaunchLexer::State state = lexer_.state();
    bool yes = lexer_.peek().is("{");
    if (accept_name("dim3")) {
      yes = true;
    } else if (accept(
                   "(")) {  // `(32, 8)` are dims, `(n + 31) / 32` is a number: a comma at this depth decides
      size_t depth = 1;
      while (depth > 0) {
        const Token token = lexer_.next();
        if (token.kind == TokenKind::end || token.kind == TokenKind::bad || token.is(">>>")) break;
        if (token.is("(")) ++depth;
        if (token.is(")")) --depth;
        if (token.is(",") && depth == 1) yes = true;
      }
    }
    lexer_.restore(state);
    return yes;
  }

  bool parse_extent(const std::string& what, uint32_t* extent) {
    Int128 value = 0;
    if (!parse_integer(what, 1, std::numeric_limits<uint32_t>::max(), &value)) return false;
    *extent = static_cast<uint32_t>(value);
    return true;
  }

  bool parse_dims(const std::string& what, Dim3* dims) {
    if (!at_dims()) return parse_extent(what + ".x", &dims->x);
    accept_name("dim3");
    const bool brace = lexer_.peek().is("{");
    const std::string_view end = brace ? "}" : ")";
    if (!open(brace ? "{" : "(")) return false;
    if (!parse_extent(what + ".x", &dims->x)) return false;
    if (accept(",") && !parse_extent(what + ".y", &dims->y)) return false;
    if (accept(",") && !parse_extent(what + ".z", &dims->z)) return false;
    return close(end, "`,`");
  }

  bool parse_launch(std::string_view kernel, KernelLaunch* launch) {
    launch->kernel = kernel;
    const Token first = lexer_.peek();
    if (!open("<<<") || !parse_dims("grid", &launch->grid)) return false;
    if (!accept(",")) {
      const Token token = lexer_.peek();
      if (token.is(">>>")) {
        return fail(first.offset, "a launch needs a grid and a block",
                    "write `" + std::string(kernel) + "<<<grid, block>>>(...)`");
      }
      return fail(token, "`,` and the block");
    }
    if (!parse_dims("block", &launch->block)) return false;
    if (accept(",")) {
      Int128 bytes = 0;
      if (!parse_integer("the dynamic shared memory in bytes", 0, std::numeric_limits<uint32_t>::max(),
                         &bytes)) {
        return false;
      }
      launch->dynamic_shared_bytes = static_cast<uint64_t>(bytes);
    }
    if (accept(",") && !skip_stream()) return false;
    if (!close(">>>", "`,`")) return false;
    if (!open("(")) return false;
    return parse_arguments(")", &launch->arguments);
  }

  bool skip_stream() {  // a name or a number: every launch runs in order
    const Token token = lexer_.peek();
    if (token.kind == TokenKind::name && find_constant(token.text) == nullptr) {
      lexer_.next();
      return true;
    }
    Number ignored;
    return parse_expression(&ignored);
  }

  bool parse_arguments(std::string_view end, std::vector<Argument>* arguments) {
    while (!lexer_.peek().is(end)) {
      arguments->emplace_back();
      if (!parse_argument(&arguments->back())) return false;
      if (!accept(",")) break;
    }
    return close(end, "`,`");
  }

  bool parse_argument(Argument* argument) {
    if (++nesting_ > kMaxNesting) return fail(lexer_.peek().offset, "nested too deeply");
    argument->column = lexer_.column(lexer_.peek().offset);
    const bool good = parse_argument_inner(argument);
    --nesting_;
    return good;
  }

  bool parse_argument_inner(Argument* argument) {
    const Token token = lexer_.peek();
    if (token.is("{")) {
      open("{");
      StructArgument members;
      if (!parse_arguments("}", &members.members)) return false;
      if (members.members.empty()) return fail(token.offset, "the struct has no members");
      argument->value = std::move(members);
      return true;
    }
    if (token.kind == TokenKind::name) {
      if (at_buffer()) {
        BufferArgument buffer;
        if (!parse_buffer(&buffer.spec.emplace())) return false;
        argument->value = std::move(buffer);
        return parse_offset(&std::get<BufferArgument>(argument->value));
      }
      if (token.text == "ptr") return parse_pointer_array(argument);
      if (const std::optional<ElementType> type = detail::find_type(token.text)) {
        lexer_.next();
        return parse_scalar(type, argument);
      }
      if (find_constant(token.text) == nullptr && token.text != "min" && token.text != "max" &&
          token.text != "ceil_div") {
        lexer_.next();
        BufferArgument buffer;
        buffer.name = token.text;
        argument->value = std::move(buffer);
        return parse_offset(&std::get<BufferArgument>(argument->value));
      }
    }
    if (token.kind == TokenKind::path) {
      return fail(token.offset, "a file needs a type here",
                  "write `f32[] : @" + std::string(token.text) + "`");
    }
    return parse_scalar(std::nullopt, argument);
  }

  bool parse_offset(BufferArgument* buffer) {
    Int128 sum = 0;
    while (lexer_.peek().is("+") || lexer_.peek().is("-")) {
      const Token sign = lexer_.next();
      Number step;
      if (!parse_binary(2, &step)) return false;
      if (step.is_float) return fail(sign.offset, "a buffer is moved by a whole number of elements");
      sum += sign.is("-") ? -step.integer : step.integer;
      if (sum < std::numeric_limits<int64_t>::min() || sum > std::numeric_limits<int64_t>::max()) {
        return fail(sign.offset, "the value does not fit in 64 bits");
      }
    }
    buffer->offset_elements = static_cast<int64_t>(sum);
    return true;
  }

  bool parse_pointer_array(Argument* argument) {
    const Token ptr = lexer_.next();
    PointerArrayArgument array;
    if (!open("[") || !close("]") || !open("{") || !parse_arguments("}", &array.pointers)) return false;
    if (array.pointers.empty()) return fail(ptr.offset, "the array of pointers is empty");
    for (const Argument& pointer : array.pointers) {
      const auto* scalar = std::get_if<ScalarArgument>(&pointer.value);
      const bool null = scalar != nullptr && !scalar->is_float && scalar->integer == 0;
      if (!null && !std::holds_alternative<BufferArgument>(pointer.value)) {
        return fail(ptr.offset, "ptr[] holds buffers only", "write `ptr[]{in, out}`");
      }
    }
    argument->value = std::move(array);
    return true;
  }

  bool parse_scalar(std::optional<ElementType> type, Argument* argument) {
    Number number;
    if (!parse_expression(&number)) return false;
    ScalarArgument scalar;
    scalar.type = type;
    if (!type && number.is_float && number.single) scalar.type = ElementType::f32;
    scalar.is_float = number.is_float;
    scalar.real = number.as_double();
    if (!number.is_float) scalar.integer = static_cast<int64_t>(number.integer);
    argument->value = scalar;
    return true;
  }

  // ---- the other statements ----
  bool parse_name(std::string_view what, std::string* name) {
    const Token token = lexer_.next();
    if (token.kind != TokenKind::name) return fail(token, std::string(what));
    *name = token.text;
    return true;
  }

  bool parse_range(std::optional<std::pair<uint64_t, uint64_t>>* range) {
    const Token bracket = lexer_.peek();
    if (!bracket.is("[")) return true;
    Int128 first = 0, end = 0;
    constexpr Int128 kMost = std::numeric_limits<int64_t>::max();
    if (!open("[") || !parse_integer("the first element", 0, kMost, &first)) return false;
    end = first + 1;
    if (accept(":") && !parse_integer("the range's end", 0, kMost, &end)) return false;
    if (!close("]", "`:`")) return false;
    if (end <= first) {
      return fail(bracket.offset, "the range is empty", "[0:8] names elements 0 to 7");
    }
    *range = {static_cast<uint64_t>(first), static_cast<uint64_t>(end)};
    return true;
  }

  bool parse_expect(Expect* expect) {
    if (!parse_name("the name of a buffer", &expect->buffer) || !parse_range(&expect->range)) return false;
    const Token op = lexer_.next();
    if (!op.is("=") && !op.is("~")) return fail(op, "`=` (equal) or `~` (within tolerances)");
    expect->exact = op.is("=");
    const Token token = lexer_.peek();
    if (token.kind == TokenKind::path) {
      expect->reference.spec.emplace();
      if (!parse_fill(&expect->reference.spec->fill, ElementType::f32)) return false;
    } else if (at_buffer()) {
      if (!parse_buffer(&expect->reference.spec.emplace())) return false;
      const Fill& fill = expect->reference.spec->fill;
      if ((fill.kind == Fill::Kind::uniform || fill.kind == Fill::Kind::below) && !fill.seed) {
        return fail(token.offset, "random values to compare with need a seed", "write `uniform(7)`");
      }
      if (fill.kind == Fill::Kind::uninit) {
        return fail(token.offset, "there is nothing to compare with in an uninitialised buffer");
      }
    } else if (token.kind == TokenKind::name) {
      lexer_.next();
      expect->reference.name = token.text;
    } else {
      return fail(token, "a buffer's name, `@file.npy` or a buffer such as `f32[4]:iota`");
    }
    if (token.kind != TokenKind::path && !parse_offset(&expect->reference)) return false;
    return parse_tolerances(expect);
  }

  bool parse_tolerances(Expect* expect) {
    const Token bracket = lexer_.peek();
    if (!bracket.is("(")) return true;
    if (expect->exact) {
      return fail(bracket.offset, "`=` compares for equality and takes no tolerances",
                  "write `~` instead of `=`");
    }
    open("(");
    do {
      const Token name = lexer_.next();
      const bool relative = name.text == "rtol";
      if (name.kind != TokenKind::name || (!relative && name.text != "atol")) {
        return fail(name, "`rtol` or `atol`", "write `(rtol 1e-5, atol 0)`");
      }
      accept("=");
      const size_t at = lexer_.peek().offset;
      Number value;
      if (!parse_expression(&value)) return false;
      if (!(value.as_double() >= 0)) return fail(at, "a tolerance must not be negative");
      (relative ? expect->rtol : expect->atol) = value.as_double();
    } while (accept(","));
    return close(")", "`,`");
  }

  bool parse_save(Save* save) {
    if (!parse_name("the name of a buffer", &save->buffer)) return false;
    const Token arrow = lexer_.next();
    if (!arrow.is("->")) return fail(arrow, "`->` and a path");
    const Token path = lexer_.next_path();
    if (path.kind == TokenKind::bad) return fail(path, "a path");
    if (path.text.empty()) return fail(path.offset, "a path must follow `->`");
    save->path = path.text;
    return true;
  }

  bool parse_symbol(SetSymbol* symbol) {
    if (accept("::")) symbol->symbol = "::";
    do {
      std::string part;
      if (!parse_name("the name of a variable", &part)) return false;
      symbol->symbol += part;
    } while (accept("::") && !(symbol->symbol += "::").empty());
    if (!accept("=")) return fail(lexer_.peek(), "`=`");
    return parse_buffer(&symbol->spec);
  }

  // `name = ...`: a buffer, or a constant, which stands for its value in later expressions.
  bool parse_definition(Statement* statement, bool* constant) {
    const Token name = lexer_.next();
    lexer_.next();  // `=`
    if (detail::find_type(name.text) || name.text == "ptr") {
      return fail(name.offset, detail::quoted(name.text) + " is a type and cannot name a buffer");
    }
    if (buffers_.count(name.text) != 0 || constants_.count(name.text) != 0) {
      return fail(name.offset, detail::quoted(name.text) + " is defined twice");
    }
    if (at_buffer()) {
      DefineBuffer define;
      define.name = name.text;
      if (!parse_buffer(&define.spec)) return false;
      buffers_.insert(define.name);
      statement->value = std::move(define);
      return true;
    }
    const Token token = lexer_.peek();
    if (token.kind != TokenKind::number && token.kind != TokenKind::name && !token.is("(") &&
        !token.is("-")) {
      return fail(token, "a buffer such as `f32[1024]` or a number");
    }
    if (detail::find_type(token.text)) {
      lexer_.next();
      return fail(lexer_.peek(), "`[`", "a buffer is written `" + std::string(token.text) + "[1024]`");
    }
    Number value;
    if (!parse_expression(&value)) return false;
    constants_.emplace(name.text, value);
    *constant = true;
    return true;
  }

  bool parse_statement(const Token& first, Statement* statement, bool* constant) {
    statement->file = file_;
    statement->line = lexer_.line(first.offset);
    statement->column = lexer_.column(first.offset);
    if (!parse_statement_value(first, statement, constant)) return false;
    statement->text = lexer_.text().substr(first.offset, lexer_.position() - first.offset);
    const Token end = lexer_.peek();
    return end.ends_statement() || fail(end, "the end of the statement", "separate statements with `;`");
  }

  bool parse_statement_value(const Token& first, Statement* statement, bool* constant) {
    if (first.kind == TokenKind::name) {
      const LaunchLexer::State state = lexer_.state();
      lexer_.next();
      const Token second = lexer_.peek();
      if (second.is("=")) {
        lexer_.restore(state);
        return parse_definition(statement, constant);
      }
      if (!second.is("<<<") && !second.is("<") && (!second.is("::") || first.text == "symbol")) {
        if (first.text == "expect") return parse_expect(&statement->value.emplace<Expect>());
        if (first.text == "save") return parse_save(&statement->value.emplace<Save>());
        if (first.text == "symbol") return parse_symbol(&statement->value.emplace<SetSymbol>());
        if (first.text == "print") {
          Print& print = statement->value.emplace<Print>();
          return parse_name("the name of a buffer", &print.buffer) && parse_range(&print.range);
        }
      }
      lexer_.restore(state);
    }
    const std::string_view kernel = lexer_.next_kernel_name();
    if (kernel.empty() || (first.kind != TokenKind::name && !first.is("::") && !first.is("("))) {
      if (first.kind != TokenKind::name) {
        return fail(first, "a statement", "write `name = f32[1024]` or `kernel<<<grid, block>>>(arguments)`");
      }
      lexer_.next();
      return fail(lexer_.peek(), "`=` or `<<<` after `" + std::string(first.text) + "`");
    }
    return parse_launch(kernel, &statement->value.emplace<KernelLaunch>());
  }

  std::string file_;
};

void assign_seed(BufferSpec* spec, uint64_t* position) {
  const uint64_t here = (*position)++;  // a buffer counts, whether or not it names its seed
  if (!spec->fill.seed) spec->fill.seed = here;
}

void assign_seeds(Argument& argument, uint64_t* position) {
  if (auto* buffer = std::get_if<BufferArgument>(&argument.value)) {
    if (buffer->spec) assign_seed(&*buffer->spec, position);
    return;
  }
  std::vector<Argument>* inner = nullptr;
  if (auto* members = std::get_if<StructArgument>(&argument.value)) inner = &members->members;
  if (auto* array = std::get_if<PointerArrayArgument>(&argument.value)) inner = &array->pointers;
  if (inner == nullptr) return;
  for (Argument& member : *inner) assign_seeds(member, position);
}

}  // namespace

Result<Script> parse_launches(std::string_view text, std::string_view file, uint32_t first_line) {
  return LaunchParser(text, file, first_line).parse();
}

void assign_default_seeds(Script* script) {
  uint64_t position = 1;
  for (Statement& statement : *script) {
    if (auto* define = std::get_if<DefineBuffer>(&statement.value)) assign_seed(&define->spec, &position);
    if (auto* symbol = std::get_if<SetSymbol>(&statement.value)) assign_seed(&symbol->spec, &position);
    if (auto* launch = std::get_if<KernelLaunch>(&statement.value)) {
      for (Argument& argument : launch->arguments) assign_seeds(argument, &position);
    }
  }
}

}  // namespace fullwarp::input

// The shared lower half of the launch parser: brackets and messages, scalar expressions, buffers. The
// statements above it are in launch_parser.cpp, with the whole grammar.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "input/launch.h"
#include "input/launch_lexer.h"
#include "input/launch_numbers.h"

namespace fullwarp::input::detail {

inline constexpr unsigned kMaxNesting = 64;

std::optional<ElementType> find_type(std::string_view name);
std::string found(const Token& token);  // "found `x`", "found the end of the line"

// Every function that returns bool returns false after setting error_, and the caller returns false at once.
class ValueParser {
 protected:
  ValueParser(std::string_view text, std::string_view file, uint32_t first_line)
      : lexer_(text, file, first_line) {}

  bool fail(size_t offset, std::string message, std::string hint = {});
  bool fail(const Token& token, const std::string& wanted, std::string hint = {});
  bool open(std::string_view bracket);
  bool close(std::string_view bracket, std::string_view or_wanted = {});
  bool accept(std::string_view punctuation);
  bool accept_name(std::string_view name);

  // ---- expressions ----
  bool parse_expression(Number* value);

  bool parse_binary(unsigned level, Number* value);

  bool set(Number* value, const std::optional<Number>& result, size_t offset);

  bool parse_unary(Number* value);

  bool parse_unary_inner(Number* value);

  bool parse_named_value(Number* value);

  const Number* find_constant(std::string_view name);

  // A whole number within [least, most], `what` names it in the message.
  bool parse_integer(std::string_view what, Int128 least, Int128 most, Int128* value);

  static std::string to_text(Int128 value);

  // ---- buffers ----
  // Whether a buffer in place (`f32[...]`) comes next; a wrong type name counts, so that it is reported.
  bool at_buffer();

  bool parse_buffer(BufferSpec* spec);

  bool parse_seed(Fill* fill);

  bool parse_fill(Fill* fill, ElementType type);

  LaunchLexer lexer_;
  std::optional<Error> error_;
  std::string problem_;
  std::vector<Token> open_;  // brackets not closed yet
  unsigned nesting_ = 0;
  std::map<std::string, Number, std::less<>> constants_;  // `n = 1024`
  std::set<std::string, std::less<>> buffers_;            // names defined so far
};

}  // namespace fullwarp::input::detail

// Tokens of launch statements. Tokens are read on demand, not up front, because what a character means
// depends on the parser: `>>>` closes template arguments in a kernel name and the configuration in a
// launch, and a path is read whole. A newline ends a statement unless a bracket is open. The grammar is in
// launch_parser.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fullwarp::input::detail {

enum class TokenKind : uint8_t { end, newline, name, number, path, punctuation, bad };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;  // of a path: without `@` and quotes
  size_t offset = 0;

  bool is(std::string_view punctuation) const {
    return kind == TokenKind::punctuation && text == punctuation;
  }
  bool ends_statement() const { return kind == TokenKind::end || kind == TokenKind::newline || is(";"); }
};

std::string quoted(std::string_view text);  // `text`
bool is_name_start(char c);
bool is_name_char(char c);

class LaunchLexer {
 public:
  LaunchLexer(std::string_view text, std::string_view file, uint32_t first_line);

  Token peek() const;  // the next token; nothing is consumed
  Token next();        // consumes it; opening and closing brackets change the depth
  // The rest of the word as a path: up to white space, `;`, `,` or a closing bracket; or in quotes.
  Token next_path();
  // A kernel's name as written, up to `<<<`: empty if there is no such thing before the statement's end.
  std::string_view next_kernel_name();

  struct State {
    size_t position = 0, depth = 0;
  };
  State state() const { return {position_, depth_}; }
  void restore(State state) { position_ = state.position, depth_ = state.depth; }
  size_t position() const { return position_; }
  std::string_view text() const { return text_; }
  uint32_t line(size_t offset) const;
  uint32_t column(size_t offset) const;
  Error error_at(size_t offset, std::string message, std::string hint = {}) const;

 private:
  size_t skip_blanks(size_t from) const;  // white space and comments; newlines too inside brackets
  Token token_at(size_t from, size_t* end) const;
  Token path_at(size_t from, size_t* end) const;
  size_t line_index(size_t offset) const;

  std::string_view text_;
  std::string file_;
  uint32_t first_line_;
  std::vector<size_t> line_starts_;
  size_t position_ = 0;
  size_t depth_ = 0;
};

}  // namespace fullwarp::input::detail

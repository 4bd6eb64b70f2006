#include "input/launch_lexer.h"

#include <algorithm>

namespace fullwarp::input::detail {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string quoted(std::string_view text) {
  std::string out(1, '`');
  out.append(text);
  out += '`';
  return out;
}

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}
bool is_name_char(char c) { return is_name_start(c) || is_digit(c); }

LaunchLexer::LaunchLexer(std::string_view text, std::string_view file, uint32_t first_line)
    : text_(text), file_(file), first_line_(first_line), line_starts_{0} {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') line_starts_.push_back(i + 1);
  }
}

size_t LaunchLexer::skip_blanks(size_t from) const {
  while (from < text_.size()) {
    const char c = text_[from];
    const std::string_view rest = text_.substr(from);
    if (is_blank(c) || (c == '\n' && depth_ > 0)) {
      ++from;
    } else if (c == '#' || rest.starts_with("//")) {
      from = std::min(text_.find('\n', from), text_.size());
    } else if (rest.starts_with("/*")) {
      const size_t close = text_.find("*/", from + 2);
      if (close == std::string_view::npos) return from;  // token_at() reports it
      from = close + 2;
    } else {
      break;
    }
  }
  return from;
}

Token LaunchLexer::path_at(size_t from, size_t* end) const {
  if (from < text_.size() && text_[from] == '"') {
    const size_t close = text_.find_first_of("\"\n", from + 1);
    if (close == std::string_view::npos || text_[close] == '\n') {
      *end = from + 1;
      return {TokenKind::bad, text_.substr(from, 1), from};
    }
    *end = close + 1;
    return {TokenKind::path, text_.substr(from + 1, close - from - 1), from};
  }
  size_t to = from;
  while (to < text_.size() && !is_blank(text_[to]) &&
         std::string_view("\n;,()[]{}\"").find(text_[to]) == std::string_view::npos) {
    ++to;
  }
  *end = to;
  return {TokenKind::path, text_.substr(from, to - from), from};
}

Token LaunchLexer::token_at(size_t from, size_t* end) const {
  if (from >= text_.size()) {
    *end = text_.size();
    return {TokenKind::end, {}, text_.size()};
  }
  const char c = text_[from];
  const auto take = [&](TokenKind kind, size_t length) {
    *end = from + length;
    return Token{kind, text_.substr(from, length), from};
  };
  if (c == '\n') return take(TokenKind::newline, 1);
  if (is_name_start(c)) {
    size_t to = from;
    while (to < text_.size() && is_name_char(text_[to])) ++to;
    return take(TokenKind::name, to - from);
  }
  if (is_digit(c) || (c == '.' && from + 1 < text_.size() && is_digit(text_[from + 1]))) {
    const bool hex = c == '0' && from + 1 < text_.size() && (text_[from + 1] | 0x20) == 'x';
    size_t to = from;
    while (to < text_.size()) {
      const char d = text_[to];
      const bool exponent_sign = (d == '+' || d == '-') && !hex && (text_[to - 1] | 0x20) == 'e';
      if (!is_name_char(d) && d != '.' && d != '\'' && !exponent_sign) break;
      ++to;
    }
    return take(TokenKind::number, to - from);
  }
  if (c == '@') {
    Token path = path_at(from + 1, end);
    path.offset = from;
    return path;
  }
  static constexpr std::string_view kPunctuation[] = {"<<<", ">>>", "<<", ">>", "->", "::"};
  const std::string_view rest = text_.substr(from);
  for (std::string_view p : kPunctuation) {
    if (rest.starts_with(p)) return take(TokenKind::punctuation, p.size());
  }
  if (rest.starts_with("/*")) return take(TokenKind::bad, 2);
  if (std::string_view("()[]{},:;=~+-*/%&<>").find(c) != std::string_view::npos) {
    return take(TokenKind::punctuation, 1);
  }
  size_t length = 1;  // a whole UTF-8 character, so that the message stays readable
  while (from + length < text_.size() && (text_[from + length] & 0xc0) == 0x80) ++length;
  return take(TokenKind::bad, length);
}

Token LaunchLexer::peek() const {
  size_t end = 0;
  return token_at(skip_blanks(position_), &end);
}

Token LaunchLexer::next() {
  const Token token = token_at(skip_blanks(position_), &position_);
  if (token.kind == TokenKind::punctuation) {
    if (token.is("(") || token.is("[") || token.is("{") || token.is("<<<")) {
      ++depth_;
    } else if (token.is(")") || token.is("]") || token.is("}") || token.is(">>>")) {
      if (depth_ > 0) --depth_;
    }
  }
  return token;
}

Token LaunchLexer::next_path() { return path_at(skip_blanks(position_), &position_); }

std::string_view LaunchLexer::next_kernel_name() {
  const size_t begin = skip_blanks(position_);
  size_t open = 0;
  for (size_t at = begin; at < text_.size(); ++at) {
    const std::string_view rest = text_.substr(at);
    if (rest.starts_with("<<<")) {
      position_ = at;
      std::string_view name = text_.substr(begin, at - begin);
      while (!name.empty() && (is_blank(name.back()) || name.back() == '\n')) name.remove_suffix(1);
      return name;
    }
    const char c = text_[at];
    if (c == '<' || c == '(') {
      ++open;
    } else if (c == '>' || c == ')') {
      if (open == 0) return {};
      --open;
    } else if (c == ';' || c == '=' || c == '"' || c == '@' || c == '#' || rest.starts_with("//") ||
               (c == '\n' && open == 0)) {
      return {};
    }
  }
  return {};
}

size_t LaunchLexer::line_index(size_t offset) const {
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return static_cast<size_t>(after - line_starts_.begin()) - 1;
}

uint32_t LaunchLexer::line(size_t offset) const {
  return first_line_ + static_cast<uint32_t>(line_index(offset));
}

uint32_t LaunchLexer::column(size_t offset) const {
  return static_cast<uint32_t>(offset - line_starts_[line_index(offset)]) + 1;
}

Error LaunchLexer::error_at(size_t offset, std::string message, std::string hint) const {
  return Error{std::move(message), file_, line(offset), column(offset), std::move(hint)};
}

}  // namespace fullwarp::input::detail

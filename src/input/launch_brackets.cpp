// `a << <b` is no C++ but in `operator<< <T>(...)`; so a torn opening bracket that follows a name or a `>`
// (other than `operator`) is a launch's. Its other end is three `>` in a row outside of brackets with `(`
// behind them. The blanks inside a bracket move behind it.
#include "input/launch_brackets.h"

#include <array>
#include <optional>

#include "input/launch_lexer.h"
#include "input/source_kernels.h"

namespace fullwarp::input {
namespace {

constexpr size_t kMostConfiguration = 4096;  // characters between the brackets

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// One past three of `c` with nothing but blanks between them, from `at` on, where the first of them is.
std::optional<size_t> after_three(std::string_view text, size_t at, char c) {
  for (int left = 3; at < text.size(); ++at) {
    if (text[at] == c) {
      if (--left == 0) return at + 1;
    } else if (!is_blank(text[at])) {
      break;
    }
  }
  return std::nullopt;
}

bool follows_kernel_name(std::string_view text, size_t at) {
  while (at > 0 && is_blank(text[at - 1])) --at;
  if (at == 0) return false;
  if (text[at - 1] == '>') return true;
  size_t begin = at;
  while (begin > 0 && detail::is_name_char(text[begin - 1])) --begin;
  return begin < at && text.substr(begin, at - begin) != "operator";
}

struct Range {
  size_t begin, end;
};

std::optional<Range> closing_bracket(std::string_view text, size_t from) {
  int depth = 0;
  for (size_t at = from; at < text.size() && at - from < kMostConfiguration; ++at) {
    const char c = text[at];
    if (c == ';') break;
    if (c == '(' || c == '{' || c == '[') ++depth;
    if ((c == ')' || c == '}' || c == ']') && --depth < 0) break;
    if (c != '>' || depth != 0) continue;
    const std::optional<size_t> end = after_three(text, at, '>');
    if (!end) continue;
    const size_t next = text.find_first_not_of(" \t\r\n", *end);
    if (next != std::string_view::npos && text[next] == '(') return Range{at, *end};
  }
  return std::nullopt;
}

}  // namespace

std::string with_joined_launch_brackets(std::string_view source) {
  std::string out(source);
  const std::string text = without_comments(source);  // of the same length
  const auto join = [&](Range range, char c) {
    for (size_t at = range.begin; at < range.end; ++at) out[at] = at < range.begin + 3 ? c : ' ';
  };
  for (size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at)) {
    const std::optional<size_t> opened = after_three(text, at, '<');
    const std::optional<Range> close =
        opened && follows_kernel_name(text, at) ? closing_bracket(text, *opened) : std::nullopt;
    if (!close) {
      ++at;
      continue;
    }
    join({at, *opened}, '<');
    join(*close, '>');
    at = close->end;
  }
  return out;
}

}  // namespace fullwarp::input

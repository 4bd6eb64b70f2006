#include "input/columns.h"

#include <algorithm>
#include <array>
#include <optional>

#include "input/launch_lexer.h"
#include "input/source_kernels.h"

namespace fullwarp::input {
namespace {

using detail::is_name_char;

// All operators that contain another one, so that `%` is not found in `%=` nor `<` in `<<`.
constexpr std::array<std::string_view, 24> kLongOperators = {
    "<<=", ">>=", "<=>", "->*", "...", "<<", ">>", "<=", ">=", "==", "!=", "&&",
    "||",  "++",  "--",  "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^=", "->"};

size_t skip_blanks(std::string_view text, size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  return at;
}

// One past the brackets of a subscript or call that follow at `at`: `[y][x]`, `.x`.
size_t after_postfix(std::string_view text, size_t at) {
  while (true) {
    at = skip_blanks(text, at);
    if (at < text.size() && text[at] == '[') {
      size_t depth = 0;
      do {
        if (text[at] == '[') ++depth;
        if (text[at] == ']') --depth;
        ++at;
      } while (at < text.size() && depth > 0);
    } else if (at + 1 < text.size() && text[at] == '.' && detail::is_name_start(text[at + 1])) {
      for (++at; at < text.size() && is_name_char(text[at]);) ++at;
    } else {
      return at;
    }
  }
}

// Whether the name ending at `end` is the target of an assignment; `both` for `+=` and the like.
Hint::Use use_of(std::string_view text, size_t begin, size_t end, bool* both) {
  const size_t at = after_postfix(text, end);
  const std::string_view rest = text.substr(std::min(at, text.size()));
  *both = rest.starts_with("++") || rest.starts_with("--");
  for (const std::string_view op : {"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}) {
    *both |= rest.starts_with(op);
  }
  const std::string_view before = text.substr(0, begin);
  *both |= before.ends_with("++") || before.ends_with("--");
  const bool assigned = rest.starts_with("=") && !rest.starts_with("==");
  return assigned || *both ? Hint::Use::written : Hint::Use::read;
}

std::vector<ColumnRange> find_words(std::string_view text, std::string_view word, bool call, Hint::Use use) {
  std::vector<ColumnRange> found;
  if (word.empty()) return found;
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at > 0 && is_name_char(text[at - 1])) || (end < text.size() && is_name_char(text[end]))) continue;
    if (call) {
      const size_t next = skip_blanks(text, end);
      if (next >= text.size() || (text[next] != '(' && text[next] != '<')) continue;
    }
    bool both = false;
    const bool fits = use == Hint::Use::any || use_of(text, at, end, &both) == use || both;
    if (fits) found.push_back({static_cast<uint32_t>(at) + 1, static_cast<uint32_t>(end) + 1});
  }
  return found;
}

std::vector<ColumnRange> find_operators(std::string_view text, std::string_view op) {
  std::vector<ColumnRange> found;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const auto longest =
        std::find_if(kLongOperators.begin(), kLongOperators.end(),
                     [&](std::string_view candidate) { return rest.starts_with(candidate); });
    const size_t length = longest != kLongOperators.end() ? longest->size() : 1;
    if (rest.substr(0, length) == op) {
      found.push_back({static_cast<uint32_t>(at) + 1, static_cast<uint32_t>(at + length) + 1});
    }
    at += length;
  }
  return found;
}

std::optional<ColumnRange> choose(const std::vector<ColumnRange>& found, const Hint& hint) {
  std::vector<ColumnRange> later;
  for (const ColumnRange& range : found) {
    if (range.begin >= hint.from_column) later.push_back(range);
  }
  if (later.empty()) return std::nullopt;
  return later[std::min<size_t>(hint.occurrence, later.size() - 1)];
}

}  // namespace

ColumnRange narrow_column(std::string_view line, const Hint& hint) {
  const std::string text = without_comments(line);
  for (const std::string& call : hint.calls) {
    if (const auto range = choose(find_words(text, call, true, Hint::Use::any), hint)) return *range;
  }
  for (const std::string& name : hint.names) {
    if (const auto range = choose(find_words(text, name, false, hint.use), hint)) return *range;
  }
  for (const std::string& op : hint.operators) {
    if (const auto range = choose(find_operators(text, op), hint)) return *range;
  }
  return {};
}

ColumnRange code_columns(std::string_view line) {
  const std::string text = without_comments(line);
  const size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  if (first == std::string::npos) return {};
  return {static_cast<uint32_t>(first) + 1, static_cast<uint32_t>(last) + 2};
}

}  // namespace fullwarp::input

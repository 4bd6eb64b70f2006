#include "rules/source_text.h"

#include <algorithm>
#include <cctype>

#include "input/source_kernels.h"

namespace fullwarp::rules {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)); }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// A line's code: what stands before a comment. Strings stay, for an array is never declared in one.
std::string_view without_comment(std::string_view line) { return line.substr(0, line.find("//")); }

// Position of `name` as a whole word at or after `from`; npos if there is none.
size_t find_word(std::string_view text, std::string_view name, size_t from = 0) {
  if (name.empty()) return std::string_view::npos;
  for (size_t at = text.find(name, from); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const bool begins = at == 0 || !is_word(text[at - 1]);
    const size_t end = at + name.size();
    if (begins && (end == text.size() || !is_word(text[end]))) return at;
  }
  return std::string_view::npos;
}

// The end of the bracket that opens at `open`; npos if it does not close in the text.
size_t closing(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[' || text[i] == '{') ++depth;
    if ((text[i] == ')' || text[i] == ']' || text[i] == '}') && --depth == 0) return i;
  }
  return std::string_view::npos;
}

// Recursive descent over the integer expressions that array bounds are made of.
class Evaluator {
 public:
  // `look_ups` bounds the names followed in all, since a file may define them in terms of each other.
  Evaluator(diag::SourceCache& sources, const std::string& file, std::string_view text, int& look_ups)
      : sources_(sources), file_(file), text_(text), look_ups_(look_ups) {}

  std::optional<uint64_t> value() {
    const auto result = sum();
    skip();
    return at_ == text_.size() ? result : std::nullopt;
  }

 private:
  static constexpr int kMaxDepth = 16, kMaxLookUps = 32;

  void skip() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool accept(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::optional<uint64_t> sum() {
    auto left = product();
    while (left) {
      const bool plus = accept('+');
      if (!plus && !accept('-')) break;
      const auto right = product();
      if (!right || (!plus && *right > *left)) return {};
      left = plus ? *left + *right : *left - *right;
    }
    return left;
  }
  std::optional<uint64_t> product() {
    auto left = factor();
    while (left) {
      const bool times = accept('*');
      if (!times && !accept('/')) break;
      const auto right = factor();
      if (!right || (!times && *right == 0)) return {};
      left = times ? *left * *right : *left / *right;
    }
    return left;
  }
  std::optional<uint64_t> factor() {
    if (accept('(')) {
      if (++depth_ > kMaxDepth) return {};
      const auto inner = sum();
      --depth_;
      return accept(')') ? inner : std::nullopt;
    }
    skip();
    const size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty() || word.size() > 64) return {};
    return std::isdigit(static_cast<unsigned char>(word[0])) ? literal(word) : named(word);
  }
  static std::optional<uint64_t> literal(std::string_view word) {
    while (!word.empty() && std::string_view("uUlL").find(word.back()) != std::string_view::npos)
      word.remove_suffix(1);
    uint64_t value = 0;
    for (const char c : word) {
      if (c < '0' || c > '9' || value > (uint64_t{1} << 40)) return {};
      value = 10 * value + static_cast<uint64_t>(c - '0');
    }
    return value;
  }
  std::optional<uint64_t> named(std::string_view name) {
    if (++look_ups_ > kMaxLookUps) return {};
    const uint32_t lines = sources_.line_count(file_);
    for (uint32_t n = 1; n <= lines; ++n) {
      const std::string_view line = trimmed(without_comment(sources_.line(file_, n)));
      const size_t at = find_word(line, name);
      if (at == std::string_view::npos) continue;
      std::string_view rest = trimmed(line.substr(at + name.size()));
      if (line.starts_with("#define")) {
        if (trimmed(line.substr(7)).substr(0, name.size()) != name) continue;
      } else if (line.find("const") < at && rest.starts_with('=') && !rest.starts_with("==")) {
        rest = trimmed(rest.substr(1));
        rest = rest.substr(0, rest.find_first_of(",;"));
      } else {
        continue;
      }
      return Evaluator(sources_, file_, rest, look_ups_).value();
    }
    return {};
  }

  diag::SourceCache& sources_;
  const std::string& file_;
  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  int& look_ups_;
};

}  // namespace

std::vector<uint32_t> columns_of(std::string_view line, std::string_view name) {
  line = without_comment(line);
  std::vector<uint32_t> columns;
  for (size_t at = find_word(line, name); at != std::string_view::npos; at = find_word(line, name, at + 1))
    columns.push_back(static_cast<uint32_t>(at) + 1);
  return columns;
}

std::optional<ArrayDeclaration> find_array(diag::SourceCache& sources, const std::string& file, uint32_t line,
                                           std::string_view name) {
  for (uint32_t n = std::min(line, sources.line_count(file)); n > 0; --n) {
    const std::string_view text = without_comment(sources.line(file, n));
    size_t at = find_word(text, name);
    if (at == std::string_view::npos || at == 0) continue;
    // A declaration is `type name[...]` or, after the first declarator, `], name[...]`; not an expression.
    const std::string_view before = trimmed(text.substr(0, at));
    const bool shared = before.find("__shared__") != std::string_view::npos;
    if (!shared &&
        (before.empty() || !(is_word(before.back()) || before.back() == ',' || before.back() == '>')))
      continue;
    if (!shared && before.find_first_of("=+(?") != std::string_view::npos) continue;
    if (before == "return") continue;
    ArrayDeclaration found;
    found.line = n;
    found.shared = shared;
    at += name.size();
    while (at < text.size() && text[at] == '[') {
      const size_t end = closing(text, at);
      if (end == std::string_view::npos) break;
      found.dims.emplace_back(trimmed(text.substr(at + 1, end - at - 1)));
      found.sizes.push_back(constant_value(sources, file, found.dims.back()));
      at = end + 1;
    }
    if (found.dims.empty()) continue;
    std::string_view type = before.substr(0, before.find('['));
    if (const size_t comma = before.find(','); comma != std::string_view::npos) {
      type = trimmed(type);  // `float first[8]`: drop the first declarator's name
      while (!type.empty() && is_word(type.back())) type.remove_suffix(1);
    }
    for (const std::string_view word : {"extern", "__shared__", "static", "volatile", "const", "constexpr"})
      if (const size_t w = find_word(type, word); w != std::string_view::npos)
        type.remove_prefix(w + word.size());
    if (const size_t align = type.find("__align__"); align != std::string_view::npos)
      if (const size_t end = closing(type, align + 9); end != std::string_view::npos)
        type.remove_prefix(end + 1);
    found.type = trimmed(type);
    return found;
  }
  return {};
}

std::optional<uint64_t> constant_value(diag::SourceCache& sources, const std::string& file,
                                       std::string_view expression) {
  int look_ups = 0;
  return Evaluator(sources, file, expression, look_ups).value();
}

void sort_by_column(std::vector<std::string>& names, std::string_view line) {
  const auto first = [&](const std::string& name) {
    const std::vector<uint32_t> columns = columns_of(line, name);
    return columns.empty() ? UINT32_MAX : columns.front();
  };
  std::stable_sort(names.begin(), names.end(),
                   [&](const std::string& a, const std::string& b) { return first(a) < first(b); });
}

std::vector<std::string> subscripted_names(std::string_view line) {
  line = without_comment(line);
  std::vector<std::string> names;
  for (size_t at = line.find('['); at != std::string_view::npos; at = line.find('[', at + 1)) {
    size_t first = at;
    while (first > 0 && is_word(line[first - 1])) --first;
    std::string name(line.substr(first, at - first));
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  return names;
}

std::optional<Divisor> divisor_in(std::string_view line, char op) {
  line = without_comment(line);
  size_t at = std::string_view::npos;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != op) continue;
    if (at != std::string_view::npos) return {};
    at = i;
  }
  if (at == std::string_view::npos) return {};
  size_t begin = at + 1;
  if (begin < line.size() && line[begin] == '=') ++begin;
  while (begin < line.size() && is_space(line[begin])) ++begin;
  size_t end = begin;
  if (begin < line.size() && line[begin] == '(') {
    end = closing(line, begin);
    if (end == std::string_view::npos) return {};
    return Divisor{std::string(trimmed(line.substr(begin + 1, end - begin - 1))),
                   static_cast<uint32_t>(at) + 1, static_cast<uint32_t>(end) + 2};
  }
  while (end < line.size() && (is_word(line[end]) || line[end] == '.' || line.substr(end, 2) == "->"))
    end += line[end] == '-' ? 2 : 1;
  if (end == begin) return {};
  return Divisor{std::string(line.substr(begin, end - begin)), static_cast<uint32_t>(at) + 1,
                 static_cast<uint32_t>(end) + 1};
}

namespace {

constexpr std::string_view kVectorTypes[] = {"char", "uchar", "short",    "ushort",    "int",   "uint",
                                             "long", "ulong", "longlong", "ulonglong", "float", "double"};

// `float3`, `uint2`: structs of CUDA's own.
bool is_vector_type(std::string_view name) {
  if (name.size() < 2 || name.back() < '2' || name.back() > '4') return false;
  name.remove_suffix(1);
  return std::find(std::begin(kVectorTypes), std::end(kVectorTypes), name) != std::end(kVectorTypes);
}

// `struct Name {`, `class Name : Base`, `typedef struct {...} Name;` in a text without comments.
bool declares_struct(std::string_view text, std::string_view name) {
  for (size_t at = find_word(text, name); at != std::string_view::npos; at = find_word(text, name, at + 1)) {
    const std::string_view before = trimmed(text.substr(at > 200 ? at - 200 : 0, std::min<size_t>(at, 200)));
    const std::string_view after = trimmed(text.substr(at + name.size(), 200));
    const std::string_view line = before.substr(before.find_last_of(";{}") + 1);
    const bool opens = after.starts_with('{') || (after.starts_with(':') && !after.starts_with("::"));
    for (const std::string_view word : {"struct", "class", "union"})
      if (opens && find_word(line, word) != std::string_view::npos) return true;
    if (before.ends_with('}') && (after.starts_with(';') || after.starts_with(','))) return true;
  }
  return false;
}

// The files that a text includes by `#include "..."`, as seen from the file's folder.
std::vector<std::string> own_includes(std::string_view text, const std::string& file) {
  constexpr std::string_view kInclude = "#include \"";
  constexpr size_t kMost = 16;
  const std::string folder = file.substr(0, file.rfind('/') + 1);
  std::vector<std::string> files;
  for (size_t at = text.find(kInclude); at != std::string_view::npos && files.size() < kMost;
       at = text.find(kInclude, at + 1)) {
    const size_t begin = at + kInclude.size();
    const std::string_view name = text.substr(begin, text.find_first_of("\"\n", begin) - begin);
    files.push_back(folder + std::string(name));
  }
  return files;
}

}  // namespace

bool is_struct(diag::SourceCache& sources, const std::string& file, std::string_view type) {
  std::string_view name = type.substr(0, type.find_first_of("*&<"));
  name = trimmed(name);
  if (name.starts_with("struct ")) return true;
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view word : {"const", "volatile"}) {
      if (name.starts_with(word) && name.size() > word.size() && is_space(name[word.size()])) {
        name = trimmed(name.substr(word.size()));
        again = true;
      }
      if (name.ends_with(word) && name.size() > word.size() &&
          is_space(name[name.size() - word.size() - 1])) {
        name = trimmed(name.substr(0, name.size() - word.size()));
        again = true;
      }
    }
  }
  if (name.starts_with("struct ")) return true;
  if (const size_t colons = name.rfind("::"); colons != std::string_view::npos)
    name.remove_prefix(colons + 2);
  if (name.empty() || !std::all_of(name.begin(), name.end(), is_word)) return false;
  if (is_vector_type(name)) return true;
  const std::string_view own = sources.text(file);
  if (declares_struct(input::without_comments(own), name)) return true;
  const std::vector<std::string> included = own_includes(own, file);
  return std::any_of(included.begin(), included.end(), [&](const std::string& include) {
    return declares_struct(input::without_comments(sources.text(include)), name);
  });
}

}  // namespace fullwarp::rules

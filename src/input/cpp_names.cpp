#include "input/cpp_names.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <utility>

namespace fullwarp::input {
namespace {

constexpr size_t kLongestName = 1 << 14;  // a longer name stays mangled
// References to earlier parts of a mangled name (`S_`, `S1_`) can double what it stands for each time: one of
// 250 characters with 48 references is 400 MB of text. r references multiply a length by e^(r/e) at most.
constexpr size_t kMaxReferences = 36;
constexpr unsigned kMaxNesting = 128;  // of template arguments
constexpr std::string_view kAnonymous = "(anonymous namespace)";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_open(char c) { return c == '(' || c == '<' || c == '[' || c == '{'; }
bool is_close(char c) { return c == ')' || c == '>' || c == ']' || c == '}'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Where the parameter list opens, or npos: the bracket that the last character closes.
size_t parameters_begin(std::string_view name) {
  if (name.empty() || name.back() != ')' || name.ends_with(kAnonymous)) return std::string_view::npos;
  size_t depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

size_t count_references(std::string_view mangled) {
  size_t count = 0;
  for (size_t i = 0; i < mangled.size(); ++i) {
    if (mangled[i] != 'S') continue;
    size_t end = i + 1;
    while (end < mangled.size() && (is_digit(mangled[end]) || (mangled[end] >= 'A' && mangled[end] <= 'Z')))
      ++end;
    if (end < mangled.size() && mangled[end] == '_') ++count;
  }
  return count;
}

bool is_builtin(std::string_view word) {
  static constexpr std::array<std::string_view, 10> kWords = {
      "unsigned", "signed", "long", "short", "int", "char", "float", "double", "bool", "void"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

// `long unsigned` -> "unsigned long", in the demangler's spelling.
std::string builtin_type(const std::vector<std::string_view>& words) {
  const auto count = [&](std::string_view word) { return std::count(words.begin(), words.end(), word); };
  for (const char* plain : {"float", "bool", "void"}) {
    if (count(plain) != 0) return plain;
  }
  if (count("double") != 0) return count("long") != 0 ? "long double" : "double";
  if (count("char") != 0) {
    return count("unsigned") != 0 ? "unsigned char" : count("signed") != 0 ? "signed char" : "char";
  }
  const std::string size = count("short") != 0  ? "short"
                           : count("long") > 1  ? "long long"
                           : count("long") != 0 ? "long"
                                                : "int";
  return count("unsigned") != 0 ? "unsigned " + size : size;
}

// Names that stand for built-in types on the 64-bit Linux ABI that PTX is compiled for.
std::string_view without_alias(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kAliases = {
      {{"int8_t", "signed char"},
       {"uint8_t", "unsigned char"},
       {"int16_t", "short"},
       {"uint16_t", "unsigned short"},
       {"int32_t", "int"},
       {"uint32_t", "unsigned int"},
       {"int64_t", "long"},
       {"uint64_t", "unsigned long"},
       {"size_t", "unsigned long"},
       {"ptrdiff_t", "long"},
       {"uint", "unsigned int"},
       {"half", "__half"},
       {"half2", "__half2"},
       {"nv_bfloat16", "__nv_bfloat16"},
       {"nv_bfloat162", "__nv_bfloat162"},
       {"bfloat16", "__nv_bfloat16"}}};
  for (const auto& [alias, type] : kAliases) {
    if (alias == name) return type;
  }
  return name;
}

class NameReader {
 public:
  NameReader(std::string_view text, unsigned nesting) : rest_(text), nesting_(nesting) {}

  // A type or value up to the end or a comma or bracket that is not its own.
  std::string type() {
    if (nesting_ > kMaxNesting) return std::string(std::exchange(rest_, {}));
    bool is_const = false, is_volatile = false;
    std::vector<std::string_view> builtin;
    std::string base;
    while (true) {
      skip_blanks();
      if (rest_.empty() || !base.empty()) break;
      if (drop_cast(&base)) continue;
      const bool minus = rest_[0] == '-' && rest_.size() > 1 && is_digit(rest_[1]);
      if (minus || is_digit(rest_[0])) {
        base = number();
        break;
      }
      const std::string_view word = peek_word();
      if (word == "const" || word == "volatile" || word == "struct" || word == "class" || word == "enum" ||
          word == "typename") {
        is_const |= word == "const";
        is_volatile |= word == "volatile";
      } else if (is_builtin(word)) {
        builtin.push_back(word);
      } else if (builtin.empty() &&
                 (!word.empty() || rest_.starts_with("::") || rest_.starts_with(kAnonymous))) {
        base = qualified();
        continue;
      } else {
        break;
      }
      rest_.remove_prefix(word.size());
    }
    if (!builtin.empty()) base = builtin_type(builtin);
    std::string suffix = rest(&is_const, &is_volatile);
    return base + (is_const ? " const" : "") + (is_volatile ? " volatile" : "") + suffix;
  }

  // `a::b<c>::d`
  std::vector<NamePart> parts() {
    std::vector<NamePart> parts;
    while (true) {
      skip_blanks();
      if (rest_.starts_with("::")) {
        rest_.remove_prefix(2);
      } else if (rest_.starts_with(kAnonymous)) {
        rest_.remove_prefix(kAnonymous.size());
      } else if (const std::string_view word = peek_word(); !word.empty()) {
        rest_.remove_prefix(word.size());
        skip_blanks();
        NamePart part;
        part.base = word;
        if (rest_.starts_with("<")) read_arguments(&part);
        // nvcc's stand-ins for an anonymous namespace and for the file of a static variable
        if (!word.starts_with("_GLOBAL__N_") && !word.starts_with("_INTERNAL_"))
          parts.push_back(std::move(part));
        skip_blanks();
        if (!rest_.starts_with("::")) return parts;
      } else {
        return parts;
      }
    }
  }

  std::string_view left() const { return rest_; }

 private:
  void skip_blanks() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_[0])) != 0) rest_.remove_prefix(1);
  }

  std::string_view peek_word() const {
    size_t length = 0;
    while (length < rest_.size() && is_word(rest_[length])) ++length;
    return rest_.substr(0, length);
  }

  std::string number() {  // without the suffixes u, l, ul, ...
    std::string text;
    if (rest_[0] == '-') {
      text = "-";
      rest_.remove_prefix(1);
    }
    std::string_view word = peek_word();
    rest_.remove_prefix(word.size());
    while (word.size() > 1 && std::string_view("uUlL").find(word.back()) != std::string_view::npos) {
      word.remove_suffix(1);
    }
    return text.append(word);
  }

  // `(int)128`, `(Mode)1`, `(bool)1`: the demangler's way to type a value.
  bool drop_cast(std::string* boolean) {
    if (!rest_.starts_with("(")) return false;
    const size_t close = rest_.find(')');
    if (close == std::string_view::npos || close + 1 >= rest_.size()) return false;
    const char next = rest_[close + 1];
    if (!is_digit(next) && next != '-') return false;
    const bool is_boolean = rest_.substr(1, close - 1) == "bool";
    rest_.remove_prefix(close + 1);
    if (is_boolean) *boolean = number() == "0" ? "false" : "true";
    return true;
  }

  std::string qualified() {
    NameReader inner(rest_, nesting_ + 1);
    const std::vector<NamePart> parts = inner.parts();
    rest_ = inner.left();
    std::string text;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (i == 0 && parts.size() > 1 && parts[i].base == "std") continue;
      if (!text.empty()) text += "::";
      text += i + 1 == parts.size() ? std::string(without_alias(parts[i].base)) : parts[i].base;
      if (!parts[i].has_arguments) continue;
      text += '<';
      for (size_t a = 0; a < parts[i].arguments.size(); ++a)
        text += (a == 0 ? "" : ",") + parts[i].arguments[a];
      text += '>';
    }
    return text;
  }

  void read_arguments(NamePart* part) {
    part->has_arguments = true;
    rest_.remove_prefix(1);
    while (true) {
      skip_blanks();
      if (rest_.empty()) return;
      if (rest_[0] == '>') {
        rest_.remove_prefix(1);
        return;
      }
      NameReader inner(rest_, nesting_ + 1);
      part->arguments.push_back(inner.type());
      if (inner.left().size() == rest_.size())
        rest_.remove_prefix(1);  // nothing read: a stray bracket
      else
        rest_ = inner.left();
      if (rest_.starts_with(",")) rest_.remove_prefix(1);
    }
  }

  // What follows a base type (`*`, `&`, `const`, `(*)[4]`), copied up to the end of the argument.
  std::string rest(bool* is_const, bool* is_volatile) {
    std::string text;
    unsigned depth = 0;
    while (!rest_.empty()) {
      const char c = rest_[0];
      if (depth == 0 && (c == ',' || is_close(c))) break;
      const std::string_view word = peek_word();
      if (text.empty() && (word == "const" || word == "volatile")) {
        (word == "const" ? *is_const : *is_volatile) = true;
        rest_.remove_prefix(word.size());
      } else if (!word.empty()) {
        if (!text.empty() && (is_word(text.back()) || text.back() == '*')) text += ' ';
        if (is_digit(c)) {
          text += number();
        } else {
          text += word;
          rest_.remove_prefix(word.size());
        }
      } else {
        if (is_open(c)) ++depth;
        if (is_close(c)) --depth;
        if (c != ' ') text += c;
        rest_.remove_prefix(1);
      }
      if (text.empty()) skip_blanks();
    }
    return text;
  }

  std::string_view rest_;
  unsigned nesting_;
};

}  // namespace

std::string demangle(std::string_view name) {
  if (!name.starts_with("_Z") || name.size() > kLongestName) return std::string(name);
  // clang appends a file's hash to internal kernels: _ZL1kPf__static__d41d8cd9
  for (const std::string_view mark : {"__static__", "__intern__", ".static."}) {
    name = name.substr(0, name.find(mark));
  }
  if (count_references(name) > kMaxReferences) return std::string(name);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : std::string(name);
}

std::vector<std::string> split_at_commas(std::string_view list) {
  std::vector<std::string> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= list.size(); ++i) {
    if (i == list.size() || (list[i] == ',' && depth == 0)) {
      const std::string_view part = trim(list.substr(begin, i - begin));
      if (!part.empty()) parts.emplace_back(part);
      begin = i + 1;
    } else if (is_open(list[i])) {
      ++depth;
    } else if (is_close(list[i])) {
      --depth;
    }
  }
  return parts;
}

FunctionName parse_function_name(std::string_view name) {
  FunctionName function;
  name = trim(name);
  if (name.starts_with("void ")) name = trim(name.substr(5));
  if (const size_t open = parameters_begin(name); open != std::string_view::npos && open > 0) {
    function.parameters = split_at_commas(name.substr(open + 1, name.size() - open - 2));
    function.has_parameters = true;
    name = trim(name.substr(0, open));
  }
  function.display = name;
  function.rooted = name.starts_with("::");
  function.parts = NameReader(name, 0).parts();
  return function;
}

std::string canonical_type(std::string_view type) { return NameReader(type, 0).type(); }

std::string readable_type(std::string_view type) {
  for (const std::string_view qualifier : {" const*", " const&"}) {
    const size_t at = type.find(qualifier);
    if (at == std::string_view::npos || type.find_first_of("(<*&") < at) continue;
    std::string text = "const ";
    text.append(type.substr(0, at));
    text.append(type.substr(at + qualifier.size() - 1));
    return text;
  }
  return std::string(type);
}

}  // namespace fullwarp::input

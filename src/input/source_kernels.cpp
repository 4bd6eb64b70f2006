#include "input/source_kernels.h"

#include <algorithm>
#include <cctype>

#include "input/cpp_names.h"
#include "input/launch_lexer.h"

namespace fullwarp::input {
namespace {

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

size_t skip_blanks(std::string_view text, size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}

// One past the bracket that closes the one at `open`, or npos.
size_t after_bracket(std::string_view text, size_t open) {
  size_t depth = 0;
  for (size_t at = open; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

std::string single_blanks(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (!is_blank(c)) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

void erase_word(std::string* text, std::string_view word) {
  for (size_t at = 0; (at = text->find(word, at)) != std::string::npos;) {
    text->erase(at, word.size());
  }
}

SourceParameter parameter_from(std::string text) {
  for (const char* word : {"__restrict__", "__restrict", "__grid_constant__"}) erase_word(&text, word);
  text = single_blanks(text.substr(0, text.find('=')));
  SourceParameter parameter;
  size_t end = text.find('[');                                      // `float a[4]`
  const size_t inner = std::min(text.find("(*"), text.find("(&"));  // `void (*call)(int)`, `float (&tile)[4]`
  if (inner != std::string::npos) end = text.find(')', inner);
  end = std::min(end, text.size());
  while (end > 0 && text[end - 1] == ' ') --end;
  size_t begin = end;
  while (begin > 0 && detail::is_name_char(text[begin - 1])) --begin;
  const std::string word = text.substr(begin, end - begin);
  const bool first_word = begin == 0 || text[begin - 1] == ':';
  static const std::string_view kTypeWords[] = {"int",   "long",   "short", "char", "unsigned",
                                                "float", "double", "const", "bool", "signed"};
  const bool type_word =
      std::find(std::begin(kTypeWords), std::end(kTypeWords), word) != std::end(kTypeWords);
  if (first_word || type_word || word.empty() || !detail::is_name_start(word[0])) {
    parameter.type = text;
    return parameter;
  }
  parameter.name = word;
  parameter.type = single_blanks(text.erase(begin, word.size()));
  return parameter;
}

}  // namespace

std::string without_comments(std::string_view source) {
  std::string out(source);
  const auto blank = [&](size_t from, size_t to) {
    for (size_t i = from; i < std::min(to, out.size()); ++i) {
      if (out[i] != '\n') out[i] = ' ';
    }
  };
  for (size_t at = 0; at < source.size();) {
    const std::string_view rest = source.substr(at);
    size_t end = at + 1;
    if (rest.starts_with("//")) {
      end = std::min(source.find('\n', at), source.size());
      blank(at, end);
    } else if (rest.starts_with("/*")) {
      const size_t close = source.find("*/", at + 2);
      end = close == std::string_view::npos ? source.size() : close + 2;
      blank(at, end);
    } else if (rest[0] == '"' || (rest[0] == '\'' && (at == 0 || !detail::is_name_char(source[at - 1])))) {
      while (end < source.size() && source[end] != rest[0] && source[end] != '\n')
        end += source[end] == '\\' ? 2 : 1;
      blank(at + 1, end);
      ++end;
    }
    at = end;
  }
  return out;
}

std::vector<SourceKernel> kernels_in_source(std::string_view source) {
  constexpr std::string_view kGlobal = "__global__";
  std::vector<SourceKernel> kernels;
  const std::string text = without_comments(source);
  uint32_t line = 1;
  size_t counted = 0, line_start = 0;  // line breaks before `counted` are in `line`
  for (size_t at = text.find(kGlobal); at != std::string::npos; at = text.find(kGlobal, at)) {
    at += kGlobal.size();
    size_t name_begin = at, name_end = at;
    while (true) {  // words and attributes up to `name (`
      at = skip_blanks(text, at);
      if (at >= text.size()) return kernels;
      if (detail::is_name_start(text[at])) {
        name_begin = at;
        while (at < text.size() && detail::is_name_char(text[at])) ++at;
        name_end = at;
      } else if (text[at] == '(' && name_end > name_begin) {
        const std::string_view word = std::string_view(text).substr(name_begin, name_end - name_begin);
        if (!word.starts_with("__launch_bounds__") && !word.starts_with("__attribute__") &&
            !word.starts_with("__cluster_dims__") && !word.starts_with("__block_size__") &&
            !word.starts_with("__maxnreg__") && word != "alignas" && word != "__align__") {
          break;
        }
        at = after_bracket(text, at);
        if (at == std::string::npos) return kernels;
        name_end = name_begin;
      } else {
        break;
      }
    }
    if (at >= text.size() || text[at] != '(' || name_end <= name_begin) continue;
    const size_t close = after_bracket(text, at);
    if (close == std::string::npos) return kernels;
    SourceKernel kernel;
    kernel.name = text.substr(name_begin, name_end - name_begin);
    for (std::string& parameter : split_at_commas(std::string_view(text).substr(at + 1, close - at - 2))) {
      kernel.parameters.push_back(parameter_from(std::move(parameter)));
    }
    for (; counted < name_begin; ++counted) {
      if (text[counted] == '\n') {
        ++line;
        line_start = counted + 1;
      }
    }
    kernel.line = line;
    kernel.column = static_cast<uint32_t>(name_begin - line_start) + 1;
    kernels.push_back(std::move(kernel));
    at = close;
  }
  return kernels;
}

}  // namespace fullwarp::input

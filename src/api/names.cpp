#include "api/names.h"

#include <cxxabi.h>

#include <cctype>
#include <cstdlib>
#include <memory>

namespace fullwarp::api {

namespace {

constexpr size_t kLongestMangledName = 1 << 16;  // what a stranger's PTX may ask the demangler to read

// Position of the parenthesis that opens the parameters of a demangled function, or npos. Parentheses inside
// template arguments and "(anonymous namespace)" are not it.
size_t parameters_begin(std::string_view name) {
  if (name.empty() || name.back() != ')') return std::string_view::npos;
  int depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

// Splits at commas outside any bracket.
std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  for (char c : list) {
    if (c == '(' || c == '<' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == '>' || c == ']' || c == '}') --depth;
    if (c == ',' && depth == 0) {
      parts.push_back(std::move(part));
      part.clear();
    } else if (c != ' ' || !part.empty()) {
      part += c;
    }
  }
  if (!part.empty()) parts.push_back(std::move(part));
  return parts;
}

bool word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// A spelling in which equal names are equal texts: no blanks but between words, no suffix on integers
// (128u, 128ul), no casts in front of them ((int)128, (anonymous namespace) stays), no leading `::`.
std::string normalised(std::string_view name) {
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == ' ') {
      size_t next = i;
      while (next < name.size() && name[next] == ' ') ++next;
      if (!out.empty() && next < name.size() && word(out.back()) && word(name[next])) out += ' ';
      i = next - 1;
      continue;
    }
    const bool starts_number =
        std::isdigit(static_cast<unsigned char>(c)) != 0 && (out.empty() || !word(out.back()));
    if (!starts_number) {
      out += c;
      continue;
    }
    while (i < name.size() && word(name[i])) {
      const char digit = name[i++];
      if (std::string_view("uUlL").find(digit) == std::string_view::npos) out += digit;
    }
    --i;
  }
  return out.starts_with("::") ? out.substr(2) : out;
}

// What follows the outermost template arguments is cut: scan<float, 128> -> scan.
std::string_view without_arguments(std::string_view name) {
  if (name.empty() || name.back() != '>') return name;
  int depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    if (name[i] == '>') ++depth;
    if (name[i] == '<' && --depth == 0) return name.substr(0, i);
  }
  return name;
}

// Is `written` the end of `full`, from a namespace's boundary on?
bool is_tail(std::string_view full, std::string_view written) {
  if (full == written) return true;
  return full.size() > written.size() + 2 && full.ends_with(written) &&
         full.substr(0, full.size() - written.size()).ends_with("::");
}

}  // namespace

std::string demangle(std::string_view name) {
  if (!name.starts_with("_Z") || name.size() > kLongestMangledName) return std::string(name);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : std::string(name);
}

std::string plain_name(std::string_view demangled) {
  std::string_view name = demangled.substr(0, parameters_begin(demangled));
  // A template's return type stands in front, before the last blank outside any bracket.
  int depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    if (name[i] == '>' || name[i] == ')') ++depth;
    if (name[i] == '<' || name[i] == '(') --depth;
    if (name[i] == ' ' && depth == 0) return std::string(name.substr(i + 1));
  }
  return std::string(name);
}

std::vector<std::string> parameter_types(std::string_view demangled) {
  const size_t begin = parameters_begin(demangled);
  if (begin == std::string_view::npos) return {};
  return split_list(demangled.substr(begin + 1, demangled.size() - begin - 2));
}

KernelLookup find_kernel(const ptx::Module& module, std::string_view written) {
  const std::string name = normalised(written);
  std::vector<std::pair<int32_t, std::string>> exact, tails, templates;
  for (size_t i = 0; i < module.functions.size(); ++i) {
    const ptx::Function& function = module.functions[i];
    if (!function.entry) continue;
    const auto index = static_cast<int32_t>(i);
    const std::string plain = plain_name(demangle(function.name));
    if (function.name == written) return {index, {plain}};
    const std::string full = normalised(plain);
    if (full == name) {
      exact.emplace_back(index, plain);
    } else if (is_tail(full, name)) {
      tails.emplace_back(index, plain);
    } else if (is_tail(without_arguments(full), name)) {
      templates.emplace_back(index, plain);
    }
  }
  KernelLookup lookup;
  for (const auto* group : {&exact, &tails, &templates}) {
    if (group->empty()) continue;
    for (const auto& [index, plain] : *group) lookup.candidates.push_back(plain);
    if (group->size() == 1) lookup.function = group->front().first;
    return lookup;
  }
  return lookup;
}

int32_t find_symbol(const ptx::Module& module, std::string_view written) {
  const std::string name = normalised(written);
  int32_t tail = -1;
  for (size_t i = 0; i < module.variables.size(); ++i) {
    const ptx::Variable& variable = module.variables[i];
    const bool symbol = variable.function < 0 &&
                        (variable.space == ptx::Space::global || variable.space == ptx::Space::const_);
    if (!symbol) continue;
    const std::string full = normalised(demangle(variable.name));
    if (variable.name == written || full == name) return static_cast<int32_t>(i);
    if (tail < 0 && is_tail(full, name)) tail = static_cast<int32_t>(i);
  }
  return tail;
}

namespace {

std::string_view element_of(std::string_view type) {
  struct Row {
    std::string_view cpp, element;
  };
  static constexpr Row kRows[] = {
      {"float", "f32"},      {"double", "f64"},
      {"__half", "f16"},     {"__nv_bfloat16", "bf16"},
      {"int", "i32"},        {"unsigned int", "u32"},
      {"long", "i64"},       {"unsigned long", "u64"},
      {"long long", "i64"},  {"unsigned long long", "u64"},
      {"short", "i16"},      {"unsigned short", "u16"},
      {"signed char", "i8"}, {"unsigned char", "u8"},
      {"char", "i8"},        {"bool", "u8"},
  };
  for (const Row& row : kRows)
    if (row.cpp == type) return row.element;
  return {};
}

std::string suggested_argument(const ptx::Param& param, std::string_view type) {
  if (!type.empty() && type.back() == '*') {
    type.remove_suffix(1);
    for (std::string_view qualifier : {" const", " volatile"})
      if (type.ends_with(qualifier)) type.remove_suffix(qualifier.size());
    const std::string_view element = element_of(type);
    return std::string(element.empty() ? "u8" : element) + "[1024]";
  }
  if (type.empty() && param.pointer) return "f32[1024]";
  if (param.array && param.bytes > 2) return "{...}";
  return param.type == ptx::Type::f32 || param.type == ptx::Type::f64 ? "1.0" : "1024";
}

}  // namespace

std::string suggested_launch(const ptx::Function& kernel) {
  const std::string demangled = demangle(kernel.name);
  const std::vector<std::string> types = parameter_types(demangled);
  std::string launch = plain_name(demangled) + "<<<4, 256>>>(";
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    if (i != 0) launch += ", ";
    launch += suggested_argument(kernel.params[i], i < types.size() ? types[i] : std::string_view());
  }
  return launch + ")";
}

}  // namespace fullwarp::api

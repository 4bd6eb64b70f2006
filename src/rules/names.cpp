#include "rules/names.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "input/cpp_names.h"

namespace fullwarp::rules {
namespace {

bool contains_any(std::string_view path, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return path.find(part) != std::string_view::npos; });
}

bool starts_with_any(std::string_view path, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return path.starts_with(start); });
}

constexpr std::string_view kOperator = "operator";

// `__4`, `__v1`: inline namespaces; `_INTERNAL_c5fc1f8f_6_bar_cu`: what nvcc makes of an unnamed one. No call
// in a program spells them out.
bool is_hidden(std::string_view name) {
  if (name.starts_with("_INTERNAL_")) return true;
  if (!name.starts_with("__")) return false;
  name.remove_prefix(name.starts_with("__v") ? 3 : 2);
  return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

// "operator()", "operator>=", "operator float" from the beginning of such a name, template arguments left
// out.
std::string operator_name(std::string_view text) {
  if (text.starts_with("operator()")) return "operator()";
  std::string_view name = text.substr(0, text.find('(', kOperator.size()));
  if (name.size() > kOperator.size() && name[kOperator.size()] != ' ') {
    size_t end = kOperator.size();
    while (end < name.size() &&
           std::string_view("+-*/%&|^~!=<>[],").find(name[end]) != std::string_view::npos)
      ++end;
    // `operator>=<int>`: the last sign opens the arguments.
    const std::string_view sign = name.substr(kOperator.size(), end - kOperator.size());
    if (end < name.size() && sign.size() > 1 && sign.back() == '<' && name[end] != ' ') --end;
    name = name.substr(0, end);
  }
  return std::string(name);
}

// "cuda", "barrier", "arrive" of a function or variable, mangled or not, whatever its types.
std::vector<std::string> name_parts(std::string_view mangled) {
  const std::string text = input::demangle(mangled);
  std::vector<std::string> parts(1);
  int depth = 0;  // of brackets; what stands inside them is no part of the name
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (depth == 0 && parts.back().empty() && text.compare(i, kOperator.size(), kOperator) == 0) {
      parts.back() = operator_name(std::string_view(text).substr(i));
      break;
    }
    if (c == '<' || c == '(' || c == '{' || c == '[') {
      ++depth;
    } else if (c == '>' || c == ')' || c == '}' || c == ']') {
      --depth;
      // `f(int)::tile` goes on behind the parameters, `f(int) const` does not.
      if (depth == 0 && c == ')' && text.compare(i + 1, 2, "::") != 0) break;
    } else if (depth == 0 && c == ' ') {
      parts.assign(1, {});  // it was the return type
    } else if (depth == 0 && c == ':') {
      if (!parts.back().empty()) parts.emplace_back();
    } else if (depth == 0) {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

bool is_toolkit_file(std::string_view path) {
  if (starts_with_any(path, {"/usr/include/", "/usr/local/include/", "/usr/local/cuda", "/usr/lib/",
                             "/opt/cuda", "cuda/include/"}))
    return true;
  if (contains_any(path, {"/lib/clang/", "/include/cccl/", "/site-packages/nvidia/", "/src/cudainc/",
                          "/share/fullwarp/cudainc/", "/targets/x86_64-linux/include/",
                          "/targets/sbsa-linux/include/", "/NVIDIA GPU Computing Toolkit/"}))
    return true;
  // A toolkit anywhere else is known by the names of its headers.
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return starts_with_any(name,
                         {"cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_fp6.h", "cuda_fp4.h", "mma.h",
                          "device_atomic_functions.h", "cooperative_groups.h", "cuda_pipeline"}) ||
         (name.starts_with("sm_") && contains_any(name, {"_intrinsics.h", "_atomic_functions.h"})) ||
         contains_any(path, {"/cooperative_groups/details/"});
}

std::string source_name(std::string_view mangled) {
  const std::string name = name_parts(mangled).back();
  return name.empty() ? std::string(mangled) : name;
}

std::string function_name(std::string_view mangled) {
  std::vector<std::string> parts = name_parts(mangled);
  std::string name;
  for (size_t i = 0; i < parts.size(); ++i)
    if (!is_hidden(parts[i]) || i + 1 == parts.size()) name += (name.empty() ? "" : "::") + parts[i];
  return name.empty() ? std::string(mangled) : name;
}

}  // namespace fullwarp::rules

// C++ names and types as text: demangled, taken apart, and in one spelling, so that what a user writes can be
// compared with what a compiler mangled.
//
//   written                          canonical
//   ns::scan<const float*, 128u>     ns::scan<float const*,128>
//   k<std::uint32_t, (Mode)1>        k<unsigned int,1>
//   (anonymous namespace)::k         k
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fullwarp::input {

std::string demangle(std::string_view name);  // the name itself if it is not mangled

// One part of a qualified name.
struct NamePart {
  std::string base;
  std::vector<std::string> arguments;  // of a template, canonical
  bool has_arguments = false;
  bool operator==(const NamePart&) const = default;
};

struct FunctionName {
  std::string display;                  // as demangled, without return type and parameters
  std::vector<NamePart> parts;          // anonymous namespaces left out
  std::vector<std::string> parameters;  // types as demangled
  bool has_parameters = false;          // false: `extern "C"`, or written without them
  bool rooted = false;                  // written with a leading `::`
};
// From a demangled or a written name; `void` in front and parameters behind may be there.
FunctionName parse_function_name(std::string_view name);

// A type, or a template argument, in one spelling.
std::string canonical_type(std::string_view type);

// "float const*" -> "const float*": as most people write it.
std::string readable_type(std::string_view type);

// Splits at commas outside any bracket, without blanks around the parts.
std::vector<std::string> split_at_commas(std::string_view list);

}  // namespace fullwarp::input

// Names as a user writes them against names as a compiler mangles them.
//
//   written          transpose            scan<float, 128>
//   in the PTX       _Z9transposePfPKfi   _Z4scanIfLi128EEvPT_i
//   demangled        transpose(float*, float const*, int)      void scan<float, 128>(float*, int)
//   plain_name       transpose            scan<float, 128>
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ptx/module.h"

namespace fullwarp::api {

std::string demangle(std::string_view name);  // the name itself if it is not mangled

// Without return type and parameters.
std::string plain_name(std::string_view demangled);

// The text between a demangled function's outermost parentheses, split at its commas: "float*", "int".
std::vector<std::string> parameter_types(std::string_view demangled);

// The entry that `written` names: by its mangled name, by its full name, or by a part of it that no other
// entry shares (namespaces in front or template arguments behind may be left out).
struct KernelLookup {
  int32_t function = -1;                // index in Module::functions; -1: none, or more than one
  std::vector<std::string> candidates;  // more than one: the name is ambiguous
};
KernelLookup find_kernel(const ptx::Module& module, std::string_view written);

// The module-scope .global or .const variable of that name, or -1.
int32_t find_symbol(const ptx::Module& module, std::string_view written);

// A launch statement to start from, with a buffer for every pointer.
std::string suggested_launch(const ptx::Function& kernel);

}  // namespace fullwarp::api

// From a .cu file to PTX text. A .ptx file is taken as it is.
//
//   CompileOptions options;
//   options.sm = 90;
//   options.instantiations = {"scan<float, 128>"};
//   Result<Compiled> compiled = compile_to_ptx("scan.cu", options);
//   if (!compiled) return compiled.error();   // with the compiler's own messages, verbatim
//   Result<ptx::Module> module = ptx::parse(std::move(compiled->ptx), "scan.cu");
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "input/launch.h"

namespace fullwarp::input {

struct CompileOptions {
  std::string compiler;            // see find_compiler(); empty: nvcc if there is one, else the newest clang
  unsigned sm = 90;                // of the chosen GPU; an older one is used where the compiler stops earlier
  std::vector<std::string> flags;  // the user's: -I -D -std and those behind `--`, in order
  std::vector<std::string> instantiations;  // kernels as launches name them: instantiations()
  // A compile_commands.json or its folder; empty: looked for around the file. `--compile-commands=PATH` among
  // the flags says the same.
  std::string compile_commands;
  bool cache = true;
};

struct Compiled {
  std::string ptx;
  std::string compiler;  // path; empty for a .ptx file
  unsigned sm = 0;       // compiled for; 0 for a .ptx file
  std::string warnings;  // what the compiler printed although it succeeded
  // What the compiler said of instantiations it could not make; the others were made. Worth showing when a
  // launch's kernel is not found. (A launch may also name just part of an instantiation that the file makes
  // itself.)
  std::string refused;
  bool from_cache = false;
};

Result<Compiled> compile_to_ptx(const std::string& path, const CompileOptions& options);

// The kernels of a script that are template instantiations (`scan<float, 128>`), once each.
std::vector<std::string> instantiations(const Script& script);

// The flags that matter here (include folders, macros, the language, floating point) of `source`'s entry in a
// compile_commands.json; empty if it has none. `compile_commands` empty: the file of that name in the
// source's folder, in one of those above it, or in their `build` folders.
Result<std::vector<std::string>> flags_from_compile_commands(const std::string& source,
                                                             const std::string& compile_commands);

// What ptxas made of each kernel, by mangled name.
struct ResourceUsage {
  uint32_t registers_per_thread = 0;
  uint32_t spill_store_bytes = 0, spill_load_bytes = 0;
  uint32_t stack_bytes = 0;
  uint32_t shared_bytes = 0;  // static
};
struct Assembled {
  std::map<std::string, ResourceUsage, std::less<>> usage;
  std::string cubin;  // the ELF file, with line tables down to the PTX
};
// Needs ptxas; an error if there is none. `sm` must not be older than the PTX's own target.
Result<Assembled> assemble(const std::string& ptx, unsigned sm, bool cache = true);
Result<std::map<std::string, ResourceUsage, std::less<>>> ptxas_usage(const std::string& ptx, unsigned sm);
// The report that `ptxas -v` prints.
std::map<std::string, ResourceUsage, std::less<>> parse_ptxas_report(std::string_view report);

}  // namespace fullwarp::input

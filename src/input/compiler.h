// Which CUDA compilers are here, and how each is called: nvcc where there is one, else the newest clang with
// fullwarp's own headers in the place of the CUDA toolkit's.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace fullwarp::input {

enum class CompilerKind : uint8_t { nvcc, clang };

struct Compiler {
  CompilerKind kind = CompilerKind::nvcc;
  std::string path;

  // Changes when the compiler is replaced: path, size and time of the real file.
  std::string identity() const;
};

// `choice`: empty (nvcc from $PATH, $CUDA_HOME, $CUDA_PATH or /usr/local/cuda, else clang++-30 ...
// clang++-14, clang++), "nvcc", "clang", or the path or name of a compiler.
Result<Compiler> find_compiler(const std::string& choice);

// ptxas beside nvcc or in $PATH; empty if there is none.
std::string find_ptxas();

// The folder of fullwarp's cuda_runtime.h: $FULLWARP_CUDA_INCLUDE, the installed one beside the program, or
// the source tree's.
std::string cuda_include_dir();

// The compute capabilities (90 for sm_90) to try for a wanted one, best first: itself, then older ones. PTX
// for an older one runs unchanged on a newer GPU.
std::vector<unsigned> fallback_architectures(unsigned sm);

// `flags` as this compiler takes them: what the other spells differently is translated, and what has no
// meaning here (for clang: nvcc's --expt-*) is left out.
std::vector<std::string> translate_flags(CompilerKind kind, const std::vector<std::string>& flags);

struct CompileJob {
  std::string source;     // the file to compile
  std::string ptx, deps;  // files to write
  unsigned sm = 0;
  std::vector<std::string> flags;
};
std::vector<std::string> compile_command(const Compiler& compiler, const CompileJob& job);

}  // namespace fullwarp::input

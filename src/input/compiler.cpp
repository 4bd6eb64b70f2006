#include "input/compiler.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "input/process.h"

namespace fullwarp::input {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kNewestClang = 30, kOldestClang = 14;

bool executable(const fs::path& path) {
  std::error_code code;
  return fs::is_regular_file(path, code) && ::access(path.c_str(), X_OK) == 0;
}

// A tool of the CUDA toolkit.
std::string find_toolkit_program(std::string_view name) {
  if (std::string path = find_program(name); !path.empty()) return path;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* home = std::getenv(variable);
    if (home != nullptr && executable(fs::path(home) / "bin" / name)) return fs::path(home) / "bin" / name;
  }
  const fs::path usual = fs::path("/usr/local/cuda/bin") / name;
  return executable(usual) ? usual.string() : std::string();
}

std::string find_clang() {
  for (unsigned version = kNewestClang; version >= kOldestClang; --version) {
    if (std::string path = find_program("clang++-" + std::to_string(version)); !path.empty()) return path;
  }
  return find_program("clang++");
}

Result<CompilerKind> kind_of(const std::string& path) {
  const std::string name = fs::path(path).filename();
  if (name.find("nvcc") != std::string::npos) return CompilerKind::nvcc;
  if (name.find("clang") != std::string::npos) return CompilerKind::clang;
  const Result<ProcessResult> version = run_process({path, "--version"});
  if (!version) return version.error();
  if (version->out.find("Cuda compiler driver") != std::string::npos) return CompilerKind::nvcc;
  if (version->out.find("clang") != std::string::npos) return CompilerKind::clang;
  return Error{path + " is neither nvcc nor clang"};
}

bool has_flag(const std::vector<std::string>& flags, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(flags.begin(), flags.end(), [&](const std::string& flag) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](std::string_view p) { return flag.starts_with(p); });
  });
}

bool is_one_of(std::string_view flag, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), flag) != names.end();
}

// The folders of `-I DIR` and `-IDIR`, in order.
std::vector<std::string> include_dirs(const std::vector<std::string>& flags) {
  std::vector<std::string> dirs;
  for (size_t i = 0; i < flags.size(); ++i) {
    if (flags[i] == "-I" && i + 1 < flags.size()) {
      dirs.push_back(flags[++i]);
    } else if (flags[i].starts_with("-I") && flags[i].size() > 2) {
      dirs.push_back(flags[i].substr(2));
    }
  }
  return dirs;
}

}  // namespace

std::string Compiler::identity() const {
  std::error_code code;
  const fs::path real = fs::canonical(path, code);
  struct stat info = {};
  if (code || ::stat(real.c_str(), &info) != 0) return path;
  return real.string() + " " + std::to_string(info.st_size) + " " + std::to_string(info.st_mtim.tv_sec) +
         "." + std::to_string(info.st_mtim.tv_nsec);
}

Result<Compiler> find_compiler(const std::string& choice) {
  if (choice.empty() || choice == "nvcc") {
    if (std::string path = find_toolkit_program("nvcc"); !path.empty())
      return Compiler{CompilerKind::nvcc, path};
    if (choice == "nvcc") {
      return Error{"nvcc was not found in PATH, CUDA_HOME or /usr/local/cuda",
                   {},
                   0,
                   0,
                   "leave --compiler out to use clang"};
    }
  }
  if (choice.empty() || choice == "clang") {
    if (std::string path = find_clang(); !path.empty()) return Compiler{CompilerKind::clang, path};
    return Error{choice.empty() ? "no CUDA compiler was found" : "clang++ was not found in PATH",
                 {},
                 0,
                 0,
                 "install clang 14 or newer, or give PTX made elsewhere: `nvcc -ptx -lineinfo kernel.cu`"};
  }
  const std::string path = choice.find('/') == std::string::npos ? find_program(choice) : choice;
  if (path.empty() || !executable(path)) return Error{"there is no compiler `" + choice + "`"};
  const Result<CompilerKind> kind = kind_of(path);
  if (!kind) return kind.error();
  return Compiler{*kind, path};
}

std::string find_ptxas() { return find_toolkit_program("ptxas"); }

std::string cuda_include_dir() {
  if (const char* folder = std::getenv("FULLWARP_CUDA_INCLUDE"); folder != nullptr && *folder != '\0')
    return folder;
  std::error_code code;
  const fs::path program = fs::read_symlink("/proc/self/exe", code);
  if (!code) {
    const fs::path installed = program.parent_path().parent_path() / "share/fullwarp/cudainc";
    if (fs::exists(installed / "cuda_runtime.h", code)) return installed.string();
  }
  return FULLWARP_CUDA_INCLUDE_DIR;
}

std::vector<unsigned> fallback_architectures(unsigned sm) {
  std::vector<unsigned> list = {sm};
  for (const unsigned older : {121, 120, 110, 103, 100, 90, 89, 87, 86, 80, 75, 72, 70, 61, 60, 53, 52}) {
    if (older < sm) list.push_back(older);
  }
  return list;
}

std::vector<std::string> translate_flags(CompilerKind kind, const std::vector<std::string>& flags) {
  std::vector<std::string> out;
  for (size_t i = 0; i < flags.size(); ++i) {
    const std::string& flag = flags[i];
    const std::string_view bare =
        std::string_view(flag).substr(std::min(flag.find_first_not_of('-'), flag.size()));
    if (kind == CompilerKind::nvcc) {
      if (flag == "-ffast-math") {
        out.emplace_back("-use_fast_math");
      } else {
        out.push_back(flag);
      }
      continue;
    }
    if (bare.starts_with("expt-") ||
        is_one_of(bare, {"extended-lambda", "lineinfo", "generate-line-info", "G", "g", "device-debug"})) {
      continue;
    }
    if (is_one_of(bare, {"Xptxas", "Xcicc", "Xcudafe", "diag-suppress", "maxrregcount", "ccbin", "rdc"})) {
      ++i;  // and its value
    } else if (bare == "Xcompiler" && i + 1 < flags.size()) {
      out.push_back(flags[++i]);
    } else if (bare == "use_fast_math") {
      out.insert(out.end(), {"-ffast-math", "-fcuda-flush-denormals-to-zero"});
    } else if (bare == "fmad=false") {
      out.emplace_back("-ffp-contract=off");
    } else if (bare.starts_with("arch=sm_")) {
      out.push_back("--cuda-gpu-arch=" + std::string(bare.substr(5)));
    } else if (bare.starts_with("maxrregcount=") || bare.starts_with("diag-suppress=") ||
               bare.starts_with("ftz=") || bare.starts_with("prec-") || bare.starts_with("fmad=")) {
      continue;
    } else {
      out.push_back(flag);
    }
  }
  return out;
}

std::vector<std::string> compile_command(const Compiler& compiler, const CompileJob& job) {
  const std::vector<std::string> flags = translate_flags(compiler.kind, job.flags);
  const bool own_standard = has_flag(flags, {"-std", "--std"});
  std::vector<std::string> command = {compiler.path};
  const auto add = [&](std::initializer_list<std::string> more) { command.insert(command.end(), more); };
  if (compiler.kind == CompilerKind::nvcc) {
    add({"-x", "cu", "-ptx"});
    if (!has_flag(flags, {"-G", "--device-debug", "-lineinfo", "--generate-line-info"})) add({"-lineinfo"});
    if (!has_flag(flags, {"-arch", "--gpu-architecture", "-gencode", "--generate-code"})) {
      add({"-arch=sm_" + std::to_string(job.sm)});
    }
  } else {
    add({"-x", "cuda", "--cuda-device-only", "-S", "-nocudainc", "-nocudalib", "--cuda-path=/nonexistent",
         "-O3", "-gline-tables-only"});
    // A CCCL of the user's own (Thrust, CUB, libcu++) is whole, our <cuda/...> only what kernels need of it.
    for (const std::string& dir : include_dirs(flags)) {
      std::error_code code;
      if (fs::exists(fs::path(dir) / "cuda/std/version", code)) add({"-I", dir});
    }
    add({"-I", cuda_include_dir(), "-include", "cuda_runtime.h"});
    if (!has_flag(flags, {"--cuda-gpu-arch", "--offload-arch"})) {
      add({"--cuda-gpu-arch=sm_" + std::to_string(job.sm)});
      // Without a toolkit clang takes PTX 4.2 for granted, which has no `shfl.sync`. Each architecture gets
      // the PTX that came with it or a later one that every clang knows which knows the architecture.
      const char* ptx = job.sm >= 100 ? "+ptx86" : job.sm >= 87 ? "+ptx78" : "+ptx75";
      add({"-Xclang", "-target-feature", "-Xclang", ptx});
    }
  }
  // What nvcc takes without a word: `"a"b` (an error for clang), `register` in C++17, `rand() / RAND_MAX` as
  // a float, a string literal as char*; and device functions with `...`, which CCCL has in its type traits.
  if (compiler.kind == CompilerKind::clang) {
    add({"-Wno-reserved-user-defined-literal", "-Wno-register", "-Wno-implicit-const-int-float-conversion",
         "-Wno-writable-strings", "-Xclang", "-fcuda-allow-variadic-functions"});
  }
  if (!own_standard) add({"-std=c++17"});
  add({"-MD", "-MF", job.deps});
  command.insert(command.end(), flags.begin(), flags.end());
  add({job.source.starts_with("-") ? "./" + job.source : job.source, "-o", job.ptx});
  return command;
}

}  // namespace fullwarp::input

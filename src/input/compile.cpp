// Compiling needs three decisions beside calling the compiler:
// - Template kernels that only a launch statement names: a second file includes the source and takes each
//   one's address, which instantiates it. The source stays untouched, so `.loc` still names its own lines.
// - The architecture: a compiler that does not know the GPU's is asked for the next older one.
// - The names in `.file`: compilers write absolute paths; the user's own spelling is put back.
#include "input/compile.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "input/compiler.h"
#include "input/process.h"
#include "input/ptx_cache.h"
#include "input/source_repairs.h"

namespace fullwarp::input {
namespace {

namespace fs = std::filesystem;
constexpr uint64_t kMaxSourceBytes = uint64_t{64} << 20;
constexpr uint64_t kMaxPtxBytes = uint64_t{1} << 30;

std::string absolute_path(const std::string& path) {
  std::error_code code;
  const fs::path absolute = fs::absolute(path, code);
  return code ? path : absolute.lexically_normal().string();
}

// The prerequisites of a make rule as compilers write it: `x.ptx: a.cu b\ c.h \`.
std::vector<std::string> dependencies_of(std::string_view rule) {
  std::vector<std::string> paths;
  size_t at = rule.find(": ");
  if (at == std::string_view::npos) return paths;
  std::string word;
  const auto flush = [&] {
    if (!word.empty()) paths.push_back(absolute_path(word));
    word.clear();
  };
  for (++at; at < rule.size(); ++at) {
    const char c = rule[at], next = at + 1 < rule.size() ? rule[at + 1] : '\0';
    if (c == '\\' && next == '\n') {
      ++at;
      flush();
    } else if ((c == '\\' && (next == ' ' || next == '#' || next == '\\')) || (c == '$' && next == '$')) {
      word += rule[++at];
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      flush();
    } else {
      word += c;
    }
  }
  flush();
  return paths;
}

// In `.file` lines, `"from"` becomes `"to"`.
void rename_source(std::string* ptx, const std::string& from, const std::string& to) {
  const std::string quoted = "\"" + from + "\"";
  for (size_t at = 0; (at = ptx->find(".file", at)) != std::string::npos; ++at) {
    const size_t end = std::min(ptx->find('\n', at), ptx->size());
    const size_t name = ptx->find(quoted, at);
    if (name != std::string::npos && name < end) ptx->replace(name, quoted.size(), "\"" + to + "\"");
  }
}

// `k<int>` from `(anonymous namespace)::k<int>`, which is no C++ expression; `::k` names the same kernel.
std::string as_expression(std::string kernel) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (size_t at = 0; (at = kernel.find(kAnonymous)) != std::string::npos;)
    kernel.erase(at, kAnonymous.size());
  return kernel;
}

constexpr std::string_view kInstantiations = "instantiations.cu";
constexpr size_t kFirstInstantiation = 3;  // its line

std::string instantiating_source(const std::string& source, const std::vector<std::string>& kernels) {
  std::string text = "#include \"" + absolute_path(source) + "\"\nnamespace fullwarp_instantiations {\n";
  for (size_t i = 0; i < kernels.size(); ++i) {
    text += "auto* kernel_" + std::to_string(i) + " = &" + as_expression(kernels[i]) + ";\n";
  }
  return text + "}\n";
}

std::string without_last_newline(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

Error compiler_error(const std::string& path, const Compiler& compiler, const ProcessResult& run) {
  const std::string name = fs::path(compiler.path).filename();
  std::string said = without_last_newline(run.err + run.out);
  if (said.empty()) said = "exit code " + std::to_string(run.exit_code);
  Error error{name + " cannot compile this file:\n" + said, path};
  if (compiler.kind == CompilerKind::nvcc && find_compiler("clang").ok())
    error.hint =
        "--compiler clang takes fullwarp's own headers, which still have what newer toolkits removed";
  return error;
}

bool unknown_architecture(const ProcessResult& run) {
  for (const char* message :
       {"unsupported CUDA gpu architecture", "unsupported HIP gpu architecture",
        "is not defined for option 'gpu-architecture'", "Unsupported gpu architecture"}) {
    if (run.err.find(message) != std::string::npos || run.out.find(message) != std::string::npos) return true;
  }
  return false;
}

// Drops the kernels whose lines the compiler complained of (`instantiations.cu(5)`, `instantiations.cu:5:`):
// a launch may name part of an instantiation that exists, or one that cannot be made. False if there are
// none.
bool drop_refused(const std::string& messages, std::vector<std::string>* kernels) {
  std::vector<bool> refused(kernels->size());
  for (size_t at = 0; (at = messages.find(kInstantiations, at)) != std::string::npos;) {
    at += kInstantiations.size();
    if (at + 1 >= messages.size() || (messages[at] != '(' && messages[at] != ':')) continue;
    const size_t line = std::strtoul(messages.c_str() + at + 1, nullptr, 10);
    if (line >= kFirstInstantiation && line - kFirstInstantiation < refused.size()) {
      refused[line - kFirstInstantiation] = true;
    }
  }
  size_t index = 0;
  return std::erase_if(*kernels, [&](const std::string&) { return refused[index++]; }) != 0;
}

struct CompilerRun {
  Compiled compiled;
  std::vector<std::string> dependencies;
};

Result<CompilerRun> run_compiler(const std::string& path, const Compiler& compiler,
                                 const CompileOptions& options, const std::vector<std::string>& flags) {
  Result<TemporaryDirectory> folder = TemporaryDirectory::create();
  if (!folder) return folder.error();
  CompileJob job{path, folder->file("out.ptx"), folder->file("out.d"), options.sm, {}};
  std::vector<std::string> kernels = options.instantiations;
  SourceRepairs repairs(*folder);
  CompilerRun result;
  const std::vector<unsigned> architectures = fallback_architectures(options.sm);
  for (size_t i = 0; i < architectures.size();) {
    job.sm = architectures[i];
    job.source = kernels.empty() ? path : folder->file(kInstantiations);
    if (!kernels.empty()) {
      const Status written = write_file(job.source, instantiating_source(path, kernels));
      if (!written.ok()) return written.error();
    }
    job.flags = flags;
    for (std::string& flag : repairs.flags()) job.flags.push_back(std::move(flag));
    Result<ProcessResult> run = run_process(compile_command(compiler, job));
    if (!run) return run.error();
    if (run->exit_code != 0) {
      if (unknown_architecture(*run)) {
        ++i;
      } else if (compiler.kind == CompilerKind::clang && repairs.repair(run->err)) {
        continue;
      } else if (drop_refused(run->err + run->out, &kernels)) {
        result.compiled.refused += run->err + run->out;
      } else {
        return compiler_error(path, compiler, *run);
      }
      continue;
    }
    Result<std::string> ptx = read_file(job.ptx, kMaxPtxBytes);
    if (!ptx) return ptx.error();
    result.compiled.ptx = std::move(*ptx);
    rename_source(&result.compiled.ptx, absolute_path(path), path);
    result.compiled.compiler = compiler.path;
    result.compiled.sm = job.sm;
    result.compiled.warnings = run->err + run->out;
    if (const Result<std::string> rule = read_file(job.deps, kMaxSourceBytes); rule.ok()) {
      const std::string own = folder->file("");
      for (std::string& dependency : dependencies_of(*rule)) {
        if (!dependency.starts_with(own)) result.dependencies.push_back(std::move(dependency));
      }
    }
    return result;
  }
  return Error{compiler.path + " knows no architecture up to sm_" + std::to_string(options.sm), path};
}

// What an entry of the cache holds beside the PTX: "SM BYTES\n", then `refused` of so many bytes, then the
// warnings.
std::string note_of(const Compiled& compiled) {
  return std::to_string(compiled.sm) + " " + std::to_string(compiled.refused.size()) + "\n" +
         compiled.refused + compiled.warnings;
}

void take_note(const std::string& note, Compiled* compiled) {
  char* end = nullptr;
  compiled->sm = static_cast<unsigned>(std::strtoul(note.c_str(), &end, 10));
  const size_t refused = std::strtoul(end, nullptr, 10);
  const size_t begin = std::min(note.find('\n'), note.size() - 1) + 1;
  compiled->refused = note.substr(begin, refused);
  compiled->warnings = note.substr(std::min(begin + compiled->refused.size(), note.size()));
}

}  // namespace

std::vector<std::string> instantiations(const Script& script) {
  std::vector<std::string> kernels;
  for (const Statement& statement : script) {
    const auto* launch = std::get_if<KernelLaunch>(&statement.value);
    if (launch == nullptr || launch->kernel.find('<') == std::string::npos) continue;
    if (std::find(kernels.begin(), kernels.end(), launch->kernel) == kernels.end()) {
      kernels.push_back(launch->kernel);
    }
  }
  return kernels;
}

Result<Compiled> compile_to_ptx(const std::string& path, const CompileOptions& options) {
  if (fs::path(path).extension() == ".ptx") {
    Result<std::string> text = read_file(path, kMaxPtxBytes);
    if (!text) return text.error();
    Compiled compiled;
    compiled.ptx = std::move(*text);
    return compiled;
  }
  const Result<std::string> source = read_file(path, kMaxSourceBytes);
  if (!source) return source.error();
  const Result<Compiler> compiler = find_compiler(options.compiler);
  if (!compiler) {
    Error error = compiler.error();
    error.file = path;
    return error;
  }
  constexpr std::string_view kCommands = "--compile-commands=";
  std::string commands = options.compile_commands;
  std::vector<std::string> own_flags;
  for (const std::string& flag : options.flags) {
    if (flag.starts_with(kCommands)) {
      commands = flag.substr(kCommands.size());
    } else {
      own_flags.push_back(flag);
    }
  }
  Result<std::vector<std::string>> flags = flags_from_compile_commands(path, commands);
  if (!flags) return flags.error();
  flags->insert(flags->end(), own_flags.begin(), own_flags.end());

  CacheKey key;
  std::error_code code;
  for (const std::string& part :
       {std::string("ptx"), *source, path, absolute_path(path), fs::current_path(code).string(),
        compiler.value().identity(), std::to_string(options.sm), cuda_include_dir()}) {
    key.add(part);
  }
  for (const std::string& flag : *flags) key.add(flag);
  key.add("instantiations");
  for (const std::string& kernel : options.instantiations) key.add(kernel);
  const PtxCache cache = options.cache ? PtxCache::open() : PtxCache("");
  if (std::optional<CacheEntry> entry = cache.find(key)) {
    Compiled compiled;
    compiled.ptx = std::move(entry->result);
    compiled.compiler = compiler.value().path;
    take_note(entry->note, &compiled);
    compiled.from_cache = true;
    return compiled;
  }
  const int64_t started_ns = PtxCache::now_ns();
  Result<CompilerRun> run = run_compiler(path, compiler.value(), options, *flags);
  if (!run) return run.error();
  if (!run->dependencies.empty()) {
    cache.store(key, {std::move(run->dependencies), note_of(run->compiled), run->compiled.ptx}, started_ns);
  }
  return std::move(run->compiled);
}

}  // namespace fullwarp::input

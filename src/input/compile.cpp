// Compiling needs three decisions beside calling the compiler:
// - Template kernels that only a launch statement names: a second file includes the source and takes each
//   one's address, which instantiates it. The source stays untouched, so `.loc` still names its own lines.
// - The architecture: a compiler that does not know the GPU's is asked for the next older one.
// - The names in `.file`: compilers write absolute paths; the user's own spelling is put back.
#include "input/compile.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>

#include "input/compiler.h"
#include "input/process.h"
#include "input/ptx_cache.h"

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

std::string instantiating_source(const std::string& source, const std::vector<std::string>& kernels) {
  std::string text = "#include \"" + absolute_path(source) + "\"\nnamespace fullwarp_instantiations {\n";
  for (size_t i = 0; i < kernels.size(); ++i) {
    text += "auto* kernel_" + std::to_string(i) + " = &" + as_expression(kernels[i]) + ";\n";
  }
  return text + "}\n";
}

Status write_file(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return Error{"the file cannot be written", path};
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !written) return Error{"the file cannot be written", path};
  return Ok{};
}

std::string without_last_newline(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

Error compiler_error(const std::string& path, const Compiler& compiler, const ProcessResult& run) {
  const std::string name = fs::path(compiler.path).filename();
  std::string said = without_last_newline(run.err + run.out);
  if (said.empty()) said = "exit code " + std::to_string(run.exit_code);
  return Error{name + " cannot compile this file:\n" + said, path};
}

bool unknown_architecture(const ProcessResult& run) {
  for (const char* message :
       {"unsupported CUDA gpu architecture", "unsupported HIP gpu architecture",
        "is not defined for option 'gpu-architecture'", "Unsupported gpu architecture"}) {
    if (run.err.find(message) != std::string::npos || run.out.find(message) != std::string::npos) return true;
  }
  return false;
}

struct CompilerRun {
  Compiled compiled;
  std::vector<std::string> dependencies;
};

Result<CompilerRun> run_compiler(const std::string& path, const Compiler& compiler,
                                 const CompileOptions& options, const std::vector<std::string>& flags) {
  Result<TemporaryDirectory> folder = TemporaryDirectory::create();
  if (!folder) return folder.error();
  CompileJob job{path, folder->file("out.ptx"), folder->file("out.d"), options.sm, flags};
  if (!options.instantiations.empty()) {
    job.source = folder->file("instantiations.cu");
    const Status written = write_file(job.source, instantiating_source(path, options.instantiations));
    if (!written.ok()) return written.error();
  }
  for (const unsigned sm : fallback_architectures(options.sm)) {
    job.sm = sm;
    Result<ProcessResult> run = run_process(compile_command(compiler, job));
    if (!run) return run.error();
    if (run->exit_code != 0) {
      if (unknown_architecture(*run)) continue;
      return compiler_error(path, compiler, *run);
    }
    Result<std::string> ptx = read_file(job.ptx, kMaxPtxBytes);
    if (!ptx) return ptx.error();
    CompilerRun result;
    result.compiled.ptx = std::move(*ptx);
    rename_source(&result.compiled.ptx, absolute_path(path), path);
    result.compiled.compiler = compiler.path;
    result.compiled.sm = sm;
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
    return Compiled{std::move(*text), {}, 0, {}, false};
  }
  const Result<std::string> source = read_file(path, kMaxSourceBytes);
  if (!source) return source.error();
  const Result<Compiler> compiler = find_compiler(options.compiler);
  if (!compiler) {
    Error error = compiler.error();
    error.file = path;
    return error;
  }
  Result<std::vector<std::string>> flags = flags_from_compile_commands(path, options.compile_commands);
  if (!flags) return flags.error();
  flags->insert(flags->end(), options.flags.begin(), options.flags.end());

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
    const size_t line_end = entry->note.find('\n');  // "SM\nwarnings"
    Compiled compiled;
    compiled.ptx = std::move(entry->result);
    compiled.compiler = compiler.value().path;
    compiled.sm = static_cast<unsigned>(std::atoi(entry->note.c_str()));
    compiled.warnings = entry->note.substr(std::min(line_end, entry->note.size() - 1) + 1);
    compiled.from_cache = true;
    return compiled;
  }
  const int64_t started_ns = PtxCache::now_ns();
  Result<CompilerRun> run = run_compiler(path, compiler.value(), options, *flags);
  if (!run) return run.error();
  if (!run->dependencies.empty()) {
    cache.store(key,
                {std::move(run->dependencies),
                 std::to_string(run->compiled.sm) + "\n" + run->compiled.warnings, run->compiled.ptx},
                started_ns);
  }
  return std::move(run->compiled);
}

}  // namespace fullwarp::input

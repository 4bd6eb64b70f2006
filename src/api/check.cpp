// fullwarp::check(): every file is loaded, its launches are found and run, and what is missing is said.
#include "fullwarp/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "api/load.h"
#include "api/settings.h"
#include "gpu/gpu.h"
#include "input/compile.h"
#include "input/compiler.h"
#include "report/metrics.h"

namespace fullwarp {

namespace {

using api::LoadedProgram;

// The statements of --launch-file and --launch, which run on every file.
Result<input::Script> given_script(const CheckOptions& options) {
  input::Script script;
  if (!options.launch_file.empty()) {
    const Result<std::string> text = api::read_text(options.launch_file);
    if (!text) return text.error();
    // A source gives the statements of its comments, for the PTX that was made from it; so does a file that
    // holds nothing but such comments.
    const std::string kind = std::filesystem::path(options.launch_file).extension();
    const bool source = kind == ".cu" || kind == ".ptx";
    Result<input::Script> statements =
        source ? Result<input::Script>(input::Script{}) : input::parse_launches(*text, options.launch_file);
    if (statements && statements->empty()) statements = input::launches_in_source(*text, options.launch_file);
    if (!statements) return statements.error();
    script = std::move(*statements);
    if (script.empty())
      return Error{
          "there is no launch statement in this file", options.launch_file, 0, 0,
          "a line of it reads: kernel<<<GRID, BLOCK>>>(ARGUMENTS); in a source: // fullwarp: kernel..."};
  }
  std::string lines;
  for (const std::string& launch : options.launches) lines += launch + "\n";
  Result<input::Script> statements = input::parse_launches(lines, "--launch");
  if (!statements) return statements.error();
  script.insert(script.end(), statements->begin(), statements->end());
  return script;
}

std::vector<std::string> kernels_of(const input::Script& script) {
  std::vector<std::string> names;
  for (const input::Statement& statement : script)
    if (const auto* launch = std::get_if<input::KernelLaunch>(&statement.value))
      names.push_back(launch->kernel);
  return names;
}

// Is the kernel's own name, without namespaces and template arguments, a word of the text?
bool mentions(std::string_view text, std::string_view kernel) {
  std::string_view name = kernel.substr(0, kernel.find('<'));
  if (const size_t colons = name.rfind("::"); colons != std::string_view::npos)
    name.remove_prefix(colons + 2);
  return text.find(name) != std::string_view::npos;
}

class Checker {
 public:
  Checker(const CheckOptions& options, api::RunSettings settings)
      : options_(options), settings_(std::move(settings)) {}

  report::Report check() {
    report_.gpu = settings_.gpu->name;
    Result<input::Script> given = given_script(options_);
    if (!given) {
      report_.errors.push_back(given.error());
      return std::move(report_);
    }
    given_ = std::move(*given);
    given_any_ = !options_.launches.empty() || !options_.launch_file.empty();
    std::vector<Loaded> programs;
    for (const std::string& file : options_.files) load(file, programs);
    for (const std::string& kernel : given_any_ ? kernels_of(given_) : std::vector<std::string>())
      require_somewhere(kernel, programs);
    programs_ = programs.size();
    for (const Loaded& loaded : programs) run(loaded);
    return std::move(report_);
  }

 private:
  struct Loaded {
    api::LoadedPointer program;
    input::Script script;
  };

  void load(const std::string& file, std::vector<Loaded>& programs) {
    if (settings_.progress != nullptr) settings_.progress->begin("compiling " + file, 0);
    const Result<std::string> source = api::read_text(file);
    if (!source) return report_.errors.push_back(source.error());
    input::Script script = given_;
    if (!given_any_) {  // PTX has the same comments as CUDA C++
      Result<input::Script> own = input::launches_in_source(*source, file);
      if (!own) return report_.errors.push_back(own.error());
      script = std::move(*own);
    }
    LoadOptions load_options{
        options_.gpu, options_.compiler, options_.compiler_flags, {}, options_.assemble_ptx};
    // A header may define the kernel. Of several files, one that does not speak of it need not be asked.
    const bool one = options_.files.size() == 1 || !given_any_;
    for (const std::string& kernel : input::instantiations(script))
      if (one || mentions(*source, kernel)) load_options.instantiations.push_back(kernel);
    Result<api::LoadedPointer> program = api::load_file(file, load_options);
    if (!program) return report_.errors.push_back(program.error());
    if ((*program)->from_source && !said_no_ptxas_ && input::find_ptxas().empty()) {
      said_no_ptxas_ = true;
      report_.compiler_messages.emplace_back(
          "note: there is no ptxas here (it comes with the CUDA toolkit): registers and spills are not "
          "known, occupancy leaves them out, and accesses are counted by rules instead of machine code\n");
    }
    if (!(*program)->compiler_says.empty()) report_.compiler_messages.push_back((*program)->compiler_says);
    input::assign_default_seeds(&script);
    programs.push_back({std::move(*program), std::move(script)});
  }

  // A kernel of --launch may be in one of several files; it must be in one.
  void require_somewhere(const std::string& kernel, const std::vector<Loaded>& programs) {
    if (programs.size() < 2) return;  // with one file the launch itself says it
    std::optional<Error> error;
    for (const Loaded& loaded : programs) {
      const Result<size_t> found = input::find_kernel(loaded.program->kernels, kernel);
      if (found) return;
      error = found.error();
      error->file = loaded.program->file;
    }
    report_.errors.push_back(std::move(*error));
  }

  void run(const Loaded& loaded) {
    const LoadedProgram& program = *loaded.program;
    diag::SourceCache sources({std::filesystem::path(program.file).parent_path().string()});
    api::ScriptRunner runner({program.module, program.kernels, program.file, program.resources,
                              program.machine_code ? &*program.machine_code : nullptr, sources, settings_},
                             report_);
    if (!runner.begin()) return;
    const bool elsewhere = given_any_ && programs_ > 1;
    for (const input::Statement& statement : loaded.script) {
      const auto* launch = std::get_if<input::KernelLaunch>(&statement.value);
      if (elsewhere && launch != nullptr && !input::find_kernel(program.kernels, launch->kernel)) continue;
      runner.run(statement);
    }
    if (!given_any_) report_kernels_without_launch(program, runner);
  }

  // Kernels of the file and of the headers beside it; those of libraries (CUB, Thrust) are not its author's
  // to launch, unless there are no others. One instantiation of a template stands for all of them.
  void report_kernels_without_launch(const LoadedProgram& program, const api::ScriptRunner& runner) {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path folder = fs::weakly_canonical(program.file, error).parent_path();
    std::map<std::string, std::vector<const input::KernelInfo*>> templates;
    std::vector<std::string> order;
    std::vector<bool> own_file;  // by Module::files
    for (const ptx::SourceFile& file : program.module.files) {
      const fs::path relative =
          fs::weakly_canonical(std::string(file.name), error).lexically_relative(folder);
      own_file.push_back(!relative.empty() && *relative.begin() != "..");
    }
    // The first lines of a kernel may be those of a function that is inlined from elsewhere; a library's
    // kernels may have the author's functions inlined.
    const auto own = [&](const input::KernelInfo& kernel) {
      const ptx::Function& function = program.module.functions[static_cast<size_t>(kernel.function)];
      if (kernel.name.starts_with("cub::") || kernel.name.starts_with("thrust::")) return false;
      bool located = false;
      for (const ptx::Instruction& instruction : function.instructions) {
        if (instruction.location < 0 ||
            static_cast<size_t>(instruction.location) >= program.module.locations.size())
          continue;
        const uint32_t file = program.module.locations[static_cast<size_t>(instruction.location)].file;
        located = true;
        if (file < own_file.size() && own_file[file]) return true;
      }
      return !located;
    };
    const bool none_own = std::none_of(program.kernels.begin(), program.kernels.end(), own);
    if (none_own && !runner.launched().empty()) return;  // whoever picks a library's kernels picks some
    for (const input::KernelInfo& kernel : program.kernels) {
      if (!none_own && !own(kernel)) continue;
      if (settings_.kernel && !std::regex_search(kernel.name, *settings_.kernel)) continue;
      const std::string name = kernel.name.substr(0, kernel.name.find('<'));
      std::vector<const input::KernelInfo*>& same = templates[name];
      if (same.empty()) order.push_back(name);
      same.push_back(&kernel);
    }
    const auto launched = [&](const input::KernelInfo* kernel) {
      return runner.launched().count(kernel->function) != 0;
    };
    for (const std::string& name : order) {
      const std::vector<const input::KernelInfo*>& same = templates[name];
      const bool instances = same[0]->name.find('<') != std::string::npos;
      if (instances) {
        if (std::none_of(same.begin(), same.end(), launched))
          report_.errors.push_back(input::not_launched(*same[0], program.file, same.size() - 1));
        continue;
      }
      for (const input::KernelInfo* kernel : same)
        if (!launched(kernel)) report_.errors.push_back(input::not_launched(*kernel, program.file));
    }
    if (!program.kernels.empty()) return;
    const Result<std::string> source = api::read_text(program.file);
    report_.errors.push_back(input::no_kernels(program.file, source.ok() ? *source : std::string()));
  }

  const CheckOptions& options_;
  const api::RunSettings settings_;
  input::Script given_;
  bool given_any_ = false;
  bool said_no_ptxas_ = false;
  size_t programs_ = 0;  // files that could be loaded
  report::Report report_;
};

}  // namespace

report::Report check(const CheckOptions& options, Progress* progress) {
  Result<api::RunSettings> settings = api::settings_of(options, progress);
  if (!settings) {
    report::Report report;
    report.gpu = options.gpu;
    report.errors.push_back(settings.error());
    return report;
  }
  return Checker(options, std::move(*settings)).check();
}

}  // namespace fullwarp

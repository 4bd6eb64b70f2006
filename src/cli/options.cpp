#include "cli/options.h"

#include "gpu/gpu.h"
#include "rules/rules.h"
#include "shapes/findings.h"
#include "shapes/operation.h"

namespace fullwarp::cli {

namespace {

constexpr const char* kFooter = R"(Examples:
  fullwarp check transpose.cu
      run the launches in the file's `// fullwarp:` comments and report
  fullwarp check copy.cu --launch 'copy<<<64, 256>>>(f32[16384]:iota, f32[16384], 16384)'
      run one launch written here
  fullwarp check kernels/*.cu --format sarif --output report.sarif --fail-on warning
      for a CI job: exit code 1 on a warning, a file for the code review
  fullwarp check a.cu -Iinclude -DTILE=32 -- --use_fast_math
      flags for the compiler
  fullwarp shapes config.json --batch 8 --sequence 1024
      which sizes of a model are slow, and what to pad
  fullwarp explain bank-conflict
      what a rule means, and how to fix what it found

Exit codes: 0 nothing at or above the --fail-on level, 1 findings, 2 some input could not be used.)";

// Repeated options take one value each: `-I a b` is the folder a and the file b.
void add_list(CLI::App& app, const std::string& name, std::vector<std::string>& values,
              const std::string& text, const std::string& type) {
  app.add_option(name, values, text)->allow_extra_args(false)->type_name(type);
}

CLI::Option* add_choice(CLI::App& app, const std::string& name, std::string& value, const std::string& text) {
  std::string words;
  for (const std::string& word : choices(name)) words += (words.empty() ? "" : "|") + word;
  return app.add_option(name, value, text)
      ->check(CLI::IsMember(choices(name)).description(""))
      ->type_name(words);
}

// CLI11 would read "-1" as a very large number.
const CLI::Validator kCount(
    [](const std::string& text) {
      const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
      return digits ? std::string() : "'" + text + "' is not a count";
    },
    "");

void define_check(CLI::App& app, CheckArguments& a) {
  CLI::App& check =
      *app.add_subcommand("check", "Execute kernels on the CPU and report what costs time or is wrong");
  check.add_option("FILE", a.check.files, "CUDA sources (.cu) and PTX files (.ptx)")
      ->required()
      ->type_name("");
  add_list(check, "--launch", a.check.launches, "A launch statement; those in the files are then not run",
           "EXPR");
  check
      .add_option("--launch-file", a.check.launch_file,
                  "A file of launch statements, or a source with them in its comments")
      ->type_name("FILE");
  check.add_option("--kernel", a.check.kernel, "Report only kernels whose name matches")->type_name("REGEX");
  check.add_option("--gpu", a.check.gpu, "The GPU to model; `fullwarp gpus` lists them")
      ->type_name("NAME")
      ->capture_default_str();

  add_choice(check, "--format", a.format, "Form of the report")->capture_default_str();
  check.add_option("--output", a.output, "Write the report to a file")->type_name("FILE");
  add_choice(check, "--fail-on", a.fail_on, "Level from which findings make the exit code 1")
      ->capture_default_str();
  add_choice(check, "--color", a.colour,
             "Colours in text; auto: where the terminal has them and NO_COLOR is not set")
      ->capture_default_str();
  check.add_flag("--no-summary", a.no_summary, "Leave out the counters after each launch's findings");
  add_list(check, "--set", a.check.settings, "Change a rule's threshold or level", "RULE.NAME=VALUE");

  check.add_option("--blocks", a.check.blocks, "Run an even sample of at most N blocks of each launch")
      ->check(kCount)
      ->type_name("N");
  check.add_option("--threads", a.check.threads, "CPU threads; default: one per core")
      ->check(kCount)
      ->type_name("N");
  check.add_option("--step-limit", a.check.step_limit, "Instructions that one warp may execute")
      ->check(kCount)
      ->type_name("N");
  check.add_flag("--no-race-check", a.no_race_check,
                 "Look for no races and no reads of memory never written");
  check.add_flag("--counters-only", a.counters_only, "As --no-race-check, and apply no rules about speed");

  check.add_flag("--assemble", a.check.assemble_ptx,
                 "Take PTX through ptxas too: registers, spills and accesses as in machine code");
  check
      .add_option("--compiler", a.check.compiler,
                  "nvcc or clang to use; default: nvcc, else the newest clang")
      ->type_name("PATH");
  add_list(check, "-I", a.includes, "Folder for the compiler to search", "DIR");
  add_list(check, "-D", a.defines, "Macro for the compiler to define", "NAME[=VALUE]");
  check.add_option("--std", a.standard, "C++ standard; -std=c++17 is the same")->type_name("STANDARD");
  check
      .add_option("-p,--compile-commands", a.compile_commands,
                  "Take each file's flags from the compile_commands.json in this folder")
      ->type_name("DIR");
  check.footer("Everything after `--` goes to the compiler.");
}

}  // namespace

std::vector<std::string> choices(const std::string& name) {
  if (name == "--format") return {"text", "json", "sarif", "html", "csv"};
  if (name == "--fail-on") return {"note", "warning", "error", "never"};
  if (name == "--color") return {"auto", "always", "never"};
  if (name == "--dtype") return shapes::dtype_names();
  if (name == "SHELL") return {"bash", "zsh", "fish"};
  std::vector<std::string> words;
  if (name == "RULE") {
    for (const rules::RuleInfo& rule : rules::rule_infos()) words.emplace_back(rule.id);
    for (const shapes::RuleInfo& rule : shapes::rule_infos()) words.emplace_back(rule.id);
  }
  if (name == "--gpu" || name == "GPU")
    for (const gpu::Gpu& gpu : gpu::gpus()) words.emplace_back(gpu.name);
  return words;
}

void define_options(CLI::App& app, Arguments& arguments) {
  app.description(
      "Executes CUDA kernels on the CPU, 32 lanes at a time, and reports like a compiler: where lanes,\n"
      "banks and sectors are wasted, what is wrong, and how to fix it. Needs no GPU.");
  app.name("fullwarp");
  app.set_version_flag("--version", "fullwarp " FULLWARP_VERSION);
  app.require_subcommand(1);
  app.footer(kFooter);
  define_check(app, arguments.check);
  define_shapes(app, arguments.shapes);

  CLI::App& explain = *app.add_subcommand("explain", "Show the page of a rule, or the list of rules");
  explain.add_option("RULE", arguments.rule, "Its name, as in the brackets behind a finding")->type_name("");
  CLI::App& gpus =
      *app.add_subcommand("gpus", "List the GPUs it knows, or the limits of one with their sources");
  gpus.add_option("GPU", arguments.gpu, "Show all limits of this one")->type_name("");
  CLI::App& completion = *app.add_subcommand("completion", "Print the completion script of a shell");
  add_choice(completion, "SHELL", arguments.shell, "The shell")->required();
}

SplitArguments split_arguments(const std::vector<std::string>& arguments) {
  SplitArguments split;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--") {
      split.compiler.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
    split.own.push_back(arguments[i].starts_with("-std=") ? "-" + arguments[i] : arguments[i]);
  }
  return split;
}

}  // namespace fullwarp::cli

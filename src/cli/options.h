// What can be written on the command line, in one place: the parser, --help, the completions and the test of
// the man page all read this definition.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/shapes_command.h"
#include "fullwarp/check.h"

namespace fullwarp::cli {

struct CheckArguments {
  CheckOptions check;
  std::string format = "text";
  std::string output;
  std::string fail_on = "warning";
  std::string colour = "auto";
  std::vector<std::string> includes, defines;
  std::string compile_commands;
  std::string standard;
  bool no_race_check = false, counters_only = false, no_summary = false;
};

struct Arguments {
  CheckArguments check;
  ShapesArguments shapes;
  std::string rule;
  std::string gpu;
  std::string shell;
};

// Fills `app` with every command and option; values end up in `arguments`, which must outlive it.
void define_options(CLI::App& app, Arguments& arguments);

// The words that an option or a command's argument takes, for its check and for completion; empty: any text.
// `name` as written: "--format", "RULE".
std::vector<std::string> choices(const std::string& name);

// Before CLI11 sees them: `-std=c++17` becomes `--std=c++17`, and what follows `--` goes to the compiler.
struct SplitArguments {
  std::vector<std::string> own, compiler;
};
SplitArguments split_arguments(const std::vector<std::string>& arguments);

}  // namespace fullwarp::cli

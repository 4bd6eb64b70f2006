// One function per command; each returns the exit code.
#pragma once

#include "cli/cli.h"
#include "cli/options.h"

namespace fullwarp::cli {

int run_check(CheckArguments arguments, const Streams& streams);
int run_explain(const std::string& rule, const Streams& streams);
int run_gpus(const std::string& name, const Streams& streams);
int run_completion(const CLI::App& app, const std::string& shell, const Streams& streams);

}  // namespace fullwarp::cli

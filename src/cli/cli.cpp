#include "cli/cli.h"

#include <algorithm>
#include <ostream>

#include "cli/commands.h"

namespace fullwarp::cli {

int run(const std::vector<std::string>& arguments, const Streams& streams) {
  SplitArguments split = split_arguments(arguments);
  Arguments values;
  CLI::App app;
  define_options(app, values);
  std::reverse(split.own.begin(), split.own.end());  // as CLI11 takes them
  try {
    app.parse(split.own);
  } catch (const CLI::ParseError& error) {
    // --help and --version arrive here too, with the code 0.
    return app.exit(error, streams.out, streams.err) == 0 ? kSuccess : kUnusable;
  }
  values.check.check.compiler_flags = std::move(split.compiler);
  if (app.got_subcommand("shapes")) return run_shapes(values.shapes, streams);
  if (app.got_subcommand("explain")) return run_explain(values.rule, streams);
  if (app.got_subcommand("gpus")) return run_gpus(values.gpu, streams);
  if (app.got_subcommand("completion")) return run_completion(app, values.shell, streams);
  return run_check(std::move(values.check), streams);
}

}  // namespace fullwarp::cli

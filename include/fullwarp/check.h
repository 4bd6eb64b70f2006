// The whole of `fullwarp check` as one function: sources or PTX files in, a report out.
//
//   fullwarp::CheckOptions options;
//   options.files = {"tile.cu"};
//   fullwarp::report::Report report = fullwarp::check(options);
//   std::cout << fullwarp::report::render_json(report);
//
// Nothing is thrown and nothing printed. What could not be used stands in Report::errors, with file and line;
// everything else is still reported. Cost: the compiler's time for each .cu file, then the execution of every
// launch on all cores.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fullwarp/progress.h"
#include "report/render.h"
#include "report/report.h"

namespace fullwarp {

struct CheckOptions {
  std::vector<std::string> files;  // .cu, .ptx
  std::vector<std::string>
      launches;             // statements; with these or a launch file, those in the sources are not run
  std::string launch_file;  // a file of statements; runs before `launches`
  std::string gpu = "h200";
  std::string kernel;  // ECMAScript regular expression; only kernels whose name it finds are reported

  uint64_t blocks = 0;      // run an even sample of at most so many blocks; 0: all of them
  unsigned threads = 0;     // CPU threads; 0: one a core. Results do not depend on it
  uint64_t step_limit = 0;  // instructions a warp may execute; 0: the default
  bool race_check = true;   // races, and reads of memory never written
  bool rules = true;        // false: counters and faults only

  std::vector<std::string> settings;        // "RULE.NAME=VALUE", as rules::Options takes them
  std::string compiler;                     // empty: nvcc where there is one, else the newest clang
  bool assemble_ptx = false;                // LoadOptions::assemble_ptx
  std::vector<std::string> compiler_flags;  // as written: "-I", "include", "-DN=4"
};

report::Report check(const CheckOptions& options, Progress* progress = nullptr);

}  // namespace fullwarp

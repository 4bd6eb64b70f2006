// The command line as a library, so that tests run it without a process: arguments and streams in, exit code
// out. options.cpp defines what can be written, one file per command does the work.
//
// Exit codes: 0 nothing at or above the chosen level, 1 findings, 2 some input could not be used (or the
// command line itself).
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace fullwarp::cli {

inline constexpr int kSuccess = 0, kFindings = 1, kUnusable = 2;

struct Streams {
  std::ostream& out;
  std::ostream& err;
  bool out_colour = false;    // the terminal has colours and NO_COLOR is not set
  bool err_terminal = false;  // a progress line may be drawn
};

// `arguments`: without the program's name.
int run(const std::vector<std::string>& arguments, const Streams& streams);

}  // namespace fullwarp::cli

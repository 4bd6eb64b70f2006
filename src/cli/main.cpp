#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iostream>

#include "cli/cli.h"

int main(int argc, char** argv) {
  const auto* no_colour = std::getenv("NO_COLOR");
  const auto* terminal = std::getenv("TERM");
  const bool colours = (no_colour == nullptr || *no_colour == '\0') && terminal != nullptr &&
                       std::strcmp(terminal, "dumb") != 0;
  return fullwarp::cli::run(
      {argv + 1, argv + argc},
      {std::cout, std::cerr, colours && isatty(STDOUT_FILENO) != 0, isatty(STDERR_FILENO) != 0});
}

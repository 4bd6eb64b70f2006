// PTX as the compilers write it (data/, made from data/small.cu by data/make.sh) parses whole. How many
// instructions there are is counted independently, by lines: compilers write one statement on each.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "ptx/parser.h"

namespace fullwarp::ptx {
namespace {

size_t instructions_by_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::regex one("^\\s*(\\{ )?(@!?%?[A-Za-z0-9_]+\\s+)?[a-z][a-z0-9]+(\\.[^;]*|\\s[^;:]*)?;.*$");
  std::regex begin_call("^\\s*call(\\.uni)?(\\s[^;]*)?$");  // continued on further lines
  size_t count = 0;
  bool in_assembly = false;
  for (std::string line; std::getline(file, line);) {
    if (line.find("begin inline asm") != std::string::npos) in_assembly = true;
    if (line.find("end inline asm") != std::string::npos) in_assembly = false;
    if (in_assembly && line.find("setp") != std::string::npos) {
      count += 3;  // { .reg .pred p; setp ...; @p bra DONE; bar.sync 0; DONE: }
    } else if (std::regex_match(line, one) || std::regex_match(line, begin_call)) {
      ++count;
    }
  }
  return count;
}

TEST(CompilerOutput, ParsesWhole) {
  unsigned files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(FULLWARP_SOURCE_DIR "/tests/ptx/data")) {
    if (entry.path().extension() != ".ptx") continue;
    ++files;
    auto module = parse_file(entry.path());
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    for (const Unsupported& entry_2 : module->unsupported)
      ADD_FAILURE() << entry.path() << ":" << entry_2.line << ": " << entry_2.message;
    size_t count = 0;
    for (const Function& function : module->functions) count += function.instructions.size();
    EXPECT_EQ(count, instructions_by_line(entry.path())) << entry.path();
    EXPECT_GE(module->find_function("small"), 0);
    // The addresses of two strings and two functions.
    size_t relocations = 0;
    for (const Variable& variable : module->variables) relocations += variable.relocations.size();
    EXPECT_EQ(relocations, 4u) << entry.path();
  }
  EXPECT_EQ(files, 6u);
}

}  // namespace
}  // namespace fullwarp::ptx

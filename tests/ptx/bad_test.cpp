// Every broken file in bad/ gives the one message that stands beside it (bad-x.ptx and bad-x.txt).
// FULLWARP_REWRITE_GOLDEN=1 writes those messages anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ptx/parser.h"

namespace fullwarp::ptx {
namespace {

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(BadPtx, GivesItsMessage) {
  std::filesystem::path folder = FULLWARP_SOURCE_DIR "/tests/ptx/bad";
  bool rewrite = std::getenv("FULLWARP_REWRITE_GOLDEN") != nullptr;
  unsigned files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".ptx") continue;
    ++files;
    std::string name = entry.path().filename();
    auto module = parse(contents(entry.path()), name);
    ASSERT_FALSE(module.ok()) << name << " parses";
    EXPECT_NE(module.error().line, 0u) << name;
    EXPECT_NE(module.error().column, 0u) << name;
    std::string message = module.error().to_string() + "\n";
    std::filesystem::path golden = entry.path();
    golden.replace_extension(".txt");
    if (rewrite) std::ofstream(golden) << message;
    EXPECT_EQ(message, contents(golden)) << name;
  }
  EXPECT_GT(files, 50u);
}

TEST(BadPtx, FileThatIsNotThere) {
  auto module = parse_file("/nowhere/at all.ptx");
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.error().to_string(), "/nowhere/at all.ptx: error: cannot open the file");
}

}  // namespace
}  // namespace fullwarp::ptx

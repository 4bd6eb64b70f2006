// The README's example is the program that is compiled and run here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Readme, ExampleIsTheCompiledOne) {
  const std::string readme = text_of(FULLWARP_SOURCE_DIR "/README.md");
  const std::string example = text_of(FULLWARP_SOURCE_DIR "/tests/api/readme_example.cpp");
  EXPECT_THAT(readme, testing::HasSubstr("```cpp\n" + example + "```\n"));
}

}  // namespace

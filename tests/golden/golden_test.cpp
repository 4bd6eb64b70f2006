// The gallery, end to end: every PTX file of ptx/ is checked with the launches in the comments of its source
// under examples/, and the text of the report is compared, line by line, with expected/. What changes the
// report changes these files, in the same commit: FULLWARP_UPDATE_GOLDEN=1 writes them anew, and a reader judges
// the difference.
//
// The PTX of other compilers and settings (variants/) must compute the same results: there only errors and
// failed `expect` statements count.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "fullwarp/check.h"
#include "report/render.h"

namespace fullwarp {
namespace {

namespace fs = std::filesystem;

// PTX files below a folder of tests/golden/, relative to it and without the extension.
std::vector<std::string> files_below(const std::string& folder) {
  const fs::path root = fs::path(FULLWARP_SOURCE_DIR) / "tests/golden" / folder;
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root))
    if (entry.path().extension() == ".ptx")
      files.push_back(fs::relative(entry.path(), root).replace_extension().generic_string());
  std::sort(files.begin(), files.end());
  return files;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

report::Report check_file(const std::string& ptx, const std::string& source) {
  fs::current_path(FULLWARP_SOURCE_DIR);  // reports name files as seen from here
  CheckOptions options;
  options.files = {ptx};
  options.launch_file = source;
  options.step_limit = uint64_t{1} << 22;  // some of the mistakes never end
  return check(options);
}

std::string source_of(const std::string& name) { return "examples/" + name + ".cu"; }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class Gallery : public testing::TestWithParam<std::string> {};

TEST_P(Gallery, ReportsAsExpected) {
  const report::Report report = check_file("tests/golden/ptx/" + GetParam() + ".ptx", source_of(GetParam()));
  const std::string text = report::render_text(report, {});
  const fs::path expected_file = fs::path("tests/golden/expected") / (GetParam() + ".txt");
  if (std::getenv("FULLWARP_UPDATE_GOLDEN") != nullptr) {
    fs::create_directories(expected_file.parent_path());
    std::ofstream(expected_file, std::ios::binary) << text;
    return;
  }
  std::ifstream stream(expected_file, std::ios::binary);
  ASSERT_TRUE(stream) << expected_file << " is missing; FULLWARP_UPDATE_GOLDEN=1 writes it";
  std::ostringstream content;
  content << stream.rdbuf();
  const std::vector<std::string> expected = lines_of(content.str()), got = lines_of(text);
  for (size_t k = 0; k < std::max(expected.size(), got.size()); ++k) {
    const std::string want = k < expected.size() ? expected[k] : "(the end)";
    const std::string have = k < got.size() ? got[k] : "(the end)";
    if (want == have) continue;
    FAIL() << expected_file.string() << ":" << k + 1 << ": the first line that differs\n  expected: " << want
           << "\n  reported: " << have << "\nthe whole report:\n"
           << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Ptx, Gallery, testing::ValuesIn(files_below("ptx")), test_name);

// Results of the variants: nvcc -G, nvcc without optimisation, clang.
class Variant : public testing::TestWithParam<std::string> {};

TEST_P(Variant, ComputesTheSame) {
  const std::string name = GetParam().substr(GetParam().find('/') + 1);
  const report::Report report = check_file("tests/golden/variants/" + GetParam() + ".ptx", source_of(name));
  for (const Error& error : report.errors) ADD_FAILURE() << error.to_string();
  EXPECT_FALSE(report.kernels.empty());
  for (const report::KernelReport& kernel : report.kernels)
    for (const diag::Finding& finding : kernel.findings)
      EXPECT_NE(finding.level, diag::Level::error) << finding.place.file << ":" << finding.place.line << ": "
                                                   << finding.message << " [" << finding.rule << "]";
}

INSTANTIATE_TEST_SUITE_P(Compilers, Variant, testing::ValuesIn(files_below("variants")), test_name);

}  // namespace
}  // namespace fullwarp

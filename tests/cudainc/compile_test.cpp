// Compiles the .cu files beside this one with every clang on the machine, no toolkit, and looks into the PTX:
// each file names in `// ptx: TEXT` what must be there and in `// none: TEXT` what must not.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kSource = FULLWARP_SOURCE_DIR;

// The newest PTX version that each release of clang writes.
const char* ptx_version(int clang) {
  return clang >= 19 ? "85" : clang >= 18 ? "83" : clang >= 17 ? "81" : clang >= 16 ? "78" : "75";
}

std::vector<int> clangs() {
  std::vector<int> found;
  for (int version = 14; version <= 22; ++version) {
    const std::string probe = "clang++-" + std::to_string(version) + " --version >/dev/null 2>&1";
    if (std::system(probe.c_str()) == 0) found.push_back(version);
  }
  return found;
}

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// The texts after `// KEY: ` at the start of lines.
std::vector<std::string> marks(const std::string& source, const std::string& key) {
  std::vector<std::string> texts;
  std::istringstream lines(source);
  const std::string start = "// " + key + ": ";
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(start, 0) == 0) texts.push_back(line.substr(start.size()));
  }
  return texts;
}

class Compile : public testing::TestWithParam<const char*> {};

TEST_P(Compile, WithEveryClang) {
  const auto versions = clangs();
  if (versions.empty()) GTEST_SKIP() << "no clang++-14 or newer on this machine";
  const fs::path source = kSource / "tests/cudainc" / GetParam();
  const std::string text = read(source);
  ASSERT_FALSE(text.empty());
  for (const int version : versions) {
    const fs::path stem = fs::path(testing::TempDir()) / (std::string(GetParam()) + std::to_string(version));
    const fs::path ptx_file = stem.string() + ".ptx", log_file = stem.string() + ".log";
    std::ostringstream command;
    command << "clang++-" << version
            << " -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-path=/nonexistent"
            << " --cuda-gpu-arch=sm_80 -Xclang -target-feature -Xclang +ptx" << ptx_version(version)
            << " -std=c++17 -S -O3 -gline-tables-only -isystem " << (kSource / "src/cudainc").string()
            << " -include cuda_runtime.h " << source.string() << " -o " << ptx_file.string() << " 2>"
            << log_file.string();
    ASSERT_EQ(std::system(command.str().c_str()), 0) << "clang " << version << ":\n" << read(log_file);
    EXPECT_EQ(read(log_file), "") << "clang " << version << " has warnings";
    const std::string ptx = read(ptx_file);
    for (const auto& mark : marks(text, "ptx")) {
      EXPECT_NE(ptx.find(mark), std::string::npos) << "clang " << version << ": no " << mark;
    }
    for (const auto& mark : marks(text, "none")) {
      EXPECT_EQ(ptx.find(mark), std::string::npos) << "clang " << version << ": " << mark;
    }
    fs::remove(ptx_file);
    fs::remove(log_file);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Compile,
                         testing::Values("kernels.cu", "half.cu", "groups.cu", "libcuxx.cu", "wmma.cu",
                                         "textures.cu", "random.cu"),
                         [](const auto& info) {
                           const std::string name = info.param;
                           return name.substr(0, name.find('.'));
                         });

}  // namespace

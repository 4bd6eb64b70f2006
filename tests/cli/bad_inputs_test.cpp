// Bad input ends with exit code 2 and a message that names its place; the program neither crashes nor hangs.
#include <algorithm>

#include "fixture.h"

namespace fullwarp::cli {
namespace {

using testing::HasSubstr;

constexpr const char* kCopy = FULLWARP_SOURCE_DIR "/tests/api/copy.ptx";

class BadInputs : public CliTest {};

TEST_F(BadInputs, EveryBadPtxFile) {
  unsigned files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(FULLWARP_SOURCE_DIR "/tests/ptx/bad")) {
    if (entry.path().extension() != ".ptx") continue;
    ++files;
    const Outcome outcome = run_with({"check", entry.path().string(), "--launch", "k<<<1, 1>>>()"});
    EXPECT_EQ(outcome.code, 2) << entry.path() << outcome.out;
    EXPECT_THAT(outcome.out, HasSubstr(entry.path().filename().string() + ":")) << entry.path();
    EXPECT_THAT(outcome.out, HasSubstr(": error: ")) << entry.path();
  }
  EXPECT_GT(files, 60u);
}

TEST_F(BadInputs, EveryBeginningOfAFile) {
  const std::string whole = file_text(kCopy);
  // The closing brace is the last character that a module cannot do without.
  const size_t least = whole.rfind('}');
  for (size_t length = 0; length <= least; length += 7) {
    const std::string file = write("cut.ptx", whole.substr(0, length));
    const Outcome outcome = run_with({"check", file, "--launch", "copy<<<1, 32>>>(f32[32], f32[32], 32)"});
    EXPECT_EQ(outcome.code, 2) << length << outcome.out;
    EXPECT_THAT(outcome.out, HasSubstr("cut.ptx")) << length;
  }
}

TEST_F(BadInputs, LaunchStatements) {
  const std::string far = "9999999999999999999999";
  for (const std::string& launch :
       {"copy<<<" + far + ", 1>>>(f32[1], f32[1], 1)",
        "copy<<<1, 1>>>(f32[" + far + "], f32[1], 1)",
        std::string("copy<<<1, 1>>>(f32[1 << 60], f32[1], 1)"),
        std::string("copy<<<1, 1>>>(f32[1000000000 * 1000000000 * 1000000000], f32[1], 1)"),
        std::string("copy<<<1, 1025>>>(f32[1], f32[1], 1)"),
        std::string("copy<<<0, 1>>>(f32[1], f32[1], 1)"),
        std::string("copy<<<1, -1>>>(f32[1], f32[1], 1)"),
        std::string("copy<<<1, 1, 999999999>>>(f32[1], f32[1], 1)"),
        std::string("copy<<<(4294967295, 65535, 65535), 1>>>(f32[1], f32[1], 1)"),
        std::string("copy<<<1, 1>>>(f32[-5], f32[1], 1)"),
        std::string("copy<<<1, 1>>>(f32[1/0], f32[1], 1)"),
        std::string("copy<<<1, 1>>>(f32[4]:below(0), f32[1], 1)"),
        std::string("copy<<<1, 1>>>(f32[4], f32[1], 1e999)"),
        std::string("copy<<<1, 1>>>(f32[4] + 99999999999999, f32[1], 1)"),
        std::string("copy<<<1, 1>>>(f32[4]:@/dev/zero, f32[1], 1)"),
        std::string("copy<<<1, 1>>>(f32[4], f32[1]"),
        std::string("print nothing[0:4]"),
        std::string("save x -> /nowhere/x.npy"),
        std::string("expect x = 3"),
        std::string("symbol none = u32[1]"),
        std::string(100000, '('),
        std::string("\xff\xfe\0k", 4)}) {
    const Outcome outcome = run_with({"check", kCopy, "--launch", launch});
    EXPECT_EQ(outcome.code, 2) << launch.substr(0, 100) << outcome.out;
    EXPECT_THAT(outcome.out, HasSubstr("error: ")) << launch.substr(0, 100);
  }
}

TEST_F(BadInputs, CallsWithoutEnd) {
  const std::string file =
      write("cycle.ptx",
            ".version 8.0\n.target sm_90\n.address_size 64\n.func a();\n.func b() { call a; ret; }\n"
            ".func a() { call b; ret; }\n.visible .entry k() { call a; ret; }\n");
  const Outcome outcome = run_with({"check", file, "--launch", "k<<<1, 1>>>()"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("[stack-overflow]"));
}

TEST_F(BadInputs, AMarkOfUtf8IsNoError) {
  const std::string file = write("mark.ptx", "\xef\xbb\xbf" + file_text(kCopy));
  EXPECT_EQ(run_with({"check", file, "--launch", "copy<<<4, 256>>>(f32[1024]:iota, f32[1024], 1024)"}).code,
            0);
}

}  // namespace
}  // namespace fullwarp::cli

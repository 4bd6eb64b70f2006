// The public session API on a kernel written by hand (copy.ptx: out[i] = in[i] for i < n): results, counters,
// errors.
#include "fullwarp/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

namespace fullwarp {
namespace {

using testing::HasSubstr;

class SessionTest : public testing::Test {
 protected:
  SessionTest() : program_(Program::load(FULLWARP_SOURCE_DIR "/tests/api/copy.ptx")) {}
  void SetUp() override { ASSERT_TRUE(program_.ok()) << program_.error().to_string(); }
  Result<Program> program_;
};

TEST_F(SessionTest, CopiesAndCounts) {
  Session session(*program_);
  std::vector<float> in(1024);
  std::iota(in.begin(), in.end(), 1.0f);
  ASSERT_TRUE(session.define<float>("in", in).ok());
  ASSERT_TRUE(session.run("out = f32[1024]").errors.empty());
  const Result<report::KernelReport> kernel = session.launch("copy<<<4, 256>>>(in, out, 1024)");
  ASSERT_TRUE(kernel.ok()) << kernel.error().to_string();
  EXPECT_EQ(kernel->name, "copy");
  EXPECT_EQ(kernel->blocks_run, 4u);
  // 1024 threads are 32 warps: one request each, 32 lanes x 4 bytes = 4 sectors.
  const report::AccessTotals loads = kernel->metrics.total(mem::AccessSpace::global, mem::AccessKind::load);
  EXPECT_EQ(loads.requests, 32u);
  EXPECT_EQ(loads.sectors, 128u);
  EXPECT_EQ(loads.ideal_sectors, 128u);
  EXPECT_TRUE(kernel->findings.empty());
  const Result<std::vector<float>> out = session.read<float>("out");
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(*out, in);
  ASSERT_EQ(kernel->outputs.size(), 1u);
  EXPECT_EQ(kernel->outputs[0].buffer, "out");
  EXPECT_EQ(kernel->outputs[0].max, 1024.0);
}

TEST_F(SessionTest, OutOfBoundsIsAFindingNotAnError) {
  Session session(*program_);
  const Result<report::KernelReport> kernel = session.launch("copy<<<4, 256>>>(f32[1000], f32[1024], 1024)");
  ASSERT_TRUE(kernel.ok()) << kernel.error().to_string();
  ASSERT_FALSE(kernel->findings.empty());
  EXPECT_EQ(kernel->findings[0].rule, "out-of-bounds");
  EXPECT_EQ(kernel->findings[0].level, diag::Level::error);
}

TEST_F(SessionTest, ExpectComparesAndFindsTheFirstDifference) {
  Session session(*program_);
  const report::Report report =
      session.run("out = f32[64] ; copy<<<2, 32>>>(f32[64]:iota, out, 40) ; expect out = f32[64]:iota");
  ASSERT_TRUE(report.errors.empty()) << report.errors[0].to_string();
  ASSERT_EQ(report.kernels.size(), 1u);
  const auto mismatches = [](const report::Report& r) {
    std::vector<diag::Finding> found;
    for (const diag::Finding& finding : r.kernels.at(0).findings)
      if (finding.rule == "expect-mismatch") found.push_back(finding);
    return found;
  };
  ASSERT_EQ(mismatches(report).size(), 1u);
  EXPECT_THAT(mismatches(report)[0].message, HasSubstr("out"));
  const report::Report right =
      session.run("copy<<<2, 32>>>(f32[64]:iota, out, 64) ; expect out = f32[64]:iota");
  EXPECT_TRUE(mismatches(right).empty());
}

TEST_F(SessionTest, PrintAnswersInText) {
  Session session(*program_);
  const report::Report report = session.run("a = i32[8] : iota ; print a[2:5]");
  ASSERT_EQ(report.prints.size(), 1u);
  EXPECT_EQ(report.prints[0].text, "a[2:5] = 2 3 4");
}

TEST_F(SessionTest, ErrorsSayWhatIsWrong) {
  Session session(*program_);
  const auto message = [&](const char* statement) {
    const Result<report::KernelReport> kernel = session.launch(statement);
    return kernel.ok() ? std::string("no error") : kernel.error().message;
  };
  EXPECT_THAT(message("nothing<<<1, 32>>>()"), HasSubstr("no kernel `nothing`"));
  EXPECT_THAT(message("copy<<<1, 32>>>(f32[32])"), HasSubstr("takes 3 arguments, the launch gives 1"));
  EXPECT_THAT(message("copy<<<1, 32>>>(1, f32[32], 32)"), HasSubstr("takes a pointer, not a number"));
  EXPECT_THAT(message("copy<<<1, 32>>>(f32[32], f32[32], f32[32])"),
              HasSubstr("takes a number, not a buffer"));
  EXPECT_THAT(message("copy<<<1, 32>>>(f32[32], f32[32], 1.5)"),
              HasSubstr("takes an integer, not a number with a decimal point"));
  EXPECT_THAT(message("copy<<<1, 2048>>>(f32[32], f32[32], 32)"), HasSubstr("2048"));
  EXPECT_THAT(message("copy<<<1, 32>>>(missing, f32[32], 32)"), HasSubstr("no buffer 'missing'"));
  EXPECT_THAT(message("copy<<<1, 32>>(f32[32])"), testing::Not("no error"));
  EXPECT_THAT(message("a = f32[4]"), HasSubstr("not one launch"));
}

TEST_F(SessionTest, BuffersKeepTheirType) {
  Session session(*program_);
  ASSERT_TRUE(session.define<int32_t>("a", std::vector<int32_t>{1, 2, 3}).ok());
  EXPECT_TRUE(session.define<int32_t>("a", std::vector<int32_t>{4, 5, 6}).ok());
  EXPECT_FALSE(session.define<int32_t>("a", std::vector<int32_t>{4, 5}).ok());
  EXPECT_FALSE(session.define<float>("a", std::vector<float>{4, 5, 6}).ok());
  EXPECT_EQ(*session.read<int32_t>("a"), (std::vector<int32_t>{4, 5, 6}));
  EXPECT_FALSE(session.read<float>("a").ok());
  EXPECT_FALSE(session.read<float>("b").ok());
}

TEST_F(SessionTest, WrongOptionsAreToldAtUse) {
  CheckOptions options;
  options.gpu = "voodoo2";
  Session session(*program_, options);
  EXPECT_FALSE(session.launch("copy<<<1, 32>>>(f32[32], f32[32], 32)").ok());
  EXPECT_FALSE(session.define<float>("a", std::vector<float>{1}).ok());
}

TEST_F(SessionTest, ThreadsDoNotChangeCounters) {
  std::vector<uint64_t> instructions;
  for (unsigned threads : {1u, 2u, 7u}) {
    CheckOptions options;
    options.threads = threads;
    Session session(*program_, options);
    const Result<report::KernelReport> kernel =
        session.launch("copy<<<33, 96>>>(f32[4096], f32[4096], 3000)");
    ASSERT_TRUE(kernel.ok());
    instructions.push_back(kernel->metrics.warp_instructions);
  }
  EXPECT_EQ(instructions[0], instructions[1]);
  EXPECT_EQ(instructions[0], instructions[2]);
}

TEST(Program, BrokenInputIsAnError) {
  EXPECT_FALSE(Program::from_ptx("not ptx").ok());
  EXPECT_FALSE(Program::load("no-such-file.ptx").ok());
  EXPECT_FALSE(Program::load(std::filesystem::temp_directory_path().string()).ok());
}

}  // namespace
}  // namespace fullwarp

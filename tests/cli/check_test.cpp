// `fullwarp check` end to end on a kernel written by hand (tests/api/copy.ptx: out[i] = in[i] for i < n).
#include <nlohmann/json.hpp>

#include "fixture.h"

namespace fullwarp::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kCopy = FULLWARP_SOURCE_DIR "/tests/api/copy.ptx";
constexpr const char* kGood = "copy<<<4, 256>>>(f32[1024]:iota, f32[1024], 1024)";
constexpr const char* kBeyond = "copy<<<4, 256>>>(f32[1000], f32[1024], 1024)";

class Check : public CliTest {};

TEST_F(Check, GoodLaunchExitsWithZero) {
  const Outcome outcome = run_with({"check", kCopy, "--launch", kGood});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.err, "");
  // 1024 threads are 32 warps; 32 lanes x 4 bytes are 4 sectors.
  EXPECT_THAT(outcome.out,
              HasSubstr("global loads                          32               128               128\n"));
  EXPECT_THAT(outcome.out, HasSubstr("0 errors, 0 warnings, 0 notes in 1 launch\n"));
}

TEST_F(Check, FindingsExitWithOne) {
  const Outcome outcome = run_with({"check", kCopy, "--launch", kBeyond});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("[out-of-bounds]"));
  EXPECT_EQ(run_with({"check", kCopy, "--launch", kBeyond, "--fail-on", "never"}).code, 0);
  EXPECT_EQ(run_with({"check", kCopy, "--launch", kBeyond, "--counters-only"}).code, 1);
  EXPECT_EQ(run_with({"check", kCopy, "--launch", kBeyond, "--set", "out-of-bounds.level=note"}).code, 0);
}

TEST_F(Check, UnusableInputExitsWithTwoAndTheOthersAreReported) {
  const std::string broken = write("bad.ptx", ".version 7.0\n.target sm_80\n.visible .entry k( {\n");
  const Outcome outcome = run_with({"check", path("missing.ptx"), broken, kCopy, "--launch", kGood});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.out, HasSubstr(path("missing.ptx") + ": error: "));
  EXPECT_THAT(outcome.out, HasSubstr(broken + ":3:"));
  EXPECT_THAT(outcome.out, HasSubstr("copy<<<(4), (256)>>>"));
}

TEST_F(Check, KernelWithoutLaunchShowsOneToStartFrom) {
  const Outcome outcome = run_with({"check", kCopy});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.out, HasSubstr("no launch of kernel copy("));
  EXPECT_THAT(outcome.out, HasSubstr("// fullwarp: copy<<<"));
}

TEST_F(Check, LaunchesMayStandInPtxOrInAFile) {
  const std::string ptx = write("k.ptx", std::string("// fullwarp: ") + kGood + "\n" + file_text(kCopy));
  EXPECT_EQ(run_with({"check", ptx}).code, 0);
  const std::string launches = write("launches.txt", std::string("# comment\n") + kGood + "\n");
  EXPECT_EQ(run_with({"check", kCopy, "--launch-file", launches}).code, 0);
  const std::string source =
      write("k.cu", std::string("// fullwarp: ") + kGood + "\n__global__ void copy();\n");
  EXPECT_EQ(run_with({"check", kCopy, "--launch-file", source}).code, 0);
}

TEST_F(Check, AFileOfLaunchesHasToHoldOne) {
  const std::string comments = write("launches.txt", std::string("// fullwarp: ") + kGood + "\n");
  const Outcome as_in_a_source = run_with({"check", kCopy, "--launch-file", comments});
  EXPECT_EQ(as_in_a_source.code, 0);
  EXPECT_THAT(as_in_a_source.out, HasSubstr("in 1 launch"));
  const std::string none = write("none.txt", "# nothing yet\n");
  const Outcome outcome = run_with({"check", kCopy, "--launch-file", none});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.out, HasSubstr(none + ": error: there is no launch statement in this file"));
}

TEST_F(Check, ErrorsInLaunchesHaveTheirPlace) {
  const std::string launches = write("launches.txt", "a = f32[4]\n  copy<<<1, 32>>>(a, b, 4)\n");
  const Outcome outcome = run_with({"check", kCopy, "--launch-file", launches});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.out, HasSubstr(launches + ":2:"));
  EXPECT_THAT(outcome.out, HasSubstr("there is no buffer 'b'"));
}

TEST_F(Check, ReportGoesToAFileWholeOrNotAtAll) {
  const std::string output = path("report.json");
  const Outcome outcome =
      run_with({"check", kCopy, "--launch", kGood, "--format", "json", "--output", output});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "");
  const json report = json::parse(file_text(output));
  EXPECT_EQ(report["kernels"][0]["metrics"]["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"], 128);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);  // no temporary file is left
  const Outcome nowhere = run_with({"check", kCopy, "--launch", kGood, "--output", path("no/such/folder/x")});
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("cannot write the report"));
}

TEST_F(Check, EveryFormatHoldsTheLaunch) {
  for (const char* format : {"text", "json", "sarif", "html", "csv"}) {
    const Outcome outcome = run_with({"check", kCopy, "--launch", kBeyond, "--format", format});
    EXPECT_EQ(outcome.code, 1) << format;
    EXPECT_THAT(outcome.out, HasSubstr("copy")) << format;
  }
}

TEST_F(Check, ColourWhereAskedOrTheTerminalHasIt) {
  const std::vector<std::string> plain = {"check", kCopy, "--launch", kBeyond};
  EXPECT_THAT(run_with(plain).out, Not(HasSubstr("\x1b[")));
  EXPECT_THAT(run_with(plain, true).out, HasSubstr("\x1b[1;31merror:"));
  std::vector<std::string> never = plain, always = plain;
  never.insert(never.end(), {"--color", "never"});
  always.insert(always.end(), {"--color", "always"});
  EXPECT_THAT(run_with(never, true).out, Not(HasSubstr("\x1b[")));
  EXPECT_THAT(run_with(always).out, HasSubstr("\x1b["));
}

TEST_F(Check, KernelFilterReportsOnlyWhatMatches) {
  const Outcome none = run_with({"check", kCopy, "--launch", kBeyond, "--kernel", "^transpose"});
  EXPECT_EQ(none.code, 0);
  EXPECT_THAT(none.out, HasSubstr("in 0 launches"));
  EXPECT_EQ(run_with({"check", kCopy, "--launch", kBeyond, "--kernel", "^co"}).code, 1);
  EXPECT_EQ(run_with({"check", kCopy, "--launch", kBeyond, "--kernel", "("}).code, 2);
}

TEST_F(Check, ExpectSaveAndPrint) {
  const std::string launches = write("l.txt",
                                     "in = f32[64] : iota\nout = f32[64]\ncopy<<<2, 32>>>(in, out, 64)\n"
                                     "expect out = in\nsave out -> out.npy\nprint out[0:3]\n");
  const Outcome outcome = run_with({"check", kCopy, "--launch-file", launches});
  EXPECT_EQ(outcome.code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("out[0:3] = 0 1 2\n"));
  ASSERT_TRUE(std::filesystem::exists(path("out.npy")));
  // What was saved can be compared with; a wrong value is found at its index.
  const std::string again =
      write("m.txt", "out = f32[64]\ncopy<<<2, 32>>>(f32[64]:iota, out, 63)\nexpect out = @out.npy\n");
  const Outcome mismatch = run_with({"check", kCopy, "--launch-file", again});
  EXPECT_EQ(mismatch.code, 1);
  EXPECT_THAT(mismatch.out, HasSubstr(again + ":3:"));
  EXPECT_THAT(mismatch.out, HasSubstr("[expect-mismatch]"));
  EXPECT_THAT(mismatch.out, HasSubstr("63"));
}

TEST_F(Check, FilesSaveIntoTheirOwnFolderOnly) {
  const std::string launches = write("l.txt", "a = f32[4]\nsave a -> ../a.npy\nsave a -> /tmp/a.npy\n");
  const Outcome outcome = run_with({"check", kCopy, "--launch-file", launches});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.out,
              HasSubstr(":2:1: error: a file saves into its own folder only, not to '../a.npy'"));
  EXPECT_THAT(outcome.out,
              HasSubstr(":3:1: error: a file saves into its own folder only, not to '/tmp/a.npy'"));
}

TEST_F(Check, SamplingRunsFewerBlocks) {
  const Outcome outcome = run_with({"check", kCopy, "--launch", kGood, "--blocks", "2"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr(": 2 of 4 blocks"));
}

TEST_F(Check, StepLimitStopsAKernelThatNeverEnds) {
  const std::string ptx = write("loop.ptx",
                                ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry spin()\n{\n"
                                "$L__a:\n\tbra $L__a;\n}\n");
  const Outcome outcome = run_with({"check", ptx, "--launch", "spin<<<1, 32>>>()", "--step-limit", "1000"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("[step-limit]"));
}

}  // namespace
}  // namespace fullwarp::cli

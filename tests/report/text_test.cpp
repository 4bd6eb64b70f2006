// The text form, character for character.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/render.h"
#include "sample_report.h"

namespace fullwarp::report {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kFinding =
    R"(tile.cu:3:20: warning: 32-way bank conflict: each request takes 32 wavefronts where 1 would do [bank-conflict]
    3 |   out[y * n + x] = tile[threadIdx.x][threadIdx.y];
      |                    ^~~~ lanes 0-31 read words 0, 32, 64, ...: all in bank 0
  note: 32 768 requests, 1 048 576 wavefronts: 97 % of this kernel's shared-memory wavefronts
  main.cu:7:3: note: inlined here
  fix: pad the row by one word: `__shared__ float tile[32][33];`
)";

TEST(Text, FindingReadsLikeACompilers) { EXPECT_THAT(render_text(sample_report()), StartsWith(kFinding)); }

// The same observation with the same cure at another line of the file is a note of the first; with another
// cure it is a finding of its own.
TEST(Text, AlikeFindingsAreToldOnce) {
  Report report = sample_report();
  diag::Finding again = report.kernels[0].findings[0];
  again.place.line = 2;
  again.notes = {{"64 requests", {}}};
  diag::Finding other = again;
  other.fix = "swizzle";
  report.kernels[0].findings.push_back(again);
  report.kernels[0].findings.push_back(other);
  const std::string text = render_text(report);
  EXPECT_THAT(
      text,
      HasSubstr(
          "  main.cu:7:3: note: inlined here\n  tile.cu:2:20: note: and here: 64 requests\n  fix: pad"));
  EXPECT_THAT(text, HasSubstr("\ntile.cu:2:20: warning: 32-way bank conflict"));
  EXPECT_THAT(text, HasSubstr("fix: swizzle\n"));
  EXPECT_THAT(text, HasSubstr("0 errors, 3 warnings"));
}

// A second launch of the kernel with the same findings: their first lines, with this launch's numbers.
TEST(Text, ALaterLaunchRepeatsFirstLinesOnly) {
  Report report = sample_report();
  report.kernels.push_back(report.kernels[0]);
  report.kernels[1].findings[0].message = "16-way bank conflict";
  const std::string text = render_text(report);
  EXPECT_THAT(text, HasSubstr("\ntile.cu:3:20: warning: 16-way bank conflict [bank-conflict]\ntranspose("));
  EXPECT_THAT(text, HasSubstr("0 errors, 2 warnings, 0 notes in 2 launches"));
}

TEST(Text, SummaryHoldsTheCounters) {
  const std::string text = render_text(sample_report());
  EXPECT_THAT(text,
              HasSubstr(R"(transpose(float*, float const*, int)<<<(32,32), (32,8)>>> in tile.cu: 1 024 blocks
  executed                         500 000 warp instructions (PTX), 32.0 of 32 lanes active
  branches                               2 of 8 192 divergent
                                  requests           sectors             ideal
  global loads                      32 768           131 072           131 072
  global stores                     32 768           131 072           131 072
                                  requests        wavefronts             ideal
  shared loads                      32 768         1 048 576            32 768
  shared stores                     32 768            32 768            32 768
  occupancy                          100 % (64 of 64 warps per SM, limited by block size)
  output out              f32[1048576] from 0 to 0.5, 2 NaN, hash 00ff00000000abcd
  suppressed                             1 by fullwarp-ignore comments
)"));
  EXPECT_THAT(text, HasSubstr("\nout[0:2] = 0 0.5\n"));
  EXPECT_THAT(text, testing::EndsWith("\n0 errors, 1 warning, 0 notes in 1 launch\n"));
}

TEST(Text, ColourOnlyWhereAsked) {
  EXPECT_THAT(render_text(sample_report()), Not(HasSubstr("\x1b")));
  const std::string coloured = render_text(sample_report(), {.colour = true});
  EXPECT_THAT(coloured, HasSubstr("\x1b[1;35mwarning:\x1b[0m"));
  EXPECT_THAT(coloured, HasSubstr("\x1b[1;32m^~~~\x1b[0m"));
}

// Renders one finding at the given columns of a one-line source and returns the lines of source and caret.
std::string caret_lines(const std::string& source, uint32_t column, uint32_t end_column) {
  Report report = sample_report();
  report.sources["tile.cu"] = source;
  diag::Finding& finding = report.kernels[0].findings[0];
  finding.place = {"tile.cu", 1, column, end_column};
  finding.label.clear();
  const std::string text = render_text(report);
  const size_t begin = text.find('\n') + 1;
  const size_t end = text.find('\n', text.find('\n', begin) + 1);
  return text.substr(begin, end - begin);
}

TEST(Text, CaretKeepsTabs) {
  EXPECT_EQ(caret_lines("\tx = a[i];", 6, 0), "    1 | \tx = a[i];\n      | \t    ^");
}

TEST(Text, CaretCountsCharactersNotBytes) {
  // The e with acute accent is bytes 3 and 4; `a` is byte 10 and character 9.
  EXPECT_EQ(caret_lines("/*\xc3\xa9*/ x a", 10, 0), "    1 | /*\xc3\xa9*/ x a\n      |         ^");
}

TEST(Text, WithoutColumnTheWholeLineIsMarked) {
  EXPECT_EQ(caret_lines("  a = b;", 0, 0), "    1 |   a = b;\n      |   ^~~~~~");
}

TEST(Text, ColumnsBeyondTheLineAreHarmless) {
  EXPECT_EQ(caret_lines("ab", 90, 95), "    1 | ab\n      | ^");
  EXPECT_EQ(caret_lines("ab", 2, 1), "    1 | ab\n      |  ^");
}

TEST(Text, LongLinesAreCutAroundTheMark) {
  const std::string text = caret_lines(std::string(5000, 'x') + "HERE" + std::string(5000, 'y'), 5001, 5005);
  EXPECT_THAT(text, HasSubstr("HERE"));
  EXPECT_THAT(text, HasSubstr("^~~~"));
  EXPECT_LT(text.size(), 400u);
}

TEST(Text, ControlCharactersDoNotReachTheTerminal) {
  EXPECT_THAT(caret_lines("a\x1b[31m \xc2\x9b", 1, 0), HasSubstr("a?[31m ??"));
}

TEST(Text, MissingSourceLeavesTheLabel) {
  Report report = sample_report();
  report.sources.clear();
  EXPECT_THAT(render_text(report), HasSubstr("[bank-conflict]\n  lanes 0-31 read words"));
}

TEST(Text, EvidenceStandsInForNotes) {
  Report report = sample_report();
  report.kernels[0].findings[0].notes.clear();
  EXPECT_THAT(render_text(report), HasSubstr("  note: requests 32 768, conflict_degree 32, bank 0\n"));
}

TEST(Text, ErrorsNameFileAndHint) {
  Report report;
  report.errors = {{"kernel 'f' has no launch", "a.cu", 4, 1, "write `// fullwarp: f<<<1, 32>>>()`"}};
  EXPECT_EQ(render_text(report),
            "a.cu:4:1: error: kernel 'f' has no launch\n  hint: write `// fullwarp: f<<<1, 32>>>()`\n"
            "0 errors, 0 warnings, 0 notes in 0 launches; 1 input could not be used\n");
}

TEST(Text, SamplingIsSaid) {
  Report report = sample_report();
  report.kernels[0].blocks_run = 16;
  EXPECT_THAT(render_text(report), HasSubstr(": 16 of 1 024 blocks\n"));
}

}  // namespace
}  // namespace fullwarp::report

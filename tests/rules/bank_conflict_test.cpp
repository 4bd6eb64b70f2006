// bank-conflict on a 32 x 32 tile read by columns, once with 32 and once with 33 words a row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "built_profile.h"

namespace fullwarp::rules {
namespace {

using mem::AccessKind;
using mem::AccessSpace;
using testing::HasSubstr;

// The kernel's accesses: 4 stores by rows and 4 loads by columns, each by 8 warps of 16 blocks = 128
// requests. A load takes 32 wavefronts with 32 words a row (all lanes in one bank), 1 with 33.
BuiltProfile transpose(const std::string& kernel, unsigned pitch_words, uint64_t load_wavefronts) {
  BuiltProfile built(kernel, {4, 4, 1}, {32, 8, 1});
  const auto add = [&](profile::InstructionId id, AccessKind kind, uint64_t wavefronts, unsigned words) {
    profile::MemoryCounters& counters =
        built.access(id, AccessSpace::shared, kind, -1, [=](unsigned lane) { return 4 * lane * words; });
    counters.requests = 128;
    counters.lanes = 128 * 32;
    counters.bytes_asked = 128 * 128;
    counters.wavefronts = wavefronts;
    counters.ideal_wavefronts = 128;
  };
  for (const auto id : built.find(ptx::Op::st, ptx::Mod::shared)) add(id, AccessKind::store, 128, 1);
  for (const auto id : built.find(ptx::Op::ld, ptx::Mod::shared))
    add(id, AccessKind::load, load_wavefronts, pitch_words);
  built.profile.warp_instructions = 128 * 50;
  return built;
}

TEST(BankConflict, SaysWhatIsReadWhereAndHowToPad) {
  BuiltProfile built = transpose("fires_bank_conflict", 32, 128 * 32);
  const auto findings = of_rule(built.run(), "bank-conflict");
  ASSERT_EQ(findings.size(), 1u);  // four loads of one line are one finding
  const diag::Finding& finding = findings[0];
  EXPECT_EQ(finding.message, "32-way bank conflict: each request takes 32 wavefronts where 1 would do");
  EXPECT_EQ(finding.label, "lanes 0-31 read words 0, 32, 64, ...: all in bank 0");
  EXPECT_EQ(finding.fix, "pad the row by one word: `__shared__ float tile[32][33];`");
  EXPECT_EQ(finding.count, 4u);
  EXPECT_EQ(finding.level, diag::Level::warning);
  EXPECT_THAT(finding.place.file, HasSubstr("fires_bank_conflict.cu"));
  // The loop's statement, columns of `tile` in
  //   for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
  EXPECT_EQ(finding.place.line, 12u);
  EXPECT_EQ(finding.place.column, 58u);
  EXPECT_EQ(finding.place.end_column, 62u);
  // 4 x 4096 of 4 x 4096 + 4 x 128 wavefronts; without conflicts 8 x 128.
  EXPECT_DOUBLE_EQ(finding.share, 16384.0 / 16896.0);
  ASSERT_TRUE(finding.gain);
  EXPECT_DOUBLE_EQ(*finding.gain, 16896.0 / 1024.0);
  ASSERT_FALSE(finding.notes.empty());
  EXPECT_EQ(finding.notes[0].text,
            "512 requests, 16 384 wavefronts: 97 % of this kernel's shared-memory wavefronts");
}

TEST(BankConflict, IsSilentOnThePaddedTile) {
  BuiltProfile built = transpose("silent_bank_conflict", 33, 128);
  EXPECT_TRUE(of_rule(built.run(), "bank-conflict").empty());
}

TEST(BankConflict, IsSilentWhereTheExtraWavefrontsAreFew) {
  BuiltProfile built = transpose("fires_bank_conflict", 32, 128 * 32);
  // 15 872 extra wavefronts in a kernel of a million warp instructions: below min-cost of 0.02.
  built.profile.warp_instructions = 1000000;
  EXPECT_TRUE(of_rule(built.run(), "bank-conflict").empty());
  ASSERT_TRUE(built.options.set("bank-conflict.min-cost=0.01").ok());
  EXPECT_EQ(of_rule(built.run(), "bank-conflict").size(), 1u);
}

TEST(BankConflict, SaysOnAverageWhereRequestsDiffer) {
  BuiltProfile built = transpose("fires_bank_conflict", 32, 320);  // 2.5 wavefronts a request
  const auto findings = of_rule(built.run(), "bank-conflict");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].message,
            "2.5-way bank conflict on average: each request takes 2.5 wavefronts where 1 would do");
  EXPECT_FALSE(findings[0].gain) << "the example does not stand for every request";
}

}  // namespace
}  // namespace fullwarp::rules

// Every kind of fault becomes a finding of its rule, at its line, with thread and block.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "built_profile.h"

namespace fullwarp::rules {
namespace {

using profile::FaultKind;

profile::Fault store_fault(const BuiltProfile& built, FaultKind kind) {
  profile::Fault fault;
  fault.kind = kind;
  fault.instruction = built.find(ptx::Op::st, ptx::Mod::global)[0];
  fault.block = {3, 0, 0};
  fault.thread = {232, 0, 0};
  fault.other = fault.instruction;
  fault.other_block = {1, 0, 0};
  fault.other_thread = {0, 0, 0};
  fault.other_thread_known = true;
  fault.access = mem::AccessKind::store;
  fault.width_bytes = 4;
  fault.buffer = 0;
  fault.offset = 4000;
  fault.object = "buffer out (4000 bytes)";
  fault.count = 24;
  return fault;
}

TEST(Faults, EachKindHasItsRule) {
  const std::pair<FaultKind, const char*> kinds[] = {
      {FaultKind::out_of_bounds, "out-of-bounds"},
      {FaultKind::misaligned, "misaligned-address"},
      {FaultKind::uninitialised, "uninitialised-read"},
      {FaultKind::shared_race, "shared-race"},
      {FaultKind::global_race, "global-race"},
      {FaultKind::barrier_divergence, "barrier-divergence"},
      {FaultKind::deadlock, "deadlock"},
      {FaultKind::step_limit, "step-limit"},
      {FaultKind::assert_failed, "assert-failed"},
      {FaultKind::trap, "trap"},
      {FaultKind::null_pointer, "out-of-bounds"},
      {FaultKind::write_to_const, "write-to-constant"},
      {FaultKind::invalid_instruction, "invalid-instruction"},
      {FaultKind::stack_overflow, "stack-overflow"},
  };
  BuiltProfile built("fires_out_of_bounds", {4, 1, 1}, {256, 1, 1});
  built.buffer("out", 4000);
  for (const auto& [kind, rule] : kinds) {
    built.profile.faults = {store_fault(built, kind)};
    const auto findings = of_rule(built.run(), rule);
    ASSERT_EQ(findings.size(), 1u) << rule;
    EXPECT_EQ(findings[0].level, diag::Level::error) << rule;
    EXPECT_EQ(findings[0].place.line, 5u) << rule;  // out[i] = 1.0f;
    EXPECT_THAT(findings[0].label, testing::StartsWith("thread (232, 0, 0) of block (3, 0, 0)")) << rule;
    EXPECT_EQ(findings[0].count, 24u) << rule;
  }
}

TEST(Faults, StoresOfOneValueAreANote) {
  BuiltProfile built("fires_out_of_bounds", {4, 1, 1}, {256, 1, 1});
  built.buffer("out", 4000);
  profile::Fault harmless = store_fault(built, FaultKind::global_race), other = harmless;
  harmless.same_value = true;
  built.profile.faults = {harmless};
  auto findings = of_rule(built.run(), "global-race");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].level, diag::Level::note);
  // One line where some stores do harm is one finding, of those.
  built.profile.faults = {harmless, other};
  findings = of_rule(built.run(), "global-race");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].level, diag::Level::error);
  EXPECT_EQ(findings[0].count, 48u);
}

TEST(Faults, OutOfBoundsSaysHowFar) {
  BuiltProfile built("fires_out_of_bounds", {4, 1, 1}, {256, 1, 1});
  built.buffer("out", 4000);
  profile::Fault fault = store_fault(built, FaultKind::out_of_bounds);
  fault.offset = 4096;
  built.profile.faults = {fault};
  EXPECT_EQ(of_rule(built.run(), "out-of-bounds")[0].message,
            "4-byte store 96 bytes past the end of buffer out (4000 bytes)");
  built.profile.faults[0].offset = -8;
  EXPECT_EQ(of_rule(built.run(), "out-of-bounds")[0].message,
            "4-byte store 8 bytes before the start of buffer out (4000 bytes)");
}

TEST(Faults, ARaceNamesBothAccesses) {
  BuiltProfile built("fires_global_race", {4, 1, 1}, {64, 1, 1});
  built.profile.faults = {store_fault(built, FaultKind::global_race)};
  const auto findings = of_rule(built.run(), "global-race");
  ASSERT_EQ(findings.size(), 1u);
  ASSERT_FALSE(findings[0].notes.empty());
  EXPECT_EQ(findings[0].notes[0].text, "the other access, by thread (0, 0, 0) of block (1, 0, 0)");
  ASSERT_TRUE(findings[0].notes[0].place);
  EXPECT_EQ(findings[0].notes[0].place->line, 3u);
}

TEST(Faults, FaultsOfOneLineAreOneFinding) {
  BuiltProfile built("fires_out_of_bounds", {4, 1, 1}, {256, 1, 1});
  built.profile.faults = {store_fault(built, FaultKind::out_of_bounds),
                          store_fault(built, FaultKind::out_of_bounds)};
  const auto findings = of_rule(built.run(), "out-of-bounds");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].count, 48u);
}

TEST(ExpectMismatch, SaysWhatDiffers) {
  Mismatch mismatch;
  mismatch.kernel = "add";
  mismatch.statement = {"add.cu", 4, 14, 20};
  mismatch.buffer = "out";
  mismatch.compared = 64;
  mismatch.different = 3;
  mismatch.first_index = 7;
  mismatch.actual = "14";
  mismatch.expected = "7";
  const diag::Finding finding = finding_for_mismatch(mismatch);
  EXPECT_EQ(finding.rule, "expect-mismatch");
  EXPECT_EQ(finding.level, diag::Level::error);
  EXPECT_EQ(finding.message, "out is not as expected: 3 of 64 elements differ");
  EXPECT_EQ(finding.label, "out[7] is 14, expected 7");
  EXPECT_EQ(finding.place.line, 4u);
}

}  // namespace
}  // namespace fullwarp::rules

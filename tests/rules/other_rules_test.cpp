// What the other rules say about profiles filled by hand; the kernels they belong to run in kernels_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "built_profile.h"

namespace fullwarp::rules {
namespace {

using mem::AccessKind;
using mem::AccessSpace;
using testing::HasSubstr;

TEST(PartialWarp, SaysHowManyLanesTheLastWarpHas) {
  BuiltProfile built("fires_partial_warp", {164, 1, 1}, {100, 1, 1});
  const auto findings = of_rule(built.run(), "partial-warp");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].message, "100 threads are 4 warps, the last with 4 of 32 lanes");
  EXPECT_DOUBLE_EQ(findings[0].share, 28.0 / 128.0);
  EXPECT_THAT(findings[0].fix, HasSubstr("128 or 96 threads"));
  // __global__ void add(const float* in, float* out, int n) {
  EXPECT_EQ(findings[0].place.line, 3u);
  EXPECT_EQ(findings[0].place.column, 17u);
}

TEST(PartialWarp, IsSilentOnWholeWarpsAndSmallRests) {
  for (const Dim3 block : {Dim3{128, 1, 1}, Dim3{16, 16, 1}, Dim3{1020, 1, 1}}) {
    BuiltProfile built("fires_partial_warp", {164, 1, 1}, block);
    EXPECT_TRUE(of_rule(built.run(), "partial-warp").empty()) << block.x;
  }
}

TEST(RuntimeModulo, KnowsPowersOfTwoAndItsShare) {
  BuiltProfile built("fires_runtime_modulo", {64, 1, 1}, {256, 1, 1});
  std::vector<profile::InstructionId> remainders;
  for (uint32_t i = 0; i < built.entry().instructions.size(); ++i)
    if (built.entry().instructions[i].op == ptx::Op::rem) remainders.push_back({built.profile.function, i});
  ASSERT_FALSE(remainders.empty());
  for (const auto id : remainders) {
    built.executed(id, 512, 512 * 32);
    built.profile.divisors.push_back({id, true, 256});
  }
  built.profile.warp_instructions = 512 * 5 * remainders.size();
  const auto findings = of_rule(built.run(), "runtime-modulo");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].message,
            "remainder by `n`, which is 256 in the whole launch but not known to the compiler");
  EXPECT_THAT(findings[0].fix, HasSubstr("& (n - 1)"));
  EXPECT_DOUBLE_EQ(findings[0].share, 0.2);

  for (auto& divisor : built.profile.divisors) divisor.value = 255;
  EXPECT_THAT(of_rule(built.run(), "runtime-modulo")[0].fix, HasSubstr("reciprocal"));
  built.profile.warp_instructions *= 100;  // 0.2 % of the instructions
  EXPECT_TRUE(of_rule(built.run(), "runtime-modulo").empty());
  built.profile.warp_instructions /= 100;
  for (auto& divisor : built.profile.divisors) divisor.uniform = false;
  EXPECT_TRUE(of_rule(built.run(), "runtime-modulo").empty());
}

TEST(RedundantGlobalLoads, NamesTheMatricesOfANaiveProduct) {
  // n = 64, blocks of 16 x 16: each of 8 warps loads, for each k, 2 sectors of a (two rows) and 2 of b. A
  // block's distinct part is 16 rows x 8 sectors of a and 64 rows x 2 sectors of b: 128 each.
  BuiltProfile built("fires_redundant_global_loads", {4, 4, 1}, {16, 16, 1});
  const int32_t a = built.buffer("a", 16384), b = built.buffer("b", 16384);
  const uint64_t requests = 16 * 8 * 64;
  for (const int32_t buffer : {a, b}) {
    built.profile.buffers[static_cast<size_t>(buffer)].block_load_sectors = 16 * 128;
    built.profile.buffers[static_cast<size_t>(buffer)].blocks_loading = 16;
  }
  const auto loads = built.find(ptx::Op::ld, ptx::Mod::global);
  ASSERT_GE(loads.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    auto& counters = built.access(loads[i], AccessSpace::global, AccessKind::load, i == 0 ? a : b,
                                  [](unsigned lane) { return lane / 16 * 256; });
    counters.requests = requests;
    counters.lanes = requests * 32;
    counters.sectors = counters.ideal_sectors = requests * 2;
  }
  built.profile.warp_instructions = requests * 4;
  const auto findings = of_rule(built.run(), "redundant-global-loads");
  ASSERT_EQ(findings.size(), 1u);  // both stand in one line
  EXPECT_EQ(findings[0].message, "each block loads the same data of a and b from global memory 8 times");
  EXPECT_EQ(findings[0].place.line, 9u);
  ASSERT_TRUE(findings[0].gain);
  EXPECT_DOUBLE_EQ(*findings[0].gain, 8.0);

  for (auto& buffer : built.profile.buffers)
    buffer.block_load_sectors = 2 * requests / 3;  // a three-point stencil
  EXPECT_TRUE(of_rule(built.run(), "redundant-global-loads").empty());
}

TEST(LocalMemory, SpillsAreReportedWhereTheyAreKnown) {
  BuiltProfile built("silent_local_memory", {16, 1, 1}, {256, 1, 1});
  EXPECT_TRUE(of_rule(built.run(), "local-memory").empty());
  built.resources = ResourceUsage{255, 24, 40};
  const auto findings = of_rule(built.run(), "local-memory");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].message, HasSubstr("24 bytes of stores and 40 bytes of loads"));
}

TEST(LowOccupancy, NamesTheLimitAndTheNextStep) {
  // 100 KB a block (and 1 KB that the driver takes): two blocks in 228 KB, 4 warps each.
  BuiltProfile built("fires_low_occupancy", {1056, 1, 1}, {128, 1, 1});
  built.profile.dynamic_shared_bytes = 102400;
  const auto findings = of_rule(built.run(), "low-occupancy");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].message,
            "8 of 64 warps fit on an SM: limited by shared memory (102 400 bytes of shared memory a block)");
  EXPECT_EQ(findings[0].level, diag::Level::warning);
  EXPECT_THAT(findings[0].fix, HasSubstr("bytes of shared memory a block give 12 of 64 warps"));

  built.profile.grid = {16, 1, 1};  // fewer blocks than the 132 SMs
  EXPECT_EQ(of_rule(built.run(), "low-occupancy")[0].level, diag::Level::note);
  built.profile.dynamic_shared_bytes = 512;
  EXPECT_TRUE(of_rule(built.run(), "low-occupancy").empty());
}

TEST(LowOccupancy, BlocksOf32ThreadsAreLimitedByTheirNumber) {
  BuiltProfile built("fires_low_occupancy", {1056, 1, 1}, {32, 1, 1});  // 32 blocks x 1 warp of 64
  const auto findings = of_rule(built.run(), "low-occupancy");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].message, HasSubstr("32 of 64 warps fit on an SM: limited by blocks"));
  EXPECT_THAT(findings[0].fix, HasSubstr("blocks of 64 threads give 64 of 64 warps"));
}

TEST(DivergentBranch, CountsTheLanesThatIdle) {
  // The branch parts every warp in halves: all instructions of its region are executed by 16 lanes, the
  // others by 32.
  BuiltProfile built("fires_divergent_branch", {16, 1, 1}, {256, 1, 1});
  const auto& instructions = built.entry().instructions;
  uint32_t branch = UINT32_MAX;
  for (uint32_t i = 0; i < instructions.size(); ++i)
    if (instructions[i].op == ptx::Op::bra && instructions[i].guard >= 0 && branch == UINT32_MAX) branch = i;
  ASSERT_NE(branch, UINT32_MAX);
  for (uint32_t i = 0; i < instructions.size(); ++i) {
    const bool before = i <= branch, last = i + 2 >= instructions.size();
    built.executed({built.profile.function, i}, 128, before || last ? 128 * 32 : 128 * 16,
                   i == branch ? 128 : 0);
  }
  const auto findings = of_rule(built.run(), "divergent-branch");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].message, HasSubstr("on average 16 of 32 lanes work until they meet again"));
  EXPECT_EQ(findings[0].label, "the lanes part in 128 of 128 executions");
  EXPECT_GT(findings[0].share, 0.1);
}

// 16 of a warp's 32 lanes have left before the branch: it has lost the half of the 16 that came, not 24.
TEST(DivergentBranch, IsNotChargedForLanesThatLeftBefore) {
  BuiltProfile built("fires_divergent_branch", {16, 1, 1}, {256, 1, 1});
  ASSERT_TRUE(built.options.set("divergent-branch.min-share=0.01"));
  const auto& instructions = built.entry().instructions;
  uint32_t branch = UINT32_MAX;
  for (uint32_t i = 0; i < instructions.size(); ++i)
    if (instructions[i].op == ptx::Op::bra && instructions[i].guard >= 0 && branch == UINT32_MAX) branch = i;
  ASSERT_NE(branch, UINT32_MAX);
  for (uint32_t i = 0; i < instructions.size(); ++i)
    built.executed({built.profile.function, i}, 128, i <= branch ? 128 * 16 : 128 * 8, i == branch ? 128 : 0);
  const auto findings = of_rule(built.run(), "divergent-branch");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].message, HasSubstr("on average 8 of 16 lanes work until they meet again"));
  EXPECT_LT(findings[0].share, 8.0 / 32);
}

// The findings of a kernel that traps at an instruction.
auto findings_of_trap(BuiltProfile& built, const profile::InstructionId& at) {
  profile::Fault fault;
  fault.kind = profile::FaultKind::trap;
  fault.instruction = at;
  built.profile.faults = {fault};
  return of_rule(built.run(), "trap");
}

TEST(Inlining, CallSitesBecomeNotes) {
  BuiltProfile built("fires_out_of_bounds", {4, 1, 1}, {256, 1, 1});
  const auto store = built.find(ptx::Op::st, ptx::Mod::global)[0];
  // As `.loc 1 20 3, function_name f, inlined_at 1 7 2` would have it.
  ptx::SourceLocation call, inlined;
  const auto& location =
      built.module.locations[static_cast<size_t>(built.entry().instructions[store.index].location)];
  call.file = inlined.file = location.file;
  call.line = 7;
  call.column = 2;
  inlined.line = 20;
  inlined.inlined_at = static_cast<int32_t>(built.module.locations.size());
  built.module.locations.push_back(call);
  built.module.locations.push_back(inlined);
  built.module.functions[static_cast<size_t>(built.profile.function)].instructions[store.index].location =
      inlined.inlined_at + 1;
  const auto findings = findings_of_trap(built, store);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].place.line, 20u);
  ASSERT_EQ(findings[0].notes.size(), 1u);
  EXPECT_EQ(findings[0].notes[0].text, "inlined here");
  EXPECT_EQ(findings[0].notes[0].place->line, 7u);
}

// A function of the toolkit, inlined at line 20 of the user's helper, that is inlined at line 7 of the
// kernel: the finding stands where the user wrote something, and the toolkit's line is a note.
TEST(Inlining, AFindingInsideTheToolkitStandsAtItsCall) {
  BuiltProfile built("fires_out_of_bounds", {4, 1, 1}, {256, 1, 1});
  const auto store = built.find(ptx::Op::st, ptx::Mod::global)[0];
  const uint32_t own_file =
      built.module.locations[static_cast<size_t>(built.entry().instructions[store.index].location)].file;
  const int32_t first = static_cast<int32_t>(built.module.locations.size());
  const auto push = [&](uint32_t file, uint32_t line, int32_t inlined_at) {
    ptx::SourceLocation location;
    location.file = file;
    location.line = line;
    location.column = 2;
    location.inlined_at = inlined_at;
    built.module.locations.push_back(location);
  };
  push(own_file, 7, -1);
  push(own_file, 20, first);
  push(static_cast<uint32_t>(built.module.files.size()), 103, first + 1);
  built.module.files.push_back({"/usr/local/cuda-13.0/include/cccl/cuda/__barrier/barrier_block_scope.h"});
  built.module.functions[static_cast<size_t>(built.profile.function)].instructions[store.index].location =
      first + 2;
  const auto findings = findings_of_trap(built, store);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].place.line, 20u);
  EXPECT_EQ(findings[0].place.file, built.module.files[own_file].name);
  ASSERT_EQ(findings[0].notes.size(), 2u);
  EXPECT_EQ(findings[0].notes[0].text, "in a function of the toolkit");
  EXPECT_EQ(findings[0].notes[0].place->line, 103u);
  EXPECT_EQ(findings[0].notes[1].text, "inlined here");
  EXPECT_EQ(findings[0].notes[1].place->line, 7u);
}

// Clang before 21 says nothing of the calls: an `atomicAdd` stands on a line of clang's header alone. The
// finding stands at the author's line before it, where the operands are computed.
TEST(Inlining, AFindingInsideTheToolkitWithoutFramesStandsAtTheLineBefore) {
  BuiltProfile built("fires_out_of_bounds", {4, 1, 1}, {256, 1, 1});
  const auto store = built.find(ptx::Op::st, ptx::Mod::global)[0];
  auto& body = built.module.functions[static_cast<size_t>(built.profile.function)].instructions;
  ASSERT_GT(store.index, 0u);
  const ptx::SourceLocation before =
      built.module.locations[static_cast<size_t>(body[store.index - 1].location)];
  ptx::SourceLocation header;
  header.file = static_cast<uint32_t>(built.module.files.size());
  header.line = 341;
  header.inlined_at = -1;
  built.module.files.push_back({"/usr/lib/llvm-19/lib/clang/19/include/__clang_cuda_device_functions.h"});
  body[store.index].location = static_cast<int32_t>(built.module.locations.size());
  built.module.locations.push_back(header);
  const auto findings = findings_of_trap(built, store);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].place.line, before.line);
  EXPECT_EQ(findings[0].place.file, built.module.files[before.file].name);
  ASSERT_EQ(findings[0].notes.size(), 1u);
  EXPECT_EQ(findings[0].notes[0].text, "in a function of the toolkit");
  EXPECT_EQ(findings[0].notes[0].place->line, 341u);
}

}  // namespace
}  // namespace fullwarp::rules

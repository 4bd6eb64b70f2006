// From a hand-made profile to a report's counters. The module below stands for
//
//   a.cu:10   ld.global   2 warps, 64 lanes, 8 sectors        (4 bytes a lane)
//   a.cu:10   ld.global   2 warps, 64 lanes, 16 sectors       (8 bytes a lane)
//   a.cu:12   ld.shared   merged into the next one
//   a.cu:12   ld.shared   2 warps: 4 wavefronts where 2 would do
//   a.cu:14   @p bra      2 warps, one of them divergent
//   (no line) exit        3 executions: the divergent warp leaves in two parts
#include "report/metrics.h"

#include <gtest/gtest.h>

namespace fullwarp::report {
namespace {

using mem::AccessKind;
using mem::AccessSpace;

class MetricsOfAProfile : public testing::Test {
 protected:
  MetricsOfAProfile() {
    module_.path = "a.ptx";
    module_.files = {{"a.cu"}};
    module_.locations = {{0, 10, 5, -1, {}}, {0, 12, 0, -1, {}}, {0, 14, 3, -1, {}}};
    ptx::Function& function = module_.functions.emplace_back();
    const auto add = [&](ptx::Op op, int32_t location) {
      ptx::Instruction instruction;
      instruction.op = op;
      instruction.location = location;
      instruction.line = 100 + static_cast<uint32_t>(function.instructions.size());
      instruction.column = 2;
      function.instructions.push_back(instruction);
    };
    add(ptx::Op::ld, 0);
    add(ptx::Op::ld, 0);
    add(ptx::Op::ld, 1);
    add(ptx::Op::ld, 1);
    add(ptx::Op::bra, 2);
    add(ptx::Op::exit, -1);

    profile_.module = &module_;
    profile_.function = 0;
    profile_.executed = {
        {{2, 64, 64, 0}, {2, 64, 64, 0}, {2, 64, 64, 0}, {2, 64, 64, 0}, {2, 64, 40, 1}, {3, 64, 64, 0}}};
    profile_.memory = {access(0, AccessSpace::global, 4), access(1, AccessSpace::global, 8),
                       access(2, AccessSpace::shared, 4), access(3, AccessSpace::shared, 8)};
    profile_.memory[0].sectors = profile_.memory[0].ideal_sectors = 8;
    profile_.memory[0].lines = 2;
    profile_.memory[1].sectors = profile_.memory[1].ideal_sectors = 16;
    profile_.memory[1].lines = 4;
    profile_.memory[2].merged_into = 3;
    profile_.memory[3].wavefronts = 4;
    profile_.memory[3].ideal_wavefronts = profile_.memory[3].least_wavefronts = 2;
  }

  static profile::MemoryCounters access(uint32_t index, AccessSpace space, uint32_t width) {
    profile::MemoryCounters counters;
    counters.instruction = {0, index};
    counters.space = space;
    counters.width_bytes = width;
    counters.requests = 2;
    counters.lanes = 64;
    counters.bytes_asked = uint64_t{64} * width;
    return counters;
  }

  ptx::Module module_;
  profile::KernelProfile profile_;
};

TEST_F(MetricsOfAProfile, KernelSums) {
  const Metrics metrics = kernel_metrics(profile_);
  EXPECT_EQ(metrics.warp_instructions, 13u);
  EXPECT_EQ(metrics.lane_instructions, 6u * 64);
  EXPECT_EQ(metrics.lanes_on, 5u * 64 + 40);
  EXPECT_EQ(metrics.branches, 2u);
  EXPECT_EQ(metrics.divergent_branches, 1u);
  EXPECT_EQ(metrics.total(AccessSpace::global), (AccessTotals{4, 128, 768, 24, 24, 6, 0, 0, 0, 0}));
  EXPECT_EQ(metrics.total(AccessSpace::shared), (AccessTotals{2, 64, 512, 0, 0, 0, 4, 2, 2, 0}));
  EXPECT_EQ(metrics.total(AccessSpace::global, AccessKind::store), AccessTotals{});
}

TEST_F(MetricsOfAProfile, WidthsStayApart) {
  const Metrics metrics = kernel_metrics(profile_);
  ASSERT_EQ(metrics.accesses.size(), 3u);
  EXPECT_EQ(metrics.accesses[0].width_bytes, 4u);
  EXPECT_EQ(metrics.accesses[1].width_bytes, 8u);
  EXPECT_EQ(metrics.accesses[2].space, AccessSpace::shared);
}

TEST_F(MetricsOfAProfile, LinesSumToTheKernel) {
  const std::vector<LineMetrics> lines = line_metrics(profile_);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].file, "a.cu");
  EXPECT_EQ(lines[0].line, 10u);
  EXPECT_EQ(lines[0].metrics.total(AccessSpace::global).sectors, 24u);
  EXPECT_EQ(lines[1].line, 12u);
  EXPECT_EQ(lines[1].metrics.total(AccessSpace::shared).wavefronts, 4u);
  EXPECT_EQ(lines[2].metrics.divergent_branches, 1u);
  EXPECT_EQ(lines[3].file, "a.ptx");
  EXPECT_EQ(lines[3].line, 105u);
  uint64_t instructions = 0;
  for (const LineMetrics& line : lines) instructions += line.metrics.warp_instructions;
  EXPECT_EQ(instructions, 13u);
}

TEST_F(MetricsOfAProfile, PlacesFallBackToThePtx) {
  EXPECT_EQ(place_of(module_, {0, 0}).column, 5u);
  EXPECT_EQ(place_of(module_, {0, 5}).file, "a.ptx");
  EXPECT_EQ(place_of(module_, {0, 99}).line, 0u);
  EXPECT_EQ(place_of(module_, {-1, 0}).line, 0u);
}

TEST_F(MetricsOfAProfile, NamesFollowSpaceAndKind) {
  uint64_t tags = 0, bytes = 0;
  for (const Metric& metric : named_metrics(kernel_metrics(profile_), true)) {
    if (metric.name == "memory_l1_tag_requests_global") tags = std::get<uint64_t>(metric.value);
    if (metric.name == "ptx.shared.load.b64.bytes") bytes = std::get<uint64_t>(metric.value);
  }
  EXPECT_EQ(tags, 6u);
  EXPECT_EQ(bytes, 512u);
}

TEST(Buffers, TimesLoadedIsAskedOverTouched) {
  profile::KernelProfile profile;
  profile::BufferCounters counters;
  counters.name = "in";
  counters.bytes = 4096;
  counters.loaded_bytes_asked = 8192;
  counters.loaded_bytes_touched = 2048;
  profile.buffers = {counters, {}};
  const std::vector<Buffer> buffers = buffers_of(profile);
  EXPECT_EQ(buffers[0].times_loaded, 4.0);
  EXPECT_EQ(buffers[1].times_loaded, 0.0);
}

}  // namespace
}  // namespace fullwarp::report

// uncoalesced-global, misaligned-global and struct-stride: which of the three speaks, and that only one does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "built_profile.h"

namespace fullwarp::rules {
namespace {

using mem::AccessKind;
using mem::AccessSpace;
using testing::HasSubstr;

struct Counts {
  uint64_t requests, sectors, ideal, misaligned = 0;
};

void fill(profile::MemoryCounters& counters, const Counts& counts) {
  counters.requests = counts.requests;
  counters.lanes = counts.requests * 32;
  counters.bytes_asked = counts.requests * 128;
  counters.sectors = counts.sectors;
  counters.ideal_sectors = counts.ideal;
  counters.misaligned_requests = counts.misaligned;
}

std::vector<std::string> coalescing_rules(const std::vector<diag::Finding>& findings) {
  std::vector<std::string> rules;
  for (const diag::Finding& finding : findings)
    if (finding.rule == "uncoalesced-global" || finding.rule == "misaligned-global" ||
        finding.rule == "struct-stride")
      rules.push_back(finding.rule);
  return rules;
}

TEST(Coalescing, ColumnsOfAMatrixAreUncoalesced) {
  // 256 columns of floats: lanes are 1024 bytes apart, 32 sectors where 32 x 4 / 32 = 4 would do.
  BuiltProfile built("fires_uncoalesced_global", {8, 32, 1}, {32, 8, 1});
  const int32_t in = built.buffer("in", 1 << 18), out = built.buffer("out", 1 << 18);
  const auto column = [](unsigned lane) { return uint64_t{1024} * lane; };
  fill(built.access(built.find(ptx::Op::ld, ptx::Mod::global)[0], AccessSpace::global, AccessKind::load, in,
                    column),
       {2048, 2048 * 32, 2048 * 4});
  fill(built.access(built.find(ptx::Op::st, ptx::Mod::global)[0], AccessSpace::global, AccessKind::store, out,
                    column),
       {2048, 2048 * 32, 2048 * 4});
  built.profile.warp_instructions = 2048 * 20;
  const auto findings = built.run();
  EXPECT_THAT(coalescing_rules(findings), testing::ElementsAre("uncoalesced-global", "uncoalesced-global"));
  const auto load = of_rule(findings, "uncoalesced-global")[1];  // `out[...] = ... in[...]`: the later column
  EXPECT_EQ(load.message, "uncoalesced load: each request touches 32 sectors where 4 would hold its data");
  EXPECT_EQ(load.label, "neighbouring lanes are 1 024 bytes apart: lanes 0-31 lie in 32 sectors");
  EXPECT_THAT(load.fix, HasSubstr("threadIdx.x run along the contiguous dimension"));
  EXPECT_DOUBLE_EQ(load.share, 0.5);
}

TEST(Coalescing, ABaseOffByOneElementIsMisaligned) {
  BuiltProfile built("fires_misaligned_global", {64, 1, 1}, {256, 1, 1});
  const int32_t in = built.buffer("arg 0", 65600), out = built.buffer("arg 1", 65536);
  // 512 warps: 5 sectors a load, 4 a store.
  fill(built.access(built.find(ptx::Op::ld, ptx::Mod::global)[0], AccessSpace::global, AccessKind::load, in,
                    [](unsigned lane) { return 4 + 4 * lane; }),
       {512, 2560, 2048, 512});
  fill(built.access(built.find(ptx::Op::st, ptx::Mod::global)[0], AccessSpace::global, AccessKind::store, out,
                    [](unsigned lane) { return 4 * lane; }),
       {512, 2048, 2048});
  // 64 blocks, each touches 1024 bytes from byte 4: 33 sectors.
  built.profile.buffers[0].block_load_sectors = 64 * 33;
  built.profile.warp_instructions = 512 * 15;
  const auto findings = built.run();
  EXPECT_THAT(coalescing_rules(findings), testing::ElementsAre("misaligned-global"));
  const auto finding = of_rule(findings, "misaligned-global")[0];
  EXPECT_EQ(finding.message,
            "misaligned global load: each request touches 5 sectors where 4 would hold its data");
  EXPECT_EQ(finding.label, "lane 0 begins 4 bytes past a sector");
  ASSERT_TRUE(finding.gain);
  EXPECT_DOUBLE_EQ(*finding.gain, 4608.0 / 4096.0);

  // A stencil: the block loads each sector three times, at three alignments. Not a matter of the base.
  built.profile.buffers[0].block_load_sectors = 2560 / 3;
  EXPECT_THAT(coalescing_rules(built.run()), testing::IsEmpty());
}

TEST(Coalescing, MembersOfAStructAreOneFindingOfTheirOwn) {
  // 20-byte structs, 128 warps, four members: 640 bytes = 20 sectors a request, 4 would do.
  BuiltProfile built("fires_struct_stride", {16, 1, 1}, {256, 1, 1});
  const int32_t particles = built.buffer("particles", 4096 * 20);
  const auto loads = built.find(ptx::Op::ld, ptx::Mod::global);
  ASSERT_EQ(loads.size(), 4u);
  for (size_t member = 0; member < loads.size(); ++member)
    fill(built.access(loads[member], AccessSpace::global, AccessKind::load, particles,
                      [=](unsigned lane) { return 20 * lane + 4 * member; }),
         {128, 128 * 20, 128 * 4});
  built.profile.warp_instructions = 128 * 30;
  const auto findings = built.run();
  EXPECT_THAT(coalescing_rules(findings), testing::ElementsAre("struct-stride"));
  const auto finding = of_rule(findings, "struct-stride")[0];
  EXPECT_EQ(finding.message,
            "members of a 20-byte struct are loaded one by one: each request touches 20 sectors where 4 "
            "would hold its data");
  EXPECT_EQ(finding.label, "neighbouring lanes are 20 bytes apart: 16 bytes of each struct in 4 accesses");
  EXPECT_EQ(finding.count, 4u);
  EXPECT_EQ(finding.level, diag::Level::warning);
}

}  // namespace
}  // namespace fullwarp::rules

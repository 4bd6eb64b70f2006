// Regions between a branch and the point where its ways meet, on graphs small enough to read off by hand.
#include "rules/flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/parser.h"

namespace fullwarp::rules {
namespace {

using testing::ElementsAre;

Flow::Region region_of(const std::string& body, uint32_t branch) {
  auto module = ptx::parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
      ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n" +
          body + "}\n",
      "k.ptx");
  if (!module) throw std::runtime_error(module.error().to_string());
  return Flow(*module, module->functions[0]).region(branch);
}

TEST(Flow, BothSidesOfAnIf) {
  const auto region = region_of(
      "  @%p1 bra ELSE;\n"   // 0
      "  mov.b32 %r1, 1;\n"  // 1
      "  bra.uni JOIN;\n"    // 2
      "ELSE:\n"
      "  mov.b32 %r1, 2;\n"  // 3
      "JOIN:\n"
      "  mov.b32 %r2, 3;\n"  // 4
      "  ret;\n",            // 5
      0);
  EXPECT_THAT(region.instructions, ElementsAre(1, 2, 3));
  EXPECT_FALSE(region.loop);
  EXPECT_FALSE(region.leaves);
}

TEST(Flow, ALoopHoldsItsBranch) {
  const auto region = region_of(
      "  mov.b32 %r1, 0;\n"  // 0
      "LOOP:\n"
      "  add.s32 %r1, %r1, 1;\n"  // 1
      "  @%p1 bra LOOP;\n"        // 2
      "  ret;\n",                 // 3
      2);
  EXPECT_THAT(region.instructions, ElementsAre(1, 2));
  EXPECT_TRUE(region.loop);
}

TEST(Flow, ABoundsCheckLeaves) {
  const std::string body =
      "  @%p1 bra END;\n"    // 0
      "  mov.b32 %r1, 1;\n"  // 1
      "END:\n"
      "  ret;\n";  // 2
  EXPECT_THAT(region_of(body, 0).instructions, ElementsAre(1));
  EXPECT_TRUE(region_of(body, 0).leaves);
  const auto early = region_of("  @%p1 ret;\n  mov.b32 %r1, 1;\n  ret;\n", 0);
  EXPECT_THAT(early.instructions, ElementsAre(1, 2));
  EXPECT_TRUE(early.leaves);
}

TEST(Flow, AnEndlessLoopHasARegionToo) {
  const auto region = region_of(
      "  @%p1 bra A;\n"  // 0
      "  ret;\n"         // 1
      "A:\n"
      "  bra.uni A;\n",  // 2
      0);
  EXPECT_THAT(region.instructions, testing::Contains(2));
}

}  // namespace
}  // namespace fullwarp::rules

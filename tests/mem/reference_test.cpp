// Every width, kind and mask over random and structured patterns, against the brute-force reference.
#include "reference.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace fullwarp::mem {
namespace {

std::string describe(const WarpAccess& access) {
  std::ostringstream text;
  text << "width " << access.width_bytes << " mask " << access.mask << ":";
  for (uint64_t address : access.address) text << " " << address;
  return text.str();
}

void expect_same(const AccessCost& got, const AccessCost& want, const WarpAccess& access) {
  ASSERT_EQ(got.requests, want.requests) << describe(access);
  ASSERT_EQ(got.sectors, want.sectors) << describe(access);
  ASSERT_EQ(got.ideal_sectors, want.ideal_sectors) << describe(access);
  ASSERT_EQ(got.lines, want.lines) << describe(access);
  ASSERT_EQ(got.wavefronts, want.wavefronts) << describe(access);
  ASSERT_EQ(got.ideal_wavefronts, want.ideal_wavefronts) << describe(access);
  ASSERT_EQ(got.least_wavefronts, want.least_wavefronts) << describe(access);
  ASSERT_EQ(got.atomic_sectors, want.atomic_sectors) << describe(access);
}

class Width : public testing::TestWithParam<uint32_t> {};

TEST_P(Width, GlobalEqualsReference) {
  reference::Random random(GetParam());
  for (int i = 0; i < 20000; ++i) {
    WarpAccess access;
    access.width_bytes = GetParam();
    access.mask = reference::random_mask(random);
    reference::random_addresses(random, access, uint64_t{1} << (10 + reference::below(random, 30)));
    if (i % 3 == 0) access.kind = i % 2 ? AccessKind::atomic : AccessKind::reduction;
    if (i % 4 == 0)  // misaligned accesses fault on hardware, but must still count what they touch
      for (uint64_t& address : access.address) address += reference::below(random, 32);
    expect_same(global_cost(access), reference::global_cost(access), access);
  }
}

TEST_P(Width, LocalEqualsReference) {
  reference::Random random(GetParam());
  for (int i = 0; i < 20000; ++i) {
    WarpAccess access;
    access.space = AccessSpace::local;
    access.width_bytes = GetParam();
    access.mask = reference::random_mask(random);
    reference::random_addresses(random, access, uint64_t{1} << (6 + reference::below(random, 12)));
    expect_same(global_cost(access), reference::global_cost(access), access);
  }
}

TEST_P(Width, SharedEqualsReference) {
  if (GetParam() > 16) return;  // shared accesses are at most 16 bytes wide
  reference::Random random(GetParam());
  constexpr AccessKind kKinds[] = {AccessKind::load, AccessKind::store, AccessKind::atomic,
                                   AccessKind::reduction, AccessKind::async_copy};
  for (int i = 0; i < 40000; ++i) {
    WarpAccess access;
    access.space = AccessSpace::shared;
    access.width_bytes = GetParam();
    access.kind = kKinds[i % 8 < 4 ? 0 : i % 5];
    access.mask = reference::random_mask(random);
    reference::random_addresses(random, access,
                                uint64_t{1} << (7 + reference::below(random, i % 16 ? 11 : 40)));
    expect_same(shared_cost(access), reference::shared_cost(access), access);
  }
}

INSTANTIATE_TEST_SUITE_P(Bytes, Width, testing::Values(1, 2, 4, 8, 16, 32));

TEST(Mask, NoActiveLaneIsNoRequest) {
  WarpAccess access;
  EXPECT_EQ(global_cost(access), AccessCost{});
  EXPECT_EQ(shared_cost(access), AccessCost{});
  access.space = AccessSpace::local;
  EXPECT_EQ(global_cost(access), AccessCost{});
}

TEST(Mask, InactiveLanesDoNotCount) {
  WarpAccess access;
  for (unsigned lane = 0; lane < 32; ++lane) access.address[lane] = lane * 4096;
  access.mask = 0x00010001;
  EXPECT_EQ(global_cost(access).sectors, 2u);
  EXPECT_EQ(global_cost(access).lines, 2u);
  EXPECT_EQ(shared_cost(access).wavefronts, 2u);
}

}  // namespace
}  // namespace fullwarp::mem

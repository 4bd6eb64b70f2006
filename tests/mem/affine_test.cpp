// The closed forms for base + lane x stride equal the brute-force reference; costs repeat with their period.
#include <gtest/gtest.h>

#include "reference.h"

namespace fullwarp::mem {
namespace {

WarpAccess affine(uint64_t base, int64_t stride, LaneMask mask, uint32_t width) {
  WarpAccess access;
  access.mask = mask;
  access.width_bytes = width;
  for (unsigned lane = 0; lane < 32; ++lane)
    access.address[lane] = base + lane * static_cast<uint64_t>(stride);
  return access;
}

TEST(Affine, GlobalEqualsReference) {
  reference::Random random(1);
  for (uint32_t width : {1, 2, 4, 8, 16, 32})
    for (int64_t stride = -200; stride <= 200; ++stride)
      for (int i = 0; i < 8; ++i) {
        const uint64_t base = 0x70000000 + reference::below(random, 512) * (i % 2 ? width : 1);
        const LaneMask mask = reference::random_mask(random);
        const AccessCost want = reference::global_cost(affine(base, stride, mask, width));
        ASSERT_EQ(affine_global_cost(base, stride, mask, width), want)
            << "base " << base << " stride " << stride << " mask " << mask << " width " << width;
      }
}

TEST(Affine, GlobalWrapsAroundZeroWithoutHarm) {
  EXPECT_EQ(affine_global_cost(0, -4, kFullMask, 4).sectors, 5u);  // lane 0 at 0, lanes 1-31 just below 2^64
}

TEST(Affine, SharedEqualsReference) {
  reference::Random random(2);
  for (AccessKind kind : {AccessKind::load, AccessKind::store})
    for (uint32_t width : {1, 2, 4, 8, 16})
      for (int64_t stride = -70; stride <= 70; ++stride)
        for (int i = 0; i < 8; ++i) {
          const uint64_t base = 65536 + reference::below(random, 512) * width;
          const LaneMask mask = reference::random_mask(random);
          WarpAccess access = affine(base, stride * width, mask, width);
          access.kind = kind;
          ASSERT_EQ(affine_shared_cost(base, stride * width, mask, width, kind),
                    reference::shared_cost(access))
              << "base " << base << " stride " << stride << " mask " << mask << " width " << width;
        }
}

// A short run that spans two half-warps leaves no two partners active, so that its halves may merge.
TEST(Affine, SharedShortRunsAcrossHalves) {
  for (unsigned first = 0; first < 32; ++first)
    for (unsigned lanes = 1; first + lanes <= 32; ++lanes)
      for (uint32_t width : {8, 16}) {
        const LaneMask mask = (kFullMask >> (32 - lanes)) << first;
        WarpAccess access = affine(0, width, mask, width);
        ASSERT_EQ(affine_shared_cost(0, width, mask, width, AccessKind::load), reference::shared_cost(access))
            << first << " " << lanes << " " << width;
      }
}

TEST(Period, CostsRepeat) {
  reference::Random random(3);
  for (int i = 0; i < 20000; ++i) {
    WarpAccess access;
    access.width_bytes = 1u << reference::below(random, 5);
    access.mask = reference::random_mask(random);
    reference::random_addresses(random, access, 1 << 16);
    const AccessCost global = global_cost(access), shared = shared_cost(access);
    access.space = AccessSpace::local;
    const AccessCost local = global_cost(access);
    const uint64_t times = 1 + reference::below(random, 1000);
    const auto moved = [&](uint64_t period, AccessSpace space) {
      WarpAccess other = access;
      other.space = space;
      for (uint64_t& address : other.address) address += times * period;
      return other;
    };
    ASSERT_EQ(global_cost(moved(kGlobalPeriodBytes, AccessSpace::global)), global);
    ASSERT_EQ(shared_cost(moved(kSharedPeriodBytes, AccessSpace::shared)), shared);
    ASSERT_EQ(global_cost(moved(kLocalPeriodBytes, AccessSpace::local)), local);
  }
}

}  // namespace
}  // namespace fullwarp::mem

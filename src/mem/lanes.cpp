// See lanes.h. Compiled once per instruction set by Highway and picked at run time. Keys stand in the upper
// half of a buffer whose lower half holds a value that no key takes, so that every lane is compared with the
// lane r before it by one unaligned load, for r = 1 to 31.
#include "mem/lanes.h"

#include <algorithm>

#include "mem/warp_access.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mem/lanes.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fullwarp::mem {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::CappedTag<uint16_t, kWarpSize>;

struct alignas(64) Keys16 {
  static constexpr uint16_t kNone = 0xffff;
  Keys16() { std::fill_n(all, kWarpSize, kNone); }
  uint16_t* lane() { return all + kWarpSize; }
  uint16_t all[2 * kWarpSize];
};

// For every lane, how many earlier lanes have its key.
void EarlierEqual(const uint16_t* lane, uint16_t* earlier) {
  const D16 d;
  const size_t step = hn::Lanes(d);
  for (size_t i = 0; i < kWarpSize; i += step) {
    const auto own = hn::LoadU(d, lane + i);
    auto count = hn::Zero(d);
    for (size_t back = 1; back < i + step; ++back)
      count = hn::Sub(count, hn::VecFromMask(d, hn::Eq(own, hn::LoadU(d, lane + i - back))));
    hn::StoreU(count, d, earlier + i);
  }
}

template <int kLogUnitBytes, int kLogPhases>
BankCounts CountBanksOf(const uint64_t* address, LaneMask mask) {
  constexpr int shift = kLogUnitBytes;
  constexpr int unit_bits = 18 - shift;        // 256 KB
  constexpr int phase_shift = 5 - kLogPhases;  // lane >> phase_shift is its phase
  constexpr uint32_t phases = 1u << kLogPhases, groups = kLineBytes >> kLogUnitBytes;
  // A lane's phase stands above its unit, so that one search finds the repeats within every phase.
  Keys16 unit, group;
  uint64_t highest = 0;
  for (uint64_t i = 0; i < kWarpSize; ++i) {
    const uint64_t active = -(uint64_t{mask} >> i & 1);
    const uint64_t u = address[i] >> shift;
    highest |= u & active;
    unit.lane()[i] = static_cast<uint16_t>(u | i >> phase_shift << unit_bits | ~active);
  }
  BankCounts counts;
  // One place less than 256 KB: the last key of the last phase would be kNone.
  if (highest >= (uint64_t{1} << unit_bits) - 1) return counts;
  counts.counted = true;
  alignas(64) uint16_t earlier[kWarpSize];
  EarlierEqual(unit.lane(), earlier);
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    const uint32_t key = unit.lane()[i] % groups | i >> phase_shift << 5;
    const bool counts_here = (mask >> i & 1) && earlier[i] == 0;
    group.lane()[i] = static_cast<uint16_t>(counts_here ? key : 256 + i);  // others meet nobody
  }
  EarlierEqual(group.lane(), earlier);
  for (uint32_t phase = 0; phase < phases; ++phase) {
    const uint32_t first = phase << phase_shift, lanes = 1u << phase_shift;
    uint16_t worst = 0;
    for (uint32_t i = first; i < first + lanes; ++i) worst = std::max(worst, earlier[i]);
    const LaneMask here = (kFullMask >> (kWarpSize - lanes)) << first;
    counts.phase[phase] = mask & here ? worst + 1 : 0;
  }
  return counts;
}

BankCounts CountBanks(const uint64_t* address, LaneMask mask, uint32_t unit_bytes, uint32_t phases) {
  if (unit_bytes == 4) return CountBanksOf<2, 0>(address, mask);
  if (unit_bytes == 8)
    return phases == 2 ? CountBanksOf<3, 1>(address, mask) : CountBanksOf<3, 0>(address, mask);
  return phases == 4 ? CountBanksOf<4, 2>(address, mask) : CountBanksOf<4, 1>(address, mask);
}

using D32 = hn::CappedTag<int32_t, kWarpSize>;

struct alignas(64) Keys32 {
  int32_t all[2 * kWarpSize];
  int32_t* lane() { return all + kWarpSize; }
};
constexpr int32_t kNone32 = INT32_MIN;

uint32_t DistinctSorted(const int32_t* lane) {  // lane[-1] == lane[0]
  const D32 d;
  uint32_t count = 1;
  for (size_t i = 0; i < kWarpSize; i += hn::Lanes(d))
    count +=
        static_cast<uint32_t>(hn::CountTrue(d, hn::Ne(hn::LoadU(d, lane + i), hn::LoadU(d, lane + i - 1))));
  return count;
}

bool Sorted(const int32_t* lane) {
  const D32 d;
  auto falls = hn::Zero(d);
  for (size_t i = 0; i < kWarpSize; i += hn::Lanes(d))
    falls = hn::Or(falls, hn::VecFromMask(d, hn::Lt(hn::LoadU(d, lane + i), hn::LoadU(d, lane + i - 1))));
  return hn::AllTrue(d, hn::Eq(falls, hn::Zero(d)));
}

uint32_t Distinct(const int32_t* lane) {  // lane[-32..-1] == kNone32
  const D32 d;
  const size_t step = hn::Lanes(d);
  uint32_t count = 0;
  for (size_t i = 0; i < kWarpSize; i += step) {
    const auto own = hn::LoadU(d, lane + i);
    auto repeated = hn::Zero(d);
    for (size_t back = 1; back < i + step; ++back)
      repeated = hn::Or(repeated, hn::VecFromMask(d, hn::Eq(own, hn::LoadU(d, lane + i - back))));
    count += static_cast<uint32_t>(hn::CountTrue(d, hn::Eq(repeated, hn::Zero(d))));
  }
  return count;
}

LineCounts CountLines(const uint64_t* address, LaneMask mask, uint32_t width_bytes) {
  alignas(64) uint64_t filled[kWarpSize];
  if (mask != kFullMask) {  // an inactive lane repeats its active neighbour, which adds nothing
    uint64_t neighbour = address[hwy::Num0BitsBelowLS1Bit_Nonzero32(mask)];
    for (uint32_t i = 0; i < kWarpSize; ++i) {
      const uint64_t active = -(uint64_t{mask} >> i & 1);
      neighbour = (address[i] & active) | (neighbour & ~active);
      filled[i] = neighbour;
    }
    address = filled;
  }
  constexpr uint64_t kReach = uint64_t{1} << 30;  // sectors
  Keys32 sector, line;
  const uint64_t base = address[0] / 128 * 4;
  uint64_t far = 0, straddles = 0;
  for (size_t i = 0; i < kWarpSize; ++i) {
    const uint64_t key = address[i] / 32 - base;
    far |= (key + kReach) >> 31;
    straddles |= ((address[i] & 31) + (width_bytes - 1)) >> 5;
    sector.lane()[i] = static_cast<int32_t>(key);
  }
  if (far | straddles) return {};
  for (size_t i = 0; i < kWarpSize; ++i) line.lane()[i] = sector.lane()[i] >> 2;
  sector.lane()[-1] = sector.lane()[0];
  line.lane()[-1] = line.lane()[0];
  if (Sorted(sector.lane())) return {true, DistinctSorted(sector.lane()), DistinctSorted(line.lane())};
  std::fill_n(sector.all, kWarpSize, kNone32);
  std::fill_n(line.all, kWarpSize, kNone32);
  return {true, Distinct(sector.lane()), Distinct(line.lane())};
}

}  // namespace HWY_NAMESPACE
}  // namespace fullwarp::mem
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fullwarp::mem {

HWY_EXPORT(CountBanks);
HWY_EXPORT(CountLines);

BankCounts count_banks(const uint64_t* address, LaneMask mask, uint32_t unit_bytes, uint32_t phases) {
  return HWY_DYNAMIC_DISPATCH(CountBanks)(address, mask, unit_bytes, phases);
}

LineCounts count_lines(const uint64_t* address, LaneMask mask, uint32_t width_bytes) {
  return HWY_DYNAMIC_DISPATCH(CountLines)(address, mask, width_bytes);
}

}  // namespace fullwarp::mem
#endif

// Wavefronts of a shared-memory request. 32 banks of 4 bytes serve one word each a wavefront; lanes that use
// the same word share it.
//
//   width     lanes served together   counted as
//   <= 4      32                      the largest number of distinct words in one bank
//   8         16 (half-warp)          the same over pairs of banks, the halves added
//   16        8 (quarter-warp)        the same over groups of four banks, the quarters added
//
// Two neighbouring groups of a *load* (the halves of a 64-bit load, the quarters of each half of a 128-bit
// load) go out as one wavefront if the lanes share words in a way the crossbar can route - every lane equals
// lane^1, or every lane equals lane^2, inactive lanes matching anything - and the merged groups are free of
// conflicts over the whole warp. Stores, atomics, cp.async and ldmatrix never merge.
//
// A lane's aligned 1/2/4, 8 or 16 bytes are one "unit"; a unit lies in one group of banks, so that all widths
// are one count: distinct units per group, over the lanes of a phase.
#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "mem/distinct.h"
#include "mem/lanes.h"
#include "mem/warp_access.h"

namespace fullwarp::mem {
namespace {

struct Shape {
  uint32_t unit_bytes;   // 4, 8 or 16
  uint32_t bank_groups;  // 32, 16 or 8
  uint32_t phases;       // 1, 2 or 4
  uint32_t phase_lanes;  // 32, 16 or 8
};

Shape shape_of(uint32_t width_bytes) {
  const uint32_t unit = width_bytes <= 4 ? 4 : width_bytes <= 8 ? 8 : 16;
  return {unit, kBanks * kBankBytes / unit, unit / kBankBytes, kWarpSize * kBankBytes / unit};
}

LaneMask run_of_lanes(uint32_t first, uint32_t lanes) { return (kFullMask >> (kWarpSize - lanes)) << first; }

// The largest number of distinct units in one group of banks, over the lanes of `mask`.
uint32_t worst_group(const std::array<uint64_t, kWarpSize>& unit, LaneMask mask, uint32_t bank_groups) {
  std::array<uint8_t, kBanks> count = {};
  uint8_t worst = 0;
  DistinctSet<7> seen;
  for (LaneMask rest = mask; rest; rest &= rest - 1) {
    const uint64_t u = unit[std::countr_zero(rest)];
    count[u % bank_groups] += seen.insert(u);
    worst = std::max(worst, count[u % bank_groups]);
  }
  return worst;
}

// Every active lane's partner lane^distance is inactive or uses the same address.
bool pairs_share(const WarpAccess& access, unsigned distance) {
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const unsigned partner = lane ^ distance;
    const bool both = (access.mask >> lane) & (access.mask >> partner) & 1;
    if (both && access.address[lane] != access.address[partner]) return false;
  }
  return true;
}

bool routable(const WarpAccess& access) { return pairs_share(access, 1) || pairs_share(access, 2); }

AccessCost cost_of(uint32_t wavefronts, uint32_t active_phases, uint32_t bytes_asked) {
  AccessCost cost;
  cost.requests = 1;
  cost.wavefronts = wavefronts;
  cost.ideal_wavefronts = std::min(wavefronts, active_phases);
  cost.least_wavefronts = std::min(wavefronts, (bytes_asked + kLineBytes - 1) / kLineBytes);
  return cost;
}

// The same for every one of `phases` runs of lanes; SIMD where the addresses can be a GPU's, a set where a
// faulty kernel computed what it likes.
BankCounts banks_of(const WarpAccess& access, uint32_t unit_bytes, uint32_t phases) {
  BankCounts counts = count_banks(access.address.data(), access.mask, unit_bytes, phases);
  if (counts.counted) return counts;
  std::array<uint64_t, kWarpSize> unit;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) unit[lane] = access.address[lane] / unit_bytes;
  const uint32_t lanes = kWarpSize / phases;
  for (uint32_t phase = 0; phase < phases; ++phase)
    counts.phase[phase] = static_cast<uint16_t>(
        worst_group(unit, access.mask & run_of_lanes(phase * lanes, lanes), kLineBytes / unit_bytes));
  return counts;
}

struct Total {
  uint32_t wavefronts = 0, active_phases = 0;
};

Total total(const BankCounts& counts) {
  Total sum;
  for (uint32_t phase : counts.phase) {
    sum.wavefronts += phase;
    sum.active_phases += phase != 0;
  }
  return sum;
}

}  // namespace

AccessCost shared_cost(const WarpAccess& access) {
  if (!access.mask) return {};
  const Shape shape = shape_of(access.width_bytes);
  const Total apart = total(banks_of(access, shape.unit_bytes, shape.phases));
  uint32_t wavefronts = apart.wavefronts;
  const bool free_of_conflicts = apart.wavefronts == apart.active_phases;
  if (access.kind == AccessKind::load && apart.active_phases > 1 && free_of_conflicts && routable(access)) {
    const Total merged = total(banks_of(access, shape.unit_bytes, shape.phases / 2));
    if (merged.wavefronts == merged.active_phases) wavefronts = merged.wavefronts;
  }
  return cost_of(wavefronts, apart.active_phases, lane_count(access.mask) * access.width_bytes);
}

AccessCost affine_shared_cost(uint64_t base, int64_t stride, LaneMask mask, uint32_t width_bytes,
                              AccessKind kind) {
  if (!mask) return {};
  const Shape shape = shape_of(width_bytes);
  const unsigned first_lane = static_cast<unsigned>(std::countr_zero(mask));
  const uint32_t lanes = lane_count(mask);
  const bool run = (mask >> first_lane) == (kFullMask >> (kWarpSize - lanes));
  if (stride == 0) {  // one word for all: every phase is free of conflicts, and a load's halves merge
    const uint32_t merge = kind == AccessKind::load && shape.phases > 1 ? 2 : 1;
    uint32_t apart = 0, merged = 0;
    for (uint32_t lane = 0; lane < kWarpSize; lane += shape.phase_lanes)
      apart += (mask & run_of_lanes(lane, shape.phase_lanes)) != 0;
    for (uint32_t lane = 0; lane < kWarpSize; lane += merge * shape.phase_lanes)
      merged += (mask & run_of_lanes(lane, merge * shape.phase_lanes)) != 0;
    return cost_of(merged, apart, lanes * width_bytes);
  }
  const int64_t unit_stride = stride / static_cast<int64_t>(shape.unit_bytes);
  if (run && unit_stride * static_cast<int64_t>(shape.unit_bytes) == stride) {
    // All units differ and go round the groups of banks with period groups / gcd(stride, groups). Two lanes
    // share nothing, so that nothing merges - unless the run is so short that no two active lanes are
    // partners.
    const uint64_t gcd = std::gcd(static_cast<uint64_t>(unit_stride < 0 ? -unit_stride : unit_stride),
                                  static_cast<uint64_t>(shape.bank_groups));
    const uint32_t period = shape.bank_groups / static_cast<uint32_t>(gcd);
    uint32_t wavefronts = 0, active_phases = 0;
    for (uint32_t phase = 0; phase < shape.phases; ++phase) {
      const uint32_t active = lane_count(mask & run_of_lanes(phase * shape.phase_lanes, shape.phase_lanes));
      active_phases += active != 0;
      wavefronts += (active + period - 1) / period;
    }
    if (active_phases <= 1 || kind != AccessKind::load || lanes > 4)
      return cost_of(wavefronts, active_phases, lanes * width_bytes);
  }
  WarpAccess access;
  access.mask = mask;
  access.width_bytes = width_bytes;
  access.kind = kind;
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    access.address[lane] = base + lane * static_cast<uint64_t>(stride);
  return shared_cost(access);
}

}  // namespace fullwarp::mem

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

LaneMask phase_mask(const Shape& shape, uint32_t phase) {
  return (kFullMask >> (kWarpSize - shape.phase_lanes)) << (phase * shape.phase_lanes);
}

// The largest number of distinct units in one group of banks, over the lanes of `mask`.
uint32_t worst_group(const std::array<uint64_t, kWarpSize>& unit, LaneMask mask, uint32_t bank_groups) {
  if (!mask) return 0;
  std::array<uint8_t, kBanks> count = {};
  uint32_t worst = 1, groups_seen = 0, clash = 0;
  uint64_t previous = unit[std::countr_zero(mask)];
  bool rising = true, same = true;
  for (LaneMask rest = mask; rest; rest &= rest - 1) {
    const uint64_t u = unit[std::countr_zero(rest)];
    const uint32_t bit = 1u << (u % bank_groups);
    const bool repeat = u == previous && groups_seen;
    clash |= repeat ? 0 : groups_seen & bit;
    groups_seen |= bit;
    rising &= u >= previous;
    same &= u == previous;
    previous = u;
  }
  if (same || !clash) return 1;
  if (rising) {  // equal units stand side by side
    uint64_t last = ~uint64_t{0};
    for (LaneMask rest = mask; rest; rest &= rest - 1) {
      const uint64_t u = unit[std::countr_zero(rest)];
      if (u == last) continue;
      last = u;
      worst = std::max<uint32_t>(worst, ++count[u % bank_groups]);
    }
    return worst;
  }
  DistinctSet<7> seen;
  for (LaneMask rest = mask; rest; rest &= rest - 1) {
    const uint64_t u = unit[std::countr_zero(rest)];
    count[u % bank_groups] += seen.insert(u);
    worst = std::max<uint32_t>(worst, count[u % bank_groups]);
  }
  return worst;
}

// Every active lane's partner lane^distance is inactive or uses the same unit.
bool pairs_share(const std::array<uint64_t, kWarpSize>& unit, LaneMask mask, unsigned distance) {
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    if (lane & distance) continue;
    const LaneMask both = (1u << lane) | (1u << (lane ^ distance));
    if ((mask & both) == both && unit[lane] != unit[lane ^ distance]) return false;
  }
  return true;
}

bool routable(const std::array<uint64_t, kWarpSize>& unit, LaneMask mask) {
  return pairs_share(unit, mask, 1) || pairs_share(unit, mask, 2);
}

AccessCost cost_of(uint32_t wavefronts, uint32_t active_phases) {
  AccessCost cost;
  cost.requests = 1;
  cost.wavefronts = wavefronts;
  cost.ideal_wavefronts = std::min(wavefronts, active_phases);
  return cost;
}

}  // namespace

AccessCost shared_cost(const WarpAccess& access) {
  if (!access.mask) return {};
  const Shape shape = shape_of(access.width_bytes);
  const int shift = std::countr_zero(shape.unit_bytes);
  std::array<uint64_t, kWarpSize> unit;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) unit[lane] = access.address[lane] >> shift;
  if (shape.phases == 1) return cost_of(worst_group(unit, access.mask, shape.bank_groups), 1);

  uint32_t wavefronts = 0, active_phases = 0;
  for (uint32_t phase = 0; phase < shape.phases; ++phase) {
    const LaneMask lanes = access.mask & phase_mask(shape, phase);
    active_phases += lanes != 0;
    wavefronts += worst_group(unit, lanes, shape.bank_groups);
  }
  const bool free_of_conflicts = wavefronts == active_phases;
  if (access.kind == AccessKind::load && free_of_conflicts && active_phases > 1 && routable(unit, access.mask)) {
    uint32_t merged = 0, merged_phases = 0;
    for (uint32_t phase = 0; phase < shape.phases; phase += 2) {
      const LaneMask lanes = access.mask & (phase_mask(shape, phase) | phase_mask(shape, phase + 1));
      merged_phases += lanes != 0;
      merged += worst_group(unit, lanes, shape.bank_groups);
    }
    if (merged == merged_phases) wavefronts = merged;
  }
  return cost_of(wavefronts, active_phases);
}

AccessCost affine_shared_cost(uint64_t base, int64_t stride, LaneMask mask, uint32_t width_bytes, AccessKind kind) {
  if (!mask) return {};
  const Shape shape = shape_of(width_bytes);
  const unsigned first_lane = static_cast<unsigned>(std::countr_zero(mask));
  const uint32_t lanes = lane_count(mask);
  const bool run = (mask >> first_lane) == (kFullMask >> (kWarpSize - lanes));
  const int64_t unit_stride = stride / static_cast<int64_t>(shape.unit_bytes);
  if (run && stride != 0 && unit_stride * static_cast<int64_t>(shape.unit_bytes) == stride) {
    // All units differ and go round the groups of banks with period groups / gcd(stride, groups). Two lanes
    // share nothing, so that nothing merges - unless the run is so short that no two active lanes are partners.
    const uint64_t gcd = std::gcd(static_cast<uint64_t>(unit_stride < 0 ? -unit_stride : unit_stride),
                                  static_cast<uint64_t>(shape.bank_groups));
    const uint32_t period = shape.bank_groups / static_cast<uint32_t>(gcd);
    uint32_t wavefronts = 0, active_phases = 0;
    for (uint32_t phase = 0; phase < shape.phases; ++phase) {
      const uint32_t active = lane_count(mask & phase_mask(shape, phase));
      active_phases += active != 0;
      wavefronts += (active + period - 1) / period;
    }
    if (active_phases <= 1 || kind != AccessKind::load || lanes > 4) return cost_of(wavefronts, active_phases);
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

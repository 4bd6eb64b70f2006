// Sectors and lines of a global or local request. A request moves every 32-byte sector that one of its lanes
// touches, once; lanes.cpp counts them with SIMD, a small set the odd cases. Affine lanes have closed forms:
// with a stride of at most a sector no sector between the first and the last is left out, with a larger one
// no two lanes share a sector.
#include <algorithm>
#include <bit>

#include "mem/distinct.h"
#include "mem/lanes.h"
#include "mem/warp_access.h"

namespace fullwarp::mem {
namespace {

AccessCost cost_of(uint32_t lanes, uint32_t width_bytes, uint32_t sectors, uint32_t lines) {
  const uint32_t asked = (lanes * width_bytes + kSectorBytes - 1) / kSectorBytes;
  AccessCost cost;
  cost.requests = 1;
  cost.sectors = sectors;
  cost.ideal_sectors = std::min(sectors, asked);
  cost.lines = lines;
  return cost;
}

// Atomics work on a sector once for each lane that shares an address there (an H200's counters): the most
// lanes at one address, added over the sectors.
uint32_t atomic_sectors(const WarpAccess& access) {
  std::array<uint64_t, kWarpSize> sector;
  std::array<uint32_t, kWarpSize> most;
  uint32_t sectors = 0, sum = 0;
  for (LaneMask rest = access.mask; rest;) {
    const uint64_t address = access.address[std::countr_zero(rest)];
    LaneMask same = 0;
    for (LaneMask left = rest; left; left &= left - 1)
      if (access.address[std::countr_zero(left)] == address) same |= left & -left;
    rest &= ~same;
    const auto at = std::find(sector.begin(), sector.begin() + sectors, address / kSectorBytes);
    const auto i = static_cast<uint32_t>(at - sector.begin());
    if (i == sectors) {
      sector[sectors] = address / kSectorBytes;
      most[sectors++] = 0;
    }
    most[i] = std::max(most[i], lane_count(same));
  }
  for (uint32_t i = 0; i < sectors; ++i) sum += most[i];
  return sum;
}

// Any addresses, at leisure.
AccessCost far_or_straddling_cost(const WarpAccess& access) {
  DistinctSet<7> seen, seen_lines;
  uint32_t sectors = 0, lines = 0;
  std::array<uint64_t, 2 * kWarpSize + 1> fresh;
  for (LaneMask rest = access.mask; rest; rest &= rest - 1) {
    const uint64_t address = access.address[std::countr_zero(rest)];
    const uint64_t first = address / kSectorBytes;
    const uint64_t last = (address + access.width_bytes - 1) / kSectorBytes;
    fresh[sectors] = first;
    sectors += seen.insert(first);
    if (last != first) {
      fresh[sectors] = last;
      sectors += seen.insert(last);
    }
  }
  for (uint32_t i = 0; i < sectors; ++i) lines += seen_lines.insert(fresh[i] / (kLineBytes / kSectorBytes));
  return cost_of(lane_count(access.mask), access.width_bytes, sectors, lines);
}

// Words of a thread's local memory: word w of the lanes of one octet lies in one sector, of one warp in one
// line. So sectors = distinct (word, octet), lines = distinct words.
AccessCost local_cost(const WarpAccess& access) {
  const uint32_t words = (access.width_bytes + kBankBytes - 1) / kBankBytes;
  const auto unit = [&](unsigned lane) { return access.address[lane] / kBankBytes; };
  const unsigned first_lane = static_cast<unsigned>(std::countr_zero(access.mask));
  bool uniform = true;
  uint32_t octets = 0;
  for (LaneMask rest = access.mask; rest; rest &= rest - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(rest));
    uniform &= unit(lane) == unit(first_lane);
    octets |= 1u << (lane / 8);
  }
  if (uniform)
    return cost_of(lane_count(access.mask), access.width_bytes,
                   words * static_cast<uint32_t>(std::popcount(octets)), words);
  DistinctSet<9> seen_words;
  uint32_t sectors = 0, lines = 0;
  std::array<uint64_t, 8 * 8> in_octet;
  for (unsigned octet = 0; octet < 4; ++octet) {
    uint32_t count = 0;
    for (LaneMask rest = access.mask & (0xffu << (8 * octet)); rest; rest &= rest - 1) {
      const uint64_t word = unit(static_cast<unsigned>(std::countr_zero(rest)));
      for (uint32_t i = 0; i < words; ++i) {
        if (std::find(in_octet.begin(), in_octet.begin() + count, word + i) != in_octet.begin() + count)
          continue;
        in_octet[count++] = word + i;
        lines += seen_words.insert(word + i);
      }
    }
    sectors += count;
  }
  return cost_of(lane_count(access.mask), access.width_bytes, sectors, lines);
}

}  // namespace

AccessCost global_cost(const WarpAccess& access) {
  if (!access.mask) return {};
  if (access.space == AccessSpace::local) return local_cost(access);
  const LineCounts counts = count_lines(access.address.data(), access.mask, access.width_bytes);
  AccessCost cost = counts.counted
                        ? cost_of(lane_count(access.mask), access.width_bytes, counts.sectors, counts.lines)
                        : far_or_straddling_cost(access);
  if (access.kind == AccessKind::atomic || access.kind == AccessKind::reduction)
    cost.atomic_sectors = atomic_sectors(access);
  return cost;
}

AccessCost affine_global_cost(uint64_t base, int64_t stride, LaneMask mask, uint32_t width_bytes) {
  if (!mask) return {};
  const unsigned first_lane = static_cast<unsigned>(std::countr_zero(mask));
  const uint32_t lanes = lane_count(mask);
  uint64_t step = static_cast<uint64_t>(stride);
  uint64_t low = base + first_lane * step;
  const bool run = (mask >> first_lane) == (kFullMask >> (kWarpSize - lanes));
  const bool aligned = base % width_bytes == 0 && step % width_bytes == 0;
  if (run && aligned) {
    if (stride < 0) {
      low += (lanes - 1) * step;
      step = -step;
    }
    const uint64_t end = low + (lanes - 1) * step + width_bytes - 1;
    const auto distinct = [&](uint64_t unit) {
      return step <= unit ? static_cast<uint32_t>(end / unit - low / unit + 1) : lanes;
    };
    if (end >= low) return cost_of(lanes, width_bytes, distinct(kSectorBytes), distinct(kLineBytes));
    step = static_cast<uint64_t>(stride);
  }
  WarpAccess access;
  access.mask = mask;
  access.width_bytes = width_bytes;
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    access.address[lane] = base + lane * static_cast<uint64_t>(stride);
  return global_cost(access);
}

}  // namespace fullwarp::mem

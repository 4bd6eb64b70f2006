// Brute-force references for the memory model, written from the rules as hardware.md states them, byte by
// byte and with sets; nothing here is shared with src/mem. And access patterns, random and structured.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "mem/warp_access.h"

namespace fullwarp::mem::reference {

inline AccessCost global_cost(const WarpAccess& access) {
  std::set<uint64_t> sectors, lines;
  uint32_t lanes = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!(access.mask >> lane & 1)) continue;
    ++lanes;
    for (uint32_t byte = 0; byte < access.width_bytes; ++byte) {
      uint64_t address = access.address[lane] + byte;
      if (access.space == AccessSpace::local) address = address / 4 * 128 + lane * 4 + address % 4;
      sectors.insert(address / 32);
      lines.insert(address / 128);
    }
  }
  AccessCost cost;
  cost.requests = lanes != 0;
  cost.sectors = static_cast<uint32_t>(sectors.size());
  cost.lines = static_cast<uint32_t>(lines.size());
  const uint32_t asked = (lanes * access.width_bytes + 31) / 32;
  cost.ideal_sectors = cost.sectors < asked ? cost.sectors : asked;
  if (access.space == AccessSpace::global &&
      (access.kind == AccessKind::atomic || access.kind == AccessKind::reduction)) {
    std::map<uint64_t, std::map<uint64_t, uint32_t>> lanes_at;  // by sector and address
    for (unsigned lane = 0; lane < 32; ++lane)
      if (access.mask >> lane & 1) ++lanes_at[access.address[lane] / 32][access.address[lane]];
    for (const auto& [sector, addresses] : lanes_at) {
      uint32_t most = 0;
      for (const auto& [address, sharing] : addresses) most = sharing > most ? sharing : most;
      cost.atomic_sectors += most;
    }
  }
  return cost;
}

// Wavefronts of some lanes served together: words per bank.
inline uint32_t together(const WarpAccess& access, unsigned first_lane, unsigned lanes) {
  std::map<uint64_t, std::set<uint64_t>> words_of_bank;
  for (unsigned lane = first_lane; lane < first_lane + lanes; ++lane)
    if (access.mask >> lane & 1)
      for (uint32_t byte = 0; byte < access.width_bytes; ++byte) {
        const uint64_t word = (access.address[lane] + byte) / 4;
        words_of_bank[word % 32].insert(word);
      }
  size_t worst = 0;
  for (const auto& [bank, words] : words_of_bank) worst = std::max(worst, words.size());
  return static_cast<uint32_t>(worst);
}

inline AccessCost shared_cost(const WarpAccess& access) {
  AccessCost cost;
  if (access.mask == 0) return cost;
  cost.requests = 1;
  const unsigned groups = access.width_bytes == 16 ? 4 : access.width_bytes == 8 ? 2 : 1;
  bool free_of_conflicts = true;
  for (unsigned g = 0; g < groups; ++g) {
    const uint32_t wavefronts = together(access, g * 32 / groups, 32 / groups);
    free_of_conflicts &= wavefronts <= 1;
    cost.wavefronts += wavefronts;
    cost.ideal_wavefronts += wavefronts != 0;
  }
  if (access.kind == AccessKind::load && groups > 1 && free_of_conflicts) {
    for (unsigned distance : {1u, 2u}) {
      bool share = true;
      for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned partner = lane ^ distance;
        if ((access.mask >> lane & 1) && (access.mask >> partner & 1))
          share &= access.address[lane] == access.address[partner];
      }
      if (!share) continue;
      uint32_t merged = 0;
      bool merged_free = true;
      for (unsigned g = 0; g < groups / 2; ++g) {
        const uint32_t wavefronts = together(access, g * 64 / groups, 64 / groups);
        merged_free &= wavefronts <= 1;
        merged += wavefronts;
      }
      if (merged_free && merged < cost.wavefronts) cost.wavefronts = merged;
    }
  }
  if (cost.ideal_wavefronts > cost.wavefronts) cost.ideal_wavefronts = cost.wavefronts;
  uint32_t bytes_asked = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (access.mask >> lane & 1) bytes_asked += access.width_bytes;
  cost.least_wavefronts = (bytes_asked + 127) / 128;
  if (cost.least_wavefronts > cost.wavefronts) cost.least_wavefronts = cost.wavefronts;
  return cost;
}

using Random = std::mt19937_64;

inline uint64_t below(Random& random, uint64_t n) { return random() % n; }

inline LaneMask random_mask(Random& random) {
  switch (below(random, 6)) {
    case 0: return static_cast<LaneMask>(random());
    case 1: return static_cast<LaneMask>(random() & random());
    case 2: return kFullMask << below(random, 32);
    case 3: return kFullMask >> below(random, 32);
    case 4: return LaneMask{1} << below(random, 32);
    default: return kFullMask;
  }
}

// Addresses aligned to the width, below `limit` bytes (about).
inline void random_addresses(Random& random, WarpAccess& access, uint64_t limit) {
  const uint64_t width = access.width_bytes, units = limit / width;
  const uint64_t base = below(random, units), stride = below(random, 80), modulus = 1 + below(random, 40);
  const unsigned kind = static_cast<unsigned>(below(random, 9)), group = 1u << below(random, 6);
  const uint64_t span = uint64_t{1} << below(random, 8);
  for (unsigned lane = 0; lane < 32; ++lane) {
    uint64_t unit = 0;
    switch (kind) {
      case 0: unit = below(random, units); break;                             // anywhere
      case 1: unit = base + lane * stride; break;                             // strided
      case 2: unit = base + lane / group * stride; break;                     // groups share
      case 3: unit = base + lane % group * stride; break;                     // repeated
      case 4: unit = base + (lane ^ below(random, 32)); break;                // near, out of order
      case 5: unit = base + lane % modulus + lane / modulus * stride; break;  // a tile
      case 6: unit = base + below(random, span); break;                       // crowded
      case 7: unit = base + (31 - lane) * stride; break;                      // falling
      case 8: unit = base + ((lane & ~2u) | (lane >> 1 & 1 & stride)) * (1 + stride % 3); break;  // pairs t^2
    }
    access.address[lane] = unit * width;
  }
}

}  // namespace fullwarp::mem::reference

// Which of 32 lanes hold equal values: the question behind sectors, lines and wavefronts, answered with SIMD
// and no branch on the data. global.cpp and shared.cpp hold the rules, and the slow way for what does not
// fit.
#pragma once

#include <array>
#include <cstdint>

#include "base/warp.h"

namespace fullwarp::mem {

struct LineCounts {
  bool counted = false;  // false: a lane straddles a sector, or lanes are more than 2^35 bytes apart
  uint32_t sectors = 0, lines = 0;
};

// Distinct sectors and lines among the active lanes' addresses; the mask is not 0.
LineCounts count_lines(const uint64_t* address, LaneMask mask, uint32_t width_bytes);

struct BankCounts {
  bool counted = false;  // false: an active address lies beyond 256 KB
  std::array<uint16_t, 4> phase =
      {};  // largest number of distinct units in one group of banks; 0: no active lane
};

// The lanes stand in `phases` equal runs; units are 4, 8 or 16 bytes, 128 bytes of them go round the banks.
// (4, 1), (8, 2), (8, 1), (16, 4) and (16, 2) are the pairs there are.
BankCounts count_banks(const uint64_t* address, LaneMask mask, uint32_t unit_bytes, uint32_t phases);

}  // namespace fullwarp::mem

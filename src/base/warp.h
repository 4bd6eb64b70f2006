// The numbers every part of fullwarp shares about a warp.
#pragma once

#include <bit>
#include <cstdint>

namespace fullwarp {

inline constexpr unsigned kWarpSize = 32;

using LaneMask = uint32_t;  // bit i is lane i
inline constexpr LaneMask kFullMask = 0xffffffffu;

inline unsigned lane_count(LaneMask mask) { return static_cast<unsigned>(std::popcount(mask)); }

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

}  // namespace fullwarp

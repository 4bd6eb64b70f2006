// One memory access as the hardware sees it: a warp at a time. The memory models know nothing else of a
// program; they take a WarpAccess and return counts.
#pragma once

#include <array>
#include <cstdint>

#include "base/warp.h"

namespace fullwarp::mem {

enum class AccessSpace : uint8_t { global, shared, local };
enum class AccessKind : uint8_t { load, store, atomic, reduction, async_copy, matrix_load, matrix_store };

struct WarpAccess {
  std::array<uint64_t, kWarpSize> address = {};  // bytes; in the space's own window (shared: offset from 0)
  LaneMask mask = 0;         // lanes that take part; the others' addresses are ignored
  uint32_t width_bytes = 4;  // of one lane's access: 1, 2, 4, 8 or 16
  AccessSpace space = AccessSpace::global;
  AccessKind kind = AccessKind::load;
};

// What one request costs. Global and local: sectors; shared: wavefronts.
struct AccessCost {
  uint32_t requests = 0;          // 1 with any active lane, else 0
  uint32_t sectors = 0;           // distinct 32-byte sectors touched
  uint32_t ideal_sectors = 0;     // as memory_l2_theoretical_sectors_global_ideal: min(sectors, ceil(lanes x width / 32))
  uint32_t lines = 0;             // distinct 128-byte lines (tag requests)
  uint32_t wavefronts = 0;        // shared
  uint32_t ideal_wavefronts = 0;  // shared: what the same lanes and width need without conflicts
};

AccessCost global_cost(const WarpAccess& access);  // global and local
AccessCost shared_cost(const WarpAccess& access);

}  // namespace fullwarp::mem

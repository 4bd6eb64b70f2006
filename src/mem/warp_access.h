// One memory access as the hardware sees it: a warp at a time. The memory models know nothing else of a
// program; they take a WarpAccess and return counts.
// global.cpp holds sectors and lines (global and local memory), shared.cpp banks and wavefronts.
#pragma once

#include <array>
#include <cstdint>

#include "base/warp.h"

namespace fullwarp::mem {

inline constexpr uint32_t kSectorBytes = 32;
inline constexpr uint32_t kLineBytes = 128;
inline constexpr uint32_t kBanks = 32;
inline constexpr uint32_t kBankBytes = 4;

enum class AccessSpace : uint8_t { global, shared, local };
enum class AccessKind : uint8_t { load, store, atomic, reduction, async_copy, matrix_load, matrix_store, tensor_load };

struct WarpAccess {
  // Bytes, in the space's own window: global a device address, shared an offset from 0, local an offset in
  // the thread's own memory (the model interleaves it).
  std::array<uint64_t, kWarpSize> address = {};
  LaneMask mask = 0;         // lanes that take part; the others' addresses are ignored
  uint32_t width_bytes = 4;  // of one lane's access: 1, 2, 4, 8 or 16 (global also 32)
  AccessSpace space = AccessSpace::global;
  AccessKind kind = AccessKind::load;
};

// What one request costs. Global and local: sectors; shared: wavefronts.
struct AccessCost {
  uint32_t requests = 0;  // 1 with any active lane, else 0
  uint32_t sectors = 0;   // distinct 32-byte sectors touched
  uint32_t ideal_sectors =
      0;  // as memory_l2_theoretical_sectors_global_ideal: min(sectors, ceil(lanes x width / 32))
  uint32_t lines = 0;             // distinct 128-byte lines (tag requests)
  uint32_t wavefronts = 0;        // shared
  uint32_t ideal_wavefronts = 0;  // shared: what the same lanes and width need without conflicts
  uint32_t least_wavefronts =
      0;  // as memory_l1_wavefronts_shared_ideal: min(wavefronts, ceil(lanes x width / 128))
  uint32_t atomic_sectors =
      0;  // global atomics: over the sectors touched, the most lanes at one address, added

  bool operator==(const AccessCost&) const = default;
};

// Global memory, and local memory (space == local), from any addresses: 10 ns for lanes in order, up to
// 100 ns for random ones.
AccessCost global_cost(const WarpAccess& access);

// Shared memory. ldmatrix and stmatrix: kind matrix_load/matrix_store, width 16, the mask holds the lanes
// whose addresses count (8 for each matrix). A misaligned address counts as the aligned one below it.
AccessCost shared_cost(const WarpAccess& access);

// The same for lane i at base + i * stride: closed forms for a full warp or a run of lanes.
AccessCost affine_global_cost(uint64_t base, int64_t stride, LaneMask mask, uint32_t width_bytes);
AccessCost affine_shared_cost(uint64_t base, int64_t stride, LaneMask mask, uint32_t width_bytes,
                              AccessKind kind);

// Costs depend on the differences between the lanes' addresses and on the base within one period only, so
// they can be remembered per instruction: equal differences, mask and `base % period` give equal costs.
inline constexpr uint64_t kGlobalPeriodBytes = kLineBytes;
inline constexpr uint64_t kSharedPeriodBytes = kBanks * kBankBytes;
inline constexpr uint64_t kLocalPeriodBytes = kBankBytes;

// Local memory is interleaved by 4-byte words across the lanes of a warp, so that a warp whose lanes use one
// offset touches whole lines: byte `offset` of lane `lane` lies at this place in the warp's local window.
// An access wider than 4 bytes takes one such place for each of its words.
inline constexpr uint64_t interleaved_local(uint64_t offset, unsigned lane) {
  return (offset / kBankBytes) * kLineBytes + lane * kBankBytes + offset % kBankBytes;
}

}  // namespace fullwarp::mem

// A global access whose lanes lie anywhere in a few buffers: what the sites' patterns (site.h) do not catch.
// Lists, trees, tables, tile edges and atomics live here. It is checked at once, counted run by run of lanes
// that leave no gap, and sectors are told apart by a stamp beside each line of the buffer
// (SectorUse::request) instead of a comparison of every lane with every other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exec/site.h"
#include "exec/worker.h"
#include "mem/warp_access.h"

namespace fullwarp::exec {

struct Gather {
  static constexpr unsigned kMaxGroups = 4;
  struct Group {  // the lanes in one buffer
    const BufferView* view;
    size_t buffer;
    LaneMask lanes;
  };
  unsigned groups = 0;
  Group group[kMaxGroups];
  // Lanes outside the mask repeat the first active one.
  alignas(64) uint64_t address[kWarpSize];
  alignas(64) uint64_t place[kWarpSize];  // the same on the host
  std::byte* bytes(unsigned lane) const { return reinterpret_cast<std::byte*>(place[lane]); }
};

// Where the lanes of `mask` (not 0) are. False, with nothing reported, unless all of them are in a few
// buffers, inside them, aligned to `width_bytes` (a power of two up to 32), and may be written if `write`.
bool find_lanes(const Warp& warp, const uint64_t* address, LaneMask mask, unsigned width_bytes, bool write,
                Gather& gather);

// Counts the request and marks what it touches. `kind` is load, store, atomic or reduction.
void count_gather(Warp& warp, Site& site, const SiteInfo& info, const Gather& gather, LaneMask mask,
                  unsigned width_bytes, mem::AccessKind kind);

// check_global_lanes (race.h) for a load or a store, where there is anything to check.
void check_gather(Warp& warp, const MicroOp* op, const Gather& gather, LaneMask mask, unsigned width_bytes,
                  bool write);

}  // namespace fullwarp::exec

// A site is one memory instruction as seen by one worker: counters, and the pattern of its last access.
//
// Most instructions access memory in the same pattern every time, only the base moves. The site keeps the
// pattern (each lane's distance from the first active lane) and what can be said about it once: bounds,
// alignment, whether it is contiguous or uniform, and what it costs. While accesses fit the pattern, one
// vector comparison replaces all of that, and counting is one increment: `hits[k]` counts accesses whose base
// is 4 * k bytes past a 128-byte line. The hits become counters when the pattern changes or the launch ends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/warp.h"
#include "exec/granules.h"
#include "exec/program.h"
#include "mem/warp_access.h"
#include "profile/profile.h"

namespace fullwarp::exec {

struct Worker;
struct Warp;

enum class Pattern : uint8_t { none, uniform, contiguous, scattered };

// The same of each eighth lane on: groups of eight lanes of a scattered pattern are often contiguous or uniform
// (two rows of a 16 x 16 block), which moves them as vectors.
inline constexpr unsigned kGroupLanes = 8, kGroups = kWarpSize / kGroupLanes;

struct alignas(64) Site {
  // What a hit needs, in one cache line.
  LaneMask mask = 0;
  Pattern pattern = Pattern::none;
  mem::AccessSpace space = mem::AccessSpace::global;  // of the pattern and the counters
  bool aligned = false;       // all deltas are multiples of the width
  uint8_t low_bits = 0;       // shared, narrow accesses: base & 3 of the pattern
  Pattern group[kGroups] = {};  // scattered patterns of all lanes: of each group, by lane order
  uint32_t lanes = 0;
  int64_t lowest = 0;         // least delta
  int64_t end = 0;            // greatest delta + width
  uint64_t pending = 0;       // hits since the last flush
  int16_t run_count = -1;     // see below

  int64_t delta[kWarpSize] = {};  // 0 for lanes outside `mask`
  int32_t delta32[kWarpSize] = {};
  uint64_t hits[32] = {};     // global: by (base / 4) mod 32

  Granules granules;          // of shared memory's shadow

  // The bytes that the pattern touches, as runs without gaps, in order of address. Made when first asked for.
  // run_count -1: not made.
  int32_t run_start[kWarpSize];  // from the base
  uint32_t run_bytes[kWarpSize];

  // where the pattern was first seen, for the example
  uint64_t first_base = 0;
  uint64_t first_block = 0;
  uint32_t first_warp = 0;

  profile::MemoryCounters counters;
  uint64_t example_excess = 0;
};

// Index of a generic access's sites: one for each space it may meet.
inline constexpr uint32_t kSitesOfGeneric = 3;  // global, shared, local

// Turns the pending hits into counters.
void flush_site(Site& site, const SiteInfo& info, const Program& program);

// Makes Site::run_*.
void list_runs(Site& site, unsigned width);

// Adds one access that fits no pattern (faulting lanes left out).
void count_access(Site& site, const SiteInfo& info, const mem::WarpAccess& access, const Warp& warp);

// Makes the pattern of an access the site's own. `address` are offsets in the space's window.
// Returns false where the lanes' distances do not fit the pattern's numbers.
template <class Address>
bool set_pattern(Site& site, const SiteInfo& info, mem::AccessSpace space, const Address* address, LaneMask mask,
                 uint32_t width_bytes, const Warp& warp);

}  // namespace fullwarp::exec

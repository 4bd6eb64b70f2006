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

// The same of each eighth lane on: groups of eight lanes of a scattered pattern are often contiguous or
// uniform (two rows of a 16 x 16 block), which moves them as vectors.
inline constexpr unsigned kGroupLanes = 8, kGroups = kWarpSize / kGroupLanes;

// Which access it was: a warp of a block, and when among those that its worker noted. The blocks of a worker
// run one after the other, in the same order of accesses wherever they run.
struct Occurrence {
  uint64_t block = 0;
  uint32_t warp = 0;
  uint64_t when = 0;
};

struct alignas(64) Site {
  // What a hit needs, in one cache line.
  LaneMask mask = 0;
  Pattern pattern = Pattern::none;
  mem::AccessSpace space = mem::AccessSpace::global;  // of the pattern and the counters
  bool aligned = false;                               // all deltas are multiples of the width
  uint8_t low_bits = 0;                               // shared, narrow accesses: base & 3 of the pattern
  Pattern group[kGroups] = {};  // scattered patterns of all lanes: of each group, by lane order
  uint32_t lanes = 0;
  int64_t lowest = 0;      // least delta
  int64_t end = 0;         // greatest delta + width
  uint64_t pending = 0;    // hits since the last flush
  int16_t run_count = -1;  // see below
  uint32_t version = 0;    // of the pattern
  uint64_t last_base = 0;  // global: to fetch ahead by
  uint16_t misses = 0;     // accesses in a row whose pattern was of no further use

  int64_t delta[kWarpSize] = {};  // 0 for lanes outside `mask`
  int32_t delta32[kWarpSize] = {};
  uint64_t hits[32] = {};  // global: by (base / 4) mod 32

  Granules granules;  // of shared memory's shadow

  // The bytes that the pattern touches, as runs without gaps, in order of address. Made when first asked for.
  // run_count -1: not made.
  int32_t run_start[kWarpSize];  // from the base
  uint32_t run_bytes[kWarpSize];

  // Where the pattern was first seen, and global ones with each of the bases above: for the example.
  struct Hit {
    uint64_t base = 0;
    Occurrence by;
  };
  Hit first, first_hit[32];

  profile::MemoryCounters counters;
  uint64_t example_excess = 0;
  uint64_t example_when = 0;  // Occurrence::when
};

// The pattern that addresses with this tag were last seen to fit; beside the registers, one for each memory
// operation.
struct Seen {
  uint64_t tag = 0, version = 0;
};

// Index of a generic access's sites: one for each space it may meet.
inline constexpr uint32_t kSitesOfGeneric = 3;  // global, shared, local

// Turns the pending hits into counters.
void flush_site(Site& site, const SiteInfo& info, const Program& program);
// The same, and nothing fits the pattern any more.
void drop_pattern(Site& site, const SiteInfo& info, const Program& program);

// An example that a site has found, and its excess.
struct KeptExample {
  size_t site;
  profile::AccessExample example;
  uint64_t excess;
};
// Is this block before the other, in the order of the grid?
bool comes_before(const Dim3& block, const Dim3& other);

// A worker goes on with blocks before those that it has run: of examples that are as costly the earliest
// block's is reported, so that sites give theirs away and look for others.
void give_examples(std::vector<Site>& sites, const Program& program, std::vector<KeptExample>& to);

// Makes Site::run_*.
void list_runs(Site& site, unsigned width);

// The lanes of `mask` that go on where the lane before them is or ends (false) or start a run of their own
// (set). Lanes outside `mask` may hold anything.
inline LaneMask run_starts(const uint64_t* address, LaneMask mask, unsigned width) {
  LaneMask goes_on = 0;
  for (unsigned i = 1; i < kWarpSize; ++i) {
    const uint64_t step = address[i] - address[i - 1];
    goes_on |= static_cast<LaneMask>((step == 0) | (step == width)) << i;
  }
  return mask & ~(goes_on & (mask << 1));
}

// A request is called misaligned if it would need one sector less from an aligned base and its lanes come in
// runs; of lanes here and there nobody would say so.
inline bool comes_in_runs(LaneMask starts, LaneMask mask) {
  return lane_count(starts) * 4 <= lane_count(mask);
}
bool one_sector_more(const mem::WarpAccess& access, const mem::AccessCost& cost);

void add_request(Site& site, const mem::AccessCost& cost, uint32_t lanes, uint32_t width_bytes,
                 uint64_t times = 1);
// Keeps the access as the site's example if it is the costliest so far.
void consider_example(Site& site, const mem::WarpAccess& access, const mem::AccessCost& cost,
                      const Program& program, const Occurrence& by);

// Adds one access that fits no pattern (faulting lanes left out).
void count_access(Site& site, const SiteInfo& info, const mem::WarpAccess& access, const Warp& warp);

// Makes the pattern of an access the site's own. `address` are offsets in the space's window.
// Returns false where the lanes' distances do not fit the pattern's numbers.
// Where patterns keep being of no use, one is tried now and then only (`pattern_pays`).
inline bool pattern_pays(Site& site) {
  if (site.pending >= 8) site.misses = 0;
  return ++site.misses <= 4 || site.misses % 32 == 0;
}
template <class Address>
bool set_pattern(Site& site, const SiteInfo& info, mem::AccessSpace space, const Address* address,
                 LaneMask mask, uint32_t width_bytes, const Warp& warp);

}  // namespace fullwarp::exec

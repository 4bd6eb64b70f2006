// Who touched what, and is it ordered? Shadow words beside shared memory (threads of a block) and beside
// written global buffers (blocks of a grid).
//
// Shared memory: one word per granule (4 bytes; 1 where the kernel has narrower accesses) for the last write and
// one for the last read:
//      31            11 10        0
//     [      stamp     | who      ]     who: 0..1023 thread, 1024 + w several lanes of warp w, kManyWarps,
//                                       kAtomic. 0 as a whole: never touched.
// The stamp is the block's clock, which moves at every synchronisation. An earlier access is ordered before
// this one if it is by the same thread, older than the last barrier of the whole block (the usual case: one
// vector comparison), by this warp and older than its last `bar.warp.sync`, or by a warp that this one has met
// at a named barrier since.
//
// Global memory: one word per granule with the number (+ 1) of the block that wrote it, one for the block
// that read it or kManyBlocks. Blocks are never ordered within a launch, but for atomics and volatile,
// acquire and release accesses, which are left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/warp.h"
#include "exec/device_memory.h"
#include "profile/profile.h"

namespace fullwarp::exec {

struct Warp;
struct MicroOp;
struct Worker;

inline constexpr unsigned kWhoBits = 11;
inline constexpr uint32_t kWhoMask = (1u << kWhoBits) - 1;
inline constexpr uint32_t kManyLanes = 1024, kAtomic = 2046, kManyWarps = 2047;
inline constexpr uint32_t kLastStamp = (1u << (32 - kWhoBits)) - 1;
inline constexpr uint32_t kManyBlocks = ~0u;

// What the arrivals at an mbarrier make known to who waits for it: by warp, a clock below which its accesses are
// ordered. `arriving` in the phase at hand and before, `complete` up to the last completed phase.
struct Released {
  std::vector<uint32_t> arriving, complete;
};

struct SharedShadow {
  std::vector<uint32_t> writer, reader;
  // By 128-byte line: the barrier stamp under which every word of it was found written before and read by many
  // warps since, so that one more read changes nothing. A write resets it.
  std::vector<uint32_t> line_settled;
  unsigned granule_shift = 2;
  uint32_t barrier_stamp = 1;             // accesses stamped below are ordered before everything now
  uint32_t clock = 1;
  std::vector<uint32_t> warp_stamp;       // by warp: its last bar.warp.sync
  std::vector<uint32_t> met;              // [warp * warps + other]: others' accesses stamped below are ordered
  unsigned warps = 0;
  std::map<uint32_t, Released> released;  // by the mbarrier object's offset

  void reset(uint64_t bytes, unsigned warp_count, unsigned shift);
  // What lies at this offset and behind is the system's: written before, and never in a race.
  void exempt_from(uint32_t offset);
  void barrier_of_all();
  void barrier_of(const std::vector<uint32_t>& members);  // warps that met at a named barrier
  void warp_sync(uint32_t warp);
};

struct GlobalShadow {
  LazyWords<uint32_t> writer, reader;
  unsigned granule_shift = 2;
};

// The full check of a shared access, lane by lane. `offset` is each lane's. Reports faults. `values`, where known,
// is the row that a store of one element writes: threads that write the same value to one place (a flag that
// several raise) do no harm to each other.
void check_shared(Warp& warp, const MicroOp* op, const uint32_t* offset, LaneMask mask, unsigned width_bytes,
                  bool read, bool write, bool atomic, const void* values = nullptr);

// The full check of a global access: values never written, and writes that meet another block's accesses.
struct LaneTarget;
void check_global_lanes(Warp& warp, const MicroOp* op, const LaneTarget* target, LaneMask mask, unsigned width_bytes,
                        bool read, bool write, bool atomic);

}  // namespace fullwarp::exec

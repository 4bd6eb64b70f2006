// The slow, lane-by-lane way to memory: every check, every space, faults reported. The families' fast paths
// (ops_memory.cpp) fall back to it where an access fits no pattern, and atomics and built-ins use it alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "exec/worker.h"
#include "mem/warp_access.h"

namespace fullwarp::exec {

enum class Addressing : uint8_t { generic, global, shared, local };

// Flags of memory ops (MicroOp::flags).
inline constexpr uint32_t kVectorShift = 0, kVectorMask = 0xf;  // elements a lane: 1, 2, 4, 8
inline constexpr uint32_t kStrong = 1u
                                    << 4;  // volatile, relaxed, acquire, release: no race with others like it
inline constexpr uint32_t kNotCounted = 1u << 5;  // .const: moves no sectors
inline constexpr uint32_t kReadOnly = 1u << 6;

struct LaneTarget {
  mem::AccessSpace space = mem::AccessSpace::global;
  std::byte* data = nullptr;  // global and shared
  uint64_t offset = 0;        // in the buffer, in shared memory, or in the thread's local memory
  int64_t buffer = -1;
};

// Where a lane's access of `width` bytes goes; false after reporting a fault (`silent`: without).
bool resolve_lane(Warp& warp, const MicroOp* op, Addressing addressing, unsigned lane, uint64_t address,
                  unsigned width, bool write, LaneTarget& target);

// What each lane of a store writes.
struct StoredValues {
  const std::byte* row[4] = {};              // by element: 32 lanes of 4 or 8 bytes
  unsigned elements = 0, element_bytes = 0;  // no elements: not known

  const std::byte* of(unsigned lane, unsigned element) const {
    return row[element] + lane * (element_bytes == 8 ? 8u : 4u);
  }
  // Do the values of a lane stand at this place already?
  bool stand_at(const std::byte* place, unsigned lane) const {
    for (unsigned j = 0; j < elements; ++j)
      if (std::memcmp(place + j * element_bytes, of(lane, j), element_bytes) != 0) return false;
    return elements != 0;
  }
  bool same(unsigned lane, unsigned other) const {
    for (unsigned j = 0; j < elements; ++j)
      if (std::memcmp(of(lane, j), of(other, j), element_bytes) != 0) return false;
    return elements != 0;
  }
};
// Of an ld or st of `width` bytes a lane; none for a load.
inline StoredValues stored_values(Warp& warp, const MicroOp* op, bool store, unsigned width) {
  StoredValues values;
  if (!store) return values;
  values.elements = (op->flags >> kVectorShift) & kVectorMask;
  values.element_bytes = width / values.elements;
  const uint32_t rows[4] = {op->dst, op->b, op->c, op->d};
  for (unsigned j = 0; j < values.elements; ++j) values.row[j] = warp.row<std::byte>(rows[j]);
  return values;
}

void read_target(const Warp& warp, unsigned lane, const LaneTarget& target, void* to, unsigned bytes);
void write_target(Warp& warp, unsigned lane, const LaneTarget& target, const void* from, unsigned bytes);

inline std::byte* local_byte(const Warp& warp, uint64_t offset, unsigned lane) {
  return warp.local.get() + mem::interleaved_local(offset, lane);
}

// Copies to and from generic addresses for built-ins (printf's arguments, results through pointers).
bool read_memory(Warp& warp, const MicroOp* op, unsigned lane, uint64_t address, void* to, unsigned bytes);
bool write_memory(Warp& warp, const MicroOp* op, unsigned lane, uint64_t address, const void* from,
                  unsigned bytes);

// Counts and checks a whole access lane by lane: resolves each lane (faulting ones leave the returned mask),
// counts one request for each space met (sites site, site + 1, site + 2 of a generic access), marks what is
// touched, and checks for races and reads of values never written. `target` has 32 entries.
LaneMask access_lanes(Warp& warp, const MicroOp* op, Addressing addressing, uint32_t site,
                      const uint64_t* address, LaneMask mask, unsigned width, mem::AccessKind kind,
                      LaneTarget* target);

// Coverage of a buffer: what this worker's blocks have loaded and stored.
void cover_load(Worker& worker, int64_t buffer, uint64_t offset, unsigned bytes);
void cover_store(Worker& worker, int64_t buffer, uint64_t offset, unsigned bytes);

}  // namespace fullwarp::exec

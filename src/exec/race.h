// Who touched what, and is it ordered? Shadows beside shared memory (threads of a block) and beside written
// global buffers (blocks of a grid, and warps of one block). race-inl.h has the ways for accesses that fit a
// pattern.
//
// Shared memory, by granule (4 bytes; 1 where the kernel has narrower accesses): a word for the last write
// and one for the last read, and the instructions that did them.
//      31            11 10        0
//     [      stamp     | who      ]     who: see below
// The stamp is the block's clock, which moves at every synchronisation and from one block to the next, so
// that what an earlier block left behind is older than `born` and nothing has to be cleared. An earlier
// access is ordered before this one if it is by the same thread, older than the last barrier of the whole
// block (the usual case), by this warp and older than its last `bar.warp.sync`, or by a warp that this one
// has met since: at a named barrier, an mbarrier, or, in kernels with fences, at an atomic or volatile access
// of one place.
//
// Most checks never come to those words: a line of 32 granules knows which of them have a value, and which
// were written, read, and read by several warps since the last barrier. Those bits hold as long as the line's
// stamp is the barrier's. And who read a place matters only if somebody writes there before the next barrier:
// reads of scattered places wait in a list until an access comes that could (LateRead), which is mostly
// never.
//
// Global memory: a line of 32 granules that one instruction of one warp reads and one writes, between two
// barriers, is three words. Where more happens it gets four cells of 8 granules: a cell knows the block that
// came last, which granules that block wrote and read, and which warps did since the block's last barrier. A
// cell that several blocks come to gets a GlobalDetail, with a block for each granule. Atomics and volatile,
// acquire and release accesses are left out; in kernels with fences they order blocks (block_order.h).
// Every CPU thread has shadows of its own; what blocks of two of them did is compared at the end
// (workers_conflict).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/warp.h"
#include "exec/device_memory.h"
#include "exec/granules.h"
#include "exec/spare_blocks.h"
#include "profile/profile.h"

namespace fullwarp::exec {

struct Warp;
struct MicroOp;
struct Worker;

inline constexpr unsigned kWhoBits = 11;
inline constexpr uint32_t kWhoMask = (1u << kWhoBits) - 1;
inline constexpr uint32_t kLastStamp = (1u << (32 - kWhoBits)) - 1;
// Who: a thread of the block (0 to 1023), or one of these, where + w names a warp.
inline constexpr uint32_t kManyLanes = 1024;   // + w: several lanes of a warp
inline constexpr uint32_t kAtomicBy = 1056;    // + w: atomics of a warp
inline constexpr uint32_t kAtomicMany = 1088;  // atomics of several warps
inline constexpr uint32_t kStrongBy = 1120;    // + w: a volatile, relaxed or release store
inline constexpr uint32_t kManyWarps = 2047;

inline constexpr uint16_t kNoSite = 0xffff;  // an instruction that is not known
inline constexpr uint32_t kManyBlocks = ~0u;

// What the arrivals at an mbarrier make known to who waits for it: by warp, a clock below which its accesses
// are ordered. `arriving` in the phase at hand and before, `complete` up to the last completed phase.
struct Released {
  std::vector<uint32_t> arriving, complete;
};

// What is known of 32 granules of shared memory without looking at their words.
struct alignas(32) SharedLine {
  uint32_t stamp = 0;    // the bits below hold from this barrier on
  uint32_t valid = 0;    // has a value
  uint32_t written = 0;  // since the barrier (or a granule too many)
  uint32_t read = 0;     // since the barrier (or a granule too many)
  uint32_t pending = 0;  // a cp.async brings them that its thread has not waited for: not valid until then
  uint32_t many = 0;     // valid, not written, and read by several warps since: one more read changes nothing
};

// The cp.async copies of one warp that its lanes have not waited for. Groups are numbered by lane.
struct PendingCopies {
  struct Copy {
    uint32_t offset = 0, group = 0;
    uint16_t bytes = 0;
    uint8_t lane = 0;
  };
  std::vector<Copy> copies;
  uint32_t group[kWarpSize] = {};  // the one that a lane's next copy belongs to
};

// A read of places that have values and that nobody has written since the barrier, not yet in the words.
struct LateRead {
  const Granules* granules;  // of the form `list`
  size_t first;              // the granule that their distances are from
  uint32_t warp;
  uint16_t site;
};

struct SharedShadow {
  std::vector<uint32_t> writer, reader;            // by granule
  std::vector<uint16_t> writer_site, reader_site;  // index in Program::sites, or kNoSite
  std::vector<SharedLine> lines;
  unsigned granule_shift = 2;
  uint32_t watched_bytes = 0;  // what lies behind is the system's: has values, and is in no race
  uint32_t born = 1;           // entries stamped below are of an earlier block
  uint32_t barrier_stamp = 1;  // accesses stamped below are ordered before everything now
  uint32_t clock = 1;
  bool out_of_stamps = false;        // until the next barrier nothing can be told apart
  bool fences = false;               // the kernel has fences: strong accesses may order others
  std::vector<uint32_t> warp_stamp;  // by warp: its last bar.warp.sync
  std::vector<uint32_t> met;         // [warp * warps + other]: others' accesses stamped below are ordered
  unsigned warps = 0;
  std::map<uint32_t, Released> released;  // by the mbarrier object's offset
  std::vector<PendingCopies> copies;      // by warp; empty: no cp.async
  static constexpr size_t kMostLate = 1024;
  std::vector<LateRead> late;  // since the last barrier; the clock stands still while there are any
  bool reads_wait = true;      // in this launch no write has come yet while there were late reads

  // For a new block.
  void reset(uint64_t bytes, unsigned warp_count, unsigned shift);
  // Is all that orders two warps of this block barriers of the whole block? Global memory is judged by those
  // only.
  bool tells_warps_apart() const { return !fences && met.empty(); }
  void exempt_from(uint32_t offset) { watched_bytes = offset; }
  void barrier_of_all();
  void barrier_of(const std::vector<uint32_t>& members);  // warps that met at a named barrier
  void warp_sync(uint32_t warp);
  // cp.async: lanes of a warp copy `bytes` to their offsets; close their group; wait until `left` of their
  // groups are under way at most (kAllCopies: nothing is, closed or not).
  static constexpr uint32_t kAllCopies = ~0u;
  void begin_copies(uint32_t warp, LaneMask lanes, const uint32_t* offset, unsigned bytes);
  void commit_copies(uint32_t warp, LaneMask lanes);
  void finish_copies(uint32_t warp, LaneMask lanes, uint32_t left);
  void tick();  // the next stamp
  // Brings late reads to the words: before anything but a read is looked at, and before the clock moves.
  void settle() {
    if (late.empty()) return;
    reads_wait = false;
    mark_late_reads();
  }
  void mark_late_reads();
  // The warp has met `other` (all of them: ~0u), whose accesses stamped below `stamp` are ordered from now
  // on.
  void meet(uint32_t warp, uint32_t other, uint32_t stamp);

  // Makes the bits of a line those of the time since the last barrier.
  void renew(SharedLine& line) const {
    if (line.stamp == barrier_stamp) return;
    if (line.stamp < born) line.valid = line.pending = 0;
    line.stamp = barrier_stamp;
    line.written = line.read = line.many = 0;
  }

  // A read by `who` (a thread of the warp, or several) of a granule that has a value and that nobody has
  // written since the barrier, or `who` itself has.
  void mark_read(size_t granule, uint32_t who, uint32_t warp, uint16_t site) {
    SharedLine& line = lines[granule / 32];
    const uint32_t bit = 1u << (granule % 32), several = kManyLanes + warp;
    if (line.read & bit) {
      const uint32_t r = reader[granule], by = r & kWhoMask;
      const bool own = (by < kManyLanes && by / kWarpSize == warp) || by == several;
      if (r >= barrier_stamp << kWhoBits && by != who && !(own && r < warp_stamp[warp] << kWhoBits))
        who = own ? several : kManyWarps;
      if (who == kManyWarps) line.many |= bit & ~line.written;
    }
    reader[granule] = clock << kWhoBits | who;
    reader_site[granule] = site;
    line.read |= bit;
  }

  // An atomic of the warp on a granule that has a value and that only atomics touched since the last barrier.
  // False where that is not so: the full check has to look at it. No read is late (settle).
  bool add_atomic(uint32_t granule, uint32_t warp, uint32_t site) {
    SharedLine& line = lines[granule / 32];
    const uint32_t bit = 1u << (granule % 32);
    renew(line);
    uint32_t& e = writer[granule];
    const uint32_t who = e & kWhoMask, mine = kAtomicBy + warp;
    uint32_t next = mine;
    if (!(line.valid & bit) || (line.read & bit)) return false;
    if (line.written & bit) {
      if (who < kAtomicBy || who > kAtomicMany) return false;
      if (who != mine) next = kAtomicMany;
    }
    e = clock << kWhoBits | next;
    writer_site[granule] = static_cast<uint16_t>(site < kNoSite ? site : kNoSite);
    line.written |= bit;
    line.many &= ~bit;
    return true;
  }
};

// A granule's byte in GlobalCell::last: 0, or what was done to it since the block's last barrier, and by
// which warp.
inline constexpr uint8_t kReadBy = 1 << 5, kReadByMany = 2 << 5, kWrittenBy = 3 << 5, kKindBits = 7 << 5;

struct alignas(32) GlobalCell {
  uint32_t block = 0;   // number + 1 of the block that came last; 0: untouched
  uint32_t stamp = 0;   // barrier_stamp of that block for which `last` holds
  uint64_t last = 0;    // a byte a granule
  uint32_t detail = 0;  // index + 1 in GlobalShadow::details
  uint16_t writer_site = kNoSite, reader_site = kNoSite;  // kNoSite where several
  uint8_t written = 0, read = 0;  // by `block`, a bit a granule; of no meaning where there is a detail
};

struct GlobalDetail {
  uint32_t writer[8] = {}, reader[8] = {};  // number + 1 of a block; kManyBlocks
  uint32_t writer_stamp[8] = {},
           reader_stamp[8] = {};  // when, by that block's clock (exact where keeps_times)
  uint16_t writer_site[8], reader_site[8];
};

struct GlobalLine {
  uint32_t block = 0;  // number + 1; 0: untouched
  uint32_t who = 0;    // barrier_stamp << kWhoBits | warp
  uint32_t written = 0, read = 0;
  uint16_t writer_site = kNoSite, reader_site = kNoSite;
  uint32_t cells = 0;  // 1 + a fourth of the index in GlobalShadow::cells of its four; 0: has none
};

struct GlobalShadow {
  LazyWords<GlobalLine> lines;
  uint64_t line_count = 0;
  LazyWords<GlobalCell> cells;  // in the order in which lines came to need them
  uint32_t lines_with_cells = 0;
  std::vector<GlobalDetail> details;
  unsigned granule_shift = 2;
  bool keeps_times =
      false;  // blocks may be ordered: every granule with cells keeps the times of its accesses

  void make(uint64_t bytes, unsigned shift, bool times, SpareBlocks& spare);
  void give_back(SpareBlocks& spare);   // leaves no shadow
  GlobalCell* cells_of(uint64_t line);  // its four, made if it has none
  explicit operator bool() const { return static_cast<bool>(lines); }
};

// Puts a new shadow beside a buffer of the worker: nothing has come to it yet.
void watch_buffer(Worker& worker, size_t buffer);

// Names the race's other access where its instruction is known.
void name_other(Warp& warp, profile::Fault& fault, uint16_t site);

// Did blocks of two workers meet in these lines? One shadow of the same buffer from each worker; empty ones
// are left out.
bool workers_conflict(const std::vector<const GlobalShadow*>& shadows, uint64_t first_line,
                      uint64_t last_line);

// Bits of Buffer::written, a bit a byte: were all of `bits` set? Sets them if `write`. Workers share the
// words.
inline bool mark_values(uint64_t& word, uint64_t bits, bool write, bool concurrent) {
  const std::atomic_ref<uint64_t> shared(word);
  if ((shared.load(std::memory_order_relaxed) & bits) == bits) return true;
  if (write && concurrent)
    shared.fetch_or(bits, std::memory_order_relaxed);
  else if (write)
    word |= bits;
  return false;
}

enum class Order : uint8_t { weak, strong, atomic };  // strong: volatile, relaxed, acquire, release

// The full check of a shared access, lane by lane. `offset` is each lane's. Reports faults. `values`, where
// known, are what a store writes: threads that write the same value to one place (a flag that several raise)
// do no harm to each other. `site` is the access's index in Program::sites.
struct StoredValues;
void check_shared(Warp& warp, const MicroOp* op, uint32_t site, const uint32_t* offset, LaneMask mask,
                  unsigned width_bytes, bool read, bool write, Order order,
                  const StoredValues* values = nullptr);

// The full check of a global access: values never written, and writes that meet another block's accesses or
// another warp's. `values`: as above.
struct LaneTarget;
void check_global_lanes(Warp& warp, const MicroOp* op, const LaneTarget* target, LaneMask mask,
                        unsigned width_bytes, bool read, bool write, bool atomic,
                        const StoredValues* values = nullptr);

}  // namespace fullwarp::exec

// The full checks of shared memory: the shadow beside it (race.h), what is ordered, what is reported.
// race_global.cpp has global memory.
#include "exec/race.h"

#include <algorithm>

#include "exec/access.h"
#include "exec/memory_ops.h"
#include "exec/worker.h"

namespace fullwarp::exec {

using profile::FaultKind;

void SharedShadow::reset(uint64_t bytes, unsigned warp_count, unsigned shift) {
  granule_shift = shift;
  watched_bytes = static_cast<uint32_t>(bytes);
  // A row of the widest pattern may be read past the end.
  const size_t granules = (bytes >> shift) + 1 + 2 * kWarpSize;
  if (writer.size() != granules || warps != warp_count || clock >= kLastStamp / 2) {
    writer.assign(granules, 0);
    reader.assign(granules, 0);
    writer_site.assign(granules, kNoSite);
    reader_site.assign(granules, kNoSite);
    lines.assign(granules / 32 + 2, {});
    warps = warp_count;
    clock = 0;
  }
  born = barrier_stamp = ++clock;
  out_of_stamps = false;
  warp_stamp.assign(warp_count, 0);
  met.clear();
  if (!released.empty()) released.clear();
  copies.clear();
  late.clear();
}

void SharedShadow::mark_late_reads() {
  for (const LateRead& read : late) {
    const Granules& g = *read.granules;
    for (unsigned k = 0; k < g.count; ++k) {
      const uint32_t who =
          g.lane[k] == Granules::kSeveralLanes ? kManyLanes + read.warp : read.warp * kWarpSize + g.lane[k];
      mark_read(read.first + static_cast<size_t>(int64_t{g.delta[k]}), who, read.warp, read.site);
    }
  }
  late.clear();
}

void SharedShadow::barrier_of_all() {
  late.clear();
  if (clock >= kLastStamp - 1) {  // start the clock again: what is written stays written, long ago
    for (uint32_t& e : writer) e = e >> kWhoBits >= born ? 1u << kWhoBits : 0;
    std::fill(reader.begin(), reader.end(), 0);
    for (SharedLine& line : lines) {
      const bool held = line.stamp >= born;
      line = {1, held ? line.valid : 0, 0, 0, held ? line.pending : 0, 0};
    }
    std::fill(warp_stamp.begin(), warp_stamp.end(), 0);
    met.clear();
    born = clock = 1;
  }
  barrier_stamp = ++clock;
  out_of_stamps = false;
}

void SharedShadow::begin_copies(uint32_t warp, LaneMask lanes, const uint32_t* offset, unsigned bytes) {
  settle();
  if (copies.empty()) copies.resize(warps);
  PendingCopies& mine = copies[warp];
  for (; lanes; lanes &= lanes - 1) {
    const unsigned i = static_cast<unsigned>(std::countr_zero(lanes));
    if (uint64_t{offset[i]} + bytes > watched_bytes) continue;
    mine.copies.push_back({offset[i], mine.group[i], static_cast<uint16_t>(bytes), static_cast<uint8_t>(i)});
    for (uint32_t g = offset[i] >> granule_shift; g <= (offset[i] + bytes - 1) >> granule_shift; ++g) {
      SharedLine& line = lines[g / 32];
      renew(line);
      line.valid &= ~(1u << (g % 32));
      line.many &= ~(1u << (g % 32));
      line.pending |= 1u << (g % 32);
    }
  }
}

void SharedShadow::commit_copies(uint32_t warp, LaneMask lanes) {
  if (copies.empty()) return;
  for (; lanes; lanes &= lanes - 1) ++copies[warp].group[std::countr_zero(lanes)];
}

void SharedShadow::finish_copies(uint32_t warp, LaneMask lanes, uint32_t left) {
  if (copies.empty()) return;
  PendingCopies& mine = copies[warp];
  std::erase_if(mine.copies, [&](const PendingCopies::Copy& copy) {
    if (!((lanes >> copy.lane) & 1)) return false;
    const uint32_t closed = mine.group[copy.lane];
    if (left != kAllCopies && uint64_t{copy.group} + left >= closed) return false;
    for (uint32_t g = copy.offset >> granule_shift; g <= (copy.offset + copy.bytes - 1) >> granule_shift;
         ++g) {
      SharedLine& line = lines[g / 32];
      renew(line);
      line.valid |= 1u << (g % 32);
      line.pending &= ~(1u << (g % 32));
    }
    return true;
  });
}

void SharedShadow::tick() {
  settle();
  if (clock < kLastStamp - 1)
    ++clock;
  else
    out_of_stamps = true;
}

void SharedShadow::meet(uint32_t warp, uint32_t other, uint32_t stamp) {
  if (met.empty()) met.assign(size_t{warps} * warps, 0);
  uint32_t* mine = met.data() + size_t{warp} * warps;
  for (uint32_t by = 0; by < warps; ++by) {
    if (by == warp || (other != ~0u && by != other)) continue;
    mine[by] = std::max(mine[by], stamp);
    const uint32_t* theirs = met.data() + size_t{by} * warps;  // and whom it has met
    for (uint32_t third = 0; third < warps; ++third)
      if (third != warp) mine[third] = std::max(mine[third], theirs[third]);
  }
}

void SharedShadow::barrier_of(const std::vector<uint32_t>& members) {
  tick();
  if (met.empty()) met.assign(size_t{warps} * warps, 0);
  // Everything that a member has met is now met by all of them.
  std::vector<uint32_t> joint(warps, 0);
  for (uint32_t m : members) {
    for (uint32_t other = 0; other < warps; ++other)
      joint[other] = std::max(joint[other], met[size_t{m} * warps + other]);
  }
  for (uint32_t m : members) joint[m] = clock;
  for (uint32_t m : members) {
    std::copy(joint.begin(), joint.end(), met.begin() + static_cast<std::ptrdiff_t>(size_t{m} * warps));
    warp_stamp[m] = clock;
  }
}

void SharedShadow::warp_sync(uint32_t warp) {
  tick();
  if (warp < warp_stamp.size()) warp_stamp[warp] = clock;
}

void name_other(Warp& w, profile::Fault& fault, uint16_t site) {
  if (site != kNoSite) fault.other = w.worker->program->sites[site].instruction;
}

namespace {

bool is_atomic(uint32_t who) { return who >= kAtomicBy && who <= kAtomicMany; }
bool is_strong(uint32_t who) { return who >= kStrongBy && who < kStrongBy + kWarpSize; }

// The warp of an entry, or ~0u for several.
uint32_t warp_of(uint32_t who) {
  if (who < kManyLanes) return who / kWarpSize;
  if (who < kAtomicBy) return who - kManyLanes;
  if (who < kAtomicMany) return who - kAtomicBy;
  if (is_strong(who)) return who - kStrongBy;
  return ~0u;
}

// Is the access that `entry` records ordered before one by `thread` of `warp` now?
bool ordered(const SharedShadow& s, uint32_t entry, uint32_t warp, uint32_t thread) {
  const uint32_t stamp = entry >> kWhoBits, who = entry & kWhoMask;
  if (stamp < s.barrier_stamp || s.out_of_stamps || who == thread || is_strong(who)) return true;
  const uint32_t by = warp_of(who);
  if (by == ~0u) return !s.met.empty();  // several warps: with others met since the barrier, not known
  if (by == warp)
    return is_atomic(who) || stamp < s.warp_stamp[warp];  // which lane's atomic it was is not known
  return !s.met.empty() && stamp < s.met[size_t{warp} * s.warps + by];
}

Dim3 place_of(const Worker& k, uint32_t thread) {
  const Dim3 shape = k.program->block;
  return Dim3{thread % shape.x, thread / shape.x % shape.y, thread / shape.x / shape.y};
}

void describe_other(Warp& w, profile::Fault& fault, uint32_t entry, uint16_t site, bool other_writes) {
  const uint32_t who = entry & kWhoMask;
  fault.other_block = w.block->index;
  name_other(w, fault, site);
  const std::string verb = is_atomic(who) ? "updated atomically" : other_writes ? "written" : "read";
  if (who < kManyLanes) {
    fault.other_thread = place_of(*w.worker, who);
    fault.other_thread_known = true;
    fault.detail = verb + " by thread (" + std::to_string(fault.other_thread.x) + ", " +
                   std::to_string(fault.other_thread.y) + ", " + std::to_string(fault.other_thread.z) +
                   ") with no barrier between";
    return;
  }
  const uint32_t by = warp_of(who);
  fault.detail = verb +
                 (by == ~0u         ? " by several warps"
                  : who < kAtomicBy ? " by several lanes of warp " + std::to_string(by)
                                    : " by warp " + std::to_string(by)) +
                 " with no barrier between";
}

void describe_copy(Warp& w, profile::Fault& fault, uint32_t entry, uint16_t site) {
  const uint32_t who = entry & kWhoMask;
  fault.other_block = w.block->index;
  name_other(w, fault, site);
  fault.detail = "the cp.async that brings the value";
  if (who < kManyLanes) {
    fault.other_thread = place_of(*w.worker, who);
    fault.other_thread_known = true;
    fault.detail += " (of thread (" + std::to_string(fault.other_thread.x) + ", " +
                    std::to_string(fault.other_thread.y) + ", " + std::to_string(fault.other_thread.z) + "))";
  }
  fault.detail += " was not waited for";
}

// One lane's part of check_shared: the granules of one access.
struct SharedCheck {
  Warp& w;
  const MicroOp* op;
  uint16_t site;
  const uint32_t* offset;
  LaneMask mask;
  unsigned width;
  bool read, write;
  Order order;
  const StoredValues* values;
  SharedShadow& s;
  uint32_t stamp;  // in place

  // Does a store write what stands there already, or what the other lane of this store writes?
  bool same_value(unsigned lane, uint32_t entry) const {
    if (!values) return false;
    const uint32_t who = entry & kWhoMask;
    const bool same_warp = who < kManyLanes && who / kWarpSize == w.index;
    if (same_warp && (mask >> (who % kWarpSize)) & 1 && offset[who % kWarpSize] == offset[lane])
      return values->same(who % kWarpSize, lane);
    return values->stand_at(w.shared + offset[lane], lane);
  }

  profile::Fault& fault(FaultKind kind, unsigned lane) const {
    profile::Fault& f = report_fault(w, op, kind, lane);
    f.space = mem::AccessSpace::shared;
    f.access = order == Order::atomic ? mem::AccessKind::atomic
               : write                ? mem::AccessKind::store
                                      : mem::AccessKind::load;
    f.width_bytes = width;
    f.offset = offset[lane];
    f.address = offset[lane];
    f.object = "shared memory of the block (" + std::to_string(w.shared_bytes) + " bytes)";
    return f;
  }

  // In a kernel with fences an atomic or volatile access may pass on what its warp did before, and a later
  // one of the same place may take it over. Whether the fences stand where they must is not looked at.
  void pass_on(uint32_t entry) const {
    const uint32_t who = entry & kWhoMask;
    if (entry >> kWhoBits < s.barrier_stamp || !(is_atomic(who) || is_strong(who))) return;
    const uint32_t by = warp_of(who);
    if (by == w.index) return;
    s.meet(w.index, by, entry >> kWhoBits);
  }

  void run(unsigned lane) {
    const uint32_t thread = w.first_thread + lane;
    bool reported = false;
    for (uint32_t g = offset[lane] >> s.granule_shift; g <= (offset[lane] + width - 1) >> s.granule_shift;
         ++g) {
      uint32_t& e = s.writer[g];
      uint32_t& r = s.reader[g];
      SharedLine& line = s.lines[g / 32];
      const uint32_t bit = 1u << (g % 32);
      s.renew(line);
      if (read && !(line.valid & bit) && !reported) {
        if (line.pending & bit)
          describe_copy(w, fault(FaultKind::shared_race, lane), e, s.writer_site[g]);
        else
          fault(FaultKind::uninitialised, lane);
        reported = true;
      }
      if (s.fences && order != Order::weak) pass_on(e);
      const uint32_t who = e & kWhoMask;
      // An atomic on what its own warp stored before is let be, and the store stays on record: other warps
      // meet it.
      const bool keeps_store = order == Order::atomic && !is_atomic(who) && !is_strong(who) &&
                               warp_of(who) == w.index && e >> kWhoBits >= s.barrier_stamp;
      const bool with_writer =
          order == Order::weak || (order == Order::atomic && !is_atomic(who) && !keeps_store);
      if (with_writer && !reported && !ordered(s, e, w.index, thread) &&
          !(write && order == Order::weak && same_value(lane, e))) {
        describe_other(w, fault(FaultKind::shared_race, lane), e, s.writer_site[g], true);
        reported = true;
      }
      // An atomic on what lanes of its own warp read before is let be.
      const bool read_by_own = order == Order::atomic && warp_of(r & kWhoMask) == w.index;
      if (write && order != Order::strong && !reported && !read_by_own && !ordered(s, r, w.index, thread)) {
        describe_other(w, fault(FaultKind::shared_race, lane), r, s.reader_site[g], false);
        reported = true;
      }
      if (write) {
        uint32_t by = thread;
        if (order == Order::strong) by = kStrongBy + w.index;
        if (order == Order::atomic) {
          const bool others =
              is_atomic(who) && who != kAtomicBy + w.index && e >> kWhoBits >= s.barrier_stamp;
          by = others ? kAtomicMany : kAtomicBy + w.index;
        }
        if (!keeps_store) {
          e = stamp | by;
          s.writer_site[g] = site;
        }
        if (!(line.pending & bit)) line.valid |= bit;
        line.written |= bit;
        line.many &= ~bit;
      } else if (order == Order::weak) {
        const uint32_t by = r & kWhoMask;
        // What is ordered before this read is ordered before all that this read is.
        if (by == thread || ordered(s, r, w.index, thread))
          r = stamp | thread;
        else
          r = stamp | (warp_of(by) == w.index ? kManyLanes + w.index : kManyWarps);
        s.reader_site[g] = site;
        line.read |= bit;
      }
    }
  }
};

}  // namespace

void check_shared(Warp& w, const MicroOp* op, uint32_t site, const uint32_t* offset, LaneMask mask,
                  unsigned width, bool read, bool write, Order order, const StoredValues* values) {
  SharedShadow& s = w.block->shadow;
  s.settle();
  if (s.fences && order != Order::weak) {  // lanes of one warp may wait for each other too
    s.tick();
    s.warp_stamp[w.index] = s.clock;
  }
  SharedCheck check{w,      op,    static_cast<uint16_t>(std::min<uint32_t>(site, kNoSite)),
                    offset, mask,  width,
                    read,   write, order,
                    values, s,     s.clock << kWhoBits};
  for (LaneMask left = mask; left; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
    if (offset[lane] + width <= s.watched_bytes) check.run(lane);
  }
}

}  // namespace fullwarp::exec

#include "exec/race.h"

#include <algorithm>
#include <cstring>

#include "exec/access.h"
#include "exec/memory_ops.h"
#include "exec/worker.h"

namespace fullwarp::exec {

using profile::FaultKind;

void SharedShadow::reset(uint64_t bytes, unsigned warp_count, unsigned shift) {
  granule_shift = shift;
  // 32 lanes of the widest access may be read past the end by a vector comparison.
  const size_t granules = (bytes >> shift) + 1 + kWarpSize;
  writer.assign(granules, 0);
  reader.assign(granules, 0);
  line_settled.assign(bytes / 128 + 8, 0);
  barrier_stamp = clock = 1;
  warps = warp_count;
  warp_stamp.assign(warp_count, 0);
  met.clear();
  released.clear();
}

void SharedShadow::exempt_from(uint32_t offset) {
  std::fill(writer.begin() + (offset >> granule_shift), writer.end(), (1u << kWhoBits) | kAtomic);
}

void SharedShadow::barrier_of_all() {
  if (clock >= kLastStamp - 1) {  // start the clock again: what is written stays written, long ago
    for (uint32_t& e : writer) e = e ? 1u << kWhoBits : 0;
    std::fill(reader.begin(), reader.end(), 0);
    std::fill(warp_stamp.begin(), warp_stamp.end(), 0);
    met.clear();
    clock = 1;
    std::fill(line_settled.begin(), line_settled.end(), 0);
  }
  barrier_stamp = ++clock;
}

void SharedShadow::barrier_of(const std::vector<uint32_t>& members) {
  if (clock < kLastStamp - 1) ++clock;
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
  if (clock < kLastStamp - 1) ++clock;
  if (warp < warp_stamp.size()) warp_stamp[warp] = clock;
}

namespace {

// Is the access that `entry` records ordered before one by `thread` of `warp` now?
bool ordered(const SharedShadow& s, uint32_t entry, uint32_t warp, uint32_t thread) {
  const uint32_t stamp = entry >> kWhoBits, who = entry & kWhoMask;
  if (stamp < s.barrier_stamp || who == kAtomic) return true;
  if (who == thread) return true;
  if (who == kManyWarps) return !s.met.empty();  // several warps: with named barriers in play, not known
  const uint32_t by = who < kManyLanes ? who / kWarpSize : who - kManyLanes;
  if (by == warp) return stamp < s.warp_stamp[warp];
  return !s.met.empty() && stamp < s.met[size_t{warp} * s.warps + by];
}

void describe_other(Warp& w, profile::Fault& fault, uint32_t entry, bool other_writes) {
  const uint32_t who = entry & kWhoMask;
  fault.other_block = w.block->index;
  const Dim3 shape = w.worker->program->block;
  auto place = [&](uint32_t thread) {
    return Dim3{thread % shape.x, thread / shape.x % shape.y, thread / shape.x / shape.y};
  };
  const std::string verb = other_writes ? "written" : "read";
  if (who < kManyLanes) {
    fault.other_thread = place(who);
    fault.detail = verb + " by thread (" + std::to_string(fault.other_thread.x) + ", " +
                   std::to_string(fault.other_thread.y) + ", " + std::to_string(fault.other_thread.z) +
                   ") with no barrier between";
  } else if (who < kAtomic) {
    fault.detail = verb + " by several lanes of warp " + std::to_string(who - kManyLanes) + " with no barrier between";
  } else {
    fault.detail = verb + " by several warps with no barrier between";
  }
}

}  // namespace

void check_shared(Warp& w, const MicroOp* op, const uint32_t* offset, LaneMask mask, unsigned width, bool read,
                  bool write, bool atomic, const void* values) {
  SharedShadow& s = w.block->shadow;
  auto value_of = [&](unsigned lane) {
    return static_cast<const std::byte*>(values) + lane * (width == 8 ? 8u : 4u);
  };
  // Does a store write what stands there already, or what the other lane of this store writes?
  auto same_value = [&](unsigned lane, uint32_t entry) {
    if (!values) return false;
    const uint32_t who = entry & kWhoMask;
    const bool same_warp = who < kManyLanes && who / kWarpSize == w.index;
    if (same_warp && (mask >> (who % kWarpSize)) & 1 && offset[who % kWarpSize] == offset[lane])
      return std::memcmp(value_of(who % kWarpSize), value_of(lane), width) == 0;
    return std::memcmp(w.shared + offset[lane], value_of(lane), width) == 0;
  };
  const uint32_t stamp = s.clock << kWhoBits;
  // Two lanes of one store at one place: a race within the instruction.
  for (LaneMask left = mask; left; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
    const uint32_t thread = w.first_thread + lane;
    bool reported = false;
    if (write) s.line_settled[offset[lane] / 128] = s.line_settled[(offset[lane] + width - 1) / 128] = 0;
    for (uint32_t g = offset[lane] >> s.granule_shift; g <= (offset[lane] + width - 1) >> s.granule_shift; ++g) {
      uint32_t& e = s.writer[g];
      uint32_t& r = s.reader[g];
      auto fault = [&](FaultKind kind) -> profile::Fault& {
        profile::Fault& f = report_fault(w, op, kind, lane);
        f.space = mem::AccessSpace::shared;
        f.access = write ? mem::AccessKind::store : mem::AccessKind::load;
        f.width_bytes = width;
        f.offset = offset[lane];
        f.address = offset[lane];
        f.object = "shared memory of the block (" + std::to_string(w.shared_bytes) + " bytes)";
        reported = true;
        return f;
      };
      if (read && e == 0 && !reported) fault(FaultKind::uninitialised);
      if (atomic) {
        if (write) e = stamp | kAtomic;
        continue;
      }
      if (!reported && e != 0 && !ordered(s, e, w.index, thread) && !(write && same_value(lane, e)))
        describe_other(w, fault(FaultKind::shared_race), e, true);
      if (write) {
        if (!reported && r != 0 && !ordered(s, r, w.index, thread))
          describe_other(w, fault(FaultKind::shared_race), r, false);
        e = stamp | thread;
      } else {
        const uint32_t who = r & kWhoMask;
        // What is ordered before this read is ordered before all that this read is.
        if (r == 0 || who == thread || ordered(s, r, w.index, thread)) {
          r = stamp | thread;
        } else {
          const uint32_t by = who < kManyLanes ? who / kWarpSize : who - kManyLanes;
          r = stamp | (who < kAtomic && by == w.index ? kManyLanes + w.index : kManyWarps);
        }
      }
    }
  }
}

void unexpected_store(Warp& w, size_t buffer) {
  Worker& k = *w.worker;
  if (!k.watch_stores || k.unexpected[buffer]) return;
  k.unexpected[buffer] = true;
  k.blocks_conflict = true;  // start over, with a shadow beside it
}

void check_global_lanes(Warp& w, const MicroOp* op, const LaneTarget* target, LaneMask mask, unsigned width,
                        bool read, bool write, bool atomic) {
  Worker& k = *w.worker;
  const uint32_t me = static_cast<uint32_t>(w.block->linear) + 1;
  const bool strong = atomic || (op->flags & kStrong);
  for (LaneMask left = mask; left; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
    const LaneTarget& t = target[lane];
    const BufferView& view = k.views[static_cast<size_t>(t.buffer)];
    auto fault = [&](FaultKind kind) -> profile::Fault& {
      profile::Fault& f = report_fault(w, op, kind, lane);
      f.space = mem::AccessSpace::global;
      f.access = write ? mem::AccessKind::store : mem::AccessKind::load;
      f.width_bytes = width;
      f.buffer = static_cast<int32_t>(t.buffer);
      f.offset = static_cast<int64_t>(t.offset);
      f.address = DeviceMemory::address_of(static_cast<size_t>(t.buffer)) + t.offset;
      const Buffer& buffer = k.memory->buffer(static_cast<size_t>(t.buffer));
      f.object = "buffer " + buffer.name + " (" + std::to_string(buffer.bytes) + " bytes)";
      return f;
    };
    if (view.written) {
      bool all = true;
      for (unsigned b = 0; b < width; ++b) {
        uint64_t& word = view.written[(t.offset + b) / 64];
        const uint64_t bit = uint64_t{1} << ((t.offset + b) % 64);
        all &= (word & bit) != 0;
        if (write) word |= bit;
      }
      if (read && !all) fault(FaultKind::uninitialised);
    }
    if (!view.shadow && write && !strong) unexpected_store(w, static_cast<size_t>(t.buffer));
    if (!view.shadow || strong) continue;
    const unsigned shift = view.shadow->granule_shift;
    for (uint64_t g = t.offset >> shift; g <= (t.offset + width - 1) >> shift; ++g) {
      uint32_t& writer = view.shadow->writer[g];
      uint32_t& reader = view.shadow->reader[g];
      const bool write_met = writer != 0 && writer != me;
      const bool read_met = write && reader != 0 && reader != me;
      if (write_met || read_met) {
        k.blocks_conflict = true;
        if (!k.atomic_memory) {
          profile::Fault& f = fault(FaultKind::global_race);
          const uint32_t other = write_met ? writer : reader;
          const Dim3 grid = k.program->grid;
          if (other != kManyBlocks) {
            const uint64_t b = other - 1;
            f.other_block = {static_cast<uint32_t>(b % grid.x), static_cast<uint32_t>(b / grid.x % grid.y),
                             static_cast<uint32_t>(b / grid.x / grid.y)};
            f.detail = std::string(write_met ? "written" : "read") + " by block (" + std::to_string(f.other_block.x) +
                       ", " + std::to_string(f.other_block.y) + ", " + std::to_string(f.other_block.z) +
                       ") in the same launch";
          } else {
            f.detail = "read by several other blocks in the same launch";
          }
        }
      }
      if (write) writer = me;
      else if (read) reader = reader == 0 || reader == me ? me : kManyBlocks;
      if (write_met || read_met) break;
    }
  }
}

}  // namespace fullwarp::exec

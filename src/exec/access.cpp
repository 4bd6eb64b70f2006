#include "exec/access.h"

#include <algorithm>
#include <cstring>

namespace fullwarp::exec {

using mem::AccessKind;
using mem::AccessSpace;
using profile::FaultKind;

namespace {

profile::Fault& memory_fault(Warp& w, const MicroOp* op, FaultKind kind, unsigned lane, uint64_t address,
                             unsigned width, bool write, AccessSpace space) {
  profile::Fault& fault = report_fault(w, op, kind, lane);
  fault.address = address;
  fault.width_bytes = width;
  fault.space = space;
  fault.access = write ? AccessKind::store : AccessKind::load;
  return fault;
}

std::string bytes_text(uint64_t bytes) { return "(" + std::to_string(bytes) + " bytes)"; }

bool shared_lane(Warp& w, const MicroOp* op, unsigned lane, uint64_t address, unsigned width, bool write,
                 LaneTarget& t) {
  t.space = AccessSpace::shared;
  t.offset = address;
  if (address + width > w.shared_bytes || address > w.shared_bytes) {
    profile::Fault& fault =
        memory_fault(w, op, FaultKind::out_of_bounds, lane, address, width, write, AccessSpace::shared);
    fault.offset = static_cast<int64_t>(address);
    fault.object = "shared memory of the block " + bytes_text(w.shared_bytes);
    return false;
  }
  if (address % width != 0) {
    profile::Fault& fault =
        memory_fault(w, op, FaultKind::misaligned, lane, address, width, write, AccessSpace::shared);
    fault.offset = static_cast<int64_t>(address);
    fault.object = "shared memory of the block " + bytes_text(w.shared_bytes);
    return false;
  }
  t.data = w.shared + address;
  return true;
}

bool local_lane(Warp& w, const MicroOp* op, unsigned lane, uint64_t offset, unsigned width, bool write,
                LaneTarget& t) {
  t.space = AccessSpace::local;
  t.offset = offset;
  const bool outside = offset + width > w.frame->local_top || offset > w.frame->local_top;
  if (outside || offset % width != 0) {
    profile::Fault& fault = memory_fault(w, op, outside ? FaultKind::out_of_bounds : FaultKind::misaligned,
                                         lane, offset, width, write, AccessSpace::local);
    fault.offset = static_cast<int64_t>(offset);
    fault.object = "the thread's local memory " + bytes_text(w.frame->local_top);
    return false;
  }
  return true;
}

}  // namespace

bool resolve_lane(Warp& w, const MicroOp* op, Addressing addressing, unsigned lane, uint64_t address,
                  unsigned width, bool write, LaneTarget& t) {
  if (addressing == Addressing::shared) return shared_lane(w, op, lane, offset_of(address), width, write, t);
  if (addressing == Addressing::local) return local_lane(w, op, lane, offset_of(address), width, write, t);
  if (addressing == Addressing::generic) {
    if (window_of(address) == kSharedWindow)
      return shared_lane(w, op, lane, offset_of(address), width, write, t);
    if (window_of(address) == kLocalWindow)
      return local_lane(w, op, lane, offset_of(address), width, write, t);
  }
  t.space = AccessSpace::global;
  DeviceMemory& memory = *w.worker->memory;
  int64_t index = memory.find(address);
  const auto is_gap = [](const Buffer& b) {
    return b.bytes == 0 && b.name.empty();
  };  // before the parameters
  if (index >= 0 && is_gap(memory.buffer(static_cast<size_t>(index)))) index = -1;
  if (index < 0) {
    // Just below a buffer (a negative index) the window number is one less: name that buffer.
    const uint64_t above = window_of(address) + 1;
    const bool below = above >= kFirstBufferWindow && above - kFirstBufferWindow < memory.size() &&
                       offset_of(address) > kOffsetMask / 2;
    const bool null = window_of(address) == 0;
    profile::Fault& fault = memory_fault(w, op, null ? FaultKind::null_pointer : FaultKind::out_of_bounds,
                                         lane, address, width, write, AccessSpace::global);
    if (below) {
      fault.buffer = static_cast<int32_t>(above - kFirstBufferWindow);
      fault.offset = static_cast<int64_t>(address - (above << kWindowShift));
      const Buffer& buffer = memory.buffer(static_cast<size_t>(fault.buffer));
      fault.object = "buffer " + buffer.name + " " + bytes_text(buffer.bytes);
    } else {
      fault.offset = static_cast<int64_t>(address);
    }
    return false;
  }
  const Buffer& buffer = memory.buffer(static_cast<size_t>(index));
  t.buffer = index;
  t.offset = offset_of(address);
  // An index below 0 reaches the end of the window before: offsets there are far outside every buffer.
  FaultKind kind = FaultKind::out_of_bounds;
  bool ok = t.offset + width <= buffer.bytes;
  if (ok && t.offset % width != 0) {
    ok = false;
    kind = FaultKind::misaligned;
  }
  if (ok && write && buffer.read_only) {
    ok = false;
    kind = FaultKind::write_to_const;
  }
  if (!ok) {
    const bool negative = kind == FaultKind::out_of_bounds && t.offset > kOffsetMask / 2 &&
                          static_cast<size_t>(index) + 1 < memory.size();
    const size_t named = static_cast<size_t>(index) + (negative ? 1 : 0);
    profile::Fault& fault = memory_fault(w, op, kind, lane, address, width, write, AccessSpace::global);
    fault.buffer = static_cast<int32_t>(named);
    fault.offset = static_cast<int64_t>(address - DeviceMemory::address_of(named));
    fault.object = "buffer " + memory.buffer(named).name + " " + bytes_text(memory.buffer(named).bytes);
    return false;
  }
  t.data = buffer.data.get() + t.offset;
  return true;
}

void read_target(const Warp& w, unsigned lane, const LaneTarget& t, void* to, unsigned bytes) {
  if (t.space != AccessSpace::local) {
    std::memcpy(to, t.data, bytes);
    return;
  }
  for (unsigned k = 0; k < bytes; k += std::min(bytes, 4u))
    std::memcpy(static_cast<std::byte*>(to) + k, local_byte(w, t.offset + k, lane), std::min(bytes, 4u));
}

void write_target(Warp& w, unsigned lane, const LaneTarget& t, const void* from, unsigned bytes) {
  if (t.space != AccessSpace::local) {
    std::memcpy(t.data, from, bytes);
    return;
  }
  for (unsigned k = 0; k < bytes; k += std::min(bytes, 4u))
    std::memcpy(local_byte(w, t.offset + k, lane), static_cast<const std::byte*>(from) + k,
                std::min(bytes, 4u));
}

namespace {

// Sectors of a request that its block had loaded before, each counted once however many lanes are in it.
uint64_t sectors_loaded_before(const Worker& worker, const LaneTarget* target, LaneMask lanes) {
  const uint32_t me = static_cast<uint32_t>(worker.block->linear) + 1;
  uint64_t sectors[kWarpSize];  // an aligned access lies in one
  unsigned count = 0;
  for (LaneMask left = lanes; left; left &= left - 1) {
    const LaneTarget& t = target[static_cast<unsigned>(std::countr_zero(left))];
    const uint64_t sector = t.offset / 32;
    if (worker.coverage[static_cast<size_t>(t.buffer)].sectors[sector].loader == me)
      sectors[count++] = static_cast<uint64_t>(t.buffer) << kWindowShift | sector;
  }
  std::sort(sectors, sectors + count);
  return static_cast<uint64_t>(std::unique(sectors, sectors + count) - sectors);
}

// The widest aligned piece with which to copy on from an address.
unsigned piece(uint64_t address, unsigned left) {
  unsigned bytes = 8;
  while (bytes > left || address % bytes != 0) bytes /= 2;
  return bytes;
}

}  // namespace

bool read_memory(Warp& w, const MicroOp* op, unsigned lane, uint64_t address, void* to, unsigned bytes) {
  for (unsigned done = 0; done < bytes;) {
    const unsigned n = piece(address + done, bytes - done);
    LaneTarget t;
    if (!resolve_lane(w, op, Addressing::generic, lane, address + done, n, false, t)) return false;
    read_target(w, lane, t, static_cast<std::byte*>(to) + done, n);
    done += n;
  }
  return true;
}

bool write_memory(Warp& w, const MicroOp* op, unsigned lane, uint64_t address, const void* from,
                  unsigned bytes) {
  for (unsigned done = 0; done < bytes;) {
    const unsigned n = piece(address + done, bytes - done);
    LaneTarget t;
    if (!resolve_lane(w, op, Addressing::generic, lane, address + done, n, true, t)) return false;
    write_target(w, lane, t, static_cast<const std::byte*>(from) + done, n);
    done += n;
  }
  return true;
}

void cover_load(Worker& worker, int64_t buffer, uint64_t offset, unsigned bytes) {
  Coverage& c = worker.coverage[static_cast<size_t>(buffer)];
  const uint32_t me = static_cast<uint32_t>(worker.block->linear) + 1;
  c.ask_load(me, bytes);
  c.touch(offset, bytes);
  mark_run<false>(c.sectors.get(), offset, bytes, [&](uint64_t, SectorUse& use) { c.load_sector(use, me); });
}

void cover_store(Worker& worker, int64_t buffer, uint64_t offset, unsigned bytes) {
  Coverage& c = worker.coverage[static_cast<size_t>(buffer)];
  c.touch(offset, bytes);
  mark_run<true>(c.sectors.get(), offset, bytes, [](uint64_t, SectorUse&) {});
  c.stored_asked += bytes;
}

LaneMask access_lanes(Warp& w, const MicroOp* op, Addressing addressing, uint32_t site,
                      const uint64_t* address, LaneMask mask, unsigned width, AccessKind kind,
                      LaneTarget* target) {
  const bool write =
      kind != AccessKind::load && kind != AccessKind::matrix_load && kind != AccessKind::tensor_load;
  const bool read =
      kind != AccessKind::store && kind != AccessKind::matrix_store && kind != AccessKind::async_copy;
  const bool atomic = kind == AccessKind::atomic || kind == AccessKind::reduction;
  Worker& worker = *w.worker;
  LaneMask ok = 0;
  LaneMask in_space[3] = {};
  alignas(64) uint64_t where[kWarpSize] = {};
  for (LaneMask left = mask; left; left &= left - 1) {
    const unsigned i = static_cast<unsigned>(std::countr_zero(left));
    if (!resolve_lane(w, op, addressing, i, address[i], width, write, target[i])) continue;
    ok |= LaneMask{1} << i;
    in_space[static_cast<unsigned>(target[i].space)] |= LaneMask{1} << i;
    where[i] = target[i].space == AccessSpace::global ? address[i] : target[i].offset;
  }
  const SiteInfo* infos = worker.program->sites.data();
  for (unsigned space = 0; space < 3; ++space) {
    const LaneMask lanes = in_space[space];
    if (!lanes) continue;
    const uint32_t s = addressing == Addressing::generic ? site + (space == 0 ? 0 : space) : site;
    if (!(op->flags & kNotCounted)) {
      mem::WarpAccess access;
      std::copy(where, where + kWarpSize, access.address.begin());
      access.mask = lanes;
      access.width_bytes = width;
      access.space = static_cast<AccessSpace>(space);
      access.kind = kind;
      count_access(worker.sites[s], infos[s], access, w);
    }
    if (space == static_cast<unsigned>(AccessSpace::shared) && worker.options->check_races) {
      alignas(64) uint32_t offset[kWarpSize];
      for (unsigned i = 0; i < kWarpSize; ++i) offset[i] = static_cast<uint32_t>(where[i]);
      const Order order = atomic ? Order::atomic : op->flags & kStrong ? Order::strong : Order::weak;
      check_shared(w, op, s, offset, lanes, width, read, write, order);
    }
    if (space != static_cast<unsigned>(AccessSpace::global)) continue;
    const bool loads = read && !(op->flags & kNotCounted);
    if (loads) worker.sites[s].counters.extra_copies += sectors_loaded_before(worker, target, lanes);
    for (LaneMask left = lanes; left; left &= left - 1) {
      const unsigned i = static_cast<unsigned>(std::countr_zero(left));
      if (loads) cover_load(worker, target[i].buffer, target[i].offset, width);
      if (write) cover_store(worker, target[i].buffer, target[i].offset, width);
    }
    if (worker.options->check_races) check_global_lanes(w, op, target, lanes, width, read, write, atomic);
  }
  return ok;
}

}  // namespace fullwarp::exec

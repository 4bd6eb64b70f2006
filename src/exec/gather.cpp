#include "exec/gather.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/access.h"

namespace fullwarp::exec {

using mem::AccessCost;
using mem::AccessKind;
using mem::AccessSpace;

namespace {

// SectorUse::request of a line's first sector holds the number (the stamp) of the request that last came to
// the line and a bit for each of the sectors it touched there; that of the second sector, for atomics, which
// of the request's lines it was.
constexpr unsigned kLineSectors = mem::kLineBytes / mem::kSectorBytes;
constexpr uint32_t kLastStamp = (uint32_t{1} << (32 - kLineSectors)) - 1;

uint32_t next_stamp(Worker& k) {
  if (k.touch_stamp == kLastStamp) {
    k.touch_stamp = 0;
    for (size_t b = 0; b < k.coverage.size(); ++b)
      for (uint64_t sector = 0; sector < Coverage::sector_count(k.views[b].bytes); ++sector)
        if (k.coverage[b].sectors[sector].request) k.coverage[b].sectors[sector].request = 0;
  }
  return ++k.touch_stamp;
}

// What one request counts in one buffer. Kept in locals (nothing here is reached through memory that a store
// could change), and without branches: which lanes share a sector cannot be foretold.
struct Request {
  SectorUse* sectors_of_buffer;
  uint32_t stamp;  // above the sectors' bits
  uint32_t me;     // the block + 1
  uint32_t sectors = 0, lines = 0, loaded_before = 0, new_to_block = 0;

  template <bool kLoads, bool kStores>
  void add(uint64_t sector) {
    SectorUse* const use = sectors_of_buffer + sector;
    SectorUse* const line = sectors_of_buffer + sector / kLineSectors * kLineSectors;
    const uint32_t word = line->request, here = 1u << (sector % kLineSectors);
    const uint32_t new_line = (word ^ stamp) >> kLineSectors != 0;
    const uint32_t seen = new_line ? stamp : word, fresh = (seen & here) == 0;
    line->request = seen | here;
    if constexpr (kLoads && kStores) line[1].request = new_line ? lines : line[1].request;
    lines += new_line;
    sectors += fresh;
    if constexpr (kLoads) {
      const uint32_t other = use->loader != me;
      use->loader = me;
      new_to_block += other;
      loaded_before += fresh & ~other;
    }
  }

  // The lanes of the buffer, `starts` of which do not go on where the one before them ends.
  template <bool kLoads, bool kStores>
  void add_lanes(const uint64_t* address, LaneMask lanes, LaneMask starts, unsigned width) {
    if (std::popcount(starts) * 4 > std::popcount(lanes) * 3) {
      const uint32_t bits = sector_bits(0, width - 1);
      for (LaneMask left = lanes; left; left &= left - 1) {
        const uint64_t offset = offset_of(address[std::countr_zero(left)]);
        SectorUse& use = sectors_of_buffer[offset / mem::kSectorBytes];
        if constexpr (kLoads) use.loaded |= bits << (offset % mem::kSectorBytes);
        if constexpr (kStores) use.stored |= bits << (offset % mem::kSectorBytes);
        add<kLoads, kStores>(offset / mem::kSectorBytes);
      }
      return;
    }
    for (LaneMask left = starts; left; left &= left - 1) {
      const unsigned i = static_cast<unsigned>(std::countr_zero(left));
      const LaneMask behind = (starts | ~lanes) & ~(((LaneMask{1} << i) << 1) - 1);
      const unsigned last = behind ? static_cast<unsigned>(std::countr_zero(behind)) - 1 : kWarpSize - 1;
      const uint64_t from = offset_of(address[i]), bytes = offset_of(address[last]) + width - from;
      if constexpr (kLoads && kStores)
        mark_run<true>(sectors_of_buffer, from, bytes, [](uint64_t, SectorUse&) {});
      mark_run<!kLoads>(sectors_of_buffer, from, bytes,
                        [&](uint64_t sector, SectorUse&) { add<kLoads, kStores>(sector); });
    }
  }
};

// Atomics work on a sector once for each lane that shares an address there (an H200's counters): the most
// lanes at one address, added over the sectors.
struct SharedAddresses {
  static constexpr unsigned kUnits = mem::kLineBytes / 2;  // atomics are 2 bytes wide at least
  uint8_t lanes_at[kWarpSize][kUnits];
  uint8_t most[kWarpSize][kLineSectors];
  uint32_t sum = 0;

  explicit SharedAddresses(uint32_t lines) {
    std::memset(lanes_at, 0, lines * sizeof lanes_at[0]);
    std::memset(most, 0, lines * sizeof most[0]);
  }
  void add(const Coverage& c, const uint64_t* address, LaneMask lanes) {
    for (LaneMask left = lanes; left; left &= left - 1) {
      const uint64_t offset = offset_of(address[std::countr_zero(left)]), line = offset / mem::kLineBytes;
      const uint32_t slot = c.sectors[line * kLineSectors + 1].request;
      uint8_t& here = lanes_at[slot][offset % mem::kLineBytes / 2];
      uint8_t& most_here = most[slot][offset / mem::kSectorBytes % kLineSectors];
      const bool more = ++here > most_here;
      most_here = static_cast<uint8_t>(most_here + more);
      sum += more;
    }
  }
};

// The lanes of `rest` that lie in the first one's buffer become a group. False if one of them faults.
bool find_group(const Warp& w, const uint64_t* address, LaneMask& rest, unsigned width, bool write,
                Gather& g) {
  const uint64_t first = address[std::countr_zero(rest)];
  const uint64_t window = window_of(first) - kFirstBufferWindow;
  if (window >= w.view_count || g.groups == Gather::kMaxGroups) return false;
  const BufferView& view = w.views[window];
  if ((write && view.read_only) || view.bytes < width) return false;
  const uint64_t start = window_of(first) << kWindowShift, part = width - 1;
  const int64_t last = static_cast<int64_t>(view.bytes - width);
  std::byte* const data = view.data;
  // Branch-free, by 64-bit lanes: `here` and `bad` are all ones or 0. An offset of the right window is
  // positive.
  alignas(64) int64_t here[kWarpSize];
  uint64_t bad = 0;
  for (unsigned i = 0; i < kWarpSize; ++i) {
    const int64_t on = -static_cast<int64_t>((rest >> i) & 1);
    const uint64_t offset = address[i] - start;
    const int64_t in = on & -static_cast<int64_t>((offset >> kWindowShift) == 0);
    here[i] = in;
    bad |= static_cast<uint64_t>(in & (-static_cast<int64_t>(static_cast<int64_t>(offset) > last) |
                                       static_cast<int64_t>(offset & part)));
  }
  if (bad) return false;
  LaneMask lanes = 0;
  for (unsigned i = 0; i < kWarpSize; ++i) lanes |= static_cast<LaneMask>(here[i] & 1) << i;
  const uint64_t to_host = reinterpret_cast<uint64_t>(data) - start;
  if (g.groups == 0) {
    for (unsigned i = 0; i < kWarpSize; ++i) {
      const uint64_t in = static_cast<uint64_t>(here[i]);
      g.address[i] = (address[i] & in) | (first & ~in);
      g.place[i] = g.address[i] + to_host;
    }
  } else {
    for (unsigned i = 0; i < kWarpSize; ++i) {
      const uint64_t in = static_cast<uint64_t>(here[i]);
      g.address[i] = (address[i] & in) | (g.address[i] & ~in);
      g.place[i] = ((address[i] + to_host) & in) | (g.place[i] & ~in);
    }
  }
  g.group[g.groups++] = {&view, window, lanes};
  rest &= ~lanes;
  return true;
}

template <bool kLoads, bool kStores>
Request cover_groups(Worker& k, const Gather& g, LaneMask starts, unsigned width) {
  Request request{nullptr, next_stamp(k) << kLineSectors, static_cast<uint32_t>(k.block->linear) + 1};
  for (unsigned n = 0; n < g.groups; ++n) {
    const Gather::Group& group = g.group[n];
    Coverage& c = k.coverage[group.buffer];
    const uint64_t bytes = uint64_t{lane_count(group.lanes)} * width;
    c.scattered = true;
    if constexpr (kLoads) c.ask_load(request.me, bytes);
    if constexpr (kStores) c.stored_asked += bytes;
    Request here = request;
    here.sectors_of_buffer = c.sectors.get();
    here.add_lanes<kLoads, kStores>(g.address, group.lanes, starts & group.lanes, width);
    c.load_sectors_of_blocks += here.new_to_block - request.new_to_block;
    request = here;
  }
  return request;
}

}  // namespace

bool find_lanes(const Warp& w, const uint64_t* address, LaneMask mask, unsigned width, bool write,
                Gather& g) {
  g.groups = 0;
  for (LaneMask rest = mask; rest;)
    if (!find_group(w, address, rest, width, write, g)) return false;
  return true;
}

void count_gather(Warp& w, Site& s, const SiteInfo& info, const Gather& g, LaneMask mask, unsigned width,
                  AccessKind kind) {
  Worker& k = *w.worker;
  const bool atomic = kind == AccessKind::atomic || kind == AccessKind::reduction;
  const uint32_t lanes = lane_count(mask), bytes = lanes * width;
  const LaneMask starts = run_starts(g.address, mask, width);
  const Request count = atomic                     ? cover_groups<true, true>(k, g, starts, width)
                        : kind == AccessKind::load ? cover_groups<true, false>(k, g, starts, width)
                                                   : cover_groups<false, true>(k, g, starts, width);
  s.counters.extra_copies += count.loaded_before;
  if (!info.counted || info.machine_width_bytes == 0) return;  // counted with another instruction
  const auto exact_access = [&] {
    mem::WarpAccess access;
    std::copy(g.address, g.address + kWarpSize, access.address.begin());
    access.mask = mask;
    access.width_bytes = width;
    access.space = AccessSpace::global;
    access.kind = kind;
    return access;
  };
  if (!info.as_written(width)) {
    count_access(s, info, exact_access(), w);
    return;
  }
  AccessCost cost;
  cost.requests = 1;
  cost.sectors = count.sectors;
  cost.ideal_sectors = std::min(count.sectors, (bytes + mem::kSectorBytes - 1) / mem::kSectorBytes);
  cost.lines = count.lines;
  if (atomic) {
    SharedAddresses shared(count.lines);
    for (unsigned n = 0; n < g.groups; ++n)
      shared.add(k.coverage[g.group[n].buffer], g.address, g.group[n].lanes);
    cost.atomic_sectors = shared.sum;
  }
  add_request(s, cost, lanes, width);
  uint64_t apart = 0;
  for (unsigned i = 1; i < kWarpSize; ++i) apart |= g.address[i] ^ g.address[0];
  s.counters.uniform_requests += apart == 0;
  const bool costlier = !s.counters.example.valid || cost.sectors - cost.ideal_sectors > s.example_excess;
  const bool runs = cost.sectors >= 2 && comes_in_runs(starts, mask);
  if (!costlier && !runs) return;
  const mem::WarpAccess access = exact_access();
  if (runs) s.counters.misaligned_requests += one_sector_more(access, cost);
  if (costlier) consider_example(s, access, cost, *k.program, occurrence(w));
}

void check_gather(Warp& w, const MicroOp* op, const Gather& g, LaneMask mask, unsigned width, bool write) {
  bool any = write;
  for (unsigned n = 0; n < g.groups; ++n) any |= g.group[n].view->written || g.group[n].view->shadow;
  if (!any) return;
  LaneTarget target[kWarpSize];
  for (unsigned n = 0; n < g.groups; ++n) {
    const Gather::Group& group = g.group[n];
    for (LaneMask left = group.lanes; left; left &= left - 1) {
      LaneTarget& t = target[std::countr_zero(left)];
      t.offset = offset_of(g.address[std::countr_zero(left)]);
      t.buffer = static_cast<int64_t>(group.buffer);
      t.data = group.view->data + t.offset;
    }
  }
  const StoredValues values = stored_values(w, op, write, width);
  check_global_lanes(w, op, target, mask, width, !write, write, false, &values);
}

}  // namespace fullwarp::exec

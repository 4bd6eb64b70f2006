#include "exec/site.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>

#include "exec/worker.h"

namespace fullwarp::exec {
namespace {

using mem::AccessCost;
using mem::AccessSpace;

AccessCost cost_of(const mem::WarpAccess& access) {
  return access.space == AccessSpace::shared ? mem::shared_cost(access) : mem::global_cost(access);
}

uint64_t excess(const AccessCost& cost, AccessSpace space) {
  return space == AccessSpace::shared ? cost.wavefronts - std::min(cost.wavefronts, cost.ideal_wavefronts)
                                      : cost.sectors - std::min(cost.sectors, cost.ideal_sectors);
}

}  // namespace

void add_request(Site& s, const AccessCost& cost, uint32_t lanes, uint32_t width, uint64_t times) {
  profile::MemoryCounters& c = s.counters;
  c.requests += cost.requests * times;
  c.lanes += lanes * times;
  c.bytes_asked += uint64_t{lanes} * width * times;
  c.sectors += cost.sectors * times;
  c.ideal_sectors += cost.ideal_sectors * times;
  c.lines += cost.lines * times;
  c.wavefronts += cost.wavefronts * times;
  c.ideal_wavefronts += cost.ideal_wavefronts * times;
  c.least_wavefronts += cost.least_wavefronts * times;
  c.atomic_sectors += cost.atomic_sectors * times;
}

bool comes_before(const Dim3& block, const Dim3& other) {
  return std::tuple(block.z, block.y, block.x) < std::tuple(other.z, other.y, other.x);
}

void consider_example(Site& s, const mem::WarpAccess& access, const AccessCost& cost, const Program& program,
                      const Occurrence& by) {
  const uint64_t waste = excess(cost, s.space);
  profile::AccessExample& example = s.counters.example;
  if (example.valid && waste < s.example_excess) return;
  const Dim3 grid = program.grid;
  const Dim3 block = {static_cast<uint32_t>(by.block % grid.x),
                      static_cast<uint32_t>(by.block / grid.x % grid.y),
                      static_cast<uint32_t>(by.block / grid.x / grid.y)};
  // Of equals the first access of the first block: a pattern's come late, when it ends.
  if (example.valid && waste == s.example_excess &&
      (comes_before(example.block, block) ||
       (!comes_before(block, example.block) && s.example_when <= by.when)))
    return;
  s.example_excess = waste;
  s.example_when = by.when;
  example.valid = true;
  example.access = access;
  example.block = block;
  example.warp = by.warp;
  example.buffer = -1;
  if (s.space == AccessSpace::global && access.mask) {
    const unsigned first = static_cast<unsigned>(std::countr_zero(access.mask));
    example.buffer = static_cast<int32_t>(program.memory->find(access.address[first]));
    for (unsigned i = 0; i < kWarpSize; ++i)
      example.buffer_offset[i] = static_cast<int64_t>(offset_of(access.address[i]));
  }
}

bool one_sector_more(const mem::WarpAccess& access, const AccessCost& cost) {
  if (access.space != AccessSpace::global || cost.sectors < 2) return false;
  uint64_t lowest = ~uint64_t{0};
  for (LaneMask left = access.mask; left; left &= left - 1)
    lowest = std::min(lowest, access.address[static_cast<unsigned>(std::countr_zero(left))]);
  const uint64_t past = lowest % mem::kSectorBytes;
  if (past == 0 ||
      !comes_in_runs(run_starts(access.address.data(), access.mask, access.width_bytes), access.mask))
    return false;
  mem::WarpAccess aligned = access;
  for (uint64_t& a : aligned.address) a -= past;
  return mem::global_cost(aligned).sectors + 1 == cost.sectors;
}

void flush_site(Site& s, const SiteInfo& info, const Program& program) {
  if (s.pending == 0) return;
  if (s.space != AccessSpace::global) s.hits[0] = s.pending;
  s.pending = 0;
  if (!info.counted || info.machine_width_bytes == 0) {
    std::fill(std::begin(s.hits), std::end(s.hits), 0);
    return;
  }
  const unsigned first = static_cast<unsigned>(std::countr_zero(s.mask));
  for (unsigned k = 0; k < 32; ++k) {
    const uint64_t times = s.hits[k];
    if (times == 0) continue;
    s.hits[k] = 0;
    mem::WarpAccess access;
    access.mask = s.mask;
    access.width_bytes = info.machine_width_bytes;
    access.space = s.space;
    access.kind = info.kind;
    // A base of the right alignment, near the first one seen, so that the example shows real addresses.
    const bool global = s.space == AccessSpace::global;
    const Site::Hit& seen = global ? s.first_hit[k] : s.first;
    const uint64_t base = (seen.base & ~uint64_t{127}) + (global ? 4 * k + s.low_bits : seen.base & 127) +
                          static_cast<uint64_t>(static_cast<int64_t>(info.machine_offset));
    for (unsigned i = 0; i < kWarpSize; ++i)
      access.address[i] = base + static_cast<uint64_t>((s.mask >> i) & 1 ? s.delta[i] : s.delta[first]);
    const AccessCost cost = cost_of(access);
    add_request(s, cost, s.lanes, access.width_bytes, times);
    if (info.split_offset != mem::MachineAccess::kNoSplit) {
      mem::WarpAccess second = access;
      for (uint64_t& a : second.address)
        a += static_cast<uint64_t>(static_cast<int64_t>(info.split_offset - info.machine_offset));
      add_request(s, cost_of(second), s.lanes, second.width_bytes, times);
    }
    if (s.pattern == Pattern::uniform) s.counters.uniform_requests += times;
    if (one_sector_more(access, cost)) s.counters.misaligned_requests += times;
    consider_example(s, access, cost, program, seen.by);
  }
}

void drop_pattern(Site& s, const SiteInfo& info, const Program& program) {
  flush_site(s, info, program);
  s.pattern = Pattern::none;
  s.mask = 0;
}

void give_examples(std::vector<Site>& sites, const Program& program, std::vector<KeptExample>& to) {
  for (size_t k = 0; k < sites.size(); ++k) {
    Site& s = sites[k];
    drop_pattern(s, program.sites[k], program);
    if (s.counters.example.valid) to.push_back({k, s.counters.example, s.example_excess});
    s.counters.example.valid = false;
    s.example_excess = 0;
  }
}

void count_access(Site& s, const SiteInfo& info, const mem::WarpAccess& from, const Warp& w) {
  if (!info.counted || info.machine_width_bytes == 0 || from.mask == 0) return;
  mem::WarpAccess access = from;
  access.kind = info.kind;
  access.width_bytes = info.machine_width_bytes;
  for (uint64_t& a : access.address) a += static_cast<uint64_t>(static_cast<int64_t>(info.machine_offset));
  s.space = access.space;
  const AccessCost cost = cost_of(access);
  add_request(s, cost, lane_count(access.mask), access.width_bytes, 1);
  if (info.split_offset != mem::MachineAccess::kNoSplit) {
    mem::WarpAccess second = access;
    for (uint64_t& a : second.address)
      a += static_cast<uint64_t>(static_cast<int64_t>(info.split_offset - info.machine_offset));
    add_request(s, cost_of(second), lane_count(second.mask), second.width_bytes, 1);
  }
  const unsigned first = static_cast<unsigned>(std::countr_zero(access.mask));
  bool uniform = true;
  for (LaneMask left = access.mask; left; left &= left - 1)
    uniform &= access.address[static_cast<unsigned>(std::countr_zero(left))] == access.address[first];
  s.counters.uniform_requests += uniform;
  s.counters.misaligned_requests += one_sector_more(access, cost);
  if (!s.counters.example.valid || excess(cost, s.space) > s.example_excess)
    consider_example(s, access, cost, *w.worker->program, occurrence(w));
}

void list_runs(Site& s, unsigned width) {
  int32_t start[kWarpSize];
  unsigned count = 0;
  for (LaneMask left = s.mask; left; left &= left - 1) start[count++] = s.delta32[std::countr_zero(left)];
  std::sort(start, start + count);
  s.run_count = 0;
  for (unsigned k = 0; k < count; ++k) {
    if (s.run_count > 0) {
      const int16_t last = static_cast<int16_t>(s.run_count - 1);
      const int64_t end = s.run_start[last] + static_cast<int64_t>(s.run_bytes[last]);
      if (start[k] <= end) {
        const int64_t reach = std::max(end, static_cast<int64_t>(start[k]) + width);
        s.run_bytes[last] = static_cast<uint32_t>(reach - s.run_start[last]);
        continue;
      }
    }
    s.run_start[s.run_count] = start[k];
    s.run_bytes[s.run_count++] = width;
  }
}

template <class Address>
bool set_pattern(Site& s, const SiteInfo& info, AccessSpace space, const Address* address, LaneMask mask,
                 uint32_t width, const Warp& w) {
  if (mask == 0) return false;
  drop_pattern(s, info, *w.worker->program);
  ++s.version;
  const unsigned first = static_cast<unsigned>(std::countr_zero(mask));
  const uint64_t base = address[first];
  int64_t lowest = 0, highest = 0;
  bool uniform = true, contiguous = true;
  int64_t low_bits = 0;
  for (unsigned i = 0; i < kWarpSize; ++i) {
    const bool on = (mask >> i) & 1;
    const int64_t delta = on ? static_cast<int64_t>(uint64_t{address[i]} - base) : 0;
    s.delta[i] = delta;
    if (!on) continue;
    lowest = std::min(lowest, delta);
    highest = std::max(highest, delta);
    low_bits |= delta;
    uniform &= delta == 0;
    contiguous &=
        delta == (static_cast<int64_t>(i) - static_cast<int64_t>(first)) * static_cast<int64_t>(width);
  }
  constexpr int64_t kFar = int64_t{1} << 30;
  if (lowest < -kFar || highest > kFar) return false;
  for (unsigned i = 0; i < kWarpSize; ++i) s.delta32[i] = static_cast<int32_t>(s.delta[i]);
  s.granules.form = Granules::Form::unknown;
  s.run_count = -1;
  s.mask = mask;
  s.space = space;
  s.lanes = lane_count(mask);
  s.lowest = lowest;
  s.end = highest + width;
  s.aligned = low_bits % static_cast<int64_t>(width) == 0;
  s.low_bits = static_cast<uint8_t>(base & 3);
  s.pattern = uniform                           ? Pattern::uniform
              : contiguous && mask == kFullMask ? Pattern::contiguous
                                                : Pattern::scattered;
  for (unsigned g = 0; g < kGroups; ++g) {
    bool same = mask == kFullMask, run = same;
    const int64_t* d = s.delta + g * kGroupLanes;
    for (unsigned i = 1; i < kGroupLanes; ++i) {
      same &= d[i] == d[0];
      run &= d[i] == d[0] + static_cast<int64_t>(i) * static_cast<int64_t>(width);
    }
    s.group[g] = same ? Pattern::uniform : run ? Pattern::contiguous : Pattern::scattered;
  }
  s.first = {base, occurrence(w)};
  return true;
}

template bool set_pattern<uint32_t>(Site&, const SiteInfo&, AccessSpace, const uint32_t*, LaneMask, uint32_t,
                                    const Warp&);
template bool set_pattern<uint64_t>(Site&, const SiteInfo&, AccessSpace, const uint64_t*, LaneMask, uint32_t,
                                    const Warp&);

}  // namespace fullwarp::exec

#include "rules/global_pattern.h"

#include <bit>
#include <map>
#include <set>
#include <tuple>

#include "rules/source_text.h"
#include "rules/text.h"

namespace fullwarp::rules {

std::optional<int64_t> lane_stride(const mem::WarpAccess& access) {
  std::optional<int64_t> stride;
  unsigned pairs = 0;
  for (unsigned lane = 1; lane < kWarpSize; ++lane) {
    if (!(access.mask >> lane & 1) || !(access.mask >> (lane - 1) & 1)) continue;
    const int64_t step = static_cast<int64_t>(access.address[lane] - access.address[lane - 1]);
    if (stride && *stride != step) return {};
    stride = step;
    ++pairs;
  }
  return pairs >= 2 ? stride : std::nullopt;
}

std::optional<int64_t> usual_stride(const mem::WarpAccess& access) {
  std::map<int64_t, unsigned> counts;
  unsigned pairs = 0;
  for (unsigned lane = 1; lane < kWarpSize; ++lane) {
    if (!(access.mask >> lane & 1) || !(access.mask >> (lane - 1) & 1)) continue;
    ++counts[static_cast<int64_t>(access.address[lane] - access.address[lane - 1])];
    ++pairs;
  }
  for (const auto& [stride, count] : counts)
    if (pairs >= 2 && 3 * count >= 2 * pairs) return stride;
  return {};
}

double sector_ratio(const AccessSums& sums) {
  return sums.ideal_sectors ? static_cast<double>(sums.sectors) / static_cast<double>(sums.ideal_sectors) : 1;
}

namespace {

// A matrix's columns are many rows apart; a struct larger than this is not what the rule is about.
constexpr int64_t kMaxStructBytes = 512;

// `particles[i].x` or `p->x`: the source itself says that it is a member.
bool reads_member(std::string_view line, uint32_t column_after_name) {
  bool subscript = false;
  for (size_t i = column_after_name; i < line.size(); ++i) {
    if (line[i] == '[') {
      subscript = true;
      int depth = 0;
      for (; i < line.size(); ++i) {
        if (line[i] == '[') ++depth;
        if (line[i] == ']' && --depth == 0) break;
      }
      continue;
    }
    return (subscript && line[i] == '.') || (line[i] == '-' && i + 1 < line.size() && line[i + 1] == '>');
  }
  return false;
}

}  // namespace

std::vector<StructAccess> struct_accesses(Context& context) {
  struct Entry {
    StructAccess access;
    std::set<uint64_t> offsets;
    std::set<uint64_t> bytes;
    bool is_struct = false;  // the source says so
  };
  std::map<std::tuple<int32_t, std::string_view, int64_t>, Entry> entries;
  for (const AccessGroup& group : context.groups()) {
    if (group.space != mem::AccessSpace::global || verb(group.kind) == "update") continue;
    const AccessGroup* added = nullptr;
    for (const profile::MemoryCounters* counters : group.members) {
      if (!counters->example.valid || counters->example.buffer < 0) continue;
      const auto stride = lane_stride(counters->example.access);
      const uint32_t width = counters->width_bytes;
      if (!stride || *stride <= width || *stride > kMaxStructBytes) continue;
      Entry& entry = entries[{counters->example.buffer, verb(group.kind), *stride}];
      entry.access.stride_bytes = static_cast<uint32_t>(*stride);
      if (added != &group) entry.access.groups.push_back(&group);
      added = &group;
      const unsigned lane = static_cast<unsigned>(std::countr_zero(counters->example.access.mask));
      const uint64_t offset =
          static_cast<uint64_t>(counters->example.buffer_offset[lane]) % entry.access.stride_bytes;
      entry.offsets.insert(offset);
      for (uint32_t b = 0; b < width; ++b) entry.bytes.insert((offset + b) % entry.access.stride_bytes);
      if (!entry.is_struct) entry.is_struct = context.points_to_struct(group);
      const std::string name = context.name(group);
      const diag::Place at = context.place(counters->instruction);
      const std::string_view line = context.line(at);
      for (const uint32_t column : columns_of(line, name))
        entry.is_struct |= reads_member(line, column - 1 + static_cast<uint32_t>(name.size()));
    }
  }
  std::vector<StructAccess> found;
  for (auto& [key, entry] : entries) {
    // The addresses alone may as well be those of a matrix with short rows.
    if (!entry.is_struct) continue;
    entry.access.members = static_cast<uint32_t>(entry.offsets.size());
    entry.access.member_bytes = static_cast<uint32_t>(entry.bytes.size());
    found.push_back(std::move(entry.access));
  }
  return found;
}

bool is_misaligned(Context& context, const AccessGroup& group, double min_requests) {
  const AccessSums& sums = group.sums;
  if (group.space != mem::AccessSpace::global || sums.requests == 0) return false;
  if (static_cast<double>(sums.misaligned_requests) < min_requests * static_cast<double>(sums.requests))
    return false;
  if (!is_load(group.kind) || group.buffer < 0 ||
      static_cast<size_t>(group.buffer) >= context.profile.buffers.size())
    return true;
  uint64_t loaded = 0;
  for (const AccessGroup& other : context.groups())
    if (other.space == mem::AccessSpace::global && other.buffer == group.buffer && is_load(other.kind))
      loaded += other.sums.sectors;
  const uint64_t distinct = context.profile.buffers[static_cast<size_t>(group.buffer)].block_load_sectors;
  return distinct == 0 || loaded < 2 * distinct;
}

}  // namespace fullwarp::rules

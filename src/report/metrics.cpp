// Memory counters count machine accesses: an entry that the compiler merged into another one's access is
// counted there, and skipped here.
#include "report/metrics.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace fullwarp::report {

namespace {

// A launch has a dozen kinds of access at most; a sorted vector is both map and result.
void add_access(Metrics& metrics, const profile::MemoryCounters& counters) {
  if (counters.merged_into >= 0 || counters.requests == 0) return;
  const auto key = [](const auto& a) { return std::tuple(a.space, a.kind, a.width_bytes); };
  auto at = std::lower_bound(metrics.accesses.begin(), metrics.accesses.end(), counters,
                             [&](const AccessGroup& group, const auto& c) { return key(group) < key(c); });
  if (at == metrics.accesses.end() || key(*at) != key(counters))
    at = metrics.accesses.insert(at, {counters.space, counters.kind, counters.width_bytes, {}});
  at->totals +=
      {counters.requests,         counters.lanes,         counters.bytes_asked, counters.sectors,
       counters.ideal_sectors,    counters.lines,         counters.wavefronts,  counters.ideal_wavefronts,
       counters.least_wavefronts, counters.atomic_sectors};
}

void add_execution(Metrics& metrics, const ptx::Instruction& instruction,
                   const profile::ExecutionCounters& counters) {
  metrics.warp_instructions += counters.warps;
  metrics.lane_instructions += counters.lanes;
  metrics.lanes_on += counters.lanes_on;
  if (instruction.op == ptx::Op::bra || instruction.op == ptx::Op::brx) {
    metrics.branches += counters.warps;
    metrics.divergent_branches += counters.divergent;
  }
}

const ptx::Instruction* find(const ptx::Module& module, profile::InstructionId id) {
  if (id.function < 0 || static_cast<size_t>(id.function) >= module.functions.size()) return nullptr;
  const auto& instructions = module.functions[id.function].instructions;
  return id.index < instructions.size() ? &instructions[id.index] : nullptr;
}

// Calls visit(id, instruction, counters) for every instruction that executed.
template <class Visit>
void for_each_executed(const profile::KernelProfile& profile, Visit visit) {
  for (size_t f = 0; f < profile.executed.size(); ++f) {
    for (size_t i = 0; i < profile.executed[f].size(); ++i) {
      const profile::InstructionId id{static_cast<int32_t>(f), static_cast<uint32_t>(i)};
      const ptx::Instruction* instruction = find(*profile.module, id);
      if (instruction != nullptr && profile.executed[f][i].warps != 0)
        visit(id, *instruction, profile.executed[f][i]);
    }
  }
}

}  // namespace

diag::Place place_of(const ptx::Module& module, profile::InstructionId id) {
  const ptx::Instruction* instruction = find(module, id);
  if (instruction == nullptr) return {module.path, 0, 0, 0};
  if (instruction->location >= 0 && static_cast<size_t>(instruction->location) < module.locations.size()) {
    const ptx::SourceLocation& location = module.locations[instruction->location];
    if (location.line != 0 && location.file < module.files.size())
      return {std::string(module.files[location.file].name), location.line, location.column, 0};
  }
  return {module.path, instruction->line, instruction->column, 0};
}

Metrics kernel_metrics(const profile::KernelProfile& profile) {
  Metrics metrics;
  for_each_executed(profile, [&](profile::InstructionId, const auto& instruction, const auto& counters) {
    add_execution(metrics, instruction, counters);
  });
  for (const profile::MemoryCounters& counters : profile.memory) add_access(metrics, counters);
  return metrics;
}

std::vector<LineMetrics> line_metrics(const profile::KernelProfile& profile) {
  std::map<std::pair<std::string, uint32_t>, Metrics> lines;
  const auto line_of = [&](profile::InstructionId id) -> Metrics& {
    diag::Place place = place_of(*profile.module, id);
    return lines[{std::move(place.file), place.line}];
  };
  for_each_executed(profile, [&](profile::InstructionId id, const auto& instruction, const auto& counters) {
    add_execution(line_of(id), instruction, counters);
  });
  for (const profile::MemoryCounters& counters : profile.memory)
    if (counters.requests != 0 && counters.merged_into < 0)
      add_access(line_of(counters.instruction), counters);
  std::vector<LineMetrics> result;
  result.reserve(lines.size());
  for (auto& [place, metrics] : lines) result.push_back({place.first, place.second, std::move(metrics)});
  return result;
}

std::vector<Buffer> buffers_of(const profile::KernelProfile& profile) {
  std::vector<Buffer> buffers;
  buffers.reserve(profile.buffers.size());
  for (const profile::BufferCounters& b : profile.buffers) {
    const double times = b.loaded_bytes_touched == 0 ? 0.0
                                                     : static_cast<double>(b.loaded_bytes_asked) /
                                                           static_cast<double>(b.loaded_bytes_touched);
    buffers.push_back({b.name, b.bytes, b.loaded_bytes_asked, b.stored_bytes_asked, b.loaded_bytes_touched,
                       b.stored_bytes_touched, b.blocks_loading, times});
  }
  return buffers;
}

}  // namespace fullwarp::report

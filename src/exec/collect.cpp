// Adds up what the workers of a launch counted: into one profile, the same whatever their number.
#include "exec/collect.h"

#include <algorithm>
#include <map>
#include <string>

namespace fullwarp::exec {

using profile::KernelProfile;

namespace {

// Keeps the costlier example, of equals the earlier one.
void add_example(profile::MemoryCounters& to, const profile::AccessExample& from, uint64_t& best,
                 uint64_t excess) {
  if (!from.valid) return;
  if (to.example.valid && excess < best) return;
  if (to.example.valid && excess == best && !comes_before(from.block, to.example.block)) return;
  to.example = from;
  best = excess;
}

void add(profile::MemoryCounters& to, const profile::MemoryCounters& from) {
  to.requests += from.requests;
  to.lanes += from.lanes;
  to.bytes_asked += from.bytes_asked;
  to.sectors += from.sectors;
  to.ideal_sectors += from.ideal_sectors;
  to.lines += from.lines;
  to.wavefronts += from.wavefronts;
  to.ideal_wavefronts += from.ideal_wavefronts;
  to.least_wavefronts += from.least_wavefronts;
  to.atomic_sectors += from.atomic_sectors;
  to.misaligned_requests += from.misaligned_requests;
  to.extra_copies += from.extra_copies;
  to.uniform_requests += from.uniform_requests;
}

}  // namespace

KernelProfile collect(const Program& program, const DeviceMemory& memory, const Workers& workers,
                      const Sweep& sweep, const Launch& launch, uint64_t blocks_run) {
  KernelProfile profile;
  profile.module = program.module;
  profile.function = launch.function;
  profile.grid = launch.grid;
  profile.block = launch.block;
  profile.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  profile.static_shared_bytes = program.static_shared_bytes;
  profile.blocks_run = blocks_run;
  profile.executed.resize(program.functions.size());
  std::vector<BlockCounter> blocks(program.block_count);
  for (const auto& worker : workers)
    for (size_t b = 0; b < blocks.size(); ++b) {
      blocks[b].warps += worker->blocks[b].warps;
      blocks[b].lanes += worker->blocks[b].lanes;
    }
  for (const auto& f : program.functions) {
    if (!f) continue;
    profile.local_bytes_per_thread = std::max<uint64_t>(profile.local_bytes_per_thread, f->local_bytes);
    auto& executed = profile.executed[static_cast<size_t>(f->function)];
    executed.resize(f->block_of.size());
    for (size_t i = 0; i < executed.size(); ++i) {
      executed[i].warps = blocks[f->block_of[i]].warps;
      executed[i].lanes = executed[i].lanes_on = blocks[f->block_of[i]].lanes;
      profile.warp_instructions += executed[i].warps;
      profile.lane_instructions += executed[i].lanes;
    }
  }
  for (size_t g = 0; g < program.guards.size(); ++g) {
    uint64_t on = 0;
    for (const auto& worker : workers) on += worker->guard_lanes[g];
    const profile::InstructionId& id = program.guards[g];
    auto& counters = profile.executed[static_cast<size_t>(id.function)][id.index];
    profile.lane_instructions -= counters.lanes_on - on;
    counters.lanes_on = on;
  }
  for (size_t b = 0; b < program.branches.size(); ++b) {
    const profile::InstructionId& id = program.branches[b];
    auto& counters = profile.executed[static_cast<size_t>(id.function)][id.index];
    uint64_t taken = 0;
    for (const auto& worker : workers) {
      counters.divergent += worker->divergent[b];
      taken += worker->taken_lanes[b];
    }
    const ptx::Instruction& i =
        program.module->functions[static_cast<size_t>(id.function)].instructions[id.index];
    if (i.guard < 0) continue;
    // Other guarded instructions that end a block (exit, ret, call) are branched around where the guard is
    // false.
    const uint64_t on = i.op == ptx::Op::bra ? taken : counters.lanes - taken;
    profile.lane_instructions -= counters.lanes_on - on;
    counters.lanes_on = on;
  }
  std::vector<int32_t> entry_of(program.sites.size(), -1);
  for (size_t s = 0; s < program.sites.size(); ++s) {
    const SiteInfo& info = program.sites[s];
    profile::MemoryCounters total;
    uint64_t best = 0;
    for (const auto& worker : workers) {
      Site& site = worker->sites[s];
      flush_site(site, info, program);
      if (site.counters.requests || site.pattern != Pattern::none) total.space = site.space;
      add(total, site.counters);
      add_example(total, site.counters.example, best, site.example_excess);
      for (const KeptExample& later : worker->later_examples)
        if (later.site == s) add_example(total, later.example, best, later.excess);
    }
    const bool follows = info.leader >= 0;
    if (!info.counted || (total.requests == 0 && !follows)) continue;
    total.instruction = info.instruction;
    total.kind = info.kind;
    total.width_bytes = info.machine_width_bytes ? info.machine_width_bytes : info.width_bytes;
    if (follows) total.merged_into = entry_of[static_cast<size_t>(info.leader)];
    entry_of[s] = static_cast<int32_t>(profile.memory.size());
    profile.memory.push_back(total);
  }
  for (size_t v = 0; v < program.divisions.size(); ++v) {
    Divisor all;
    for (const auto& worker : workers) {
      const Divisor& d = worker->divisors[v];
      if (!d.seen) continue;
      if (!all.seen)
        all = d;
      else
        all.uniform = all.uniform && d.uniform && d.value == all.value;
    }
    if (all.seen)
      profile.divisors.push_back({program.divisions[v], all.uniform, all.uniform ? all.value : 0});
  }
  for (size_t b = 0; b < memory.size(); ++b) {
    const Buffer& buffer = memory.buffer(b);
    profile::BufferCounters counters;
    counters.name = buffer.name;
    counters.address = DeviceMemory::address_of(b);
    counters.bytes = buffer.bytes;
    for (const auto& worker : workers) {
      const Coverage& c = worker->coverage[b];
      counters.loaded_bytes_asked += c.loaded_asked;
      counters.stored_bytes_asked += c.stored_asked;
      counters.block_load_sectors += c.load_sectors_of_blocks;
      counters.blocks_loading += c.blocks_loading;
    }
    counters.loaded_bytes_touched = sweep.loaded_bytes(b);
    counters.stored_bytes_touched = sweep.stored_bytes(b);
    profile.buffers.push_back(std::move(counters));
  }
  std::map<FaultKey, FaultRecord> faults;
  for (const auto& worker : workers)
    for (const auto& [key, record] : worker->faults) {
      auto [it, fresh] = faults.try_emplace(key, record);
      if (fresh) continue;
      const uint64_t count = it->second.fault.count + record.fault.count;
      if (record.block < it->second.block) it->second = record;
      it->second.fault.count = count;
    }
  std::vector<const FaultRecord*> in_order;
  for (const auto& [key, record] : faults) in_order.push_back(&record);
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const FaultRecord* a, const FaultRecord* b) { return a->block < b->block; });
  for (const FaultRecord* record : in_order) profile.faults.push_back(record->fault);
  std::map<uint64_t, const std::string*> printed;
  for (const auto& worker : workers)
    for (const auto& [block, text] : worker->printed) printed[block] = &text;
  for (const auto& [block, text] : printed) profile.printed += *text;
  return profile;
}

}  // namespace fullwarp::exec

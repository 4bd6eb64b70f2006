// A profile filled by hand over one of the kernels in tests/rules/kernels/, for tests of what a rule says.
// Counts are written in the tests, next to the calculation they come from.
#pragma once

#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "diag/source_cache.h"
#include "gpu/gpu.h"
#include "ptx/parser.h"
#include "rules/rules.h"

namespace fullwarp::rules {

inline std::string kernel_path(const std::string& name) {
  return std::string("tests/rules/kernels/").append(name);
}

inline std::string read_source(const std::string& name) {
  std::ifstream stream(std::string(FULLWARP_SOURCE_DIR) + "/" + kernel_path(name));
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

struct BuiltProfile {
  ptx::Module module;
  profile::KernelProfile profile;
  diag::SourceCache sources{{FULLWARP_SOURCE_DIR}};
  Options options;
  std::optional<ResourceUsage> resources;

  // `kernel`: "fires_bank_conflict".
  BuiltProfile(const std::string& kernel, Dim3 grid, Dim3 block) {
    Result<ptx::Module> parsed = ptx::parse(read_source(kernel + ".ptx"), kernel_path(kernel + ".ptx"));
    if (!parsed) throw std::runtime_error(parsed.error().to_string());
    module = std::move(*parsed);
    profile.module = &module;
    for (size_t f = 0; f < module.functions.size(); ++f)
      if (module.functions[f].entry) profile.function = static_cast<int32_t>(f);
    profile.grid = grid;
    profile.block = block;
    profile.blocks_run = grid.count();
    profile.executed.resize(module.functions.size());
    profile.executed[static_cast<size_t>(profile.function)].resize(entry().instructions.size());
  }

  const ptx::Function& entry() const { return module.functions[static_cast<size_t>(profile.function)]; }

  // The instructions of an operation that have a modifier, in order: all `ld` with `.shared`.
  std::vector<profile::InstructionId> find(ptx::Op op, ptx::Mod mod) const {
    std::vector<profile::InstructionId> found;
    for (uint32_t i = 0; i < entry().instructions.size(); ++i)
      if (entry().instructions[i].op == op && entry().instructions[i].has(mod))
        found.push_back({profile.function, i});
    return found;
  }

  void executed(profile::InstructionId id, uint64_t warps, uint64_t lanes, uint64_t divergent = 0) {
    profile.executed[static_cast<size_t>(id.function)][id.index] = {warps, lanes, lanes, divergent};
    profile.warp_instructions += warps;
    profile.lane_instructions += lanes;
  }

  // A buffer in a window of its own; returns its index.
  int32_t buffer(const std::string& name, uint64_t bytes) {
    profile::BufferCounters counters;
    counters.name = name;
    counters.bytes = bytes;
    counters.address = (profile.buffers.size() + 16) << 40;
    profile.buffers.push_back(counters);
    return static_cast<int32_t>(profile.buffers.size()) - 1;
  }

  // An access with an example of all 32 lanes; `offset` gives each lane's byte offset (in the buffer or in
  // shared memory). Counts are left to the caller.
  profile::MemoryCounters& access(profile::InstructionId id, mem::AccessSpace space, mem::AccessKind kind,
                                  int32_t buffer, const std::function<uint64_t(unsigned)>& offset) {
    profile::MemoryCounters& counters = profile.memory.emplace_back();
    counters.instruction = id;
    counters.space = space;
    counters.kind = kind;
    counters.example.valid = true;
    counters.example.buffer = buffer;
    counters.example.access.mask = kFullMask;
    counters.example.access.space = space;
    counters.example.access.kind = kind;
    const uint64_t base = buffer < 0 ? 0 : profile.buffers[static_cast<size_t>(buffer)].address;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      counters.example.access.address[lane] = base + offset(lane);
      counters.example.buffer_offset[lane] = static_cast<int64_t>(offset(lane));
    }
    return counters;
  }

  std::vector<diag::Finding> run() {
    return run_rules({module, profile, sources, "kernel", options, &gpu::default_gpu(), resources});
  }
};

// The findings of one rule.
inline std::vector<diag::Finding> of_rule(const std::vector<diag::Finding>& findings, std::string_view rule) {
  std::vector<diag::Finding> some;
  for (const diag::Finding& finding : findings)
    if (finding.rule == rule) some.push_back(finding);
  return some;
}

}  // namespace fullwarp::rules

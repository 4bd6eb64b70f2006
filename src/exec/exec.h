// The engine's front door: execute one kernel launch on the CPU, 32 lanes at a time, and return the
// counts (profile/profile.h). How it works: docs/architecture.md; the pieces:
//   device_memory  buffers behind synthetic device addresses
//   decode, cfg    PTX tree -> micro-ops, reconvergence points
//   ops_*          one file per family of instructions
//   site           memory accesses: bounds, counters, the pattern cache
//   scheduler      fragments, warps, blocks, workers
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/warp.h"
#include "exec/device_memory.h"
#include "mem/machine_access.h"
#include "profile/profile.h"
#include "ptx/module.h"

namespace fullwarp::exec {

struct Launch {
  int32_t function = -1;  // index of an entry in Module::functions
  Dim3 grid, block;
  uint64_t dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters;  // laid out as the entry's params (naturally aligned)
  // By function of the module and instruction: the machine accesses by which to count. Null (or empty for a
  // function): every PTX access counts as it is written.
  const std::vector<std::vector<mem::MachineAccess>>* machine = nullptr;
};

struct Options {
  unsigned threads = 0;                          // CPU threads; 0: one per core. Results do not depend on it.
  uint64_t step_limit = uint64_t{1} << 28;       // instructions per warp, then the fault `step_limit`
  bool check_races = true;                       // races and reads of memory never written
  uint64_t max_blocks = 0;                       // run an even sample of at most this many blocks; 0: all
  unsigned resident_blocks = 264;                // blocks in flight where blocks can see each other
  std::atomic<uint64_t>* blocks_done = nullptr;  // progress, for the caller to watch
};

// Runs the launch. Faults inside the kernel are part of the profile; an Error means that the launch could not
// run at all (an instruction that is not supported, parameters of the wrong size).
Result<profile::KernelProfile> run(const ptx::Module& module, DeviceMemory& memory, const Launch& launch,
                                   const Options& options = {});

}  // namespace fullwarp::exec

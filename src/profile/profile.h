// What execution gives and rules and reports read: exact counts per PTX instruction, per buffer and for
// the kernel, faults with their first place, and one example access for every memory instruction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/warp.h"
#include "mem/warp_access.h"
#include "ptx/module.h"

namespace fullwarp::profile {

struct InstructionId {
  int32_t function = -1;  // index in Module::functions
  uint32_t index = 0;     // in Function::instructions
  bool operator==(const InstructionId&) const = default;
};

struct ExecutionCounters {
  uint64_t warps = 0;      // warp executions of the instruction
  uint64_t lanes = 0;      // sum over them of active lanes (before the guard predicate)
  uint64_t lanes_on = 0;   // ... after the guard predicate
  uint64_t divergent = 0;  // branches: executions whose active lanes went more than one way
};

// A warp's worth of addresses, kept as evidence: the costliest request of an instruction, the first if equal.
struct AccessExample {
  mem::WarpAccess access;  // shared: offsets; global: device addresses; local: offset in the thread's own
  Dim3 block;
  uint32_t warp = 0;    // in the block
  int32_t buffer = -1;  // global: index in KernelProfile::buffers of the first active lane, or -1
  std::array<int64_t, kWarpSize> buffer_offset = {};  // global: byte offset in that buffer
  bool valid = false;
};

// Counts of *machine* accesses. A PTX access that the compiler merges into a wider one of another
// instruction is counted there (`merged_into`), see docs/fidelity.md.
struct MemoryCounters {
  InstructionId instruction;
  mem::AccessSpace space =
      mem::AccessSpace::global;  // as executed; generic accesses have one entry per space met
  mem::AccessKind kind = mem::AccessKind::load;
  uint32_t width_bytes = 4;  // machine width
  int32_t merged_into = -1;  // index in KernelProfile::memory, or -1
  uint64_t requests = 0;
  uint64_t lanes = 0;
  uint64_t bytes_asked = 0;  // lanes x width
  uint64_t sectors = 0, ideal_sectors = 0, lines = 0, atomic_sectors = 0;
  uint64_t wavefronts = 0, ideal_wavefronts = 0, least_wavefronts = 0;  // see mem::AccessCost
  uint64_t misaligned_requests =
      0;  // global: requests that need exactly one sector more than the same lanes from an aligned base
  uint64_t extra_copies = 0;      // global loads: sectors that this block had already loaded
  uint64_t uniform_requests = 0;  // all active lanes at one address
  AccessExample example;
};

struct BufferCounters {
  std::string name;
  uint64_t address = 0, bytes = 0;
  uint64_t loaded_bytes_asked = 0, stored_bytes_asked = 0;
  uint64_t loaded_bytes_touched = 0, stored_bytes_touched = 0;  // distinct bytes
  uint64_t block_load_sectors = 0;  // sum over blocks of the distinct sectors each block loads
  uint64_t blocks_loading = 0;      // blocks that load from it
};

// Divisions and remainders: is the divisor one value in the whole launch?
struct DivisorObservation {
  InstructionId instruction;
  bool uniform = true;
  uint64_t value = 0;  // if uniform
};

enum class FaultKind : uint8_t {
  out_of_bounds,
  misaligned,
  uninitialised,
  shared_race,
  global_race,
  barrier_divergence,
  deadlock,
  step_limit,
  assert_failed,
  trap,
  null_pointer,
  write_to_const,
  invalid_instruction,
  stack_overflow,
};

struct Fault {
  FaultKind kind = FaultKind::out_of_bounds;
  InstructionId instruction;
  InstructionId other;  // races: the earlier access (function -1: none)
  Dim3 block, thread;   // of the first occurrence in block order
  Dim3 other_block, other_thread;
  bool other_thread_known = false;  // races: else only its warp or block is, as `detail` says
  bool same_value =
      false;  // races of stores: each wrote what stood there already (others are faults of their own)
  uint64_t address = 0;
  int64_t offset = 0;   // in the buffer, bytes
  int32_t buffer = -1;  // index in KernelProfile::buffers, -1: none near
  std::string object;   // "buffer out (4096 bytes)", "shared tile (4224 bytes)", ...
  mem::AccessSpace space = mem::AccessSpace::global;
  mem::AccessKind access = mem::AccessKind::load;
  uint32_t width_bytes = 0;
  std::string detail;  // in words, where the fields above do not say it all
  uint64_t count = 1;  // lanes' occurrences at this instruction
};

struct KernelProfile {
  const ptx::Module* module = nullptr;
  int32_t function = -1;
  Dim3 grid, block;
  uint64_t dynamic_shared_bytes = 0, static_shared_bytes = 0, local_bytes_per_thread = 0;
  uint64_t blocks_run = 0;  // less than grid.count() under --blocks
  // executed[f][i] for function f of the module (empty where it was not reached) and its instruction i
  std::vector<std::vector<ExecutionCounters>> executed;
  std::vector<MemoryCounters> memory;   // in program order
  std::vector<BufferCounters> buffers;  // every buffer and module variable the launch could reach
  std::vector<DivisorObservation> divisors;
  std::vector<Fault> faults;
  std::string printed;  // what printf wrote, in block order
  uint64_t warp_instructions = 0, lane_instructions = 0;
};

}  // namespace fullwarp::profile

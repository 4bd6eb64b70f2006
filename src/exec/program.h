// A kernel launch, decoded: micro-ops of every function it can reach and the tables that counters go by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "exec/device_memory.h"
#include "exec/micro_op.h"
#include "mem/machine_access.h"
#include "mem/warp_access.h"
#include "profile/profile.h"
#include "ptx/module.h"

namespace fullwarp::exec {

struct FunctionProgram;

// A stretch of a frame that holds a `.param` variable: 4-byte words, 32 lanes of each, in order.
struct ParamSlot {
  uint32_t offset = 0;  // of the first word's row in the frame
  uint32_t bytes = 0;
};

struct CallInfo {
  int32_t function = -1;                      // index in Module::functions; -1: indirect
  std::vector<ParamSlot> arguments, results;  // in the caller's frame
};

// An engine built-in reached by a call (printf, math functions): operands as ParamSlots.
struct BuiltinInfo {
  const void* function = nullptr;  // meaning by handler
  std::string name;
  std::vector<ParamSlot> arguments, results;
};

struct BranchTable {
  std::vector<const MicroOp*> targets;
};

struct FunctionProgram {
  int32_t function = -1;
  std::vector<MicroOp> ops;
  std::vector<std::byte> constants;  // stand before row 0 in a new frame
  uint32_t frame_bytes = 0;
  // What a new frame clears (offset, bytes): predicates, parameters, and what may be read before it is
  // written, so that a program that does so does the same everywhere.
  std::vector<std::pair<uint32_t, uint32_t>> cleared;
  uint32_t local_bytes = 0;            // of `.local` variables
  std::vector<uint32_t> local_offset;  // by index in Function::variables, for .local ones
  std::vector<ParamSlot> parameters, results;
  std::vector<std::unique_ptr<CallInfo>> calls;
  std::vector<std::unique_ptr<BuiltinInfo>> builtins;
  std::vector<std::unique_ptr<BranchTable>> tables;
  std::vector<std::shared_ptr<void>> infos;  // side tables of other families
  uint32_t first_block = 0;                  // index of this function's first block counter
  std::vector<uint32_t> block_of;            // by instruction: block counter
  bool decoded = false;
};

// What the sites of a program are, in site order; the counters themselves are per worker.
struct SiteInfo {
  profile::InstructionId instruction;
  mem::AccessKind kind = mem::AccessKind::load;
  uint32_t width_bytes = 4;          // of the PTX access
  uint32_t machine_width_bytes = 4;  // of the machine access this one leads; 0: counted with `leader`
  int32_t machine_offset = 0;        // machine address minus PTX address
  int32_t split_offset =
      mem::MachineAccess::kNoSplit;  // a second access of the same width, relative to the address
  int32_t leader_instruction = -1;   // in the same function; -1: none
  int32_t leader = -1;               // site index; -1: this one
  bool counted = true;               // .const and .param accesses move no sectors

  // Does the machine make this very access, and no other, where PTX has it?
  bool as_written(unsigned width) const {
    return counted && machine_width_bytes == width && machine_offset == 0 &&
           split_offset == mem::MachineAccess::kNoSplit;
  }
};

struct Program {
  const ptx::Module* module = nullptr;
  const DeviceMemory* memory = nullptr;
  const std::vector<std::vector<mem::MachineAccess>>* machine = nullptr;
  std::vector<std::unique_ptr<FunctionProgram>> functions;  // by module function; null where not reached
  const FunctionProgram* entry = nullptr;
  std::vector<SiteInfo> sites;
  uint32_t block_count = 0;
  uint32_t guard_count = 0;
  std::vector<profile::InstructionId> guards;  // guard counter -> instruction
  uint32_t branch_count = 0;
  std::vector<profile::InstructionId> branches;   // branch counter -> instruction
  std::vector<profile::InstructionId> divisions;  // divisor observation -> instruction
  std::vector<uint32_t> shared_offset;            // by Module::variables; ~0u: not in shared memory
  uint32_t static_shared_bytes = 0, dynamic_shared_offset = 0;
  uint64_t param_buffer = 0;  // device address of the parameter bytes
  Dim3 grid, block;
  uint64_t dynamic_shared_bytes = 0;
  // The system's own part of a block's shared memory, behind the kernel's; cooperative groups keep their
  // barriers there. It is there only for kernels that ask for its place.
  static constexpr uint32_t kReservedSharedBytes = 1024;
  bool uses_reserved_shared = false;
  uint32_t reserved_shared_offset() const {
    return (dynamic_shared_offset + static_cast<uint32_t>(dynamic_shared_bytes) + 127) / 128 * 128;
  }
  uint32_t shared_bytes() const {
    return uses_reserved_shared ? reserved_shared_offset() + kReservedSharedBytes
                                : dynamic_shared_offset + static_cast<uint32_t>(dynamic_shared_bytes);
  }
  bool check_races = true;
  bool fences = false;   // membar, fence, acquire or release: warps may order each other through memory
  bool ordered = false;  // blocks can see each other: one fixed order
  bool sums_in_order = false;  // atomics whose order shows in the result, and nobody reads: floats
  unsigned shared_granule_shift = 2;  // of the shadow: narrowest shared access
  unsigned global_granule_shift = 2;
};

}  // namespace fullwarp::exec

// One CPU thread's part of a launch: counters that nobody else touches, the block at hand, and what it saw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exec/block_order.h"
#include "exec/coverage.h"
#include "exec/device_memory.h"
#include "exec/exec.h"
#include "exec/held_back.h"
#include "exec/program.h"
#include "exec/race.h"
#include "exec/site.h"
#include "exec/warp.h"
#include "profile/profile.h"

namespace fullwarp::exec {

struct BlockCounter {
  uint64_t warps = 0, lanes = 0;
};

struct Divisor {
  bool seen = false, uniform = true;
  uint64_t value = 0;
};

// A buffer as the memory operations see it.
struct BufferView {
  std::byte* data = nullptr;
  uint64_t bytes = 0;
  uint64_t* written = nullptr;  // null: every byte has a value
  bool read_only = false;
  GlobalShadow* shadow = nullptr;
  Coverage* coverage = nullptr;
  SectorUse* sectors = nullptr;  // coverage's
};

struct Barrier {
  uint32_t arrived = 0;   // threads
  uint32_t expected = 0;  // threads; 0: all of the block
  uint32_t count = 0;     // bar.red: predicates true
  bool all = true, any = false;
};

struct BlockState {
  Dim3 index;
  uint64_t linear = 0;
  std::vector<std::unique_ptr<Warp>> warps;
  AlignedBytes shared;
  uint32_t shared_bytes = 0;
  Barrier barriers[16];
  uint32_t threads = 0, exited = 0;
  SharedShadow shadow;
  std::string printed;
  bool barrier_reported = false;
};

struct FaultKey {
  profile::FaultKind kind;
  int32_t function;
  uint32_t instruction;
  bool same_value = false;
  auto operator<=>(const FaultKey&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 sees a 0
};
struct FaultRecord {
  profile::Fault fault;
  uint64_t block = 0;  // linear index of the first occurrence
};

struct Worker {
  const Program* program = nullptr;
  DeviceMemory* memory = nullptr;
  const Options* options = nullptr;
  std::vector<BufferView> views;
  std::vector<Site> sites;
  uint64_t occurrences = 0;                 // noted
  std::vector<KeptExample> later_examples;  // of blocks that come after those at hand
  std::vector<BlockCounter> blocks;
  std::vector<uint64_t> guard_lanes;
  std::vector<uint64_t> divergent;
  std::vector<uint64_t> taken_lanes;  // of branches with a guard
  std::vector<Divisor> divisors;
  std::vector<Coverage> coverage;
  uint64_t last_tag = 0;     // see steady.h
  uint32_t touch_stamp = 0;  // of SectorUse::request
  std::map<FaultKey, FaultRecord> faults;
  profile::Fault unread_fault;
  std::map<uint64_t, std::string> printed;  // by linear block
  // Shadows are kept for buffers that the kernel is expected to write; a store to another one is noted here.
  bool watch_stores = false;
  bool can_start_over = true;  // the buffers' contents at the start are at hand
  std::vector<bool> unexpected;
  std::vector<GlobalShadow> shadows;  // by buffer; empty where none is kept
  bool blocks_conflict = false;       // global accesses of two blocks met: run again in order
  BlockOrder block_order;             // active where the kernel has fences and this worker runs all blocks
  BlockState* block = nullptr;
  bool atomic_memory = false;  // other workers run at the same time
  HeldBack held_back;          // active only where they do
};

inline Occurrence occurrence(const Warp& warp) {
  return {warp.block->linear, warp.index, ++warp.worker->occurrences};
}

// Records a fault of one lane of the running op. The returned fault is there to be filled in: it is the kept
// one if this is the first occurrence in block order, else one that nobody reads. `same_value`: see
// profile::Fault.
profile::Fault& report_fault(Warp& warp, const MicroOp* op, profile::FaultKind kind, unsigned lane,
                             uint64_t count = 1, bool same_value = false);
profile::InstructionId instruction_of(const Warp& warp, const MicroOp* op);
Dim3 thread_of(const Warp& warp, unsigned lane);

// Frames.
// Null where the thread's stack is full (reported).
Frame* push_frame(Warp& warp, const FunctionProgram& program, Frame* parent, const MicroOp* call,
                  LaneMask lanes);
void leave_frame(Warp& warp, Frame* frame, LaneMask lanes);

// Lanes of the running fragment end.
void exit_lanes(Warp& warp, LaneMask lanes);
// Parts the running fragment: `mask` goes on at `pc` later.
void part(Warp& warp, LaneMask mask, const MicroOp* pc, Join* join);
// The join at `at` for the running lanes: the innermost one where it is at that place already, else a new
// one.
Join* join_at(Warp& warp, const MicroOp* at);
// The running lanes have come to the innermost join. True if they go on (as one with those that waited).
bool arrive_at_join(Warp& warp);
// Lanes arrive at a barrier; they go on when it is complete. `wait` false: bar.arrive.
const MicroOp* arrive_at_barrier(Warp& warp, const MicroOp* op, uint32_t number, uint32_t threads, bool wait,
                                 LaneMask predicate);
// The running fragment waits at the .sync op behind `op` until all members have come.
const MicroOp* wait_for_members(Warp& warp, const MicroOp* op, LaneMask members);

// A store to a buffer that was not expected to be written.
void unexpected_store(Warp& warp, size_t buffer);

// Grows the thread-local memory to hold `bytes` a lane; false past the limit.
bool reserve_local(Warp& warp, uint64_t bytes);

// scheduler.cpp
void prepare_block(Worker& worker, BlockState& block, uint64_t linear);
enum class BlockRun : uint8_t { finished, progress, stuck };
// Gives every warp of the block one turn. `stuck`: no warp could do anything, and none ever will.
BlockRun run_block_once(Worker& worker, BlockState& block);
// Ends a stuck block with the fault `deadlock`.
void end_deadlocked(Worker& worker, BlockState& block);

}  // namespace fullwarp::exec

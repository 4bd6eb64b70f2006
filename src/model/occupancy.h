// How many blocks of a kernel fit on an SM at a time, what stops one more, and the smallest change that lets
// one more in. The arithmetic is that of the toolkit's cuda_occupancy.h, which tests/model compares it with.
//
//   h200, 256 threads, 40 registers, 0 shared  ->  6 blocks, 48 of 64 warps (75 %), limited by registers;
//   next: 32 registers a thread -> 8 blocks, 100 %
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "gpu/gpu.h"

namespace fullwarp::model {

enum class Limiter : uint8_t { warps, blocks, registers, shared };
std::string_view to_string(Limiter limiter);  // "warps", "blocks", "registers", "shared memory"

struct BlockUse {
  uint32_t threads = 0;
  uint64_t static_shared_bytes = 0, dynamic_shared_bytes = 0;
  std::optional<uint32_t> thread_registers;  // none: unknown, taken as no limit
};

struct Occupancy {
  uint32_t blocks = 0;       // resident on an SM; 0: the launch is refused
  uint32_t block_warps = 0;  // of one block
  uint32_t warps = 0;        // resident on an SM
  uint32_t max_warps = 0;    // that the SM has room for
  double fraction = 0;       // warps / max_warps
  // Every resource that allows no more than `blocks`; the first is the one to name (registers and shared
  // memory before warps and blocks, because they can be changed without changing the block).
  std::vector<Limiter> limiters;
  uint32_t limit_warps = 0, limit_blocks = 0, limit_registers = 0, limit_shared = 0;  // blocks by each alone
  uint64_t block_shared_bytes = 0;  // allocated for a block, reserve and rounding included
  uint32_t block_registers = 0;     // allocated for a block
  uint32_t carve_out_kb = 0;        // the smallest shared part of L1 in which `blocks` blocks fit
  bool registers_known = false;
};

// No limit of `use` is out of range for the arithmetic: absurd values give 0 blocks.
Occupancy occupancy(const gpu::Sm& sm, const BlockUse& use);

// The smallest single change that raises the number of resident warps.
struct NextStep {
  enum class Change : uint8_t { registers, shared, threads };
  Change change = Change::registers;
  uint64_t value = 0;  // registers a thread, shared bytes a block (static and dynamic), or threads a block
  Occupancy reached;
};

// One entry at most for each kind of change that helps on its own, registers and shared memory first; empty
// at full occupancy. Block sizes are tried in whole warps up to 1024 threads at unchanged shared bytes a
// thread if `shared_scales`, else at unchanged shared bytes a block.
std::vector<NextStep> next_steps(const gpu::Sm& sm, const BlockUse& use, bool shared_scales = false);

}  // namespace fullwarp::model

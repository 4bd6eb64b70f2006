// See occupancy.h. Registers are allocated a warp at a time, in units of 256, from the quarter of the
// register file that belongs to the warp's sub-partition; the check whether one block fits at all counts the
// warps of a block rounded up to whole sub-partitions. Shared memory: the driver keeps 1 KB a block
// since 8.0; the L1 is carved to what the kernel needs, so that the largest carve-out limits the number of
// blocks.
#include "model/occupancy.h"

#include <algorithm>
#include <limits>

namespace fullwarp::model {
namespace {

constexpr uint32_t kNoLimit = std::numeric_limits<uint32_t>::max();
constexpr uint64_t kAbsurd = uint64_t{1} << 30;  // bytes or threads: no GPU is near, and sums cannot overflow

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

uint32_t warps_of(uint32_t threads) { return (threads + kWarpSize - 1) / kWarpSize; }

uint32_t limit_by_registers(const gpu::Sm& sm, uint32_t thread_registers, uint32_t block_warps) {
  if (thread_registers == 0) return kNoLimit;
  if (thread_registers > sm.thread_registers) return 0;
  const uint32_t per_warp = static_cast<uint32_t>(round_up(thread_registers * kWarpSize, sm.register_unit));
  if (per_warp * round_up(block_warps, sm.sub_partitions) > sm.registers) return 0;
  const uint32_t part_warps = sm.registers / sm.sub_partitions / per_warp;
  return part_warps * sm.sub_partitions / block_warps;
}

uint32_t smallest_carve_out_kb(const gpu::Sm& sm, uint64_t bytes) {
  for (uint32_t kb : sm.carve_outs_kb.value)
    if (uint64_t{kb} * 1024 >= bytes) return kb;
  return sm.carve_outs_kb.value.back();
}

}  // namespace

std::string_view to_string(Limiter limiter) {
  switch (limiter) {
    case Limiter::warps: return "warps";
    case Limiter::blocks: return "blocks";
    case Limiter::registers: return "registers";
    case Limiter::shared: return "shared memory";
  }
  return "";
}

Occupancy occupancy(const gpu::Sm& sm, const BlockUse& use) {
  Occupancy out;
  out.max_warps = sm.warps;
  out.registers_known = use.thread_registers.has_value();
  const bool runs = use.threads > 0 && use.threads <= gpu::kMaxBlockThreads &&
                    use.static_shared_bytes < kAbsurd && use.dynamic_shared_bytes < kAbsurd;
  if (!runs) return out;

  out.block_warps = warps_of(use.threads);
  out.limit_warps = sm.warps / out.block_warps;
  out.limit_blocks = sm.blocks;
  const uint32_t registers = use.thread_registers.value_or(0);
  out.limit_registers = limit_by_registers(sm, registers, out.block_warps);
  if (registers <= sm.thread_registers)
    out.block_registers =
        static_cast<uint32_t>(round_up(registers * kWarpSize, sm.register_unit)) * out.block_warps;

  const uint64_t shared = use.static_shared_bytes + use.dynamic_shared_bytes;
  out.block_shared_bytes = round_up(shared + sm.block_shared_reserved_bytes, sm.shared_unit_bytes);
  const bool fits = shared <= sm.block_shared_optin_bytes && use.static_shared_bytes <= sm.block_shared_bytes;
  out.limit_shared = !fits ? 0
                     : out.block_shared_bytes == 0
                         ? kNoLimit
                         : static_cast<uint32_t>(sm.shared_bytes / out.block_shared_bytes);

  out.blocks = std::min({out.limit_warps, out.limit_blocks, out.limit_registers, out.limit_shared});
  out.warps = out.blocks * out.block_warps;
  out.fraction = static_cast<double>(out.warps) / out.max_warps;
  out.carve_out_kb = smallest_carve_out_kb(sm, out.blocks * out.block_shared_bytes);
  if (out.limit_registers == out.blocks) out.limiters.push_back(Limiter::registers);
  if (out.limit_shared == out.blocks) out.limiters.push_back(Limiter::shared);
  if (out.limit_warps == out.blocks) out.limiters.push_back(Limiter::warps);
  if (out.limit_blocks == out.blocks) out.limiters.push_back(Limiter::blocks);
  return out;
}

std::vector<NextStep> next_steps(const gpu::Sm& sm, const BlockUse& use, bool shared_scales) {
  std::vector<NextStep> steps;
  const Occupancy now = occupancy(sm, use);
  if (use.threads == 0 || now.warps == now.max_warps) return steps;
  const auto better = [&](const BlockUse& changed, NextStep::Change change, uint64_t value) {
    const Occupancy reached = occupancy(sm, changed);
    if (reached.warps <= now.warps) return false;
    steps.push_back({change, value, reached});
    return true;
  };

  if (use.thread_registers) {
    BlockUse changed = use;
    const uint32_t most = std::min<uint32_t>(*use.thread_registers, sm.thread_registers + 1);
    for (uint32_t registers = most; registers-- > 16;) {  // below 16 the allocation unit saves nothing
      changed.thread_registers = registers;
      if (better(changed, NextStep::Change::registers, registers)) break;
    }
  }

  const uint64_t shared = use.static_shared_bytes + use.dynamic_shared_bytes;
  if (shared > 0 && now.limit_shared == now.blocks) {
    // The most that one more block leaves for each, in whole allocation units.
    const uint64_t unit = sm.shared_unit_bytes, reserve = sm.block_shared_reserved_bytes;
    const uint64_t share = sm.shared_bytes / (now.blocks + 1) / unit * unit;
    if (share > reserve) {
      BlockUse changed = use;
      const uint64_t target = std::min<uint64_t>(share - reserve, sm.block_shared_optin_bytes);
      changed.static_shared_bytes = 0;
      changed.dynamic_shared_bytes = target;
      if (target < shared) better(changed, NextStep::Change::shared, target);
    }
  }

  // The nearest block size that helps, smaller or larger.
  const uint32_t warps = warps_of(std::min(use.threads, gpu::kMaxBlockThreads));
  for (uint32_t away = 0; away <= 32; ++away) {
    bool found = false;
    for (const int64_t candidate : {int64_t{warps} + away, int64_t{warps} - away}) {
      if (candidate < 1 || candidate > 32 || uint64_t(candidate) * kWarpSize == use.threads) continue;
      BlockUse changed = use;
      changed.threads = static_cast<uint32_t>(candidate) * kWarpSize;
      if (shared_scales) {
        changed.static_shared_bytes = use.static_shared_bytes * changed.threads / use.threads;
        changed.dynamic_shared_bytes = use.dynamic_shared_bytes * changed.threads / use.threads;
      }
      if (better(changed, NextStep::Change::threads, changed.threads)) {
        found = true;
        break;
      }
    }
    if (found) break;
  }
  return steps;
}

}  // namespace fullwarp::model

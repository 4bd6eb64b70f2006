#include "api/occupancy.h"

#include "model/occupancy.h"

namespace fullwarp::api {

report::Occupancy occupancy_of(const gpu::Gpu& gpu, const profile::KernelProfile& profile,
                               const std::optional<rules::ResourceUsage>& resources) {
  model::BlockUse use;
  use.threads = static_cast<uint32_t>(profile.block.count());
  use.static_shared_bytes = profile.static_shared_bytes;
  use.dynamic_shared_bytes = profile.dynamic_shared_bytes;
  if (resources && resources->registers_per_thread != 0)
    use.thread_registers = resources->registers_per_thread;
  const model::Occupancy found = model::occupancy(*gpu.sm, use);
  report::Occupancy occupancy;
  occupancy.blocks_per_sm = found.blocks;
  occupancy.warps_per_sm = found.warps;
  occupancy.max_warps_per_sm = found.max_warps;
  occupancy.registers_per_thread = use.thread_registers.value_or(0);
  if (found.warps < found.max_warps && !found.limiters.empty())
    occupancy.limiter = model::to_string(found.limiters.front());
  return occupancy;
}

}  // namespace fullwarp::api

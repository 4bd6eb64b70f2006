// The checks a driver makes before it starts a kernel, in its order: shape of the block, shape of the grid,
// shared memory, registers.
#include <fmt/format.h>

#include "gpu/gpu.h"

namespace fullwarp::gpu {
namespace {

std::string text(Dim3 d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); }

bool fits(Dim3 d, Dim3 limit) { return d.x <= limit.x && d.y <= limit.y && d.z <= limit.z; }

}  // namespace

Result<LaunchCheck> check_launch(const Gpu& gpu, Dim3 grid, Dim3 block, uint64_t static_shared_bytes,
                                 uint64_t dynamic_shared_bytes, uint32_t thread_registers) {
  const Sm& sm = *gpu.sm;
  if (block.x == 0 || block.y == 0 || block.z == 0)
    return Error{fmt::format("block {} is empty", text(block))};
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return Error{fmt::format("grid {} is empty", text(grid))};
  // Dimensions first: their product may not fit 64 bits.
  if (!fits(block, kMaxBlock))
    return Error{.message = fmt::format("block {} is beyond the limit {}", text(block), text(kMaxBlock))};
  if (block.count() > kMaxBlockThreads)
    return Error{.message = fmt::format("a block of {} threads is beyond the limit of {}", block.count(),
                                        kMaxBlockThreads),
                 .hint = "make the block smaller and the grid larger"};
  if (!fits(grid, kMaxGrid))
    return Error{.message = fmt::format("grid {} is beyond the limit {}", text(grid), text(kMaxGrid)),
                 .hint = "put the largest dimension in x, or loop in the kernel"};
  if (static_shared_bytes > sm.block_shared_bytes)
    return Error{.message = fmt::format("{} bytes of static shared memory are beyond the limit of {}",
                                        static_shared_bytes, sm.block_shared_bytes.value),
                 .hint = "use dynamic shared memory (extern __shared__) and give its size at the launch"};
  const uint64_t most = sm.block_shared_optin_bytes;
  if (dynamic_shared_bytes > most || static_shared_bytes + dynamic_shared_bytes > most)
    return Error{.message =
                     fmt::format("{} bytes of shared memory a block ({} static, {} dynamic) are beyond the "
                                 "limit of {} on {}",
                                 static_shared_bytes + dynamic_shared_bytes, static_shared_bytes,
                                 dynamic_shared_bytes, most, gpu.name)};
  if (thread_registers > sm.thread_registers)
    return Error{.message = fmt::format("{} registers a thread are beyond the limit of {}", thread_registers,
                                        sm.thread_registers.value)};
  // The hardware's check counts warps rounded up to the number of sub-partitions.
  const uint32_t warps = static_cast<uint32_t>((block.count() + kWarpSize - 1) / kWarpSize);
  const uint32_t parts = sm.sub_partitions, unit = sm.register_unit;
  const uint32_t per_warp = (thread_registers * kWarpSize + unit - 1) / unit * unit;
  const uint32_t needed = per_warp * ((warps + parts - 1) / parts * parts);
  if (needed > sm.registers)
    return Error{.message = fmt::format(
                     "{} registers a thread and {} threads need {} registers a block, of {} there are",
                     thread_registers, block.count(), needed, sm.registers.value),
                 .hint = "use a smaller block or __launch_bounds__"};
  return LaunchCheck{.needs_shared_optin =
                         static_shared_bytes + dynamic_shared_bytes > sm.block_shared_bytes};
}

}  // namespace fullwarp::gpu

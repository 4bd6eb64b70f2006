// `fullwarp gpus`: one line per GPU; with a name, every limit of it and where the figure comes from.
#include <fmt/format.h>

#include <ostream>

#include "cli/commands.h"
#include "gpu/gpu.h"

namespace fullwarp::cli {

namespace {

void list_gpus(std::ostream& out) {
  out << fmt::format("{:<12}{:<28}{:>6}{:>6}{:>12}{:>20}{:>12}\n", "name", "", "sm", "SMs", "warps/SM",
                     "shared KB/SM", "DRAM GB/s");
  for (const gpu::Gpu& gpu : gpu::gpus()) {
    const gpu::Sm& sm = *gpu.sm;
    out << fmt::format("{:<12}{:<28}{:>6}{:>6}{:>12}{:>20}{:>12.0f}\n", gpu.name, gpu.title,
                       fmt::format("{}.{}", sm.version / 10, sm.version % 10), gpu.sms.value, sm.warps.value,
                       sm.shared_bytes.value / 1024, gpu.dram_gb_per_s.value);
  }
}

}  // namespace

int run_gpus(const std::string& name, const Streams& streams) {
  if (name.empty()) {
    list_gpus(streams.out);
    return kSuccess;
  }
  const Result<const gpu::Gpu*> gpu = gpu::gpu_named(name);
  if (!gpu) {
    streams.err << gpu.error().to_string() << "\n";
    return kUnusable;
  }
  streams.out << (*gpu)->name << ": " << (*gpu)->title << "\n";
  for (const gpu::Limit& limit : gpu::limits(**gpu)) {
    const std::string value =
        limit.unit.empty() ? limit.value : fmt::format("{} {}", limit.value, limit.unit);
    streams.out << fmt::format("  {:<36}{:<30}{}\n", limit.name, value, limit.source);
  }
  return kSuccess;
}

}  // namespace fullwarp::cli

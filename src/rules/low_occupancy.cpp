// low-occupancy: few warps on an SM to hide latency with; the limit, and the smallest change that lets one
// more in.
#include <fmt/format.h>

#include <algorithm>

#include "gpu/gpu.h"
#include "model/occupancy.h"
#include "rules/context.h"
#include "rules/text.h"

namespace fullwarp::rules {
namespace {

constexpr Threshold kThresholds[] = {
    {"min-occupancy", 0.25,
     "resident warps as a share of the SM's where registers or shared memory are the limit"},
    {"min-occupancy-blocks", 0.75,
     "resident warps as a share of the SM's where the number of blocks is the limit"},
};

std::string step_text(const model::NextStep& step) {
  const std::string reached = fmt::format("{} of {} warps", step.reached.warps, step.reached.max_warps);
  switch (step.change) {
    case model::NextStep::Change::registers:
      return fmt::format("{} registers a thread (`__launch_bounds__`, `-maxrregcount`) give {}", step.value,
                         reached);
    case model::NextStep::Change::shared:
      return fmt::format("{} of shared memory a block give {}", counted(step.value, "byte"), reached);
    case model::NextStep::Change::threads:
      return fmt::format("blocks of {} threads give {}", step.value, reached);
  }
  return {};
}

std::string use_text(const model::Occupancy& occupancy, model::Limiter limiter, const model::BlockUse& use) {
  switch (limiter) {
    case model::Limiter::registers:
      return fmt::format("{} registers a thread", use.thread_registers.value_or(0));
    case model::Limiter::shared:
      return fmt::format("{} of shared memory a block",
                         counted(use.static_shared_bytes + use.dynamic_shared_bytes, "byte"));
    case model::Limiter::blocks: return fmt::format("{} an SM", counted(occupancy.limit_blocks, "block"));
    case model::Limiter::warps: return fmt::format("{} a block", counted(occupancy.block_warps, "warp"));
  }
  return {};
}

void run(Context& context, std::vector<diag::Finding>& findings) {
  const Rule& rule = low_occupancy_rule;
  if (!context.input.gpu || !context.input.gpu->sm) return;
  const gpu::Gpu& gpu = *context.input.gpu;
  const profile::KernelProfile& profile = context.profile;
  model::BlockUse use;
  use.threads = static_cast<uint32_t>(std::min<uint64_t>(profile.block.count(), gpu::kMaxBlockThreads + 1));
  use.static_shared_bytes = profile.static_shared_bytes;
  use.dynamic_shared_bytes = profile.dynamic_shared_bytes;
  if (context.input.resources && context.input.resources->registers_per_thread > 0)
    use.thread_registers = context.input.resources->registers_per_thread;
  const model::Occupancy occupancy = model::occupancy(*gpu.sm, use);
  if (occupancy.blocks == 0 || occupancy.limiters.empty()) return;  // the launch check has said why
  const model::Limiter limiter = occupancy.limiters.front();
  if (limiter == model::Limiter::warps) return;  // full, but for a rest smaller than a block
  const char* name = limiter == model::Limiter::blocks ? "min-occupancy-blocks" : "min-occupancy";
  if (occupancy.fraction >= context.threshold(rule, name)) return;
  const bool small_grid = profile.grid.count() < gpu.sms;
  // A handful of small blocks is a small job; larger blocks would only leave more SMs idle.
  if (small_grid && limiter == model::Limiter::blocks) return;

  diag::Finding finding;
  finding.rule = rule.info.id;
  finding.level = rule.info.level;
  finding.kernel = context.input.kernel;
  finding.place = context.kernel_place();
  finding.message =
      fmt::format("{} of {} warps fit on an SM: limited by {} ({})", occupancy.warps, occupancy.max_warps,
                  model::to_string(limiter), use_text(occupancy, limiter, use));
  finding.label = fmt::format("{} of {} an SM", counted(occupancy.blocks, "block"),
                              counted(occupancy.block_warps, "warp"));
  finding.notes.push_back(
      {fmt::format("occupancy {} on {}{}", percent(occupancy.fraction), gpu.title,
                   occupancy.registers_known ? "" : "; registers are not known and not counted"),
       {}});
  if (small_grid) {
    finding.level = diag::Level::note;
    finding.notes.push_back(
        {fmt::format("the grid has {} for {} SMs: it is too small for occupancy to matter",
                     counted(profile.grid.count(), "block"), gpu.sms.value),
         {}});
  }
  finding.evidence = {{"warps_per_sm", int64_t{occupancy.warps}},
                      {"max_warps_per_sm", int64_t{occupancy.max_warps}},
                      {"blocks_per_sm", int64_t{occupancy.blocks}},
                      {"limiter", std::string(model::to_string(limiter))}};
  finding.share = 1 - occupancy.fraction;
  for (const model::NextStep& step : model::next_steps(*gpu.sm, use))
    finding.fix += (finding.fix.empty() ? "" : "; ") + step_text(step);
  findings.push_back(std::move(finding));
}

}  // namespace

const Rule low_occupancy_rule = {
    {"low-occupancy", "few warps on an SM to hide latency with", diag::Level::warning, kThresholds}, run};

}  // namespace fullwarp::rules

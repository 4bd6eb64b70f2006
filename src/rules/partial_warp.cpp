// partial-warp: a block size that is not a multiple of 32 leaves lanes of each block's last warp without a
// thread.
#include <fmt/format.h>

#include "rules/context.h"
#include "rules/text.h"

namespace fullwarp::rules {
namespace {

constexpr Threshold kThresholds[] = {
    {"min-share", 0.02, "lanes without a thread as a share of the block's lanes; 1000 threads have 0.023"},
};

void run(Context& context, std::vector<diag::Finding>& findings) {
  const Rule& rule = partial_warp_rule;
  const uint64_t threads = context.profile.block.count();
  const uint64_t warps = (threads + kWarpSize - 1) / kWarpSize;
  const uint64_t in_last = threads % kWarpSize;
  // One thread alone is serial on purpose.
  if (in_last == 0 || (threads == 1 && context.profile.grid.count() == 1)) return;
  const uint64_t lost = warps * kWarpSize - threads;
  const double share = static_cast<double>(lost) / static_cast<double>(warps * kWarpSize);
  if (share < context.threshold(rule, "min-share")) return;

  diag::Finding finding;
  finding.rule = rule.info.id;
  finding.level = rule.info.level;
  finding.kernel = context.input.kernel;
  finding.place = context.kernel_place();
  finding.message = warps == 1 ? fmt::format("{} {} 1 warp with {} of {} lanes", counted(threads, "thread"),
                                             threads == 1 ? "is" : "are", in_last, kWarpSize)
                               : fmt::format("{} are {} warps, the last with {} of {} lanes",
                                             counted(threads, "thread"), warps, in_last, kWarpSize);
  constexpr double kLittle = 0.05;  // 1000 threads: 2 %, and hardly slower than 1024
  if (share < kLittle) finding.level = diag::Level::note;
  const Dim3& block = context.profile.block;
  finding.label = fmt::format("launched with blocks of {}",
                              block.z > 1   ? fmt::format("({}, {}, {})", block.x, block.y, block.z)
                              : block.y > 1 ? fmt::format("({}, {})", block.x, block.y)
                                            : std::to_string(block.x));
  finding.share = share;
  finding.notes.push_back({fmt::format("{} of the {} lanes of each block have no thread: {}", lost,
                                       warps * kWarpSize, percent(share)),
                           {}});
  finding.evidence = {{"threads", static_cast<int64_t>(threads)},
                      {"warps", static_cast<int64_t>(warps)},
                      {"lanes_in_last_warp", static_cast<int64_t>(in_last)},
                      {"lost_lanes", static_cast<int64_t>(lost)}};
  const uint64_t up = warps * kWarpSize, down = up - kWarpSize;
  const bool fits = up <= 1024;
  std::string sizes = fits ? fmt::format("{}", up) : std::string();
  if (down > 0) sizes += fmt::format("{}{}", fits ? " or " : "", down);
  finding.fix = fmt::format(
      "launch blocks of {} threads, with the grid rounded up and a bounds check "
      "(`if (i < n)`) where the data ends",
      sizes);
  findings.push_back(std::move(finding));
}

}  // namespace

const Rule partial_warp_rule = {
    {"partial-warp", "block sizes that are not a multiple of 32", diag::Level::warning, kThresholds}, run};

}  // namespace fullwarp::rules

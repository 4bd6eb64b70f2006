// divergent-branch: branches at which a warp's lanes part, priced by the lanes that idle until they meet
// again.
//
//   lanes lost = sum over the instructions between the branch and its immediate post-dominator of
//                (lanes of a warp with all its threads - lanes that executed it)
//
// Each instruction is charged to the innermost divergent branch around it. A bounds check's region is the
// whole kernel, but its lost lanes are few; a loop that lanes leave at different times is charged for its
// late rounds.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "rules/context.h"
#include "rules/flow.h"
#include "rules/text.h"

namespace fullwarp::rules {
namespace {

constexpr Threshold kThresholds[] = {
    {"min-share", 0.1,
     "lanes idle because of the branch as a share of 32 for each warp instruction of the kernel"},
    {"min-idle", 0.25, "idle lanes as a share of the lanes in the branch's own region"},
};

// Regions are found one branch at a time; a kernel that people wrote has a handful of divergent ones.
constexpr size_t kMaxBranches = 256;

struct Branch {
  uint32_t index = 0;
  Flow::Region region;
  double lost = 0;     // lanes
  double slots = 0;    // lanes there could have been
  uint64_t lanes = 0;  // lanes that worked
  uint64_t warps = 0;  // warp executions of the region's instructions
  uint32_t first_line = UINT32_MAX, last_line = 0;
};

std::vector<Branch> divergent_branches(const Context& context, size_t f) {
  const ptx::Function& function = context.module.functions[f];
  const auto& executed = context.profile.executed[f];
  std::vector<Branch> branches;
  for (uint32_t i = 0; i < executed.size() && i < function.instructions.size(); ++i)
    if (executed[i].divergent > 0) branches.push_back({.index = i, .region = {}});
  if (branches.size() > kMaxBranches) {
    std::stable_sort(branches.begin(), branches.end(), [&](const Branch& a, const Branch& b) {
      return executed[a.index].divergent > executed[b.index].divergent;
    });
    branches.resize(kMaxBranches);
  }
  if (branches.empty()) return branches;
  const Flow flow(context.module, function);
  for (Branch& branch : branches) branch.region = flow.region(branch.index);
  // Innermost first; of equals the later one is inside.
  std::stable_sort(branches.begin(), branches.end(), [](const Branch& a, const Branch& b) {
    return std::pair(a.region.instructions.size(), b.index) <
           std::pair(b.region.instructions.size(), a.index);
  });
  return branches;
}

void charge(const Context& context, size_t f, std::vector<Branch>& branches, double full_lanes) {
  const ptx::Function& function = context.module.functions[f];
  const auto& executed = context.profile.executed[f];
  std::vector<bool> charged(function.instructions.size(), false);
  for (Branch& branch : branches) {
    for (const uint32_t i : branch.region.instructions) {
      if (i >= executed.size() || charged[i]) continue;
      charged[i] = true;
      const double slots = full_lanes * static_cast<double>(executed[i].warps);
      branch.slots += slots;
      branch.warps += executed[i].warps;
      branch.lanes += executed[i].lanes;
      branch.lost += std::max(0.0, slots - static_cast<double>(executed[i].lanes));
      const diag::Place at = context.place({static_cast<int32_t>(f), i});
      if (at.file != context.place({static_cast<int32_t>(f), branch.index}).file) continue;
      branch.first_line = std::min(branch.first_line, at.line);
      branch.last_line = std::max(branch.last_line, at.line);
    }
  }
}

std::string advice(const Branch& branch, std::string_view line) {
  if (branch.region.loop)
    return "give the lanes of a warp loops of like length: sort or group the items by their amount of work, "
           "or let a lane "
           "that is done fetch the next item instead of waiting";
  if (line.find('%') != std::string_view::npos || line.find("& 1") != std::string_view::npos)
    return "let whole warps take one side: number the work so that the first threads do it (`if (threadIdx.x "
           "< s)`, with "
           "the index computed from threadIdx.x) instead of every second lane";
  return "let all lanes of a warp take the same side: make the condition depend on threadIdx.x / 32, regroup "
         "the items by "
         "the condition, or compute both sides and select where they are short";
}

// The branches of one source line: an unrolled loop has one for each round.
struct Line {
  profile::InstructionId first;
  Branch sum;
  uint64_t executions = 0, divergent = 0;
  size_t branches = 0;
};

std::map<std::pair<std::string, uint32_t>, Line> lines_of(const Context& context, size_t f,
                                                          double full_lanes) {
  std::map<std::pair<std::string, uint32_t>, Line> lines;
  std::vector<Branch> branches = divergent_branches(context, f);
  charge(context, f, branches, full_lanes);
  for (const Branch& branch : branches) {
    const profile::InstructionId id{static_cast<int32_t>(f), branch.index};
    const diag::Place at = context.place(id);
    const auto [entry, fresh] = lines.try_emplace({at.file, at.line});
    Line& line = entry->second;
    if (fresh || id.index < line.first.index) line.first = id;
    line.sum.region.loop |= branch.region.loop;
    line.sum.region.leaves |= branch.region.leaves;
    line.sum.lost += branch.lost;
    line.sum.slots += branch.slots;
    line.sum.lanes += branch.lanes;
    line.sum.warps += branch.warps;
    line.sum.first_line = std::min(line.sum.first_line, branch.first_line);
    line.sum.last_line = std::max(line.sum.last_line, branch.last_line);
    const profile::ExecutionCounters& executed = context.profile.executed[f][branch.index];
    line.executions += executed.warps;
    line.divergent += executed.divergent;
    ++line.branches;
  }
  return lines;
}

// What good kernels do as well: a bounds check, at which at most one warp of each block parts, once; and a
// short stretch by one lane for its warp (`if (lane == 0) sums[warp] = sum;`).
bool is_ordinary(const Context& context, const Line& line) {
  constexpr uint64_t kShort = 32;  // instructions
  const bool edge =
      line.sum.region.leaves && !line.sum.region.loop && line.divergent <= context.profile.blocks_run;
  const bool leader =
      !line.sum.region.loop && line.sum.lanes == line.sum.warps && line.sum.warps <= kShort * line.divergent;
  return edge || leader;
}

void report(Context& context, const Line& line, double full_lanes, double total,
            std::vector<diag::Finding>& findings) {
  const Branch& sum = line.sum;
  diag::Finding finding = context.finding(divergent_branch_rule, line.first);
  finding.count = line.branches;
  finding.message = fmt::format("divergent {}: on average {} of {} lanes work until they meet again",
                                sum.region.loop ? "loop" : "branch",
                                decimal(static_cast<double>(sum.lanes) / static_cast<double>(sum.warps)),
                                decimal(full_lanes));
  finding.label =
      fmt::format("the lanes part in {} of {} executions", grouped(line.divergent), grouped(line.executions));
  finding.share = sum.lost / total;
  std::string where;
  if (sum.first_line < sum.last_line) where = fmt::format(" in lines {}-{}", sum.first_line, sum.last_line);
  finding.notes.insert(finding.notes.begin(),
                       {fmt::format("{} lanes idle{}: {} of what this kernel's warps could have done",
                                    grouped(static_cast<uint64_t>(sum.lost)), where, percent(finding.share)),
                        {}});
  finding.evidence = {{"executions", static_cast<int64_t>(line.executions)},
                      {"divergent", static_cast<int64_t>(line.divergent)},
                      {"warp_instructions", static_cast<int64_t>(sum.warps)},
                      {"lanes", static_cast<int64_t>(sum.lanes)},
                      {"idle_lanes", static_cast<int64_t>(sum.lost)}};
  finding.fix = advice(sum, context.line(finding.place));
  findings.push_back(std::move(finding));
}

void run(Context& context, std::vector<diag::Finding>& findings) {
  const Rule& rule = divergent_branch_rule;
  const double total = 32.0 * static_cast<double>(context.profile.warp_instructions);
  const uint64_t threads = std::max<uint64_t>(context.profile.block.count(), 1);
  const double full_lanes = static_cast<double>(threads) / static_cast<double>((threads + 31) / 32);
  for (size_t f = 0; f < context.profile.executed.size() && f < context.module.functions.size(); ++f) {
    for (const auto& [place, line] : lines_of(context, f, full_lanes)) {
      if (line.sum.slots == 0 || line.sum.lost < total * context.threshold(rule, "min-share") ||
          line.sum.lost < line.sum.slots * context.threshold(rule, "min-idle") || is_ordinary(context, line))
        continue;
      report(context, line, full_lanes, total, findings);
    }
  }
}

}  // namespace

const Rule divergent_branch_rule = {
    {"divergent-branch", "branches that leave lanes of a warp idle", diag::Level::warning, kThresholds}, run};

}  // namespace fullwarp::rules

// divergent-branch: branches at which a warp's lanes part, priced by the lanes that idle until they meet
// again.
//
//   lanes lost = sum over the instructions between the branch and its immediate post-dominator of
//                (lanes that came to the branch - lanes that executed it)
//
// Lanes that an inner branch sends away are charged to that one, and lanes that had left before the branch to
// an outer one. A bounds check's region is the whole kernel, but its lost lanes are few; a loop that lanes
// leave at different times is charged for its late rounds.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
    {"min-idle", 0.25, "idle lanes as a share of the lanes that came to the branch, over its region"},
};

// Regions are found one branch at a time; a kernel that people wrote has a handful of divergent ones.
constexpr size_t kMaxBranches = 256;

struct Branch {
  uint32_t index = 0;
  Flow::Region region;
  double lost = 0;     // lanes that came to the branch and did not work behind it
  double slots = 0;    // lanes that would have worked without it
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

// The lanes of a warp that come to a branch, on average: of a loop, at the ends of the blocks that lead into
// it.
double lanes_at(const std::vector<profile::ExecutionCounters>& executed, const Branch& branch,
                double full_lanes) {
  std::vector<uint32_t> at = {branch.index};
  if (branch.region.loop) at = branch.region.entries;
  uint64_t lanes = 0, warps = 0;
  for (const uint32_t i : at) {
    if (i >= executed.size()) continue;
    lanes += executed[i].lanes;
    warps += executed[i].warps;
  }
  if (warps == 0) return full_lanes;  // a loop that the function begins with
  return std::min(full_lanes, static_cast<double>(lanes) / static_cast<double>(warps));
}

void charge(const Context& context, size_t f, std::vector<Branch>& branches, double full_lanes) {
  const ptx::Function& function = context.module.functions[f];
  const auto& executed = context.profile.executed[f];
  // Of each instruction, the lanes that worked or whose absence an inner branch has been charged with.
  std::vector<double> explained(function.instructions.size(), 0);
  for (size_t i = 0; i < explained.size() && i < executed.size(); ++i)
    if (executed[i].warps != 0)
      explained[i] = static_cast<double>(executed[i].lanes) / static_cast<double>(executed[i].warps);
  const bool called = static_cast<int32_t>(f) != context.profile.function;
  for (size_t b = 0; b < branches.size(); ++b) {
    Branch& branch = branches[b];
    // What a called function's lanes have lost before the call no branch of the caller is charged with.
    const bool outermost = std::none_of(
        branches.begin() + static_cast<ptrdiff_t>(b) + 1, branches.end(), [&](const Branch& outer) {
          return std::binary_search(outer.region.instructions.begin(), outer.region.instructions.end(),
                                    branch.index);
        });
    const double entering = called && outermost ? full_lanes : lanes_at(executed, branch, full_lanes);
    for (const uint32_t i : branch.region.instructions) {
      if (i >= executed.size() || executed[i].warps == 0) continue;
      const double warps = static_cast<double>(executed[i].warps);
      branch.slots += entering * warps;
      branch.warps += executed[i].warps;
      branch.lanes += executed[i].lanes;
      if (entering > explained[i]) {
        branch.lost += (entering - explained[i]) * warps;
        explained[i] = entering;
      }
      if (function.instructions[i].location < 0) continue;  // a line of the PTX, not of the source
      const diag::Place at = context.place({static_cast<int32_t>(f), i});
      if (at.file != context.place({static_cast<int32_t>(f), branch.index}).file) continue;
      branch.first_line = std::min(branch.first_line, at.line);
      branch.last_line = std::max(branch.last_line, at.line);
    }
  }
}

// The branches of one source line: an unrolled loop has one for each round.
struct Line {
  profile::InstructionId first;
  Branch sum;
  uint64_t executions = 0, divergent = 0;
  size_t branches = 0;
  std::vector<const Branch*> outermost;  // of them, while they are collected
  bool bounds_check = true;  // all of them lead out of the kernel where an index is not below a size
  bool atomic_loop = false;  // a loop around an atomic: a lock, or compare and swap
  bool from_memory = false;  // the condition is data
};

std::string advice(const Line& line, std::string_view text) {
  if (line.bounds_check)
    return "choose a block whose extents divide the data better (16 columns cover 45 with 48, 32 with 64), "
           "or number the threads along all elements in one dimension, so that only the last warp is cut";
  if (line.atomic_loop)
    return "the lanes of a warp take turns: let one lane act for its warp or block (a reduction first), or "
           "use an atomic addition, minimum or maximum in place of the loop";
  if (line.sum.region.loop)
    return "give the lanes of a warp loops of like length: sort or group the items by their amount of work, "
           "or let a lane that is done fetch the next item instead of waiting";
  if (line.from_memory)
    return "let a warp's lanes get items of one kind: sort or group the items by what the condition asks, or "
           "compute both sides and select where they are short";
  if (text.find('%') != std::string_view::npos || text.find("& 1") != std::string_view::npos)
    return "let whole warps take one side: number the work so that the first threads do it (`if (threadIdx.x "
           "< s)`, with the index computed from threadIdx.x) instead of every second lane";
  return "let all lanes of a warp take the same side: make the condition depend on threadIdx.x / 32, or "
         "compute both sides and select where they are short";
}

std::map<std::pair<std::string, uint32_t>, Line> lines_of(Context& context, size_t f, double full_lanes) {
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
    // A branch inside another one of the line has lanes of that one's region: they count once.
    std::erase_if(line.outermost, [&](const Branch* inner) {
      return std::binary_search(branch.region.instructions.begin(), branch.region.instructions.end(),
                                inner->index);
    });
    line.outermost.push_back(&branch);
    line.sum.first_line = std::min(line.sum.first_line, branch.first_line);
    line.sum.last_line = std::max(line.sum.last_line, branch.last_line);
    const profile::ExecutionCounters& executed = context.profile.executed[f][branch.index];
    line.executions += executed.warps;
    line.divergent += executed.divergent;
    ++line.branches;
    const Definitions& definitions = context.definitions(id.function);
    line.bounds_check &= branch.region.leaves && !branch.region.loop && definitions.is_bounds_check(id.index);
    line.from_memory |= definitions.guard_depends_on_memory(id.index);
    const auto& instructions = context.module.functions[f].instructions;
    line.atomic_loop |= branch.region.loop &&
                        std::any_of(branch.region.instructions.begin(), branch.region.instructions.end(),
                                    [&](uint32_t i) { return instructions[i].op == ptx::Op::atom; });
  }
  for (auto& [place, line] : lines) {
    for (const Branch* branch : line.outermost) {
      line.sum.slots += branch->slots;
      line.sum.lanes += branch->lanes;
      line.sum.warps += branch->warps;
    }
    line.outermost.clear();
  }
  return lines;
}

// What good kernels do as well: a bounds check, at which at most one warp of each block parts, once; and a
// short stretch by one lane or a few for their warp (`if (lane == 0) sums[warp] = sum;`).
bool is_ordinary(const Context& context, const Line& line) {
  constexpr uint64_t kShort = 32;  // instructions
  constexpr uint64_t kFew = 4;     // lanes
  const bool edge =
      line.sum.region.leaves && !line.sum.region.loop && line.divergent <= context.profile.blocks_run;
  const bool leaders = !line.sum.region.loop && line.sum.lanes <= kFew * line.sum.warps &&
                       line.sum.warps <= kShort * line.divergent;
  return edge || leaders;
}

void report(Context& context, const Line& line, double total, std::vector<diag::Finding>& findings) {
  const Branch& sum = line.sum;
  diag::Finding finding = context.finding(divergent_branch_rule, line.first);
  finding.count = line.branches;
  const double warps = static_cast<double>(sum.warps);
  const std::string working =
      fmt::format("{} of {} lanes", decimal((sum.slots - sum.lost) / warps), decimal(sum.slots / warps));
  if (line.bounds_check) {
    // What lies beyond the data has to be left out; only the block's shape can make it less.
    finding.level = diag::Level::note;
    finding.message =
        fmt::format("blocks reach beyond the data: on average {} pass the bounds check", working);
  } else {
    finding.message = fmt::format("divergent {}: on average {} work until they meet again",
                                  sum.region.loop ? "loop" : "branch", working);
  }
  finding.label =
      fmt::format("the lanes part in {} of {} executions", grouped(line.divergent), grouped(line.executions));
  finding.share = sum.lost / total;
  std::string where;
  if (sum.first_line < sum.last_line) where = fmt::format(" in lines {}-{}", sum.first_line, sum.last_line);
  finding.notes.insert(
      finding.notes.begin(),
      {fmt::format("{} lanes idle{}: {} of what this kernel's warps could have done",
                   grouped(static_cast<uint64_t>(std::llround(sum.lost))), where, percent(finding.share)),
       {}});
  finding.evidence = {{"executions", static_cast<int64_t>(line.executions)},
                      {"divergent", static_cast<int64_t>(line.divergent)},
                      {"warp_instructions", static_cast<int64_t>(sum.warps)},
                      {"lanes", static_cast<int64_t>(sum.lanes)},
                      {"idle_lanes", static_cast<int64_t>(std::llround(sum.lost))}};
  finding.fix = advice(line, context.line(finding.place));
  findings.push_back(std::move(finding));
}

void run(Context& context, std::vector<diag::Finding>& findings) {
  const Rule& rule = divergent_branch_rule;
  const double total = 32.0 * static_cast<double>(context.profile.warp_instructions);
  const uint64_t threads = std::max<uint64_t>(context.profile.block.count(), 1);
  const uint64_t warps = (threads + 31) / 32;
  const double full_lanes = static_cast<double>(threads) / static_cast<double>(warps);
  for (size_t f = 0; f < context.profile.executed.size() && f < context.module.functions.size(); ++f) {
    for (const auto& [place, line] : lines_of(context, f, full_lanes)) {
      if (line.sum.slots == 0 || line.sum.lost < total * context.threshold(rule, "min-share") ||
          line.sum.lost < line.sum.slots * context.threshold(rule, "min-idle") || is_ordinary(context, line))
        continue;
      report(context, line, total, findings);
    }
  }
}

}  // namespace

const Rule divergent_branch_rule = {
    {"divergent-branch", "branches that leave lanes of a warp idle", diag::Level::warning, kThresholds}, run};

}  // namespace fullwarp::rules

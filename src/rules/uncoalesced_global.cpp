// uncoalesced-global: requests whose lanes lie in far more sectors than their data fills.
#include <fmt/format.h>

#include <algorithm>

#include "rules/context.h"
#include "rules/global_pattern.h"
#include "rules/text.h"

namespace fullwarp::rules {
namespace {

constexpr Threshold kThresholds[] = {
    {"min-ratio", 2, "sectors per ideal sector below which an access counts as coalesced"},
    {"min-share", 0.05, "extra sectors as a share of all the kernel's global-memory sectors"},
    {"min-cost", 0.02, "extra sectors for each warp instruction of the kernel"},
};

std::string describe(const mem::WarpAccess& access) {
  const mem::AccessCost cost = mem::global_cost(access);
  if (const auto stride = lane_stride(access))
    return fmt::format("neighbouring lanes are {} apart: {} lie in {}",
                       counted(static_cast<uint64_t>(std::abs(*stride)), "byte"), lanes_text(access.mask),
                       counted(cost.sectors, "sector"));
  return fmt::format("the addresses of {} lie in {} of {}", lanes_text(access.mask),
                     counted(cost.sectors, "sector"), counted(cost.lines, "line"));
}

// Does the kernel also have coalesced accesses of the same weight? Then swapping the indices would only move
// the problem, and the data has to be turned in shared memory.
bool has_coalesced_partner(Context& context, const AccessGroup& group) {
  return std::any_of(context.groups().begin(), context.groups().end(), [&](const AccessGroup& other) {
    return other.space == mem::AccessSpace::global && other.buffer != group.buffer &&
           other.sums.uniform_requests < other.sums.requests && sector_ratio(other.sums) < 1.5 &&
           2 * other.sums.lanes >= group.sums.lanes;
  });
}

std::string advice(Context& context, const AccessGroup& group) {
  constexpr int64_t kSectorBytes = 32, kShortRun = 64;
  const mem::WarpAccess& example = group.costliest->example.access;
  const int64_t width = std::max<int64_t>(group.costliest->width_bytes, 1);
  const auto stride = usual_stride(example);
  const ptx::Instruction* at = context.instruction(group.costliest->instruction);
  if (verb(group.kind) == "update")
    return "combine the updates of a warp or a block (in registers or shared memory) before they go to "
           "global memory";
  if (at && at->op == ptx::Op::wmma)
    return "the rows of a fragment are short and far apart: copy a block's part into shared memory with "
           "16-byte loads, neighbouring lanes along a row, and load the fragments from there";
  if (!stride)
    return "let neighbouring lanes take neighbouring elements: sort or group the indices, or bring the "
           "block's part into shared memory with coalesced loads and scatter there";
  if (*stride == 0)
    return "the lanes of a warp take few different elements, far apart: let a warp take elements of one row, "
           "or bring them into shared memory with coalesced loads";
  if (*stride == width)
    return fmt::format(
        "runs of neighbouring lanes are shorter than a sector: let at least {} take one row (the "
        "block's or the tile's extent in x), from a multiple of 32 bytes on",
        counted(static_cast<uint64_t>(std::max<int64_t>(kSectorBytes / width, 2)), "lane"));
  if (std::abs(*stride) <= 2 * width)
    return "let each lane take neighbouring elements with one wider access (float2, float4), or let "
           "neighbouring lanes take neighbouring elements";
  if (std::abs(*stride) <= kShortRun)
    return fmt::format(
        "let neighbouring lanes take neighbouring elements (lane t element t, then t + 32), not each a "
        "stretch of {} of its own; or let a lane take its stretch with wide accesses (float4)",
        counted(static_cast<uint64_t>(std::abs(*stride)), "byte"));
  if (context.profile.block.x == context.profile.block.count())
    return "each lane walks a stretch of its own: lay the data out so that element i of all lanes is "
           "contiguous (at i * lanes + lane), or bring the stretches into shared memory with coalesced loads";
  if (has_coalesced_partner(context, group))
    return "turn the data in shared memory: load a tile by rows, `__syncthreads()`, and store it by rows of "
           "the result, so that threadIdx.x runs along the contiguous dimension on both sides";
  return "let threadIdx.x run along the contiguous dimension: exchange the roles of the two thread indices, "
         "so that neighbouring lanes take neighbouring elements";
}

void run(Context& context, std::vector<diag::Finding>& findings) {
  const Rule& rule = uncoalesced_global_rule;
  std::vector<const AccessGroup*> members;
  for (const StructAccess& access : struct_accesses(context))
    members.insert(members.end(), access.groups.begin(), access.groups.end());

  const double total = static_cast<double>(context.global.sectors);
  for (const AccessGroup& group : context.groups()) {
    const AccessSums& sums = group.sums;
    if (group.space != mem::AccessSpace::global || sums.sectors <= sums.ideal_sectors) continue;
    if (std::find(members.begin(), members.end(), &group) != members.end()) continue;  // struct-stride's
    const double extra = static_cast<double>(sums.sectors - sums.ideal_sectors);
    if (sector_ratio(sums) < context.threshold(rule, "min-ratio") ||
        extra < total * context.threshold(rule, "min-share") ||
        extra < static_cast<double>(context.profile.warp_instructions) * context.threshold(rule, "min-cost"))
      continue;

    diag::Finding finding = context.finding(rule, group);
    const double requests = static_cast<double>(sums.requests);
    finding.message =
        fmt::format("uncoalesced {}: each request touches {} sectors where {} would hold its data",
                    noun(group.kind), decimal(static_cast<double>(sums.sectors) / requests),
                    decimal(static_cast<double>(sums.ideal_sectors) / requests));
    finding.share = static_cast<double>(sums.sectors) / total;
    std::string note =
        fmt::format("{}, {}: {} of this kernel's global-memory sectors", counted(sums.requests, "request"),
                    counted(sums.sectors, "sector"), percent(finding.share));
    if (sums.extra_copies > 0)
      note +=
          fmt::format("; {} of them a block had already loaded, and L1 may still hold them",
                      percent(static_cast<double>(sums.extra_copies) / static_cast<double>(sums.sectors)));
    finding.notes.insert(finding.notes.begin(), {note, {}});
    finding.evidence = {{"requests", static_cast<int64_t>(sums.requests)},
                        {"sectors", static_cast<int64_t>(sums.sectors)},
                        {"ideal_sectors", static_cast<int64_t>(sums.ideal_sectors)},
                        {"bytes_asked", static_cast<int64_t>(sums.bytes_asked)},
                        {"bytes_moved", static_cast<int64_t>(sums.sectors * 32)}};
    if (group.costliest->example.valid) {
      finding.label = describe(group.costliest->example.access);
      finding.fix = advice(context, group);
    }
    findings.push_back(std::move(finding));
  }
}

}  // namespace

const Rule uncoalesced_global_rule = {
    {"uncoalesced-global", "global-memory requests spread over too many sectors", diag::Level::warning,
     kThresholds},
    run};

}  // namespace fullwarp::rules

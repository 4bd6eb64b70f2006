// local-memory: arrays that live in local memory because they are indexed at run time, and registers that
// ptxas spills.
#include <fmt/format.h>

#include "rules/context.h"
#include "rules/source_text.h"
#include "rules/text.h"

namespace fullwarp::rules {
namespace {

constexpr Threshold kThresholds[] = {
    {"min-share", 0.05, "requests to local memory as a share of the kernel's requests to all memory"},
    {"min-cost", 0.01, "requests to local memory for each warp instruction of the kernel"},
    {"min-spill-bytes", 4, "bytes of registers spilled by a thread, as ptxas reports them"},
};

// The arrays that a line indexes and that are neither shared nor parameters.
std::vector<std::string> local_arrays(Context& context, const diag::Place& place) {
  std::vector<std::string> names;
  for (const std::string& name : subscripted_names(context.line(place))) {
    const auto array = find_array(context.input.sources, place.file, place.line, name);
    if (array && !array->shared && !array->dims.front().empty() && array->line != place.line)
      names.push_back(name);
  }
  return names;
}

void report_arrays(Context& context, std::vector<diag::Finding>& findings) {
  const Rule& rule = local_memory_rule;
  const double all =
      static_cast<double>(context.local.requests + context.global.requests + context.shared.requests);
  const double requests = static_cast<double>(context.local.requests);
  if (all == 0 || requests < all * context.threshold(rule, "min-share") ||
      requests < static_cast<double>(context.profile.warp_instructions) * context.threshold(rule, "min-cost"))
    return;
  // One finding for the kernel, at the costliest access: the cure is the array's, not the access's.
  const AccessGroup* costliest = nullptr;
  size_t accesses = 0;
  for (const AccessGroup& group : context.groups()) {
    if (group.space != mem::AccessSpace::local) continue;
    accesses += group.members.size();
    // The loop that clears an array is rarely the line to look at: the scattered access is.
    if (!costliest || group.sums.sectors > costliest->sums.sectors) costliest = &group;
  }
  if (!costliest) return;
  diag::Finding finding = context.finding(rule, *costliest);
  // The arguments of printf go through local memory; no index of the author's is to blame.
  if (context.line(finding.place).find("printf(") != std::string_view::npos) return;
  finding.count = accesses;
  const std::vector<std::string> names = local_arrays(context, finding.place);
  const std::string array = names.size() == 1 ? fmt::format("array {}", names.front()) : "an array";
  if (names.size() == 1) {
    const auto columns = columns_of(context.line(finding.place), names.front());
    finding.place.column = columns.front();
    finding.place.end_column = columns.front() + static_cast<uint32_t>(names.front().size());
  }
  finding.message = fmt::format("{} lives in local memory: {} for each thread", array,
                                counted(context.profile.local_bytes_per_thread, "byte"));
  finding.share = static_cast<double>(context.local.requests) / all;
  const AccessSums& sums = costliest->sums;
  finding.label = fmt::format("{} sectors a request", decimal(static_cast<double>(sums.sectors) /
                                                              static_cast<double>(sums.requests)));
  if (sums.sectors > sums.ideal_sectors) finding.label += ": the index differs between the lanes";
  finding.notes.insert(finding.notes.begin(),
                       {fmt::format("{} to local memory, {}: {} of this kernel's memory requests",
                                    counted(context.local.requests, "request"),
                                    counted(context.local.sectors, "sector"), percent(finding.share)),
                        {}});
  finding.evidence = {
      {"local_requests", static_cast<int64_t>(context.local.requests)},
      {"local_sectors", static_cast<int64_t>(context.local.sectors)},
      {"local_bytes_per_thread", static_cast<int64_t>(context.profile.local_bytes_per_thread)}};
  finding.fix =
      "index the array with constants only (`#pragma unroll` over loops with a constant count), so that it "
      "stays in registers; where the index is data, put the array into shared memory or choose with a chain "
      "of selects";
  findings.push_back(std::move(finding));
}

void report_spills(Context& context, std::vector<diag::Finding>& findings) {
  const Rule& rule = local_memory_rule;
  if (!context.input.resources) return;
  const ResourceUsage& usage = *context.input.resources;
  const uint64_t bytes = uint64_t{usage.spill_store_bytes} + usage.spill_load_bytes;
  if (bytes == 0 || static_cast<double>(bytes) < context.threshold(rule, "min-spill-bytes")) return;
  diag::Finding finding;
  finding.rule = rule.info.id;
  finding.level = rule.info.level;
  finding.kernel = context.input.kernel;
  finding.place = context.kernel_place();
  finding.message = fmt::format(
      "ptxas spills registers to local memory: {} of stores and {} of loads in each thread's "
      "code",
      counted(usage.spill_store_bytes, "byte"), counted(usage.spill_load_bytes, "byte"));
  finding.label =
      usage.registers_per_thread ? fmt::format("{} registers a thread", usage.registers_per_thread) : "";
  finding.evidence = {{"spill_store_bytes", int64_t{usage.spill_store_bytes}},
                      {"spill_load_bytes", int64_t{usage.spill_load_bytes}},
                      {"registers_per_thread", int64_t{usage.registers_per_thread}}};
  finding.fix =
      "give a thread less to hold at a time (smaller register tiles, less unrolling), or more registers: "
      "fewer threads in `__launch_bounds__`, a higher `-maxrregcount`";
  findings.push_back(std::move(finding));
}

void run(Context& context, std::vector<diag::Finding>& findings) {
  report_arrays(context, findings);
  report_spills(context, findings);
}

}  // namespace

const Rule local_memory_rule = {
    {"local-memory", "arrays and spilled registers in local memory", diag::Level::warning, kThresholds}, run};

}  // namespace fullwarp::rules

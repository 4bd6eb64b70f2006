// misaligned-global: contiguous requests that begin off a sector and need one sector more than their data
// fills.
#include <fmt/format.h>

#include <bit>

#include "rules/context.h"
#include "rules/global_pattern.h"
#include "rules/text.h"

namespace fullwarp::rules {
namespace {

constexpr Threshold kThresholds[] = {
    {"min-requests", 0.5, "share of an access's requests that need exactly one sector too many"},
    {"min-share", 0.05, "extra sectors as a share of all the kernel's global-memory sectors"},
    {"min-cost", 0.02, "extra sectors for each warp instruction of the kernel"},
    {"max-ratio", 2, "sectors per ideal sector from which an access is uncoalesced-global's"},
};

constexpr uint64_t kSectorBytes = 32;

void run(Context& context, std::vector<diag::Finding>& findings) {
  const Rule& rule = misaligned_global_rule;
  const double total = static_cast<double>(context.global.sectors);
  for (const AccessGroup& group : context.groups()) {
    const AccessSums& sums = group.sums;
    if (!is_misaligned(context, group, context.threshold(rule, "min-requests"))) continue;
    if (sector_ratio(sums) >= context.threshold(rule, "max-ratio")) continue;
    const double extra = static_cast<double>(sums.misaligned_requests);
    if (extra < total * context.threshold(rule, "min-share") ||
        extra < static_cast<double>(context.profile.warp_instructions) * context.threshold(rule, "min-cost"))
      continue;

    diag::Finding finding = context.finding(rule, group);
    // A base that is off costs every request; an odd row pitch spares the rows that happen to lie right, and
    // measures no slower (hardware.md: n = 255 against 256).
    if (sums.misaligned_requests < sums.requests) finding.level = diag::Level::note;
    const double requests = static_cast<double>(sums.requests);
    finding.message =
        fmt::format("misaligned global {}: each request touches {} sectors where {} would hold its data",
                    noun(group.kind), decimal(static_cast<double>(sums.sectors) / requests),
                    decimal(static_cast<double>(sums.sectors) / requests - extra / requests));
    finding.share = static_cast<double>(sums.sectors) / total;
    finding.notes.insert(finding.notes.begin(),
                         {fmt::format("{} of {} begin off a 32-byte sector and need one sector more: {} of "
                                      "this kernel's global-memory sectors",
                                      grouped(sums.misaligned_requests), counted(sums.requests, "request"),
                                      percent(extra / total)),
                          {}});
    finding.evidence = {{"requests", static_cast<int64_t>(sums.requests)},
                        {"misaligned_requests", static_cast<int64_t>(sums.misaligned_requests)},
                        {"sectors", static_cast<int64_t>(sums.sectors)},
                        {"ideal_sectors", static_cast<int64_t>(sums.ideal_sectors)}};
    const profile::AccessExample& example = group.costliest->example;
    if (example.valid) {
      const unsigned first = static_cast<unsigned>(std::countr_zero(example.access.mask));
      const uint64_t past = example.access.address[first] % kSectorBytes;
      if (past != 0) {  // the one that is remembered may be of those that lie right
        finding.label = fmt::format("lane {} begins {} past a sector", first, counted(past, "byte"));
        finding.evidence.emplace_back("bytes_past_sector", static_cast<int64_t>(past));
      }
    }
    finding.fix =
        "let each warp's first element lie on a multiple of 32 bytes: an aligned base, and a row pitch that "
        "is a "
        "multiple of 32 bytes (`cudaMallocPitch`, or a padded number of columns); where the offset is fixed, "
        "let the first warp do the odd elements and shift the others";
    // One sector less for each such request, and nothing else changes.
    finding.gain = total / (total - extra);
    finding.gain_of = "global-memory sectors";
    findings.push_back(std::move(finding));
  }
}

}  // namespace

const Rule misaligned_global_rule = {
    {"misaligned-global", "contiguous global-memory requests that begin off a sector", diag::Level::warning,
     kThresholds},
    run};

}  // namespace fullwarp::rules

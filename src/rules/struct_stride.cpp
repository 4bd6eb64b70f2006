// struct-stride: members of an array of structs read or written one by one.
#include <fmt/format.h>

#include <algorithm>

#include "rules/context.h"
#include "rules/global_pattern.h"
#include "rules/text.h"

namespace fullwarp::rules {
namespace {

constexpr Threshold kThresholds[] = {
    {"min-ratio", 1.5, "sectors per ideal sector below which the members count as coalesced"},
    {"min-share", 0.05, "extra sectors as a share of all the kernel's global-memory sectors"},
    {"min-cost", 0.02, "extra sectors for each warp instruction of the kernel"},
};

// Up to this size L1 holds a warp's structs from one member to the next (hardware.md: 12 bytes 6.1
// microseconds in either layout, 32 bytes 11.5).
constexpr uint32_t kRepairedBytes = 16;

std::string advice(const StructAccess& access) {
  const uint32_t bytes = access.stride_bytes;
  std::string text = "keep each member in an array of its own (struct of arrays)";
  if (bytes == 8 || bytes == 16)
    text += fmt::format(", or declare the struct `__align__({})` and load it whole, with one {}-bit access",
                        bytes, 8 * bytes);
  else if (bytes > 8 && bytes < 16)
    text += ", or pad the struct to 16 bytes, `__align__(16)`, and load it whole";
  else
    text +=
        ", or bring the block's structs into shared memory with coalesced loads and pick the members there";
  return text;
}

void run(Context& context, std::vector<diag::Finding>& findings) {
  const Rule& rule = struct_stride_rule;
  const double total = static_cast<double>(context.global.sectors);
  for (const StructAccess& access : struct_accesses(context)) {
    AccessSums sums;
    size_t count = 0;
    const AccessGroup* costliest = access.groups.front();
    for (const AccessGroup* group : access.groups) {
      for (const profile::MemoryCounters* counters : group->members) sums.add(*counters);
      count += group->members.size();
      if (group->sums.sectors > costliest->sums.sectors) costliest = group;
    }
    if (sums.sectors <= sums.ideal_sectors) continue;
    const double extra = static_cast<double>(sums.sectors - sums.ideal_sectors);
    if (sector_ratio(sums) < context.threshold(rule, "min-ratio") ||
        extra < total * context.threshold(rule, "min-share") ||
        extra < static_cast<double>(context.profile.warp_instructions) * context.threshold(rule, "min-cost"))
      continue;

    diag::Finding finding = context.finding(rule, *costliest);
    finding.count = count;
    const double requests = static_cast<double>(sums.requests);
    finding.message = fmt::format(
        "members of a {}-byte struct are {} one by one: each request touches {} sectors where {} would hold "
        "its data",
        access.stride_bytes, is_load(costliest->kind) ? "loaded" : "stored",
        decimal(static_cast<double>(sums.sectors) / requests),
        decimal(static_cast<double>(sums.ideal_sectors) / requests));
    finding.label = fmt::format("neighbouring lanes are {} apart: {} of each struct in {}",
                                counted(access.stride_bytes, "byte"), counted(access.member_bytes, "byte"),
                                access.members == 1 ? "one access" : grouped(access.members) + " accesses");
    finding.share = static_cast<double>(sums.sectors) / total;
    std::vector<diag::Note> notes = {
        {fmt::format("{}, {}: {} of this kernel's global-memory sectors", counted(sums.requests, "request"),
                     counted(sums.sectors, "sector"), percent(finding.share)),
         {}}};
    if (access.member_bytes >= access.stride_bytes && access.stride_bytes <= kRepairedBytes) {
      finding.level = diag::Level::note;
      notes.push_back(
          {"every byte is used and the struct is small: L1 serves the repeats, so that the cost is requests "
           "and L1 wavefronts, not bytes from DRAM",
           {}});
    } else if (access.member_bytes < access.stride_bytes) {
      notes.push_back({fmt::format("{} of the {} bytes of each struct are not used here but come along",
                                   access.stride_bytes - access.member_bytes, access.stride_bytes),
                       {}});
    }
    constexpr size_t kMaxPlaces = 4;
    for (const AccessGroup* group : access.groups) {
      if (group == costliest || notes.size() >= kMaxPlaces) continue;
      notes.push_back({"and here", context.place(group->costliest->instruction)});
    }
    finding.notes.insert(finding.notes.begin(), notes.begin(), notes.end());
    finding.evidence = {{"requests", static_cast<int64_t>(sums.requests)},
                        {"sectors", static_cast<int64_t>(sums.sectors)},
                        {"ideal_sectors", static_cast<int64_t>(sums.ideal_sectors)},
                        {"struct_bytes", int64_t{access.stride_bytes}},
                        {"used_bytes", int64_t{access.member_bytes}},
                        {"members", int64_t{access.members}}};
    finding.fix = advice(access);
    findings.push_back(std::move(finding));
  }
}

}  // namespace

const Rule struct_stride_rule = {{"struct-stride", "members of an array of structs accessed one by one",
                                  diag::Level::warning, kThresholds},
                                 run};

}  // namespace fullwarp::rules

// redundant-global-loads: a block that loads the same bytes of a buffer from global memory again and again.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "rules/context.h"
#include "rules/global_pattern.h"
#include "rules/source_text.h"
#include "rules/text.h"

namespace fullwarp::rules {
namespace {

constexpr Threshold kThresholds[] = {
    {"min-times", 4,
     "sectors a block loads from a buffer for each distinct one, and bytes that the lanes ask for for each "
     "distinct one; a three-point stencil has 3"},
    {"min-share", 0.1, "repeated sectors as a share of all the kernel's global-memory sectors"},
    {"min-cost", 0.05, "repeated sectors for each warp instruction of the kernel"},
    {"min-uniform-bytes", 1024,
     "bytes a block reads of a buffer that every lane reads at one address (a table of "
     "constants) below which the buffer is left alone"},
};

constexpr uint64_t kSectorBytes = 32;

// The loads of one buffer in the whole kernel.
struct Reuse {
  uint64_t sectors = 0;   // what the requests need at the least: scattered requests are another rule's matter
  uint64_t distinct = 0;  // summed over blocks
  uint64_t requests = 0, uniform_requests = 0;
  const AccessGroup* costliest = nullptr;
  size_t accesses = 0;

  uint64_t repeated() const { return sectors - distinct; }
  double times() const { return static_cast<double>(sectors) / static_cast<double>(distinct); }
};

std::map<int32_t, Reuse> reuse_by_buffer(Context& context) {
  std::map<int32_t, Reuse> buffers;
  for (const AccessGroup& group : context.groups()) {
    if (group.space != mem::AccessSpace::global || !is_load(group.kind) || group.buffer < 0 ||
        static_cast<size_t>(group.buffer) >= context.profile.buffers.size())
      continue;
    Reuse& reuse = buffers[group.buffer];
    reuse.distinct = context.profile.buffers[static_cast<size_t>(group.buffer)].block_load_sectors;
    reuse.sectors += group.sums.ideal_sectors;
    reuse.requests += group.sums.requests;
    reuse.uniform_requests += group.sums.uniform_requests;
    reuse.accesses += group.members.size();
    if (!reuse.costliest || group.sums.ideal_sectors > reuse.costliest->sums.ideal_sectors)
      reuse.costliest = &group;
  }
  return buffers;
}

// Lanes that pick elements here and there. uncoalesced-global speaks of them, and says how much of what they
// load the block had loaded before: a second finding would have the same cure.
bool is_gather(const AccessGroup& group) {
  constexpr double kScattered = 2;  // sectors per ideal sector, as in uncoalesced-global
  const profile::AccessExample& example = group.costliest->example;
  return example.valid && sector_ratio(group.sums) >= kScattered && !usual_stride(example.access);
}

// Whether the line that loads also stores to the buffer: `sum[i] += x`.
bool is_updated(const Context& context, const AccessGroup& load) {
  const diag::Place at = context.place(load.costliest->instruction);
  return std::any_of(context.groups().begin(), context.groups().end(), [&](const AccessGroup& other) {
    if (other.space != mem::AccessSpace::global || other.buffer != load.buffer || verb(other.kind) != "write")
      return false;
    const diag::Place place = context.place(other.costliest->instruction);
    return place.line == at.line && place.file == at.file;
  });
}

void run(Context& context, std::vector<diag::Finding>& findings) {
  const Rule& rule = redundant_global_loads_rule;
  if (context.profile.block.count() == 1) return;  // nobody to share with
  const double total = static_cast<double>(context.global.sectors);
  struct Line {
    std::vector<std::string> names;
    Reuse sum;
    double times = 0;  // the largest of the buffers'
    uint64_t most_repeated = 0;
  };
  // One finding for each line: `sum += a[...] * b[...]` is one cause with one cure.
  std::map<std::pair<std::string, uint32_t>, Line> lines;
  for (const auto& [index, reuse] : reuse_by_buffer(context)) {
    if (reuse.distinct == 0 || reuse.sectors <= reuse.distinct) continue;
    const double repeated = static_cast<double>(reuse.repeated());
    if (reuse.times() < context.threshold(rule, "min-times") ||
        repeated < total * context.threshold(rule, "min-share") ||
        repeated <
            static_cast<double>(context.profile.warp_instructions) * context.threshold(rule, "min-cost"))
      continue;
    if (is_gather(*reuse.costliest)) continue;
    const profile::BufferCounters& buffer = context.profile.buffers[static_cast<size_t>(index)];
    // A thread that walks along a buffer asks for a sector once for each element in it, yet loads no byte
    // twice.
    if (static_cast<double>(buffer.loaded_bytes_asked) <
        static_cast<double>(buffer.loaded_bytes_touched) * context.threshold(rule, "min-times"))
      continue;
    const uint64_t blocks = std::max<uint64_t>(buffer.blocks_loading, 1);
    const double bytes_a_block =
        static_cast<double>(reuse.distinct * kSectorBytes) / static_cast<double>(blocks);
    if (reuse.uniform_requests == reuse.requests &&
        bytes_a_block < context.threshold(rule, "min-uniform-bytes"))
      continue;
    const diag::Place place = context.place(reuse.costliest->costliest->instruction);
    Line& line = lines[{place.file, place.line}];
    const std::string name = context.name(*reuse.costliest);
    if (!name.empty()) line.names.push_back(name);
    if (reuse.repeated() > line.most_repeated) {
      line.most_repeated = reuse.repeated();
      line.sum.costliest = reuse.costliest;
    }
    line.sum.sectors += reuse.sectors;
    line.sum.distinct += reuse.distinct;
    line.sum.requests += reuse.requests;
    line.sum.accesses += reuse.accesses;
    line.times = std::max(line.times, reuse.times());
  }
  for (auto& [place, line] : lines) {
    sort_by_column(line.names, context.input.sources.line(place.first, place.second));
    diag::Finding finding = context.finding(rule, *line.sum.costliest);
    finding.count = line.sum.accesses;
    const std::string of = line.names.empty() ? "" : fmt::format(" of {}", joined(line.names));
    finding.message =
        fmt::format("each block loads the same data{} from global memory {} times", of, decimal(line.times));
    finding.label = fmt::format("{} requested for {} different in a block",
                                counted(line.sum.sectors, "sector"), grouped(line.sum.distinct));
    const double repeated = static_cast<double>(line.sum.repeated());
    finding.share = repeated / total;
    finding.notes.insert(
        finding.notes.begin(),
        {fmt::format("{}, {} at the least; {} of this kernel's global-memory sectors are repeats "
                     "within a block (L1 may serve them, at the price of a request each)",
                     counted(line.sum.requests, "request"), counted(line.sum.sectors, "sector"),
                     percent(finding.share)),
         {}});
    finding.evidence = {{"requests", static_cast<int64_t>(line.sum.requests)},
                        {"sectors", static_cast<int64_t>(line.sum.sectors)},
                        {"distinct_sectors", static_cast<int64_t>(line.sum.distinct)},
                        {"times", line.times}};
    finding.fix = is_updated(context, *line.sum.costliest)
                      ? fmt::format(
                            "keep what is updated{} in a register, or in `__shared__` memory where threads "
                            "share it, and write it back once",
                            of)
                      : fmt::format(
                            "tile: let the block bring its part{} into `__shared__` memory once, "
                            "`__syncthreads()`, and read it from there",
                            of);
    finding.gain = total / (total - repeated);
    finding.gain_of = "global-memory sectors";
    findings.push_back(std::move(finding));
  }
}

}  // namespace

const Rule redundant_global_loads_rule = {
    {"redundant-global-loads", "blocks that load the same bytes from global memory many times",
     diag::Level::warning, kThresholds},
    run};

}  // namespace fullwarp::rules

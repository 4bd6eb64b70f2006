// bank-conflict: shared-memory requests that take more wavefronts than their width needs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <set>

#include "rules/context.h"
#include "rules/names.h"
#include "rules/source_text.h"
#include "rules/text.h"

namespace fullwarp::rules {
namespace {

constexpr Threshold kThresholds[] = {
    {"min-ways", 1.25, "wavefronts per ideal wavefront below which an access counts as free of conflicts"},
    {"min-share", 0.05, "extra wavefronts as a share of all the kernel's shared-memory wavefronts"},
    {"min-cost", 0.02, "extra wavefronts for each warp instruction of the kernel"},
};

constexpr unsigned kBanks = 32, kBankBytes = 4;

// The phase of a request (all lanes; half-warps for 64 bits, quarter-warps for 128) that has the most
// distinct words in one bank, and that bank.
struct WorstBank {
  unsigned bank = 0;
  LaneMask phase_lanes = 0;  // active lanes of the phase
  LaneMask bank_lanes = 0;   // those with a word in the bank
  size_t words = 0;          // distinct words there
};

WorstBank worst_bank(const mem::WarpAccess& access) {
  const unsigned phase = access.width_bytes <= 4 ? 32 : access.width_bytes == 8 ? 16 : 8;
  WorstBank worst;
  for (unsigned first = 0; first < kWarpSize; first += phase) {
    std::array<std::set<uint64_t>, kBanks> words;
    std::array<LaneMask, kBanks> lanes = {};
    LaneMask active = 0;
    for (unsigned lane = first; lane < first + phase; ++lane) {
      if (!(access.mask >> lane & 1)) continue;
      active |= LaneMask{1} << lane;
      const uint64_t last = (access.address[lane] + std::max(access.width_bytes, 1u) - 1) / kBankBytes;
      for (uint64_t word = access.address[lane] / kBankBytes; word <= last; ++word) {
        words[word % kBanks].insert(word);
        lanes[word % kBanks] |= LaneMask{1} << lane;
      }
    }
    for (unsigned bank = 0; bank < kBanks; ++bank)
      if (words[bank].size() > worst.words) worst = {bank, active, lanes[bank], words[bank].size()};
  }
  return worst;
}

std::string describe(const mem::WarpAccess& access, mem::AccessKind kind) {
  const WorstBank worst = worst_bank(access);
  std::vector<int64_t> words;
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    if (worst.bank_lanes >> lane & 1)
      words.push_back(static_cast<int64_t>(access.address[lane] / kBankBytes));
  if (worst.words < 2) return {};  // it costs more than its words explain
  // To shared memory an asynchronous copy is a store.
  const std::string_view does = kind == mem::AccessKind::async_copy ? "write" : verb(kind);
  const bool one = std::has_single_bit(worst.bank_lanes);
  const std::string reads =
      fmt::format("{} {}{} words {}", lanes_text(worst.bank_lanes), does, one ? "s" : "", sequence(words));
  return worst.bank_lanes == worst.phase_lanes
             ? fmt::format("{}: all in bank {}", reads, worst.bank)
             : fmt::format("{}: {} words in bank {}", reads, worst.words, worst.bank);
}

// Where the module's shared arrays lie in the block's window: in order of declaration, each aligned.
uint64_t shared_offset(const Context& context, int32_t variable) {
  const ptx::Variable& wanted = context.module.variables[static_cast<size_t>(variable)];
  uint64_t offset = 0;
  for (size_t i = 0; i < context.module.variables.size(); ++i) {
    const ptx::Variable& v = context.module.variables[i];
    if (v.space != ptx::Space::shared || v.external || (v.function >= 0 && v.function != wanted.function))
      continue;
    offset = (offset + v.align - 1) / std::max(v.align, 1u) * std::max(v.align, 1u);
    if (&v == &wanted) return offset;
    offset += v.bytes;
  }
  return 0;
}

struct Padding {
  std::string text;         // "`__shared__ float tile[32][33];`"
  uint32_t wavefronts = 0;  // of the example after it
};

// Tries rows that are longer by 1, 2, 4, 8, 16 elements (two half-warps in two rows need 16) on the example's
// addresses; nothing unless one of them helps.
std::optional<Padding> padding(Context& context, const AccessGroup& group, const diag::Place& place) {
  if (group.origin.variable < 0) return {};
  const ptx::Variable& variable = context.module.variables[static_cast<size_t>(group.origin.variable)];
  const std::string name = source_name(variable.name);
  const auto array = find_array(context.input.sources, place.file, place.line, name);
  if (!array || array->dims.size() < 2) return {};
  uint64_t count = 1;
  for (const auto& size : array->sizes) {
    if (!size || *size == 0 || *size > (1 << 20) || count > (1 << 24)) return {};
    count *= *size;
  }
  if (variable.bytes == 0 || variable.bytes % count != 0) return {};
  const uint64_t element = variable.bytes / count;
  const uint64_t columns = *array->sizes.back();
  const uint64_t base = shared_offset(context, group.origin.variable);
  const mem::WarpAccess& before = group.costliest->example.access;
  const mem::AccessCost cost = mem::shared_cost(before);
  std::optional<Padding> best;
  for (uint64_t pad = 1; pad <= 16; pad *= 2) {
    mem::WarpAccess after = before;
    bool aligned = true;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      if (!(before.mask >> lane & 1)) continue;
      if (before.address[lane] < base) return {};
      const uint64_t offset = before.address[lane] - base;
      after.address[lane] = base + offset + offset / (element * columns) * pad * element;
      aligned &= after.address[lane] % std::max(before.width_bytes, 1u) == 0;
    }
    const uint32_t wavefronts = mem::shared_cost(after).wavefronts;
    if (!aligned || wavefronts >= (best ? best->wavefronts : cost.wavefronts)) continue;
    std::string text = fmt::format("`__shared__ {} {}", array->type, name);
    for (size_t i = 0; i + 1 < array->dims.size(); ++i) text += fmt::format("[{}]", array->dims[i]);
    const bool literal = array->dims.back().find_first_not_of("0123456789") == std::string::npos;
    text +=
        literal ? fmt::format("[{}];`", columns + pad) : fmt::format("[{} + {}];`", array->dims.back(), pad);
    best = Padding{fmt::format("pad the row by {}: {}",
                               pad * element == kBankBytes ? "one word" : counted(pad, "element"), text),
                   wavefronts};
    if (wavefronts <= cost.ideal_wavefronts) break;
  }
  return best;
}

std::string advice(const AccessGroup& group) {
  const mem::WarpAccess& access = group.costliest->example.access;
  if (verb(group.kind) == "update")
    return "spread the updates: a private copy for each warp (or a copy whose bins are one word apart for "
           "each lane), summed at the end";
  // Lanes a constant number of words apart?
  std::optional<int64_t> stride;
  bool constant = true;
  for (unsigned lane = 1; lane < kWarpSize; ++lane) {
    if (!(access.mask >> lane & 1) || !(access.mask >> (lane - 1) & 1)) continue;
    const int64_t step = static_cast<int64_t>(access.address[lane] - access.address[lane - 1]);
    constant &= !stride || *stride == step;
    stride = step;
  }
  if (constant && stride && *stride % kBankBytes == 0 && *stride != 0) {
    const int64_t words = std::abs(*stride) / kBankBytes;
    return words % 2 == 0 ? fmt::format(
                                "neighbouring lanes are {} words apart: let them take neighbouring words, or "
                                "keep element i at i + i / 32 (of rows: one word of padding a row, {} words)",
                                words, words + 1)
                          : std::string("let neighbouring lanes take neighbouring words");
  }
  return "let neighbouring lanes take neighbouring words, or store the elements at an index whose low five "
         "bits differ between the lanes (a swizzle: column ^ row)";
}

void run(Context& context, std::vector<diag::Finding>& findings) {
  const Rule& rule = bank_conflict_rule;
  const double total = static_cast<double>(context.shared.wavefronts);
  for (const AccessGroup& group : context.groups()) {
    const AccessSums& sums = group.sums;
    if (group.space != mem::AccessSpace::shared || sums.ideal_wavefronts == 0 ||
        sums.wavefronts <= sums.ideal_wavefronts)
      continue;
    const double ways = static_cast<double>(sums.wavefronts) / static_cast<double>(sums.ideal_wavefronts);
    const double extra = static_cast<double>(sums.wavefronts - sums.ideal_wavefronts);
    if (ways < context.threshold(rule, "min-ways") || extra < total * context.threshold(rule, "min-share") ||
        extra < static_cast<double>(context.profile.warp_instructions) * context.threshold(rule, "min-cost"))
      continue;

    diag::Finding finding = context.finding(rule, group);
    const double requests = static_cast<double>(sums.requests);
    const bool even = sums.wavefronts % sums.ideal_wavefronts == 0 && sums.wavefronts % sums.requests == 0;
    finding.message = fmt::format(
        "{}-way bank conflict{}: each request takes {} wavefronts where {} would do", decimal(ways),
        even ? "" : " on average", decimal(static_cast<double>(sums.wavefronts) / requests),
        decimal(static_cast<double>(sums.ideal_wavefronts) / requests));
    finding.share = static_cast<double>(sums.wavefronts) / total;
    finding.notes.insert(finding.notes.begin(),
                         {fmt::format("{}, {}: {} of this kernel's shared-memory wavefronts",
                                      counted(sums.requests, "request"),
                                      counted(sums.wavefronts, "wavefront"), percent(finding.share)),
                          {}});
    finding.evidence = {{"requests", static_cast<int64_t>(sums.requests)},
                        {"wavefronts", static_cast<int64_t>(sums.wavefronts)},
                        {"ideal_wavefronts", static_cast<int64_t>(sums.ideal_wavefronts)},
                        {"ways", ways}};
    if (group.costliest->example.valid) {
      const mem::WarpAccess& example = group.costliest->example.access;
      finding.label = describe(example, group.kind);
      if (const auto pad = padding(context, group, finding.place)) {
        finding.fix = pad->text;
        const uint32_t ideal = mem::shared_cost(example).ideal_wavefronts;
        if (pad->wavefronts > ideal)
          finding.fix +=
              fmt::format(" (a request like this one then takes {})", counted(pad->wavefronts, "wavefront"));
        // Exact only if every request costs what the example costs, so that the pad cures them all.
        const uint64_t each = mem::shared_cost(example).wavefronts;
        if (pad->wavefronts == ideal && each * sums.requests == sums.wavefronts) {
          finding.gain = total / (total - extra);
          finding.gain_of = "shared-memory wavefronts";
        }
      } else {
        finding.fix = advice(group);
      }
    }
    findings.push_back(std::move(finding));
  }
}

}  // namespace

const Rule bank_conflict_rule = {
    {"bank-conflict", "shared-memory requests that the banks serve in more than one go", diag::Level::warning,
     kThresholds},
    run};

}  // namespace fullwarp::rules

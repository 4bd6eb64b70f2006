// contended-atomic: global atomics of which several lanes of a request update one address, one after the
// other. Of those only that a warp can combine; and not those that ptxas combines by itself.
#include <fmt/format.h>

#include "rules/context.h"
#include "rules/text.h"

namespace fullwarp::rules {
namespace {

constexpr Threshold kThresholds[] = {
    {"min-lanes", 4, "lanes at the busiest address of a sector, on average"},
    {"min-cost", 0.05, "needless updates for each warp instruction of the kernel"},
};

using ptx::Mod;
using ptx::Operand;
using ptx::Type;

// Can one update stand for several? Not for a lock's compare-and-swap.
bool combines(const ptx::Instruction& i) {
  return i.has(Mod::add_) || i.has(Mod::min_) || i.has(Mod::max_) || i.has(Mod::and_) || i.has(Mod::or_) ||
         i.has(Mod::xor_);
}

// ptxas adds up 32-bit integers of a warp and lets one lane do the atomic, where the address is the same for
// all, and nobody wants the result or what is added is a constant (docs/fidelity.md).
bool compiler_combines(const Context& context, const AccessGroup& group, const ptx::Instruction& i) {
  const Type type = i.type(0);
  if (type != Type::u32 && type != Type::s32 && type != Type::b32) return false;
  if (group.sums.uniform_requests < group.sums.requests) return false;
  const Operand& last = context.module.operands_of(i)[i.operand_count - 1];
  return group.kind == mem::AccessKind::reduction || last.kind == Operand::Kind::imm;
}

void run(Context& context, std::vector<diag::Finding>& findings) {
  const Rule& rule = contended_atomic_rule;
  for (const AccessGroup& group : context.groups()) {
    const AccessSums& sums = group.sums;
    const bool atomic = group.kind == mem::AccessKind::atomic || group.kind == mem::AccessKind::reduction;
    if (group.space != mem::AccessSpace::global || !atomic || sums.sectors == 0) continue;
    const ptx::Instruction* const i = context.instruction(group.costliest->instruction);
    if (!i || !combines(*i) || compiler_combines(context, group, *i)) continue;
    const double lanes = static_cast<double>(sums.atomic_sectors) / static_cast<double>(sums.sectors);
    const uint64_t needless = sums.atomic_sectors - sums.sectors;
    if (lanes < context.threshold(rule, "min-lanes") ||
        static_cast<double>(needless) <
            static_cast<double>(context.profile.warp_instructions) * context.threshold(rule, "min-cost"))
      continue;

    diag::Finding finding = context.finding(rule, group);
    const double requests = static_cast<double>(sums.requests);
    finding.message = fmt::format(
        "contended atomic: {} lanes of a request update one address, one after the other", decimal(lanes));
    finding.share = static_cast<double>(sums.sectors) / static_cast<double>(context.global.sectors);
    finding.notes.insert(
        finding.notes.begin(),
        {fmt::format("{} do {} updates where {} would do, one for each warp",
                     counted(sums.requests, "request"), grouped(sums.atomic_sectors), grouped(sums.sectors)),
         {}});
    finding.evidence = {{"requests", static_cast<int64_t>(sums.requests)},
                        {"lanes", static_cast<int64_t>(sums.lanes)},
                        {"updates", static_cast<int64_t>(sums.atomic_sectors)},
                        {"sectors", static_cast<int64_t>(sums.sectors)}};
    finding.label =
        fmt::format("{} updates a request", decimal(static_cast<double>(sums.atomic_sectors) / requests));
    finding.fix =
        group.kind == mem::AccessKind::reduction
            ? "combine what the lanes of a warp have before one of them does the atomic: `__reduce_add_sync` "
              "for 32-bit integers, `__shfl_down_sync` (or `cooperative_groups::reduce`) for others; better "
              "still, what a block has, in shared memory"
            : "let one lane of a warp do the atomic for all and hand out from its result: it adds the sum of "
              "what the lanes have, and each takes the sum of those before it (`cooperative_groups::"
              "coalesced_threads`; `__ballot_sync` and `__popc` where each adds one)";
    finding.gain = static_cast<double>(sums.atomic_sectors) / static_cast<double>(sums.sectors);
    finding.gain_of = "updates of these atomics";
    findings.push_back(std::move(finding));
  }
}

}  // namespace

const Rule contended_atomic_rule = {
    {"contended-atomic", "lanes of a warp whose atomics wait for each other at one address",
     diag::Level::warning, kThresholds},
    run};

}  // namespace fullwarp::rules

// repeated-shared-loads: arithmetic that waits for shared memory, because every operand comes from there each
// time.
//
// Shared memory gives an SM one wavefront a cycle while its four schedulers issue four arithmetic
// instructions. A kernel that loads every staged word many times and does little with it each time is bound
// by the loads; keeping the words in registers for several results (register blocking) cures it. What decides
// is the arithmetic per wavefront, not who loads: in a tiled matrix product no thread loads a word twice, yet
// each is loaded 32 times.
#include <fmt/format.h>

#include <algorithm>

#include "rules/context.h"
#include "rules/source_text.h"
#include "rules/text.h"

namespace fullwarp::rules {
namespace {

constexpr Threshold kThresholds[] = {
    {"max-math", 1.5,
     "arithmetic instructions for each wavefront of shared loads from which the loads are well used"},
    {"min-times", 4,
     "times each word stored to shared memory is loaded, below which there is little to keep"},
    {"min-share", 0.1, "shared loads as a share of the kernel's warp instructions"},
};

bool is_float(ptx::Type type) {
  switch (type) {
    case ptx::Type::f16:
    case ptx::Type::f16x2:
    case ptx::Type::bf16:
    case ptx::Type::bf16x2:
    case ptx::Type::f32:
    case ptx::Type::f32x2:
    case ptx::Type::f64: return true;
    default: return false;
  }
}

// Warp executions of arithmetic on data: floating point, and integer multiply-adds. `matrix` tells of
// tensor-core instructions, to which the ratio does not apply.
struct Arithmetic {
  uint64_t warps = 0;
  bool matrix = false;
};

Arithmetic arithmetic(const Context& context) {
  Arithmetic sum;
  for (size_t f = 0; f < context.profile.executed.size() && f < context.module.functions.size(); ++f) {
    const auto& instructions = context.module.functions[f].instructions;
    const auto& executed = context.profile.executed[f];
    for (size_t i = 0; i < executed.size() && i < instructions.size(); ++i) {
      if (executed[i].warps == 0) continue;
      switch (instructions[i].op) {
        case ptx::Op::mma:
        case ptx::Op::wmma: sum.matrix = true; break;
        case ptx::Op::fma:
        case ptx::Op::mad:
        case ptx::Op::dp4a: sum.warps += executed[i].warps; break;
        case ptx::Op::add:
        case ptx::Op::sub:
        case ptx::Op::mul:
        case ptx::Op::min:
        case ptx::Op::max:
          if (is_float(instructions[i].type())) sum.warps += executed[i].warps;
          break;
        default: break;
      }
    }
  }
  return sum;
}

void run(Context& context, std::vector<diag::Finding>& findings) {
  const Rule& rule = repeated_shared_loads_rule;
  AccessSums loads;
  uint64_t stored_bytes = 0;
  const AccessGroup* costliest = nullptr;
  for (const AccessGroup& group : context.groups()) {
    if (group.space != mem::AccessSpace::shared) continue;
    for (const profile::MemoryCounters* counters : group.members) {
      if (counters->kind == mem::AccessKind::load)
        loads.add(*counters);
      else if (counters->kind != mem::AccessKind::matrix_load &&
               counters->kind != mem::AccessKind::tensor_load)
        stored_bytes += counters->bytes_asked;
    }
    if (verb(group.kind) == "read" && group.kind == mem::AccessKind::load &&
        (!costliest || group.sums.ideal_wavefronts > costliest->sums.ideal_wavefronts))
      costliest = &group;
  }
  if (!costliest || stored_bytes == 0 || loads.ideal_wavefronts == 0) return;
  const double times = static_cast<double>(loads.bytes_asked) / static_cast<double>(stored_bytes);
  const double share = static_cast<double>(loads.requests) /
                       static_cast<double>(std::max<uint64_t>(context.profile.warp_instructions, 1));
  if (times < context.threshold(rule, "min-times") || share < context.threshold(rule, "min-share")) return;
  const Arithmetic math = arithmetic(context);
  const double each = static_cast<double>(math.warps) / static_cast<double>(loads.ideal_wavefronts);
  if (math.matrix || each >= context.threshold(rule, "max-math")) return;

  diag::Finding finding = context.finding(rule, *costliest);
  finding.count = 0;
  std::vector<std::string> names;
  for (const AccessGroup& group : context.groups()) {
    if (group.space != mem::AccessSpace::shared || group.kind != mem::AccessKind::load) continue;
    if (context.place(group.costliest->instruction).line != finding.place.line) continue;
    finding.count += group.members.size();
    const std::string name = context.name(group);
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  sort_by_column(names, context.line(finding.place));
  finding.message =
      fmt::format("shared-memory loads outweigh the arithmetic: {} arithmetic {} for each wavefront loaded",
                  decimal(each), decimal(each) == "1" ? "instruction" : "instructions");
  finding.label = fmt::format("each word stored is loaded {} times", decimal(times));
  finding.share = share;
  finding.notes.insert(
      finding.notes.begin(),
      {fmt::format("{} of shared loads ({} wavefronts at the least) beside {} arithmetic instructions: "
                   "{} of this kernel's warp instructions; an SM serves one wavefront in the time of "
                   "four arithmetic instructions",
                   counted(loads.requests, "request"), grouped(loads.ideal_wavefronts), grouped(math.warps),
                   percent(share)),
       {}});
  finding.evidence = {{"load_requests", static_cast<int64_t>(loads.requests)},
                      {"load_wavefronts", static_cast<int64_t>(loads.ideal_wavefronts)},
                      {"arithmetic_instructions", static_cast<int64_t>(math.warps)},
                      {"arithmetic_per_wavefront", each},
                      {"times_loaded", times}};
  finding.fix = fmt::format(
      "let each thread compute several results (for example 4 x 4) and keep the values{} it has "
      "loaded in registers, so that each serves several multiply-adds",
      names.empty() ? "" : fmt::format(" of {}", joined(names)));
  findings.push_back(std::move(finding));
}

}  // namespace

const Rule repeated_shared_loads_rule = {
    {"repeated-shared-loads", "values loaded from shared memory again for each use", diag::Level::warning,
     kThresholds},
    run};

}  // namespace fullwarp::rules

// The rules about errors in the kernel: out-of-bounds, races, barriers and the rest. Execution has found
// them; here they get their words. One table, because they differ in nothing else.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "rules/context.h"
#include "rules/flow.h"
#include "rules/text.h"

namespace fullwarp::rules {
namespace {

using profile::Fault;
using profile::FaultKind;

bool is_race(FaultKind kind) { return kind == FaultKind::shared_race || kind == FaultKind::global_race; }

bool is_access(const Fault& fault) { return fault.width_bytes > 0; }

// "4-byte store"
std::string access(const Fault& fault) {
  return fmt::format("{}-byte {}", fault.width_bytes, noun(fault.access));
}

std::string object(const Fault& fault, std::string_view fallback) {
  return fault.object.empty() ? std::string(fallback) : fault.object;
}

std::string with_detail(std::string_view text, const Fault& fault) {
  return fault.detail.empty() ? std::string(text) : fmt::format("{}: {}", text, fault.detail);
}

std::string message(const Context& context, const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::out_of_bounds: {
      const int64_t bytes =
          fault.buffer >= 0 && static_cast<size_t>(fault.buffer) < context.profile.buffers.size()
              ? static_cast<int64_t>(context.profile.buffers[static_cast<size_t>(fault.buffer)].bytes)
              : -1;
      const std::string what = object(fault, "every buffer");
      if (fault.object.empty()) return fmt::format("{} outside every buffer", access(fault));
      if (fault.offset < 0)
        return fmt::format("{} {} before the start of {}", access(fault),
                           counted(static_cast<uint64_t>(-fault.offset), "byte"), what);
      if (bytes >= 0 && fault.offset == bytes)
        return fmt::format("{} right behind the end of {}", access(fault), what);
      if (bytes >= 0 && fault.offset > bytes)
        return fmt::format("{} {} past the end of {}", access(fault),
                           counted(static_cast<uint64_t>(fault.offset - bytes), "byte"), what);
      return fmt::format("{} outside {}, at byte {}", access(fault), what,
                         grouped(static_cast<uint64_t>(fault.offset)));
    }
    case FaultKind::null_pointer: return fmt::format("{} through a null pointer", access(fault));
    case FaultKind::misaligned:
      return fmt::format("{} at an address that is not a multiple of {}", access(fault), fault.width_bytes);
    case FaultKind::uninitialised:
      return fmt::format("{} of {} that nothing has written", access(fault), object(fault, "memory"));
    case FaultKind::shared_race:
    case FaultKind::global_race:
      return fmt::format(
          "race on {}: {}",
          object(fault, fault.kind == FaultKind::shared_race ? "shared memory" : "global memory"),
          fault.detail.empty() ? fmt::format("this {} and another access to the same bytes are not ordered",
                                             noun(fault.access))
                               : fault.detail);
    case FaultKind::barrier_divergence: return "barrier that some threads of the block never reach";
    case FaultKind::deadlock: return "deadlock: every warp of the block waits";
    case FaultKind::step_limit: return "the warp did not end within the step limit";
    case FaultKind::assert_failed: return with_detail("assertion failed", fault);
    case FaultKind::trap: return with_detail("the kernel traps here", fault);
    case FaultKind::write_to_const:
      return fmt::format("{} to read-only {}", access(fault), object(fault, "memory"));
    case FaultKind::invalid_instruction: return with_detail("invalid instruction", fault);
    case FaultKind::stack_overflow: return "stack overflow: calls are nested too deeply";
  }
  return "error in the kernel";
}

std::string fix(FaultKind kind) {
  switch (kind) {
    case FaultKind::out_of_bounds:
      return "check the index against the size before the access (`if (i < n)`), and the launch against the "
             "buffer";
    case FaultKind::null_pointer: return "pass a buffer for this pointer, or test it before the access";
    case FaultKind::misaligned:
      return "use accesses of this width only where every address is a multiple of it: pad the row pitch, or "
             "fall back to narrower loads";
    case FaultKind::uninitialised: return "write the element before it is read (all of a tile, its halo too)";
    case FaultKind::shared_race:
      return "put `__syncthreads()` between the two accesses (`__syncwarp()` within a warp), where all "
             "threads reach it";
    case FaultKind::global_race:
      return "let each element be written by one thread only, use atomics, put a barrier between (within a "
             "block), or split the kernel in two "
             "launches";
    case FaultKind::barrier_divergence:
      return "move the barrier out of the condition (or loop), so that every thread of the block reaches it";
    case FaultKind::deadlock: return "let all threads take the barriers, locks and flags in the same order";
    case FaultKind::step_limit:
      return "look at the loop's condition; raise the limit with --step-limit if the work is real";
    case FaultKind::write_to_const: return "write to a buffer or a `__device__` variable";
    case FaultKind::stack_overflow: return "turn the recursion into a loop, or bound its depth";
    case FaultKind::assert_failed:
    case FaultKind::trap:
    case FaultKind::invalid_instruction: return {};
  }
  return {};
}

std::string who(const Dim3& thread, const Dim3& block) {
  return fmt::format("thread {} of block {}", dims(thread), dims(block));
}

// The array that is accessed, or the call that waits.
void mark(Context& context, diag::Finding& finding, const Fault& fault) {
  const ptx::Instruction* at = context.instruction(fault.instruction);
  if (!at) return;
  using Use = input::Hint::Use;
  input::Hint hint;
  if (is_access(fault)) {
    const Origin origin =
        context.definitions(fault.instruction.function).origin(fault.instruction.index, fault.space);
    const std::string name = context.name(fault.instruction, origin, fault.buffer);
    if (!name.empty()) hint.names = {name};
    const std::string_view does = verb(fault.access);
    hint.use = does == "read" ? Use::read : does == "write" ? Use::written : Use::any;
  } else {
    hint.calls = {"__syncthreads", "__syncwarp", "__assert", "assert", "__trap", "sync"};
  }
  context.narrow(finding.place, hint);
}

// The barrier at which the rest of a block stood when a warp of it was stopped at the step limit.
const Fault* barrier_of_block(const Context& context, const Dim3& block) {
  for (const Fault& fault : context.profile.faults)
    if (fault.kind == FaultKind::barrier_divergence && dims(fault.block) == dims(block)) return &fault;
  return nullptr;
}

// Whether a warp that was stopped at the step limit did nothing but look at shared memory: a loop that loads
// from there, changes no memory, and is nearly all that the launch executed.
bool polls_shared(Context& context, const Fault& fault) {
  constexpr double kNearlyAll = 0.9;
  const ptx::Instruction* at = context.instruction(fault.instruction);
  if (!at) return false;
  const auto f = static_cast<size_t>(fault.instruction.function);
  const ptx::Function& function = context.module.functions[f];
  const Flow flow(context.module, function);
  const auto is_shared_load = [&](uint32_t i) {
    return std::any_of(
        context.profile.memory.begin(), context.profile.memory.end(), [&](const auto& counters) {
          return counters.instruction.function == fault.instruction.function &&
                 counters.instruction.index == i && counters.space == mem::AccessSpace::shared &&
                 counters.kind == mem::AccessKind::load;
        });
  };
  for (uint32_t i = 0; i < function.instructions.size(); ++i) {
    if (function.instructions[i].op != ptx::Op::bra) continue;
    const Flow::Region loop = flow.region(i);
    if (!loop.loop || std::find(loop.instructions.begin(), loop.instructions.end(),
                                fault.instruction.index) == loop.instructions.end())
      continue;
    bool looks = false, acts = false;
    uint64_t executed = 0;
    for (const uint32_t k : loop.instructions) {
      switch (function.instructions[k].op) {
        case ptx::Op::ld: (is_shared_load(k) ? looks : acts) = true; break;
        case ptx::Op::st:
        case ptx::Op::atom:
        case ptx::Op::red:
        case ptx::Op::call:
        case ptx::Op::bar:
        case ptx::Op::barrier: acts = true; break;
        default: break;
      }
      if (const auto* counters = context.executed({fault.instruction.function, k}))
        executed += counters->warps;
    }
    if (looks && !acts &&
        static_cast<double>(executed) > kNearlyAll * static_cast<double>(context.profile.warp_instructions))
      return true;
  }
  return false;
}

// A spin that nobody can end is no long loop but a deadlock: the warp polls shared memory, which only its
// block can write, and the rest of the block waits at a barrier.
std::vector<Fault> told_apart(Context& context) {
  std::vector<Fault> faults = context.profile.faults;
  for (Fault& fault : faults) {
    if (fault.kind != FaultKind::step_limit) continue;
    const auto in_block = [&](const Fault& other) {
      return other.kind == FaultKind::step_limit && dims(other.block) == dims(fault.block);
    };
    const auto& all = context.profile.faults;
    if (barrier_of_block(context, fault.block) &&
        std::all_of(all.begin(), all.end(),
                    [&](const Fault& other) { return !in_block(other) || polls_shared(context, other); }))
      fault.kind = FaultKind::deadlock;
  }
  return faults;
}

// Stores of one value by all of them do no harm.
void weigh_race(diag::Finding& finding, const Fault& fault) {
  if (!fault.same_value) return;
  finding.level = diag::Level::note;
  finding.notes.push_back(
      {"all of them store the same value: the result does not depend on who is last", {}});
  finding.fix.clear();
}

diag::Finding report(Context& context, const Rule& rule, const Fault& fault) {
  diag::Finding finding = context.finding(rule, fault.instruction);
  mark(context, finding, fault);
  finding.message = message(context, fault);
  finding.label = who(fault.thread, fault.block);
  finding.count = std::max<uint64_t>(fault.count, 1);
  if (is_race(fault.kind)) {
    finding.label += fmt::format(" {}s", verb(fault.access));
    if (fault.other.function >= 0)  // where the thread is not known, the message says what is
      finding.notes.insert(finding.notes.begin(),
                           {fault.other_thread_known ? fmt::format("the other access, by {}",
                                                                   who(fault.other_thread, fault.other_block))
                                                     : "the other access",
                            context.place(fault.other)});
  } else if (!fault.detail.empty() && finding.message.find(fault.detail) == std::string::npos) {
    finding.notes.insert(finding.notes.begin(), {fault.detail, {}});
  }
  // A warp that was stopped while it ran, not where it waited.
  const bool ran =
      fault.kind == FaultKind::step_limit || (fault.kind == FaultKind::deadlock && fault.detail.empty());
  if (const Fault* barrier = ran ? barrier_of_block(context, fault.block) : nullptr) {
    if (fault.kind == FaultKind::deadlock)
      finding.notes.push_back(
          {"this thread spins for a value in shared memory that nobody can write any more", {}});
    finding.notes.push_back({"the other threads of the block wait at this barrier, or have ended",
                             context.place(barrier->instruction)});
  }
  if (finding.count > 1)
    finding.notes.push_back(
        {fmt::format("first of {} at this instruction", counted(finding.count, "occurrence")), {}});
  const auto text = [](const Dim3& d) { return fmt::format("{},{},{}", d.x, d.y, d.z); };
  finding.evidence = {{"block", text(fault.block)}, {"thread", text(fault.thread)}};
  if (is_access(fault)) {
    if (!fault.object.empty()) finding.evidence.emplace_back("object", fault.object);
    finding.evidence.emplace_back("offset", fault.offset);
    finding.evidence.emplace_back("address", fmt::format("0x{:x}", fault.address));
    finding.evidence.emplace_back("width_bytes", int64_t{fault.width_bytes});
  }
  if (is_race(fault.kind)) {
    finding.evidence.emplace_back("other_block", text(fault.other_block));
    if (fault.other_thread_known) finding.evidence.emplace_back("other_thread", text(fault.other_thread));
  }
  finding.evidence.emplace_back("occurrences", static_cast<int64_t>(finding.count));
  finding.fix = fix(fault.kind);
  if (is_race(fault.kind)) weigh_race(finding, fault);
  return finding;
}

// Whether the same line also reads the object in a race: then somebody writes it, and "never written" is only
// the order in which the warps happened to run.
bool is_raced(const Context& context, const Fault& read, const diag::Place& at) {
  return std::any_of(context.profile.faults.begin(), context.profile.faults.end(), [&](const Fault& race) {
    if (!is_race(race.kind) || verb(race.access) != "read" || race.object != read.object) return false;
    const diag::Place place = context.place(race.instruction);
    return place.line == at.line && place.file == at.file;
  });
}

// Faults of one line and one object are one finding: the first, with the sum of the counts.
void report_all(Context& context, const Rule& rule, std::initializer_list<FaultKind> kinds,
                std::vector<diag::Finding>& findings) {
  const auto has = [&](FaultKind kind) { return std::find(kinds.begin(), kinds.end(), kind) != kinds.end(); };
  const std::vector<Fault> faults =
      has(FaultKind::step_limit) || has(FaultKind::deadlock) ? told_apart(context) : context.profile.faults;
  const bool stopped = std::any_of(context.profile.faults.begin(), context.profile.faults.end(),
                                   [](const Fault& f) { return f.kind == FaultKind::step_limit; });
  std::map<std::tuple<FaultKind, std::string, uint32_t, std::string>, Fault> lines;
  std::vector<decltype(lines)::iterator> order;
  for (const Fault& fault : faults) {
    if (!has(fault.kind)) continue;
    // Threads stopped at the limit miss their barriers for that reason alone.
    if (stopped && fault.kind == FaultKind::barrier_divergence) continue;
    const diag::Place at = context.place(fault.instruction);
    if (fault.kind == FaultKind::uninitialised && is_raced(context, fault, at)) continue;
    const auto [entry, fresh] = lines.try_emplace({fault.kind, at.file, at.line, fault.object}, fault);
    if (fresh) {
      order.push_back(entry);
    } else {
      const uint64_t count = entry->second.count + fault.count;
      if (entry->second.same_value && !fault.same_value) entry->second = fault;  // the one that does harm
      entry->second.count = count;
    }
  }
  for (const auto& entry : order) findings.push_back(report(context, rule, entry->second));
}

}  // namespace

#define FULLWARP_FAULT_RULE(identifier, id, summary, ...)                                            \
  const Rule identifier##_rule = {{id, summary, diag::Level::error, {}},                             \
                                  [](Context& context, std::vector<diag::Finding>& findings) {       \
                                    report_all(context, identifier##_rule, {__VA_ARGS__}, findings); \
                                  }};

FULLWARP_FAULT_RULE(out_of_bounds, "out-of-bounds",
                    "accesses outside every buffer, or through a null pointer", FaultKind::out_of_bounds,
                    FaultKind::null_pointer)
FULLWARP_FAULT_RULE(misaligned_address, "misaligned-address",
                    "accesses at an address that their width does not divide", FaultKind::misaligned)
FULLWARP_FAULT_RULE(uninitialised_read, "uninitialised-read", "loads of memory that nothing has written",
                    FaultKind::uninitialised)
FULLWARP_FAULT_RULE(shared_race, "shared-race",
                    "conflicting accesses to shared memory with no barrier between them",
                    FaultKind::shared_race)
FULLWARP_FAULT_RULE(global_race, "global-race", "conflicting accesses to global memory that nothing orders",
                    FaultKind::global_race)
FULLWARP_FAULT_RULE(barrier_divergence, "barrier-divergence", "barriers that some threads never reach",
                    FaultKind::barrier_divergence)
FULLWARP_FAULT_RULE(deadlock, "deadlock", "warps that wait for each other for ever", FaultKind::deadlock)
FULLWARP_FAULT_RULE(step_limit, "step-limit", "warps that do not end", FaultKind::step_limit)
FULLWARP_FAULT_RULE(assert_failed, "assert-failed", "failed device-side assertions", FaultKind::assert_failed)
FULLWARP_FAULT_RULE(trap, "trap", "executed trap instructions", FaultKind::trap)
FULLWARP_FAULT_RULE(write_to_constant, "write-to-constant", "stores to read-only memory",
                    FaultKind::write_to_const)
FULLWARP_FAULT_RULE(invalid_instruction, "invalid-instruction", "instructions that the hardware would refuse",
                    FaultKind::invalid_instruction)
FULLWARP_FAULT_RULE(stack_overflow, "stack-overflow", "calls nested deeper than the stack",
                    FaultKind::stack_overflow)
#undef FULLWARP_FAULT_RULE

}  // namespace fullwarp::rules

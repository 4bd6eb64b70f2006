#include "rules/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "rules/names.h"
#include "rules/source_text.h"
#include "rules/text.h"

namespace fullwarp::rules {

using profile::InstructionId;
using profile::MemoryCounters;

void AccessSums::add(const MemoryCounters& c) {
  requests += c.requests;
  lanes += c.lanes;
  bytes_asked += c.bytes_asked;
  sectors += c.sectors;
  ideal_sectors += c.ideal_sectors;
  atomic_sectors += c.atomic_sectors;
  wavefronts += c.wavefronts;
  ideal_wavefronts += c.ideal_wavefronts;
  misaligned_requests += c.misaligned_requests;
  extra_copies += c.extra_copies;
  uniform_requests += c.uniform_requests;
}

Context::Context(const RuleInput& rule_input)
    : input(rule_input), profile(rule_input.profile), module(rule_input.module) {
  for (const MemoryCounters& counters : profile.memory) {
    AccessSums& sums = counters.space == mem::AccessSpace::global   ? global
                       : counters.space == mem::AccessSpace::shared ? shared
                                                                    : local;
    sums.add(counters);
  }
  for (const ptx::SourceFile& file : module.files) toolkit_files_.push_back(is_toolkit_file(file.name));
  collect_groups();
}

const ptx::Instruction* Context::instruction(InstructionId id) const {
  if (id.function < 0 || static_cast<size_t>(id.function) >= module.functions.size()) return nullptr;
  const auto& instructions = module.functions[static_cast<size_t>(id.function)].instructions;
  return id.index < instructions.size() ? &instructions[id.index] : nullptr;
}

const profile::ExecutionCounters* Context::executed(InstructionId id) const {
  if (id.function < 0 || static_cast<size_t>(id.function) >= profile.executed.size()) return nullptr;
  const auto& counters = profile.executed[static_cast<size_t>(id.function)];
  return id.index < counters.size() ? &counters[id.index] : nullptr;
}

const Definitions& Context::definitions(int32_t function) {
  std::unique_ptr<Definitions>& entry = definitions_[function];
  if (!entry) entry = std::make_unique<Definitions>(module, function);
  return *entry;
}

void Context::collect_groups() {
  using Key =
      std::tuple<uint8_t, std::string_view, std::string, uint32_t, uint32_t, int32_t, int32_t, int32_t>;
  std::map<Key, size_t> known;
  for (const MemoryCounters& counters : profile.memory) {
    if (counters.requests == 0 || !instruction(counters.instruction)) continue;
    const diag::Place at = place(counters.instruction);
    const Origin origin =
        definitions(counters.instruction.function).origin(counters.instruction.index, counters.space);
    const bool in_global = counters.space == mem::AccessSpace::global;
    const int32_t buffer = in_global && counters.example.valid ? counters.example.buffer : -1;
    const Key key{static_cast<uint8_t>(counters.space),
                  verb(counters.kind),
                  at.file,
                  at.line,
                  at.column,
                  origin.variable,
                  origin.param,
                  buffer};
    const auto [slot, fresh] = known.try_emplace(key, groups_.size());
    if (fresh) {
      AccessGroup& group = groups_.emplace_back();
      group.space = counters.space;
      group.kind = counters.kind;
      group.buffer = buffer;
      group.origin = origin;
      group.costliest = &counters;
    }
    AccessGroup& group = groups_[slot->second];
    group.members.push_back(&counters);
    group.sums.add(counters);
    // What a request costs beyond its due in shared memory, where widths differ; in all, elsewhere.
    const auto cost = [](const MemoryCounters& c) {
      const uint64_t units = c.space == mem::AccessSpace::shared
                                 ? c.wavefronts - std::min(c.wavefronts, c.ideal_wavefronts)
                                 : c.sectors;
      return static_cast<double>(units) / static_cast<double>(c.requests);
    };
    if (cost(counters) > cost(*group.costliest)) group.costliest = &counters;
  }
}

// The place of an instruction as an index in Module::locations: of the frames of inlined functions the
// innermost that is not a toolkit's. Clang before 21 writes no frames, so where all are the toolkit's the
// author's line before it in the kernel is taken: the call's operands are computed there. The innermost frame
// if there is no such line; -1 if the PTX has no line for the instruction.
int32_t Context::location(InstructionId id) const {
  const ptx::Instruction* at = instruction(id);
  if (!at) return -1;
  constexpr int kMaxFrames = 64;
  const auto known = [&](int32_t index) {
    return index >= 0 && static_cast<size_t>(index) < module.locations.size();
  };
  const auto by_the_author = [&](int32_t index) {
    const ptx::SourceLocation& frame = module.locations[static_cast<size_t>(index)];
    return frame.file < toolkit_files_.size() && frame.line > 0 && !toolkit_files_[frame.file];
  };
  int32_t index = at->location;
  for (int n = 0; n < kMaxFrames && known(index); ++n) {
    if (by_the_author(index)) return index;
    index = module.locations[static_cast<size_t>(index)].inlined_at;
  }
  if (known(at->location) && module.locations[static_cast<size_t>(at->location)].inlined_at < 0) {
    const auto& body = module.functions[static_cast<size_t>(id.function)].instructions;
    for (uint32_t before = id.index; before-- > 0;)
      if (known(body[before].location) && by_the_author(body[before].location)) return body[before].location;
  }
  return at->location >= 0 && static_cast<size_t>(at->location) < module.locations.size() ? at->location : -1;
}

diag::Place Context::place(InstructionId id) const {
  diag::Place place;
  const ptx::Instruction* at = instruction(id);
  if (!at) {
    place.file = module.path;
    return place;
  }
  if (const int32_t index = location(id); index >= 0) {
    const ptx::SourceLocation& location = module.locations[static_cast<size_t>(index)];
    if (location.file < module.files.size() && location.line > 0) {
      place.file = module.files[location.file].name;
      place.line = location.line;
      place.column = location.column;
      return place;
    }
  }
  place.file = module.path;
  place.line = at->line;
  place.column = at->column;
  return place;
}

void Context::find_kernel() {
  if (kernel_place_) return;
  diag::Place& found = kernel_place_.emplace();
  found.file = module.path;
  if (profile.function < 0 || static_cast<size_t>(profile.function) >= module.functions.size()) return;
  const ptx::Function& function = module.functions[static_cast<size_t>(profile.function)];
  found.line = function.line;
  // The first instruction that stands in the kernel itself leads to the file; the name, to the declaration
  // above.
  for (const ptx::Instruction& i : function.instructions) {
    if (i.location < 0 || static_cast<size_t>(i.location) >= module.locations.size()) continue;
    const ptx::SourceLocation& location = module.locations[static_cast<size_t>(i.location)];
    if (location.inlined_at >= 0 || location.file >= module.files.size() || location.line == 0) continue;
    found.file = module.files[location.file].name;
    found.line = location.line;
    break;
  }
  const std::string name = source_name(function.name);
  for (input::SourceKernel& kernel : input::kernels_in_source(input.sources.text(found.file)))
    if (kernel.name == name && kernel.line <= found.line) kernel_source_ = std::move(kernel);
  if (!kernel_source_) return;
  found.line = kernel_source_->line;
  found.column = kernel_source_->column;
  found.end_column = found.column + static_cast<uint32_t>(name.size());
}

diag::Place Context::kernel_place() {
  find_kernel();
  return *kernel_place_;
}

const input::SourceParameter* Context::parameter(int32_t function, int32_t param) {
  if (function != profile.function || param < 0) return nullptr;
  find_kernel();
  return kernel_source_ && static_cast<size_t>(param) < kernel_source_->parameters.size()
             ? &kernel_source_->parameters[static_cast<size_t>(param)]
             : nullptr;
}

bool Context::points_to_struct(const AccessGroup& group) {
  const input::SourceParameter* found = parameter(group.costliest->instruction.function, group.origin.param);
  if (!found) return false;
  const auto [known, fresh] = structs_.try_emplace(found->type, false);
  if (fresh) known->second = is_struct(input.sources, kernel_place().file, found->type);
  return known->second;
}

diag::Finding Context::finding(const Rule& rule, InstructionId at) const {
  diag::Finding finding;
  finding.rule = rule.info.id;
  finding.level = rule.info.level;
  finding.kernel = input.kernel;
  finding.place = place(at);
  add_inlining(finding, at);
  return finding;
}

diag::Finding Context::finding(const Rule& rule, const AccessGroup& group) {
  diag::Finding result = finding(rule, group.costliest->instruction);
  result.count = group.members.size();
  mark(result, group);
  return result;
}

void Context::add_inlining(diag::Finding& finding, InstructionId at) const {
  const int32_t shown = location(at);
  if (shown < 0) return;
  constexpr int kMaxNotes = 16;
  const auto add = [&](std::string text, const ptx::SourceLocation& frame) {
    if (frame.file < module.files.size())
      finding.notes.push_back({std::move(text), diag::Place{std::string(module.files[frame.file].name),
                                                            frame.line, frame.column}});
  };
  // What the place hides stands first: it is where the instruction is.
  if (const int32_t innermost = instruction(at)->location; innermost != shown) {
    const ptx::SourceLocation& frame = module.locations[static_cast<size_t>(innermost)];
    add(frame.function.empty() ? "in a function of the toolkit"
                               : fmt::format("in {}", function_name(frame.function)),
        frame);
  }
  int32_t index = module.locations[static_cast<size_t>(shown)].inlined_at;
  for (int n = 0; n < kMaxNotes && index >= 0 && static_cast<size_t>(index) < module.locations.size(); ++n) {
    const ptx::SourceLocation& call = module.locations[static_cast<size_t>(index)];
    add("inlined here", call);
    index = call.inlined_at;
  }
}

std::string Context::name(InstructionId at, const Origin& origin, int32_t buffer) {
  if (origin.variable >= 0) return source_name(module.variables[static_cast<size_t>(origin.variable)].name);
  if (const input::SourceParameter* found = parameter(at.function, origin.param);
      found && !found->name.empty())
    return found->name;
  if (buffer >= 0 && static_cast<size_t>(buffer) < profile.buffers.size())
    return profile.buffers[static_cast<size_t>(buffer)].name;
  return {};
}

void Context::mark(diag::Finding& finding, const AccessGroup& group) {
  using Use = input::Hint::Use;
  const std::string word = name(group);
  if (word.empty()) return;
  const std::string_view does = verb(group.kind);
  narrow(finding.place, {.names = {word},
                         .use = does == "read"    ? Use::read
                                : does == "write" ? Use::written
                                                  : Use::any});
}

void Context::narrow(diag::Place& place, const input::Hint& hint) {
  const input::ColumnRange found = input::narrow_column(line(place), hint);
  if (!found.found()) return;
  place.column = found.begin;
  place.end_column = found.end;
}

}  // namespace fullwarp::rules

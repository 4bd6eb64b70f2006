// What every rule needs of a profile: the kernel's totals, its memory accesses grouped by line and object,
// places in the source, names of arrays and parameters. Built once for each kernel.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "input/columns.h"
#include "input/source_kernels.h"
#include "rules/origin.h"
#include "rules/rule.h"
#include "rules/rules.h"

namespace fullwarp::rules {

struct AccessSums {
  uint64_t requests = 0, lanes = 0, bytes_asked = 0;
  uint64_t sectors = 0, ideal_sectors = 0, atomic_sectors = 0, wavefronts = 0, ideal_wavefronts = 0;
  uint64_t misaligned_requests = 0, extra_copies = 0, uniform_requests = 0;

  void add(const profile::MemoryCounters& counters);
};

// The accesses of one source line that do the same kind of thing to the same array: an unrolled loop's 32
// loads.
struct AccessGroup {
  mem::AccessSpace space = mem::AccessSpace::global;
  mem::AccessKind kind = mem::AccessKind::load;
  int32_t buffer = -1;  // global: index in KernelProfile::buffers of the example, or -1
  Origin origin;
  std::vector<const profile::MemoryCounters*> members;  // in program order
  const profile::MemoryCounters* costliest = nullptr;   // most sectors (extra wavefronts) per request
  AccessSums sums;
};

class Context {
 public:
  explicit Context(const RuleInput& input);

  const RuleInput& input;
  const profile::KernelProfile& profile;
  const ptx::Module& module;

  const std::vector<AccessGroup>& groups() const { return groups_; }
  // Sums over the kernel.
  AccessSums global, shared, local;

  double threshold(const Rule& rule, std::string_view name) const {
    return input.options.threshold(rule.info.id, name);
  }
  const ptx::Instruction* instruction(profile::InstructionId id) const;  // null if there is none
  const profile::ExecutionCounters* executed(profile::InstructionId id) const;
  const Definitions& definitions(int32_t function);

  // In the source, or in the PTX where there is no line. Of functions of a toolkit that were inlined, the
  // line that called them.
  diag::Place place(profile::InstructionId id) const;
  diag::Place kernel_place();  // of the kernel's declaration
  std::string_view line(const diag::Place& place) { return input.sources.line(place.file, place.line); }

  // A finding of the rule's level at an instruction, with its inlining chain as notes.
  diag::Finding finding(const Rule& rule, profile::InstructionId at) const;
  // The same for a group of accesses: the array's name is marked, `count` is the number of accesses folded.
  diag::Finding finding(const Rule& rule, const AccessGroup& group);

  // What the source calls the array or pointer: "tile", "in"; else the buffer's name; may be empty.
  std::string name(const AccessGroup& group) {
    return name(group.costliest->instruction, group.origin, group.buffer);
  }
  std::string name(profile::InstructionId at, const Origin& origin, int32_t buffer);
  // Marks what the hint describes in the place's line, if it is there.
  void narrow(diag::Place& place, const input::Hint& hint);
  // Whether the source declares the pointer that a group goes through as one to a struct.
  bool points_to_struct(const AccessGroup& group);

 private:
  int32_t location(profile::InstructionId id) const;  // index in Module::locations; -1: none
  void collect_groups();
  void find_kernel();
  // A parameter of the kernel as the source declares it; null if it is not known, or of another function.
  const input::SourceParameter* parameter(int32_t function, int32_t param);
  void mark(diag::Finding& finding, const AccessGroup& group);
  void add_inlining(diag::Finding& finding, profile::InstructionId at) const;

  std::vector<bool> toolkit_files_;  // by index in Module::files
  std::vector<AccessGroup> groups_;
  std::map<int32_t, std::unique_ptr<Definitions>> definitions_;
  std::optional<diag::Place> kernel_place_;
  std::map<std::string, bool> structs_;               // is_struct() by type
  std::optional<input::SourceKernel> kernel_source_;  // empty: not found in the source
};

}  // namespace fullwarp::rules

// Where an address comes from. PTX has no names for pointers, but most addresses lead back, through additions
// and conversions, to one kernel parameter or one shared array: with it a finding can name what the source
// names.
#pragma once

#include <cstdint>
#include <vector>

#include "mem/warp_access.h"
#include "profile/profile.h"
#include "ptx/module.h"

namespace fullwarp::rules {

struct Origin {
  int32_t variable = -1;  // index in Module::variables, if it is exactly one
  int32_t param = -1;     // index in the function's params, if it is exactly one pointer parameter
};

// The register definitions of one function.
class Definitions {
 public:
  Definitions(const ptx::Module& module, int32_t function);

  // Of the address operand of an instruction that accesses `space`.
  Origin origin(uint32_t instruction, mem::AccessSpace space) const;

  // Whether an instruction's guard, or anything it is computed from, was loaded from memory (parameters
  // apart) or returned by a call or an atomic: `if (visited[i])`. False: from indices, sizes and constants
  // alone.
  bool guard_depends_on_memory(uint32_t instruction) const;

  // Whether an instruction's guard compares indices with sizes, `i < n`: one or more orderings (no equality)
  // of values that come from indices, constants and at least one kernel parameter, and not from memory.
  bool is_bounds_check(uint32_t instruction) const;

  // The instructions that write a register (several after a loop or a select).
  const std::vector<uint32_t>& of(uint32_t reg) const { return by_register_[reg]; }

 private:
  struct Sources {
    bool memory = false;     // loads, calls, atomics; or too much to follow
    bool parameter = false;  // of the kernel
  };
  Sources sources_of(uint32_t reg) const;

  const ptx::Module& module_;
  const ptx::Function& function_;
  std::vector<std::vector<uint32_t>> by_register_;
};

}  // namespace fullwarp::rules

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

  // The instructions that write a register (several after a loop or a select).
  const std::vector<uint32_t>& of(uint32_t reg) const { return by_register_[reg]; }

 private:
  const ptx::Module& module_;
  const ptx::Function& function_;
  std::vector<std::vector<uint32_t>> by_register_;
};

}  // namespace fullwarp::rules

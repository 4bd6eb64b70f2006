// What ptxas makes of a function's memory instructions: merged into wider accesses, narrowed to the elements
// that are used, split, or removed. Everything behind this pass sees machine accesses only. The rules, the
// evidence for them and what they miss: docs/machine-accesses.md.
//
//   ld.shared.f32 %f1, [%r6];       ->  LDS.128 at [%r6]     width 16, leader -1
//   ld.shared.f32 %f2, [%r6+4];     ->  part of it           width 16, leader = index of the first
//   ld.shared.f32 %f3, [%r6+8];     ->  part of it
//   ld.shared.f32 %f4, [%r6+12];    ->  part of it
#pragma once

#include <cstdint>
#include <vector>

#include "cubin/cubin.h"
#include "mem/machine_access.h"
#include "ptx/module.h"

namespace fullwarp::model {

using mem::MachineAccess;

// Indexed as Function::instructions. With the cubin of the same PTX text (built with --generate-line-info)
// the widths are those of its machine code, where a line of PTX leads to one; without it they come from
// rules.
std::vector<MachineAccess> machine_accesses(const ptx::Module& module, int32_t function,
                                            const cubin::Kernel* machine_code = nullptr);

}  // namespace fullwarp::model

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
#include "ptx/module.h"

namespace fullwarp::model {

struct MachineAccess {
  static constexpr int32_t kNoSplit = INT32_MIN;

  // Of the machine access, one lane; 0: not an access to global, shared, local or generic memory. ldmatrix and
  // stmatrix: 16, a row. Instructions with forms of their own (wmma, cp.async.bulk, tensor copies) give 0.
  uint32_t width_bytes = 0;
  // The instruction whose access this one is part of, or -1: it goes out by itself. Loads are led by the first
  // member in program order, stores by the last.
  int32_t leader = -1;
  // ptxas drops it: its result is never used, or is known from the store before, or a later store hides it.
  bool removed = false;
  // Where the machine access begins, relative to the address of this PTX instruction.
  int32_t offset_bytes = 0;
  // A vector of which only two separate elements are used becomes two accesses of width_bytes; the second begins
  // here, relative to the same address. kNoSplit: there is only one.
  int32_t split_offset_bytes = kNoSplit;

  // Does an execution of this instruction send a request of its own?
  bool counts() const { return width_bytes != 0 && leader < 0 && !removed; }
  bool operator==(const MachineAccess&) const = default;
};

// Indexed as Function::instructions. With the cubin of the same PTX text (built with --generate-line-info) the
// widths are those of its machine code, where a line of PTX leads to one; without it they come from rules.
std::vector<MachineAccess> machine_accesses(const ptx::Module& module, int32_t function,
                                            const cubin::Kernel* machine_code = nullptr);

}  // namespace fullwarp::model

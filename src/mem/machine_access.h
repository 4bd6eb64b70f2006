// What became of a PTX memory instruction in machine code. model/machine_accesses.h works it out; the engine
// counts by it.
#pragma once

#include <cstdint>

namespace fullwarp::mem {

struct MachineAccess {
  static constexpr int32_t kNoSplit = INT32_MIN;

  // Of the machine access, one lane; 0: not an access to global, shared, local or generic memory. ldmatrix
  // and stmatrix: 16, a row. Instructions with forms of their own (wmma, cp.async.bulk, tensor copies) give
  // 0.
  uint32_t width_bytes = 0;
  // The instruction whose access this one is part of, or -1: it goes out by itself. Loads are led by the
  // first member in program order, stores by the last.
  int32_t leader = -1;
  // ptxas drops it: its result is never used, or is known from the store before, or a later store hides it.
  bool removed = false;
  // Where the machine access begins, relative to the address of this PTX instruction.
  int32_t offset_bytes = 0;
  // A vector of which only two separate elements are used becomes two accesses of width_bytes; the second
  // begins here, relative to the same address. kNoSplit: there is only one.
  int32_t split_offset_bytes = kNoSplit;

  // Does an execution of this instruction send a request of its own?
  bool counts() const { return width_bytes != 0 && leader < 0 && !removed; }
  bool operator==(const MachineAccess&) const = default;
};

}  // namespace fullwarp::mem

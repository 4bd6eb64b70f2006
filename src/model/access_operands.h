// What a memory instruction says of its access, before any compiler touches it.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/module.h"

namespace fullwarp::model {

enum class AccessClass : uint8_t { none, generic, global, shared, local };

struct PtxAccess {
  enum class Kind : uint8_t { none, load, store, atomic, matrix, async_copy };
  Kind kind = Kind::none;
  AccessClass space = AccessClass::none;
  uint32_t element_bytes = 0, elements = 1;
  int32_t address_operand = -1;
  bool plain = true;       // neither volatile nor acquire, release, mmio: may be merged and removed
  bool may_vanish = true;  // not volatile either: nobody minds if an unused load is not made
  bool read_only = false;  // ld.global.nc
  uint64_t hints = 0;      // equal for accesses whose modifiers are

  uint32_t bytes() const { return element_bytes * elements; }
};

PtxAccess ptx_access(const ptx::Module& module, const ptx::Instruction& instruction);

// Which instructions do something that is seen: all but arithmetic and plain loads whose results nobody uses.
// Per instruction, and for vector loads per element (bit i: element i is used).
struct Liveness {
  std::vector<uint8_t> live;
  std::vector<uint32_t> used_elements;
};
Liveness liveness(const ptx::Module& module, const ptx::Function& function);

}  // namespace fullwarp::model

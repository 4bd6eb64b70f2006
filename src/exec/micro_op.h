// What the decoder makes of a PTX instruction: a pointer to the code that runs it and where its operands lie.
//
// A register is a row of 32 lanes in the frame of its function:
//   .pred               4 bytes, bit i is lane i
//   up to 32 bits     128 bytes, 32 lanes of uint32_t; 8- and 16-bit values are zero-extended
//   64 bits           256 bytes, 32 lanes of uint64_t
//   128 bits          two 64-bit rows
// Constants are rows too, at negative offsets, filled when the frame is made, so that an operation reads
// every operand alike. Offsets are stored as uint32_t and read as int32_t.
#pragma once

#include <cstdint>

#include "base/warp.h"

namespace fullwarp::exec {

struct Warp;
struct MicroOp;

// Runs one micro-op for the lanes in Warp::exec and returns the next one, or null where the fragment stops
// (it has said why in Warp::stop).
using Handler = const MicroOp* (*)(Warp& warp, const MicroOp* op);

// The two forms of an operation: `full` may write every lane, because those that are not running have exited
// or never existed; `masked` writes only lanes in Warp::exec.
struct Handlers {
  Handler full = nullptr;
  Handler masked = nullptr;
};

struct MicroOp {
  Handler run[2] = {nullptr, nullptr};           // [full, masked]; chosen by Warp::masked
  uint32_t dst = 0, a = 0, b = 0, c = 0, d = 0;  // byte offsets in the frame
  uint32_t site = 0;  // index of this op's counters: memory site, block, guard or branch, by kind
  int64_t imm = 0;
  union {
    const MicroOp* target = nullptr;  // branches; joins
    const void* info;                 // side tables: calls, matrix shapes, ...
    struct {
      uint32_t tag, seen;  // loads and stores: rows of the address's tag and of a Seen; 0: none (steady.h)
    } steady;
  };
  uint32_t instruction = 0;  // index in ptx::Function::instructions
  uint32_t flags = 0;        // meaning by handler
};
static_assert(sizeof(MicroOp) == 64);

inline constexpr unsigned kRow32 = 128, kRow64 = 256;  // bytes of a row

}  // namespace fullwarp::exec

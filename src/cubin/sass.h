// What can be read of one machine instruction (sm_70 and later: 16 bytes): whether it accesses memory, where,
// how wide, under which predicate. Everything else stays closed; no full disassembler.
//
//   bits 0-8 operation, 9-11 form of the operands, 12-14 predicate (7: always), 15 its negation,
//   73-75 width or type of a memory operation
#pragma once

#include <cstdint>
#include <string_view>

namespace fullwarp::cubin {

enum class MachineKind : uint8_t {
  other,
  load,
  store,
  atomic,
  reduction,
  matrix_load,
  matrix_store,
  async_copy
};
enum class MachineSpace : uint8_t { none, generic, global, shared, local };

struct MachineOp {
  MachineKind kind = MachineKind::other;
  MachineSpace space = MachineSpace::none;  // async_copy: the shared side
  uint8_t width_bytes = 0;                  // of one lane; matrix: 16, a row
  uint8_t matrices = 0;                     // ldmatrix, stmatrix: 1, 2 or 4
  uint16_t opcode = 0;                      // low 9 bits
  uint8_t predicate = 7;
  bool predicate_negated = false;
  bool exits = false, branches = false, barrier = false;
};

// `sm` as in Cubin::sm; a few encodings changed with 9.0 and 10.0.
MachineOp decode_sass(uint64_t low, uint64_t high, uint32_t sm);

std::string_view mnemonic(uint16_t opcode);  // "LDG"; empty for what is not decoded

}  // namespace fullwarp::cubin

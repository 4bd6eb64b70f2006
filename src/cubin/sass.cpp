// See sass.h. Found by compiling kernels with ptxas 13.0 for sm_75, 80, 90, 100 and 120 and reading them
// beside NVIDIA's disassembler; tests/cubin keeps the pairs.
#include "cubin/sass.h"

#include <iterator>

namespace fullwarp::cubin {
namespace {

enum class Field : uint8_t { none, width, integer_type, float_type, copy_width, matrices };

struct Row {
  uint16_t opcode;
  std::string_view name;
  MachineKind kind;
  MachineSpace space;
  Field field;
};

using K = MachineKind;
using S = MachineSpace;

constexpr Row kRows[] = {
    {0x180, "LD", K::load, S::generic, Field::width},
    {0x181, "LDG", K::load, S::global, Field::width},
    {0x183, "LDL", K::load, S::local, Field::width},
    {0x184, "LDS", K::load, S::shared, Field::width},
    {0x185, "ST", K::store, S::generic, Field::width},
    {0x186, "STG", K::store, S::global, Field::width},
    {0x187, "STL", K::store, S::local, Field::width},
    {0x188, "STS", K::store, S::shared, Field::width},
    {0x18a, "ATOM", K::atomic, S::generic, Field::integer_type},
    {0x18b, "ATOM.CAS", K::atomic, S::generic, Field::integer_type},
    {0x18c, "ATOMS", K::atomic, S::shared, Field::integer_type},
    {0x18d, "ATOMS.CAS", K::atomic, S::shared, Field::integer_type},
    {0x18e, "RED", K::reduction, S::global, Field::integer_type},
    {0x1a2, "ATOM", K::atomic, S::generic, Field::float_type},
    {0x1a3, "ATOMG", K::atomic, S::global, Field::float_type},
    {0x1a6, "RED", K::reduction, S::global, Field::float_type},
    {0x1a8, "ATOMG", K::atomic, S::global, Field::integer_type},
    {0x1a9, "ATOMG.CAS", K::atomic, S::global, Field::integer_type},
    {0x1ae, "LDGSTS", K::async_copy, S::shared, Field::copy_width},
    {0x03b, "LDSM", K::matrix_load, S::shared, Field::matrices},
    {0x044, "STSM", K::matrix_store, S::shared, Field::matrices},
};

constexpr uint16_t kExit = 0x14d, kBranch = 0x147, kBarrier = 0x11d;

const Row* find(uint16_t opcode) {
  for (const Row& row : kRows)
    if (row.opcode == opcode) return &row;
  return nullptr;
}

// U8 S8 U16 S16 32 64 128
constexpr uint8_t kWidths[8] = {1, 1, 2, 2, 4, 8, 16, 16};
// Before 9.0: U32 S32 U64 F32 F16x2 S64 F64; since: U32 S32 U64 S64 for integers ...
constexpr uint8_t kOldTypes[8] = {4, 4, 8, 4, 4, 8, 8, 8};
constexpr uint8_t kIntegerTypes[8] = {4, 4, 8, 8, 4, 4, 8, 8};
// ... and F16x2 F32 ... F64 in operations of their own.
constexpr uint8_t kFloatTypes[8] = {4, 4, 4, 4, 4, 4, 4, 8};

}  // namespace

MachineOp decode_sass(uint64_t low, uint64_t high, uint32_t sm) {
  MachineOp op;
  op.opcode = low & 0x1ff;
  op.predicate = low >> 12 & 7;
  op.predicate_negated = low >> 15 & 1;
  op.exits = op.opcode == kExit;
  op.branches = op.opcode == kBranch;
  op.barrier = op.opcode == kBarrier;
  const Row* row = find(op.opcode);
  if (!row) return op;
  op.kind = row->kind;
  op.space = row->space;
  const unsigned field = high >> 9 & 7;
  switch (row->field) {
    case Field::none: break;
    case Field::width: op.width_bytes = kWidths[field]; break;
    case Field::integer_type: op.width_bytes = sm >= 90 ? kIntegerTypes[field] : kOldTypes[field]; break;
    case Field::float_type: op.width_bytes = kFloatTypes[field]; break;
    case Field::copy_width:
      op.width_bytes = sm >= 100 ? static_cast<uint8_t>(4u << (high >> 10 & 3)) : kWidths[field];
      break;
    case Field::matrices:
      op.width_bytes = 16;
      op.matrices = static_cast<uint8_t>(1u << (high >> 8 & 3));
      break;
  }
  return op;
}

std::string_view mnemonic(uint16_t opcode) {
  const Row* row = find(opcode);
  return row ? row->name : std::string_view{};
}

}  // namespace fullwarp::cubin

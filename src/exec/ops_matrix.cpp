// The matrix instructions on the rows of a warp: mma.sync and wmma.mma, and the accesses of wmma.load,
// wmma.store, ldmatrix and stmatrix. What they do to an element is in semantics/matrix.h and fragment.h;
// which accesses an instruction is made of is worked out by decode_matrix.cpp.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "exec/matrix_ops.h"
#include "exec/mma_tiles.h"
#include "exec/worker.h"

namespace fullwarp::exec {
namespace {

using Form = MatrixAccessInfo::Form;
using Step = MatrixAccessInfo::Step;

// Fragments that meet at a .sync instruction run it one after the other: the first lane's does it all.
// Lanes that are missing (elsewhere, exited, or never there in a partial warp) leave the result undefined.
bool leads(Warp& w, const MicroOp* op) {
  const unsigned first = static_cast<unsigned>(std::countr_zero(w.participants));
  if (!((w.exec >> first) & 1)) return false;
  if (w.participants != kFullMask)
    report_fault(w, op, profile::FaultKind::invalid_instruction, first).detail =
        "a matrix instruction that only " + std::to_string(lane_count(w.participants)) +
        " of the 32 lanes of its warp execute: its result is undefined";
  return true;
}

template <class Row>
void put_row(Warp& w, uint32_t row, const Row* values, LaneMask mask) {
  Row* to = w.row<Row>(row);
  if (mask == kFullMask) {
    std::memcpy(to, values, sizeof(Row) * kWarpSize);
    return;
  }
  for (LaneMask left = mask; left; left &= left - 1)
    to[std::countr_zero(left)] = values[std::countr_zero(left)];
}

template <class Row, class F>
const MicroOp* multiply(Warp& w, const MicroOp* op, F f) {
  if (!leads(w, op)) return op + 1;
  const MmaInfo& info = *static_cast<const MmaInfo*>(op->info);
  Row* rows[4][kMostMatrixRegisters];
  const MatrixRows* operands[4] = {&info.d, &info.a, &info.b, &info.c};
  for (unsigned o = 0; o < 4; ++o)
    for (unsigned r = 0; r < operands[o]->count; ++r) rows[o][r] = w.row<Row>(operands[o]->row[r]);
  if (w.participants == kFullMask) {
    f(info, rows[1], rows[2], rows[3], rows[0]);
    return op + 1;
  }
  alignas(64) Row result[kMostMatrixRegisters][kWarpSize];
  Row* results[kMostMatrixRegisters];
  for (unsigned r = 0; r < kMostMatrixRegisters; ++r) results[r] = result[r];
  f(info, rows[1], rows[2], rows[3], results);
  for (unsigned r = 0; r < info.d.count; ++r) put_row(w, info.d.row[r], result[r], w.participants);
  return op + 1;
}

const MicroOp* mma(Warp& w, const MicroOp* op) {
  return multiply<uint32_t>(
      w, op, [](const MmaInfo& info, auto a, auto b, auto c, auto d) { mma_by_tiles(info.mma, a, b, c, d); });
}

const MicroOp* mma_f64(Warp& w, const MicroOp* op) {
  return multiply<uint64_t>(
      w, op, [](const MmaInfo& info, auto a, auto b, auto c, auto d) { sem::mma_f64(info.mma, a, b, c, d); });
}

const MicroOp* mma_volta(Warp& w, const MicroOp* op) {
  return multiply<uint32_t>(w, op, [](const MmaInfo& info, auto a, auto b, auto c, auto d) {
    sem::mma_m8n8k4_f16(info.volta, a, b, c, d);
  });
}

const MicroOp* movmatrix(Warp& w, const MicroOp* op) {
  if (!leads(w, op)) return op + 1;
  const MovmatrixInfo& info = *static_cast<const MovmatrixInfo*>(op->info);
  alignas(64) uint32_t result[kWarpSize];
  sem::movmatrix(w.row<uint32_t>(info.from), result);
  put_row(w, info.to, result, w.participants);
  return op + 1;
}

// Register j of a step lies with lanes 8 j .. 8 j + 7 of the four value rows: word t of lane 8 j + r is the
// t-th word of row r of the matrix.
void registers_from_lines(Warp& w, const MatrixAccessInfo& info, const Step& step) {
  for (unsigned j = 0; j < step.registers; ++j) {
    uint32_t words[8][4];
    for (unsigned t = 0; t < 4; ++t) {
      const uint32_t* from = w.row<uint32_t>(info.value_row[t]) + sem::address_lane(j, 0);
      for (unsigned r = 0; r < 8; ++r) words[r][t] = from[r];
    }
    alignas(64) uint32_t lanes[kWarpSize];
    sem::ldmatrix(std::bit_cast<sem::Matrix8x8>(words), info.trans, lanes);
    put_row(w, info.registers.row[step.first_register + j], lanes, w.participants);
  }
}

void lines_from_registers(Warp& w, const MatrixAccessInfo& info, const Step& step) {
  for (unsigned j = 0; j < step.registers; ++j) {
    sem::Matrix8x8 matrix;
    sem::stmatrix(w.row<uint32_t>(info.registers.row[step.first_register + j]), info.trans, matrix);
    struct Words {
      uint32_t at[8][4];
    };
    const Words words = std::bit_cast<Words>(matrix);
    for (unsigned t = 0; t < 4; ++t) {
      uint32_t* to = w.row<uint32_t>(info.value_row[t]) + sem::address_lane(j, 0);
      for (unsigned r = 0; r < 8; ++r) to[r] = words.at[r][t];
    }
  }
}

void before_store(Warp& w, const MatrixAccessInfo& info, const Step& step) {
  if (info.form == Form::transposed)
    sem::movmatrix(w.row<uint32_t>(info.registers.row[step.first_register]),
                   w.row<uint32_t>(info.value_row[0]));
  else if (info.form == Form::matrices)
    lines_from_registers(w, info, step);
}

void after_load(Warp& w, const MatrixAccessInfo& info, const Step& step) {
  const uint32_t* values = w.row<uint32_t>(info.value_row[0]);
  alignas(64) uint32_t result[kWarpSize];
  switch (info.form) {
    case Form::direct: return;
    case Form::transposed: sem::movmatrix(values, result); break;
    case Form::bytes: {
      uint32_t* to = w.row<uint32_t>(info.registers.row[step.first_register]);
      const unsigned byte = static_cast<unsigned>(&step - info.steps.data()) % 4;
      for (unsigned i = 0; i < kWarpSize; ++i)
        result[i] = byte == 0 ? values[i] : to[i] | values[i] << 8 * byte;
      break;
    }
    case Form::matrices: return registers_from_lines(w, info, step);
  }
  put_row(w, info.registers.row[step.first_register], result, w.participants);
}

template <class Address>
void access_steps(Warp& w, const MatrixAccessInfo& info) {
  alignas(64) Address base[kWarpSize], stride[kWarpSize] = {};
  std::memcpy(base, w.row<Address>(info.base_row), sizeof base);
  if (info.strided) {
    const uint32_t* elements = w.row<uint32_t>(info.stride_row);
    for (unsigned i = 0; i < kWarpSize; ++i)
      stride[i] = static_cast<Address>(uint64_t{elements[i]} * info.element_bits / 8);
  }
  for (const Step& step : info.steps) {
    Address* address = w.row<Address>(info.address_row);
    for (unsigned i = 0; i < kWarpSize; ++i)
      address[i] = base[i] + step.line[i] * stride[i] + step.offset_bytes[i];
    if (info.store) before_store(w, info, step);
    w.exec = w.participants & step.lanes;
    if (w.exec) step.access.run[w.masked](w, &step.access);
    if (!info.store) after_load(w, info, step);
  }
}

const MicroOp* access_matrix(Warp& w, const MicroOp* op) {
  if (!leads(w, op)) return op + 1;
  const MatrixAccessInfo& info = *static_cast<const MatrixAccessInfo*>(op->info);
  const LaneMask exec = w.exec;
  if (info.narrow)
    access_steps<uint32_t>(w, info);
  else
    access_steps<uint64_t>(w, info);
  w.exec = exec;
  if (!info.store)
    for (unsigned r = info.distinct; r < info.registers.count; ++r)
      put_row(w, info.registers.row[r], w.row<uint32_t>(info.registers.row[r % info.distinct]),
              w.participants);
  return op + 1;
}

}  // namespace

Handlers matrix_handlers(MatrixKind kind) {
  switch (kind) {
    case MatrixKind::mma: return {mma, nullptr};
    case MatrixKind::mma_f64: return {mma_f64, nullptr};
    case MatrixKind::mma_volta: return {mma_volta, nullptr};
    case MatrixKind::access: return {access_matrix, nullptr};
    case MatrixKind::movmatrix: return {movmatrix, nullptr};
  }
  return {};
}

}  // namespace fullwarp::exec

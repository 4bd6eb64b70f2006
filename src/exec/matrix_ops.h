// Between the decoding of matrix instructions (decode_matrix.cpp) and their code (ops_matrix.cpp). What an
// instruction knows beyond its MicroOp - shapes, rows of registers, where lanes find their elements - lies in
// side tables that the function program owns.
//
// All of them are collective: the rendezvous before the op brings the lanes together, and the fragment with
// the lowest lane does the work for everybody.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "exec/decode.h"
#include "exec/micro_op.h"
#include "exec/semantics/matrix.h"

namespace fullwarp::exec {

inline constexpr unsigned kMostMatrixRegisters = 8;  // of an operand, a lane

struct MatrixRows {
  unsigned count = 0;
  std::array<uint32_t, kMostMatrixRegisters> row = {};  // offsets in the frame
};

struct MmaInfo {
  sem::Mma mma;
  sem::VoltaMma volta;  // m8n8k4 of f16
  MatrixRows d, a, b, c;
};

// wmma.load, wmma.store, ldmatrix and stmatrix are a few ordinary accesses each, what ptxas makes of them,
// with some moving of elements between lanes before (stores) or after (loads).
struct MatrixAccessInfo {
  // How the values of a step become registers.
  enum class Form : uint8_t {
    direct,      // the access names the registers itself
    transposed,  // each step is a register with rows and columns of its 8x8 matrix exchanged (MOVM)
    bytes,       // four steps are the bytes of a register
    matrices,    // each step is up to four registers: ldmatrix, stmatrix
  };
  struct Step {
    MicroOp access;
    LaneMask lanes = kFullMask;  // whose addresses count
    unsigned first_register = 0, registers = 1;
    // Lane i accesses base + line[i] * stride + offset_bytes[i].
    std::array<uint16_t, kWarpSize> line = {}, offset_bytes = {};
  };
  Form form = Form::direct;
  bool store = false;
  bool trans = false;          // matrices: .trans
  bool narrow = false;         // 32-bit addresses
  bool strided = false;        // false: ldmatrix, stmatrix, whose lanes bring the addresses
  unsigned element_bits = 16;  // the stride is in elements
  uint32_t base_row = 0, stride_row = 0, address_row = 0;
  std::array<uint32_t, 4> value_row = {};  // what the accesses of other forms than `direct` name
  MatrixRows registers;
  unsigned distinct = 0;  // loads: registers from here on repeat the first ones
  std::vector<Step> steps;
};

struct MovmatrixInfo {
  uint32_t from = 0, to = 0;
};

// decode_matrix.cpp:
std::optional<sem::MatrixType> matrix_type(ptx::Type type);
// Are there products of matrices of these types, summed in this one?
bool has_products(sem::MatrixType a, sem::MatrixType b, sem::MatrixType sum);
// ops_wgmma.cpp:
bool decode_wgmma(Decoder& d);

enum class MatrixKind : uint8_t { mma, mma_f64, mma_volta, access, movmatrix };
Handlers matrix_handlers(MatrixKind kind);

}  // namespace fullwarp::exec

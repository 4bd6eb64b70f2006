// Which lane holds which matrix element, for mma.sync, wmma, ldmatrix, stmatrix and movmatrix (PTX ISA 9.0,
// 9.7.14.4 and 9.7.14.5). Arithmetic is in matrix.h.
//
// The manual has one table a shape and type; all of them are one rule. Lane l is thread t = l % 4 of group
// g = l / 4. A register of a multiplicand holds E neighbours along K (E = 32 / bits; 1 for tf32 and f64), so
// a register of the warp covers 8 rows of A (8 columns of B) and 4 E of K:
//
//     A                 t*E .. t*E+E-1          registers 0 2    (M = 8: 0 1 along K)
//                      +--------+--------+                1 3
//       rows 0..7   g  |  r 0   |  r 2   |
//       rows 8..15 g+8 |  r 1   |  r 3   |      B: column g, rows t*E.., registers along K
//                      +--------+--------+      C: row g (+8), columns 2t, 2t+1; elements 0 1 over 2 3
//
// The ISA leaves wmma fragments unspecified. Here they are mma fragments side by side, 16 rows (8 if M = 8)
// by 8 columns each, which is what ptxas makes of them since sm_80. Registers of wmma .f16 multiplicands that
// hold nothing new (there are always 8) repeat the first ones.
#pragma once

#include <array>
#include <cstdint>

namespace fullwarp::exec::sem {

enum class MatrixType : uint8_t { f16, bf16, tf32, f32, f64, s32, s8, u8, s4, u4, b1, e4m3, e5m2 };

inline constexpr unsigned element_bits(MatrixType type) {
  switch (type) {
    case MatrixType::f64: return 64;
    case MatrixType::tf32:
    case MatrixType::f32:
    case MatrixType::s32: return 32;
    case MatrixType::f16:
    case MatrixType::bf16: return 16;
    case MatrixType::s4:
    case MatrixType::u4: return 4;
    case MatrixType::b1: return 1;
    default: return 8;
  }
}

enum class Role : uint8_t { a, b, c };  // c: accumulators, C and D

struct Position {
  uint16_t row = 0, column = 0;
  bool operator==(const Position&) const = default;
};

// One operand of an mma or wmma instruction. A is rows x K, B is K x columns, C is rows x columns.
struct Fragment {
  Role role = Role::a;
  MatrixType type = MatrixType::f16;
  uint16_t rows = 0, columns = 0;
  uint8_t registers = 0;  // a lane's, as the instruction lists them; 64 bits wide for f64

  constexpr unsigned elements_per_register() const {
    const unsigned bits = element_bits(type);
    return bits >= 32 ? 1 : 32 / bits;
  }
  // Registers that hold different elements; the others repeat them.
  constexpr unsigned distinct_registers() const {
    return unsigned{rows} * columns / 32 / elements_per_register();
  }
  // Where element `index` (0: lowest bits) of a lane's register lies in the matrix.
  constexpr Position position(unsigned lane, unsigned reg, unsigned index) const {
    const unsigned group = lane / 4, thread = lane % 4;
    const unsigned packed = elements_per_register();
    reg %= distinct_registers();
    if (role == Role::c) {
      const unsigned element = reg * packed + index;
      const unsigned per_tile = rows == 8 ? 2 : 4;
      const unsigned tiles_across = columns / 8;
      const unsigned tile = element / per_tile, inside = element % per_tile;
      const unsigned row = tile / tiles_across * 16 + inside / 2 * 8 + group;
      const unsigned column = tile % tiles_across * 8 + thread * 2 + inside % 2;
      return {static_cast<uint16_t>(row), static_cast<uint16_t>(column)};
    }
    const unsigned depth = role == Role::a ? columns : rows;  // K
    const unsigned steps = depth / (4 * packed);              // registers along K
    const unsigned in_step = thread * packed + index;
    if (role == Role::b) {
      const unsigned row = reg % steps * 4 * packed + in_step;
      return {static_cast<uint16_t>(row), static_cast<uint16_t>(reg / steps * 8 + group)};
    }
    const unsigned halves = rows == 8 ? 1 : 2;
    const unsigned tile = reg / (halves * steps), inside = reg % (halves * steps);
    const unsigned row = tile * 16 + inside % halves * 8 + group;
    return {static_cast<uint16_t>(row), static_cast<uint16_t>(inside / halves * 4 * packed + in_step)};
  }
};

struct Shape {
  uint16_t m = 0, n = 0, k = 0;
  bool operator==(const Shape&) const = default;
};

inline constexpr Fragment mma_fragment(Role role, MatrixType type, Shape shape) {
  Fragment f{role, type, shape.m, shape.n, 0};
  if (role == Role::a) f.columns = shape.k;
  if (role == Role::b) f.rows = shape.k;
  f.registers = static_cast<uint8_t>(f.distinct_registers());
  return f;
}

inline constexpr Fragment wmma_fragment(Role role, MatrixType type, Shape shape) {
  Fragment f = mma_fragment(role, type, shape);
  if (role != Role::c && type == MatrixType::f16) f.registers = 8;
  return f;
}

// The shapes that mma.sync (and wmma) has for multiplicands of a type. m8n8k4 of f16, which is four products
// a warp in a layout of its own, is not among them: see mma_m8n8k4_f16 in matrix.h.
inline constexpr bool mma_has(Shape s, MatrixType type) {
  const bool m16n8 = s.m == 16 && s.n == 8, m8n8 = s.m == 8 && s.n == 8;
  switch (type) {
    case MatrixType::f16:
    case MatrixType::bf16: return m16n8 && (s.k == 8 || s.k == 16);
    case MatrixType::tf32: return m16n8 && (s.k == 4 || s.k == 8);
    case MatrixType::f64: return (m8n8 && s.k == 4) || (m16n8 && (s.k == 4 || s.k == 8 || s.k == 16));
    case MatrixType::s8:
    case MatrixType::u8: return (m8n8 && s.k == 16) || (m16n8 && (s.k == 16 || s.k == 32));
    case MatrixType::s4:
    case MatrixType::u4: return (m8n8 && s.k == 32) || (m16n8 && (s.k == 32 || s.k == 64));
    case MatrixType::b1: return (m8n8 && s.k == 128) || (m16n8 && (s.k == 128 || s.k == 256));
    case MatrixType::e4m3:
    case MatrixType::e5m2: return m16n8 && (s.k == 16 || s.k == 32);
    default: return false;
  }
}

inline constexpr bool wmma_has(Shape s, MatrixType type) {
  const bool large =
      s.k == 16 && ((s.m == 16 && s.n == 16) || (s.m == 8 && s.n == 32) || (s.m == 32 && s.n == 8));
  switch (type) {
    case MatrixType::f16:
    case MatrixType::bf16:
    case MatrixType::s8:
    case MatrixType::u8: return large;
    case MatrixType::tf32: return s == Shape{16, 16, 8};
    case MatrixType::f64: return s == Shape{8, 8, 4};
    case MatrixType::s4:
    case MatrixType::u4: return s == Shape{8, 8, 32};
    case MatrixType::b1: return s == Shape{8, 8, 128};
    default: return false;
  }
}

// Where wmma.load and wmma.store find an element: in elements from the base address. `stride` is the distance
// of rows (row_major) or columns.
inline constexpr uint64_t element_offset(Position p, bool row_major, uint64_t stride) {
  return row_major ? p.row * stride + p.column : p.column * stride + p.row;
}

// ---- 8x8 matrices of 16-bit elements ----
// A matrix is 8 rows of 8 elements. Row r of matrix i lies at the address that lane 8 i + r supplies, and
// lane l holds elements 2(l%4) (low half) and 2(l%4)+1 of row l/4; with .trans of column l/4.

using Matrix8x8 = std::array<std::array<uint16_t, 8>, 8>;

inline constexpr unsigned address_lane(unsigned matrix, unsigned row) { return 8 * matrix + row; }

inline constexpr void ldmatrix(const Matrix8x8& matrix, bool transposed, uint32_t* lanes) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned line = lane / 4, first = lane % 4 * 2;
    const uint32_t low = transposed ? matrix[first][line] : matrix[line][first];
    const uint32_t high = transposed ? matrix[first + 1][line] : matrix[line][first + 1];
    lanes[lane] = high << 16 | low;
  }
}

inline constexpr void stmatrix(const uint32_t* lanes, bool transposed, Matrix8x8& matrix) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned line = lane / 4, first = lane % 4 * 2;
    const auto low = static_cast<uint16_t>(lanes[lane]), high = static_cast<uint16_t>(lanes[lane] >> 16);
    (transposed ? matrix[first][line] : matrix[line][first]) = low;
    (transposed ? matrix[first + 1][line] : matrix[line][first + 1]) = high;
  }
}

// `to` may be `from`.
inline constexpr void movmatrix(const uint32_t* from, uint32_t* to) {
  Matrix8x8 matrix{};
  stmatrix(from, false, matrix);
  ldmatrix(matrix, true, to);
}

}  // namespace fullwarp::exec::sem

// The arithmetic of mma.sync and wmma.mma: D = A B + C over the registers of a warp (PTX ISA 9.0, 9.7.14.4.5
// and 9.7.14.5.14). Where the elements lie is fragment.h's.
//
// Integers are exact, then wrapped or clamped. f64 is a chain of fma in the order of K. For the narrow floats
// the ISA leaves order and rounding open ("at least single precision"); hardware aligns the products of a
// block to the largest exponent and cuts off, which differs by generation. Here the products are exact, their
// sum with C is held in double and rounded once, to nearest: nearer to the exact value than any hardware, and
// within a few units in the last place of the largest term of each.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "exec/semantics/fragment.h"
#include "exec/semantics/half.h"

namespace fullwarp::exec::sem {

enum class BitOp : uint8_t { xor_, and_ };

// A fragment with its places in the matrix worked out, once per instruction: offsets[(register * packed +
// index)
// * 32 + lane] is row * columns + column.
struct Operand {
  Fragment fragment;
  std::vector<uint16_t> offsets;

  explicit Operand(const Fragment& f) : fragment(f) {
    for (unsigned reg = 0; reg < f.registers; ++reg)
      for (unsigned i = 0; i < f.elements_per_register(); ++i)
        for (unsigned lane = 0; lane < 32; ++lane) {
          const Position p = f.position(lane, reg, i);
          offsets.push_back(static_cast<uint16_t>(p.row * f.columns + p.column));
        }
  }
};

struct Mma {
  Shape shape;
  Operand a, b, c, d;
  bool satfinite = false;            // s32: clamp instead of wrapping
  BitOp bit_op = BitOp::xor_;        // b1
  Rounding rounding = Rounding::rn;  // f64
};

// For types and shapes that mma_has (wmma_has) allows.
inline Mma make_mma(Shape shape, MatrixType a, MatrixType b, MatrixType c, MatrixType d) {
  return {shape, Operand(mma_fragment(Role::a, a, shape)), Operand(mma_fragment(Role::b, b, shape)),
          Operand(mma_fragment(Role::c, c, shape)), Operand(mma_fragment(Role::c, d, shape))};
}
inline Mma make_wmma(Shape shape, MatrixType a, MatrixType b, MatrixType c, MatrixType d) {
  return {shape, Operand(wmma_fragment(Role::a, a, shape)), Operand(wmma_fragment(Role::b, b, shape)),
          Operand(wmma_fragment(Role::c, c, shape)), Operand(wmma_fragment(Role::c, d, shape))};
}

namespace detail {

// Elements of the largest operands: 32 x 16 floats, 16 x 256 bits, 16 x 16 accumulators.
inline constexpr unsigned kMostFloats = 512, kMostIntegers = 4096, kMostSums = 256;

// Calls f with the function that gives an element's value from its bits, so that loops do not ask for the
// type.
template <class F>
void with_float_element(MatrixType type, F f) {
  switch (type) {
    case MatrixType::f16:
      return f([](uint32_t x) -> double { return f32_from_f16(static_cast<uint16_t>(x)); });
    case MatrixType::bf16:
      return f([](uint32_t x) -> double { return f32_from_bf16(static_cast<uint16_t>(x)); });
    case MatrixType::tf32:  // the low 13 bits do not count
      return f([](uint32_t x) -> double { return as_f32(x & 0xffffe000u); });
    case MatrixType::e4m3:
      return f([](uint32_t x) -> double {
        return f32_from_f16(f16_from_fp8<E4m3Format>(static_cast<uint8_t>(x)));
      });
    case MatrixType::e5m2:
      return f([](uint32_t x) -> double {
        return f32_from_f16(f16_from_fp8<E5m2Format>(static_cast<uint8_t>(x)));
      });
    default: return f([](uint32_t x) -> double { return as_f32(x); });
  }
}

inline constexpr int32_t integer_element(MatrixType type, uint32_t bits_of_element) {
  switch (type) {
    case MatrixType::s8: return static_cast<int8_t>(bits_of_element);
    case MatrixType::s4: return static_cast<int32_t>(bits_of_element << 28) >> 28;
    default: return static_cast<int32_t>(bits_of_element);
  }
}

template <class T, class Row, class Convert>
void gather(const Operand& operand, const Row* const* rows, T* matrix, Convert convert) {
  const unsigned packed = operand.fragment.elements_per_register(),
                 width = element_bits(operand.fragment.type);
  const Row mask = static_cast<Row>(~Row{0} >> (sizeof(Row) * 8 - width));
  const uint16_t* offsets = operand.offsets.data();
  for (unsigned reg = 0; reg < operand.fragment.distinct_registers(); ++reg)
    for (unsigned i = 0; i < packed; ++i, offsets += 32) {
      T values[32];
      for (unsigned lane = 0; lane < 32; ++lane)
        values[lane] = convert(rows[reg][lane] >> (i * width) & mask);
      for (unsigned lane = 0; lane < 32; ++lane) matrix[offsets[lane]] = values[lane];
    }
}

template <class T, class Row, class Convert>
void scatter(const Operand& operand, const T* matrix, Row* const* rows, Convert convert) {
  const unsigned packed = operand.fragment.elements_per_register(),
                 width = element_bits(operand.fragment.type);
  const uint16_t* offsets = operand.offsets.data();
  for (unsigned reg = 0; reg < operand.fragment.registers; ++reg) {
    Row values[32] = {};
    for (unsigned i = 0; i < packed; ++i, offsets += 32)
      for (unsigned lane = 0; lane < 32; ++lane)
        values[lane] |= static_cast<Row>(Row{convert(matrix[offsets[lane]])} << (i * width));
    std::copy_n(values, 32, rows[reg]);
  }
}

// sum[m][n] = combine(sum[m][n], a[m][k], b[k][n]) for k = 0, 1, ...; rows of eight sums stay in registers.
template <class A, class S, class Combine>
void product(Shape s, const A* a, const A* b, S* sum, Combine combine) {
  for (unsigned m = 0; m < s.m; ++m)
    for (unsigned n = 0; n < s.n; n += 8) {
      S eight[8];
      std::copy_n(sum + m * s.n + n, 8, eight);
      for (unsigned k = 0; k < s.k; ++k) {
        const A x = a[m * s.k + k];
        const A* y = b + k * s.n + n;
        for (unsigned i = 0; i < 8; ++i) eight[i] = combine(eight[i], x, y[i]);
      }
      std::copy_n(eight, 8, sum + m * s.n + n);
    }
}

inline uint32_t accumulator_bits(MatrixType type, double value) {
  if (type == MatrixType::f16) return f16_from_f64<NarrowRounding::rn>(value);
  return bits(f32_from_f64<Rounding::rn>(value));
}

inline void mma_float(const Mma& op, const uint32_t* const* a, const uint32_t* const* b,
                      const uint32_t* const* c, uint32_t* const* d) {
  std::array<double, kMostFloats> left, right;
  std::array<double, kMostSums> sum;
  with_float_element(op.a.fragment.type, [&](auto value) { gather(op.a, a, left.data(), value); });
  with_float_element(op.b.fragment.type, [&](auto value) { gather(op.b, b, right.data(), value); });
  with_float_element(op.c.fragment.type, [&](auto value) { gather(op.c, c, sum.data(), value); });
  product(op.shape, left.data(), right.data(), sum.data(),
          [](double s, double x, double y) { return s + x * y; });
  scatter(op.d, sum.data(), d, [&](double x) { return accumulator_bits(op.d.fragment.type, x); });
}

inline void mma_integer(const Mma& op, const uint32_t* const* a, const uint32_t* const* b,
                        const uint32_t* const* c, uint32_t* const* d) {
  std::array<int32_t, kMostIntegers> left, right;
  std::array<int32_t, kMostSums> addend, sum{};
  gather(op.a, a, left.data(), [&](uint32_t x) { return integer_element(op.a.fragment.type, x); });
  gather(op.b, b, right.data(), [&](uint32_t x) { return integer_element(op.b.fragment.type, x); });
  gather(op.c, c, addend.data(), [&](uint32_t x) { return static_cast<int32_t>(x); });
  if (op.a.fragment.type != MatrixType::b1) {
    product(op.shape, left.data(), right.data(), sum.data(),
            [](int32_t s, int32_t x, int32_t y) { return s + x * y; });
  } else if (op.bit_op == BitOp::xor_) {
    product(op.shape, left.data(), right.data(), sum.data(),
            [](int32_t s, int32_t x, int32_t y) { return s + (x ^ y); });
  } else {
    product(op.shape, left.data(), right.data(), sum.data(),
            [](int32_t s, int32_t x, int32_t y) { return s + (x & y); });
  }
  for (unsigned i = 0; i < unsigned{op.shape.m} * op.shape.n; ++i)
    sum[i] = op.satfinite ? add_sat(sum[i], addend[i]) : add(sum[i], addend[i]);
  scatter(op.d, sum.data(), d, [](int32_t x) { return static_cast<uint32_t>(x); });
}

template <Rounding kRounding>
void chain_fma(Shape shape, const double* a, const double* b, double* sum) {
  product(shape, a, b, sum, [](double s, double x, double y) { return fma_f64<kRounding>(x, y, s); });
}

}  // namespace detail

// Executes `op` on rows of 32 lanes: a[i] is register i of operand A, and so on. Destination rows may be
// source rows.
inline void mma(const Mma& op, const uint32_t* const* a, const uint32_t* const* b, const uint32_t* const* c,
                uint32_t* const* d) {
  if (op.c.fragment.type == MatrixType::s32)
    detail::mma_integer(op, a, b, c, d);
  else
    detail::mma_float(op, a, b, c, d);
}

inline void mma_f64(const Mma& op, const uint64_t* const* a, const uint64_t* const* b,
                    const uint64_t* const* c, uint64_t* const* d) {
  std::array<double, detail::kMostSums> left, right, sum;
  const auto value = [](uint64_t x) { return as_f64(x); };
  detail::gather(op.a, a, left.data(), value);
  detail::gather(op.b, b, right.data(), value);
  detail::gather(op.c, c, sum.data(), value);
  switch (op.rounding) {
    case Rounding::rn:
      detail::chain_fma<Rounding::rn>(op.shape, left.data(), right.data(), sum.data());
      break;
    case Rounding::rz:
      detail::chain_fma<Rounding::rz>(op.shape, left.data(), right.data(), sum.data());
      break;
    case Rounding::rm:
      detail::chain_fma<Rounding::rm>(op.shape, left.data(), right.data(), sum.data());
      break;
    case Rounding::rp:
      detail::chain_fma<Rounding::rp>(op.shape, left.data(), right.data(), sum.data());
      break;
  }
  detail::scatter(op.d, sum.data(), d, [](double x) { return bits(x); });
}

// ---- mma.m8n8k4 of f16: four products a warp, in the layout of Volta ----
// Product p belongs to lanes 4p .. 4p+3 (low group) and 16+4p .. 16+4p+3 (high group).

struct VoltaMma {
  bool a_row = true, b_row = false;  // .row; else .col
  bool c_f32 = true, d_f32 = true;   // else f16
};

namespace detail {

inline constexpr Position volta_a(unsigned lane, unsigned i, bool row_major) {
  const unsigned high = lane < 16 ? 0 : 4, row = (row_major ? lane % 4 : i) + high;
  return {static_cast<uint16_t>(row), static_cast<uint16_t>(row_major ? i : lane % 4)};
}
inline constexpr Position volta_b(unsigned lane, unsigned i, bool row_major) {
  const unsigned high = lane < 16 ? 0 : 4, column = (row_major ? i : lane % 4) + high;
  return {static_cast<uint16_t>(row_major ? lane % 4 : i), static_cast<uint16_t>(column)};
}
inline constexpr Position volta_c(unsigned lane, unsigned i, bool f32) {
  const unsigned high = lane < 16 ? 0 : 4;
  if (!f32) return {static_cast<uint16_t>(lane % 4 + high), static_cast<uint16_t>(i)};
  const unsigned row = (lane & 1) + (i & 2) + high, column = (i & 4) + (lane & 2) + (i & 1);
  return {static_cast<uint16_t>(row), static_cast<uint16_t>(column)};
}

}  // namespace detail

// a and b have 2 rows of f16x2; c and d 8 rows of f32 or 4 of f16x2.
inline void mma_m8n8k4_f16(const VoltaMma& op, const uint32_t* const* a, const uint32_t* const* b,
                           const uint32_t* const* c, uint32_t* const* d) {
  const auto half = [](const uint32_t* const* rows, unsigned i, unsigned lane) {
    return double{f32_from_f16(static_cast<uint16_t>(rows[i / 2][lane] >> (i % 2 * 16)))};
  };
  double left[4][8][4], right[4][4][8], sum[4][8][8];
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned p = lane % 16 / 4;
    for (unsigned i = 0; i < 4; ++i) {
      const Position in_a = detail::volta_a(lane, i, op.a_row), in_b = detail::volta_b(lane, i, op.b_row);
      left[p][in_a.row][in_a.column] = half(a, i, lane);
      right[p][in_b.row][in_b.column] = half(b, i, lane);
    }
    for (unsigned i = 0; i < 8; ++i) {
      const Position in_c = detail::volta_c(lane, i, op.c_f32);
      sum[p][in_c.row][in_c.column] = op.c_f32 ? double{as_f32(c[i][lane])} : half(c, i, lane);
    }
  }
  for (unsigned p = 0; p < 4; ++p)
    detail::product({8, 8, 4}, &left[p][0][0], &right[p][0][0], &sum[p][0][0],
                    [](double s, double x, double y) { return s + x * y; });
  for (unsigned lane = 0; lane < 32; ++lane) {
    const auto result = [&](unsigned i) {
      const Position in_d = detail::volta_c(lane, i, op.d_f32);
      return detail::accumulator_bits(op.d_f32 ? MatrixType::f32 : MatrixType::f16,
                                      sum[lane % 16 / 4][in_d.row][in_d.column]);
    };
    for (unsigned i = 0; i < (op.d_f32 ? 8u : 4u); ++i)
      d[i][lane] = op.d_f32 ? result(i) : result(2 * i + 1) << 16 | result(2 * i);
  }
}

}  // namespace fullwarp::exec::sem

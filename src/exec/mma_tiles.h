// Products of 16-bit floats, tf32 and 8-bit integers, fast: the same results as semantics/matrix.h, whose
// loops over single elements these types can do without.
//
// A register row of a multiplicand, 32 lanes of 4 bytes, is a tile as it lies: eight lines (rows of A,
// columns of B) of 16 bytes along K; lanes 4 g .. 4 g + 3 hold line g. Two rows of 32-bit accumulators, or
// one of f16, are an 8x8 tile of the results. So everything is converted in runs, and only B's tiles are
// turned round.
//
// Products of these types are exact in double, so that fused and separate multiply-adds agree, and the order
// (C first, then along K) is the same.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/warp.h"
#include "exec/semantics/matrix.h"
#include "hwy/highway.h"

namespace fullwarp::exec {

namespace hn = hwy::HWY_NAMESPACE;

// The value of f16 bits without a branch. NaNs keep being NaNs.
inline double fast_f16(uint16_t h) {
  const float scaled = std::bit_cast<float>(static_cast<uint32_t>(h & 0x7fff) << 13) * 0x1p112f;
  const uint32_t special = (h & 0x7c00) == 0x7c00 ? 0x7f800000u : 0u;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | special |
                              static_cast<uint32_t>(h & 0x8000) << 16);
}

struct TileF16 {
  using Element = uint16_t;
  using Value = double;
  static double value(uint16_t x) { return fast_f16(x); }
};
struct TileBf16 {
  using Element = uint16_t;
  using Value = double;
  static double value(uint16_t x) { return std::bit_cast<float>(uint32_t{x} << 16); }
};
struct TileTf32 {
  using Element = uint32_t;
  using Value = double;
  static double value(uint32_t x) { return std::bit_cast<float>(x & 0xffffe000u); }
};
struct TileS8 {
  using Element = int8_t;
  using Value = int32_t;
  static int32_t value(int8_t x) { return x; }
};
struct TileU8 {
  using Element = uint8_t;
  using Value = int32_t;
  static int32_t value(uint8_t x) { return x; }
};

template <class Tile>
inline constexpr unsigned kTileDepth = 16 / sizeof(typename Tile::Element);  // along K

// The tiles of an operand, each converted as it lies: [line][k].
template <class Tile>
void convert_tiles(unsigned registers, const uint32_t* const* rows, typename Tile::Value* HWY_RESTRICT to) {
  constexpr unsigned kElements = 8 * kTileDepth<Tile>;
  for (unsigned reg = 0; reg < registers; ++reg, to += kElements) {
    typename Tile::Element from[kElements];
    std::memcpy(from, rows[reg], sizeof from);
    for (unsigned i = 0; i < kElements; ++i) to[i] = Tile::value(from[i]);
  }
}

// The same turned round: [k][line].
template <class Tile>
void convert_turned(unsigned registers, const uint32_t* const* rows, typename Tile::Value* HWY_RESTRICT to) {
  constexpr unsigned kDepth = kTileDepth<Tile>;
  for (unsigned reg = 0; reg < registers; ++reg, to += 8 * kDepth) {
    typename Tile::Element from[8 * kDepth], turned[8 * kDepth];
    std::memcpy(from, rows[reg], sizeof from);
    for (unsigned k = 0; k < kDepth; ++k)
      for (unsigned line = 0; line < 8; ++line) turned[k * 8 + line] = from[line * kDepth + k];
    for (unsigned i = 0; i < 8 * kDepth; ++i) to[i] = Tile::value(turned[i]);
  }
}

template <class T, class V>
V multiply_add(V x, V y, V sum) {
  if constexpr (std::is_same_v<T, double>)
    return hn::MulAdd(x, y, sum);
  else
    return hn::Add(hn::Mul(x, y), sum);
}

// sum[8][8] += the products of `steps` tiles of A, `a_stride` values apart, and as many of B in a row. Named
// sums, because compilers keep no array of vectors in registers.
template <unsigned kDepth, class T>
void multiply_tiles(const T* HWY_RESTRICT a, unsigned a_stride, const T* HWY_RESTRICT b, unsigned steps,
                    T* HWY_RESTRICT sum) {
  const hn::CappedTag<T, 8> d;
  for (unsigned column = 0; column < 8; column += static_cast<unsigned>(hn::Lanes(d))) {
    T* to = sum + column;
    auto s0 = hn::LoadU(d, to), s1 = hn::LoadU(d, to + 8), s2 = hn::LoadU(d, to + 16),
         s3 = hn::LoadU(d, to + 24), s4 = hn::LoadU(d, to + 32), s5 = hn::LoadU(d, to + 40),
         s6 = hn::LoadU(d, to + 48), s7 = hn::LoadU(d, to + 56);
    const T* y = b + column;
    for (unsigned step = 0; step < steps; ++step) {
      const T* x = a + step * a_stride;
      for (unsigned k = 0; k < kDepth; ++k, ++x, y += 8) {
        const auto v = hn::LoadU(d, y);
        s0 = multiply_add<T>(hn::Set(d, x[0]), v, s0);
        s1 = multiply_add<T>(hn::Set(d, x[kDepth]), v, s1);
        s2 = multiply_add<T>(hn::Set(d, x[2 * kDepth]), v, s2);
        s3 = multiply_add<T>(hn::Set(d, x[3 * kDepth]), v, s3);
        s4 = multiply_add<T>(hn::Set(d, x[4 * kDepth]), v, s4);
        s5 = multiply_add<T>(hn::Set(d, x[5 * kDepth]), v, s5);
        s6 = multiply_add<T>(hn::Set(d, x[6 * kDepth]), v, s6);
        s7 = multiply_add<T>(hn::Set(d, x[7 * kDepth]), v, s7);
      }
    }
    hn::StoreU(s0, d, to);
    hn::StoreU(s1, d, to + 8);
    hn::StoreU(s2, d, to + 16);
    hn::StoreU(s3, d, to + 24);
    hn::StoreU(s4, d, to + 32);
    hn::StoreU(s5, d, to + 40);
    hn::StoreU(s6, d, to + 48);
    hn::StoreU(s7, d, to + 56);
  }
}

// A tile of 32-bit accumulators between its two rows and [line][column].
inline void interleave(const uint32_t* even, const uint32_t* odd, uint32_t* HWY_RESTRICT tile) {
  for (unsigned i = 0; i < kWarpSize; ++i) {
    tile[2 * i] = even[i];
    tile[2 * i + 1] = odd[i];
  }
}
inline void part(const uint32_t* HWY_RESTRICT tile, uint32_t* HWY_RESTRICT even, uint32_t* HWY_RESTRICT odd) {
  for (unsigned i = 0; i < kWarpSize; ++i) {
    even[i] = tile[2 * i];
    odd[i] = tile[2 * i + 1];
  }
}

// Rounded once, to nearest; every NaN is the GPU's.
inline uint32_t f32_bits(double x) {
  const uint32_t rounded = std::bit_cast<uint32_t>(static_cast<float>(x));
  return (rounded & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : rounded;
}

// Calls f(tile, left, right): the number of each 8x8 tile of the results in the order of accumulators, and
// the numbers of the first tiles of A and B that make it; A's lie `halves` apart along K.
template <class F>
void for_tiles(sem::Shape shape, unsigned steps, F f) {
  const unsigned halves = shape.m == 8 ? 1 : 2, across = shape.n / 8;
  unsigned tile = 0;
  for (unsigned down = 0; down < shape.m / (8 * halves); ++down)
    for (unsigned column = 0; column < across; ++column)
      for (unsigned half = 0; half < halves; ++half) f(tile++, down * steps * halves + half, column * steps);
}

template <class Tile>
void mma_float_tiles(const sem::Mma& op, const uint32_t* const* a, const uint32_t* const* b,
                     const uint32_t* const* c, uint32_t* const* d) {
  constexpr unsigned kDepth = kTileDepth<Tile>;
  alignas(64) double left[sem::detail::kMostFloats], right[sem::detail::kMostFloats],
      sum[sem::detail::kMostSums];
  convert_tiles<Tile>(op.a.fragment.distinct_registers(), a, left);
  convert_turned<Tile>(op.b.fragment.distinct_registers(), b, right);
  const unsigned steps = op.shape.k / kDepth, halves = op.shape.m == 8 ? 1 : 2;
  const bool half_c = op.c.fragment.type == sem::MatrixType::f16,
             half_d = op.d.fragment.type == sem::MatrixType::f16;
  // All of C is read before any of D is written: they may be the same rows.
  for_tiles(op.shape, steps, [&](unsigned tile, unsigned first_left, unsigned first_right) {
    double* to = sum + 64 * tile;
    if (half_c) {
      convert_tiles<TileF16>(1, c + tile, to);
    } else {
      alignas(64) uint32_t words[64];
      interleave(c[2 * tile], c[2 * tile + 1], words);
      for (unsigned i = 0; i < 64; ++i) to[i] = std::bit_cast<float>(words[i]);
    }
    multiply_tiles<kDepth>(left + 8 * kDepth * first_left, 8 * kDepth * halves,
                           right + 8 * kDepth * first_right, steps, to);
  });
  for (unsigned tile = 0; tile < unsigned{op.shape.m} * op.shape.n / 64; ++tile) {
    const double* from = sum + 64 * tile;
    alignas(64) uint32_t words[64];
    if (half_d) {
      for (unsigned i = 0; i < 64; ++i)
        words[i] = sem::detail::accumulator_bits(sem::MatrixType::f16, from[i]);
      for (unsigned i = 0; i < kWarpSize; ++i) d[tile][i] = words[2 * i] | words[2 * i + 1] << 16;
    } else {
      for (unsigned i = 0; i < 64; ++i) words[i] = f32_bits(from[i]);
      part(words, d[2 * tile], d[2 * tile + 1]);
    }
  }
}

template <class A, class B>
void mma_integer_tiles(const sem::Mma& op, const uint32_t* const* a, const uint32_t* const* b,
                       const uint32_t* const* c, uint32_t* const* d) {
  constexpr unsigned kDepth = kTileDepth<A>;
  alignas(64) int32_t left[32 * 32], right[32 * 32];
  convert_tiles<A>(op.a.fragment.distinct_registers(), a, left);
  convert_turned<B>(op.b.fragment.distinct_registers(), b, right);
  const unsigned steps = op.shape.k / kDepth, halves = op.shape.m == 8 ? 1 : 2;
  alignas(64) uint32_t result[sem::detail::kMostSums];
  for_tiles(op.shape, steps, [&](unsigned tile, unsigned first_left, unsigned first_right) {
    alignas(64) int32_t sum[64] = {};
    uint32_t* words = result + 64 * tile;
    multiply_tiles<kDepth>(left + 8 * kDepth * first_left, 8 * kDepth * halves,
                           right + 8 * kDepth * first_right, steps, sum);
    interleave(c[2 * tile], c[2 * tile + 1], words);
    for (unsigned i = 0; i < 64; ++i) {
      const int32_t addend = static_cast<int32_t>(words[i]);
      words[i] =
          static_cast<uint32_t>(op.satfinite ? sem::add_sat(sum[i], addend) : sem::add(sum[i], addend));
    }
  });
  for (unsigned tile = 0; tile < unsigned{op.shape.m} * op.shape.n / 64; ++tile)
    part(result + 64 * tile, d[2 * tile], d[2 * tile + 1]);
}

// sem::mma, by way of tiles where the types allow.
inline void mma_by_tiles(const sem::Mma& op, const uint32_t* const* a, const uint32_t* const* b,
                         const uint32_t* const* c, uint32_t* const* d) {
  using sem::MatrixType;
  const bool same = op.a.fragment.type == op.b.fragment.type;
  switch (op.a.fragment.type) {
    case MatrixType::f16: return mma_float_tiles<TileF16>(op, a, b, c, d);
    case MatrixType::bf16: return mma_float_tiles<TileBf16>(op, a, b, c, d);
    case MatrixType::tf32: return mma_float_tiles<TileTf32>(op, a, b, c, d);
    case MatrixType::s8:
      return same ? mma_integer_tiles<TileS8, TileS8>(op, a, b, c, d)
                  : mma_integer_tiles<TileS8, TileU8>(op, a, b, c, d);
    case MatrixType::u8:
      return same ? mma_integer_tiles<TileU8, TileU8>(op, a, b, c, d)
                  : mma_integer_tiles<TileU8, TileS8>(op, a, b, c, d);
    default: return sem::mma(op, a, b, c, d);
  }
}

}  // namespace fullwarp::exec

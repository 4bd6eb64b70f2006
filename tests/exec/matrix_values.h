// What the tests of matrix instructions share: matrices of values whose sums are exact, their bits, a product
// by three loops, and PTX text that moves registers between buffers and lanes.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "exec/semantics/matrix.h"
#include "run_ptx.h"

namespace fullwarp::exec::test {

using sem::MatrixType;
using sem::Role;
using sem::Shape;

inline const char* name_of(MatrixType type) {
  static constexpr const char* kNames[] = {"f16", "bf16", "tf32", "f32", "f64",  "s32", "s8",
                                           "u8",  "s4",   "u4",   "b1",  "e4m3", "e5m2"};
  return kNames[static_cast<unsigned>(type)];
}

inline std::string name_of(Shape s) {
  return "m" + std::to_string(s.m) + "n" + std::to_string(s.n) + "k" + std::to_string(s.k);
}

struct FloatFormat {
  int exponent_bits, mantissa_bits;
};
inline FloatFormat format_of(MatrixType type) {
  switch (type) {
    case MatrixType::f16: return {5, 10};
    case MatrixType::bf16: return {8, 7};
    case MatrixType::f64: return {11, 52};
    case MatrixType::e4m3: return {4, 3};
    case MatrixType::e5m2: return {5, 2};
    case MatrixType::f32:
    case MatrixType::tf32: return {8, 23};
    default: return {0, 0};
  }
}

// Bits of a value that the type can hold (normal or 0), and back.
inline uint64_t encode(MatrixType type, double value) {
  const FloatFormat f = format_of(type);
  if (f.exponent_bits == 0) {
    const unsigned bits = sem::element_bits(type);
    return static_cast<uint64_t>(static_cast<int64_t>(value)) & (~uint64_t{0} >> (64 - bits));
  }
  if (value == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(value), &exponent) * 2 - 1;
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const uint64_t sign = value < 0, mantissa = static_cast<uint64_t>(std::ldexp(fraction, f.mantissa_bits));
  return sign << (f.exponent_bits + f.mantissa_bits) |
         static_cast<uint64_t>(exponent - 1 + bias) << f.mantissa_bits | mantissa;
}

inline double decode(MatrixType type, uint64_t bits) {
  const FloatFormat f = format_of(type);
  if (type == MatrixType::s32) return static_cast<int32_t>(bits);
  const uint64_t magnitude = bits & ((uint64_t{1} << (f.exponent_bits + f.mantissa_bits)) - 1);
  if (magnitude == 0) return 0;
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const uint64_t mantissa = magnitude & ((uint64_t{1} << f.mantissa_bits) - 1);
  const double value = std::ldexp(1 + std::ldexp(static_cast<double>(mantissa), -f.mantissa_bits),
                                  static_cast<int>(magnitude >> f.mantissa_bits) - bias);
  return magnitude == bits ? value : -value;
}

struct Matrix {
  unsigned rows = 0, columns = 0;
  std::vector<double> values;
  double& at(unsigned r, unsigned c) { return values[r * columns + c]; }
  double at(unsigned r, unsigned c) const { return values[r * columns + c]; }
  bool operator==(const Matrix&) const = default;
};

// Values of the type, small enough that all sums are exact in f16.
inline Matrix some_matrix(unsigned rows, unsigned columns, MatrixType type, unsigned seed) {
  Matrix m{rows, columns, std::vector<double>(rows * columns)};
  uint32_t state = seed * 2654435761u + 12345;
  for (double& v : m.values) {
    state = state * 1664525u + 1013904223u;
    const int r = static_cast<int>(state >> 16);
    switch (type) {
      case MatrixType::s8: v = r % 256 - 128; break;
      case MatrixType::u8: v = r % 256; break;
      case MatrixType::s4: v = r % 16 - 8; break;
      case MatrixType::u4: v = r % 16; break;
      case MatrixType::b1: v = r % 2; break;
      case MatrixType::s32: v = r % 20001 - 10000; break;
      case MatrixType::f64: v = (r % 2001 - 1000) / 64.0; break;
      default: v = (r % 13 - 6) / 2.0; break;
    }
  }
  return m;
}

inline Matrix product(const Matrix& a, const Matrix& b, const Matrix& c,
                      const std::function<double(double, double)>& multiply = std::multiplies<double>()) {
  Matrix d = c;
  for (unsigned m = 0; m < a.rows; ++m)
    for (unsigned n = 0; n < b.columns; ++n)
      for (unsigned k = 0; k < a.columns; ++k) d.at(m, n) += multiply(a.at(m, k), b.at(k, n));
  return d;
}

// ---- PTX ----

inline std::string list(const std::string& name, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) text += (i ? ", %" : "%") + name + std::to_string(i);
  return text + "}";
}

// Loads `count` registers (8 bytes apart in the buffers, 32 lanes each) and stores them.
inline std::string load_registers(const std::string& name, unsigned count, bool wide) {
  std::string text = "ld.param.u64 %at, [" + name + "]; add.u64 %at, %at, %i;\n";
  for (unsigned r = 0; r < count; ++r)
    text += "ld.global." + std::string(wide ? "b64" : "b32") + " %" + name + std::to_string(r) + ", [%at+" +
            std::to_string(256 * r) + "];\n";
  return text;
}
inline std::string store_registers(const std::string& name, unsigned count, bool wide) {
  std::string text = "ld.param.u64 %at, [" + name + "]; add.u64 %at, %at, %i;\n";
  for (unsigned r = 0; r < count; ++r)
    text += "st.global." + std::string(wide ? "b64" : "b32") + " [%at+" + std::to_string(256 * r) + "], %" +
            name + std::to_string(r) + ";\n";
  return text;
}

inline std::string registers(bool wide) {
  const std::string type = wide ? ".b64" : ".b32";
  return ".reg .b64 %at, %i; .reg .b32 %lane, %stride, %s; .reg " + type + " %a<8>, %b<8>, %c<8>, %d<8>;\n" +
         "mov.u32 %lane, %laneid; mul.wide.u32 %i, %lane, 8;\n";
}

}  // namespace fullwarp::exec::test

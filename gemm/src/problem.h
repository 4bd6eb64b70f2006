// The one form in which the library thinks of a product: column-major, as cuBLAS does.
//
//   D (m x n) = act(alpha op(A) op(B) + beta C + bias)      A is stored rows x cols, `ld` elements a column
//
// A row-major product is the same bytes with A and B, m and n exchanged. Nothing here needs CUDA's headers,
// so that the choice, the bounds and the order of work are tested on machines without a GPU.
#ifndef FULLWARP_GEMM_SRC_PROBLEM_H_
#define FULLWARP_GEMM_SRC_PROBLEM_H_

#include <cstddef>
#include <cstdint>

namespace fullwarp::gemm {

enum class Type : uint8_t { kBf16, kF16, kTf32, kF32 };

constexpr int element_bytes(Type type) { return type == Type::kBf16 || type == Type::kF16 ? 2 : 4; }
constexpr const char* name(Type type) {
  constexpr const char* kNames[] = {"bf16", "fp16", "tf32", "fp32"};
  return kNames[static_cast<int>(type)];
}

// The tensor cores' loads, the copy engine (TMA) and cuBLAS's fast kernels want this of every address of a
// column.
constexpr int64_t kAlignmentBytes = 16;

struct Matrix {
  uintptr_t data = 0;  // device address of element (0, 0) of the first product
  int64_t rows = 0;    // along the contiguous dimension
  int64_t cols = 0;
  int64_t ld = 0;      // elements
  int64_t stride = 0;  // elements from product to product; 0: all share one matrix
  int bytes = 2;       // of an element
  bool by_pointers =
      false;  // `data` is a device address of `batch` addresses; their alignment is not known here
};

struct Problem {
  Type type = Type::kBf16;
  bool transpose_a = false;
  bool transpose_b = false;
  int64_t m = 0, n = 0, k = 0;
  int64_t batch = 1;
  Matrix a, b, c, d;
  uintptr_t bias = 0;  // 0 or the device address of m elements of `bias_bytes`
  int bias_bytes = 2;
  int activation = 0;  // 0 none, 1 ReLU, 2 GELU
  // Known on the host; else the fused product, which takes them by value, is out.
  bool scalars_known = false;
  float alpha = 1, beta = 0;
  bool sums_in_fp32 = true;  // the caller asked for no less
  bool reads_c = false;      // beta is not 0, or not known on the host
};

// The largest power of two up to 16 that divides all the matrix's column addresses, in bytes.
inline int alignment_of(const Matrix& x, int64_t batch) {
  uint64_t bits = x.by_pointers ? 0 : x.data;
  if (x.cols > 1) bits |= static_cast<uint64_t>(x.ld * x.bytes);
  if (batch > 1 && !x.by_pointers) bits |= static_cast<uint64_t>(x.stride * x.bytes);
  bits |= kAlignmentBytes;
  return static_cast<int>(bits & (~bits + 1));
}

// Elements that fill the alignment: cuBLAS wants contiguous extents in multiples of it too (docs/gemm.md).
inline int64_t extent_unit(const Matrix& x) { return kAlignmentBytes / x.bytes; }

// The largest power of two up to 16 that divides, in bytes, all that cuBLAS's fast kernels want aligned:
// addresses, pitches, and every extent along which an operand is contiguous.
inline int alignment_of(const Problem& p) {
  const int64_t bits = (p.transpose_a ? p.k : p.m) * p.a.bytes | (p.transpose_b ? p.n : p.k) * p.b.bytes |
                       p.m * p.d.bytes | kAlignmentBytes;
  const int extents = static_cast<int>(bits & -bits);
  const int a = alignment_of(p.a, p.batch), b = alignment_of(p.b, p.batch), d = alignment_of(p.d, p.batch);
  const int ab = a < b ? a : b, ed = extents < d ? extents : d;
  return ab < ed ? ab : ed;
}

// Bytes that one product's part of the matrix spans.
inline int64_t span_bytes(const Matrix& x) {
  return x.rows == 0 || x.cols == 0 ? 0 : ((x.cols - 1) * x.ld + x.rows) * x.bytes;
}

}  // namespace fullwarp::gemm
#endif  // FULLWARP_GEMM_SRC_PROBLEM_H_

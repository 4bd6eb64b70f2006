// Argument checks and the exchange of operands that turns row-major into column-major; see convert.h.
#include "convert.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fullwarp::gemm {
namespace {

constexpr int64_t kMaxExtent = (int64_t{1} << 31) - 1;  // cuBLASLt's pitches and our row counts have 31 bits

Matrix matrix(const void* data, int64_t rows, int64_t cols, int64_t ld, int64_t stride, int bytes) {
  Matrix x;
  x.data = reinterpret_cast<uintptr_t>(data);
  x.rows = rows;
  x.cols = cols;
  x.ld = ld;
  x.stride = stride;
  x.bytes = bytes;
  return x;
}

// A caller in C may put any number into an enumeration; reading it as one is no number C++ knows.
template <class Enum>
int number(const Enum& value) {
  static_assert(sizeof value == sizeof(int));
  int result;
  std::memcpy(&result, &value, sizeof result);
  return result;
}

}  // namespace

const char* convert(const fwGemmProblem& g, Problem& out) {
  if (number(g.type) < FW_GEMM_BF16 || number(g.type) > FW_GEMM_FP32) return "type is none of the four";
  if (number(g.order) != FW_GEMM_COLUMN_MAJOR && number(g.order) != FW_GEMM_ROW_MAJOR)
    return "order is neither row- nor column-major";
  if (g.m < 0 || g.n < 0 || g.k < 0) return "m, n or k is negative";
  if (std::max({g.m, g.n, g.k, g.batch}) > kMaxExtent) return "m, n, k or batch is above 2^31 - 1";
  if (g.batch < 1) return "batch is below 1";
  if ((g.device_alpha == nullptr) != (g.device_beta == nullptr))
    return "one of device_alpha and device_beta is null";
  if (number(g.activation) < FW_GEMM_NO_ACTIVATION || number(g.activation) > FW_GEMM_GELU)
    return "activation is none of the three";

  const bool row_major = g.order == FW_GEMM_ROW_MAJOR;
  out = Problem{};
  out.type = static_cast<Type>(g.type);
  const int bytes = element_bytes(out.type);
  out.batch = g.batch;
  out.k = g.k;
  out.m = g.m;
  out.n = g.n;
  out.transpose_a = g.transpose_a != 0;
  out.transpose_b = g.transpose_b != 0;
  // The operands as column-major matrices of the same bytes.
  const void *a = g.a, *b = g.b;
  int64_t lda = g.lda, ldb = g.ldb, stride_a = g.stride_a, stride_b = g.stride_b;
  if (row_major) {
    std::swap(out.m, out.n);
    std::swap(out.transpose_a, out.transpose_b);
    std::swap(a, b);
    std::swap(lda, ldb);
    std::swap(stride_a, stride_b);
  }
  out.a = out.transpose_a ? matrix(a, out.k, out.m, lda, stride_a, bytes)
                          : matrix(a, out.m, out.k, lda, stride_a, bytes);
  out.b = out.transpose_b ? matrix(b, out.n, out.k, ldb, stride_b, bytes)
                          : matrix(b, out.k, out.n, ldb, stride_b, bytes);
  out.d = matrix(g.d, out.m, out.n, g.ldd, g.stride_d, bytes);
  out.c = g.c == nullptr ? out.d : matrix(g.c, out.m, out.n, g.ldc, g.stride_c, bytes);
  out.bias = reinterpret_cast<uintptr_t>(g.bias);
  out.bias_bytes = bytes;
  out.activation = g.activation;
  out.scalars_known = g.device_alpha == nullptr;
  out.alpha = g.alpha;
  out.beta = g.beta;
  out.reads_c = g.device_beta != nullptr || g.beta != 0.0f;
  if (!out.reads_c) out.c = out.d;

  for (const Matrix* x : {&out.a, &out.b, &out.d, &out.c}) {
    if (x->ld < std::max<int64_t>(1, x->rows)) {
      return x == &out.d                  ? "ldd is smaller than a row of D"
             : x == &out.c                ? "ldc is smaller than a row of C"
             : (x == &out.a) != row_major ? "lda is smaller than a row of A"
                                          : "ldb is smaller than a row of B";
    }
    if (x->ld > kMaxExtent) return "a pitch is above 2^31 - 1";
    if (x->stride < 0) return "a stride is negative";
    if (x->data % static_cast<uintptr_t>(bytes) != 0)
      return "an address is not a multiple of the element's size";
  }
  if (out.m > 0 && out.n > 0) {
    if (out.d.data == 0) return "d is null";
    if (out.k > 0 && (out.a.data == 0 || out.b.data == 0)) return "a or b is null";
    if (out.batch > 1 && out.d.stride * bytes < span_bytes(out.d)) return "stride_d makes products overlap";
  }
  return nullptr;
}

}  // namespace fullwarp::gemm

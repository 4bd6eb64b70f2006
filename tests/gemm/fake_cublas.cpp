// A cuBLAS and cuBLASLt for fp32 in host memory that count their calls, so that the preloaded library can be
// tested without a GPU. Like the real one, cublasGemmEx goes through the exported cublasLtMatmul. Built as
// one library under the real one's name.
#include <cublasLt.h>
#include <cublas_v2.h>

#include <cstring>
#include <map>
#include <string>

namespace {

std::map<std::string, int>& counts() {
  static std::map<std::string, int> map;
  return map;
}

template <class T>
void product(bool ta, bool tb, int64_t m, int64_t n, int64_t k, float alpha, const T* a, int64_t lda,
             const T* b, int64_t ldb, float beta, const T* c, int64_t ldc, T* d, int64_t ldd,
             const T* bias = nullptr) {
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < m; ++i) {
      float sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += a[ta ? i * lda + l : l * lda + i] * b[tb ? l * ldb + j : j * ldb + l];
      float value = alpha * sum;
      if (beta != 0) value += beta * c[j * ldc + i];
      if (bias != nullptr) value += bias[i];
      d[j * ldd + i] = value;
    }
  }
}

}  // namespace

extern "C" {

int fake_count(const char* name) { return counts()[name]; }

cublasStatus_t cublasGetStream_v2(cublasHandle_t, cudaStream_t* stream) {
  *stream = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  *mode =
      handle == reinterpret_cast<cublasHandle_t>(2) ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  *mode = handle == reinterpret_cast<cublasHandle_t>(3) ? CUBLAS_DEFAULT_MATH : CUBLAS_TF32_TENSOR_OP_MATH;
  return CUBLAS_STATUS_SUCCESS;
}

#define SGEMM(name, Int)                                                                               \
  cublasStatus_t name(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, Int m, Int n, Int k, \
                      const float* alpha, const float* a, Int lda, const float* b, Int ldb,            \
                      const float* beta, float* c, Int ldc) {                                          \
    ++counts()[#name];                                                                                 \
    product(ta != 0, tb != 0, m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc, c, ldc);                 \
    return CUBLAS_STATUS_SUCCESS;                                                                      \
  }
SGEMM(cublasSgemm_v2, int)
SGEMM(cublasSgemm_v2_64, int64_t)

#define SGEMM_STRIDED(name, Int)                                                                           \
  cublasStatus_t name(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, Int m, Int n, Int k,     \
                      const float* alpha, const float* a, Int lda, long long sa, const float* b, Int ldb,  \
                      long long sb, const float* beta, float* c, Int ldc, long long sc, Int batch) {       \
    ++counts()[#name];                                                                                     \
    for (Int q = 0; q < batch; ++q) {                                                                      \
      product(ta != 0, tb != 0, m, n, k, *alpha, a + q * sa, lda, b + q * sb, ldb, *beta, c + q * sc, ldc, \
              c + q * sc, ldc);                                                                            \
    }                                                                                                      \
    return CUBLAS_STATUS_SUCCESS;                                                                          \
  }
SGEMM_STRIDED(cublasSgemmStridedBatched, int)
SGEMM_STRIDED(cublasSgemmStridedBatched_64, int64_t)

#define SGEMM_POINTERS(name, Int)                                                                           \
  cublasStatus_t name(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, Int m, Int n, Int k,      \
                      const float* alpha, const float* const a[], Int lda, const float* const b[], Int ldb, \
                      const float* beta, float* const c[], Int ldc, Int batch) {                            \
    ++counts()[#name];                                                                                      \
    for (Int q = 0; q < batch; ++q) {                                                                       \
      product(ta != 0, tb != 0, m, n, k, *alpha, a[q], lda, b[q], ldb, *beta, c[q], ldc, c[q], ldc);        \
    }                                                                                                       \
    return CUBLAS_STATUS_SUCCESS;                                                                           \
  }
SGEMM_POINTERS(cublasSgemmBatched, int)
SGEMM_POINTERS(cublasSgemmBatched_64, int64_t)

// Descriptors: attribute number i at data[i].
cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, void* to,
                                                size_t bytes, size_t* written) {
  std::memcpy(to, &layout->data[attribute], bytes);
  *written = bytes;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void* from,
                                                size_t bytes) {
  layout->data[attribute] = 0;
  std::memcpy(&layout->data[attribute], from, bytes);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t operation,
                                              cublasLtMatmulDescAttributes_t attribute, void* to,
                                              size_t bytes, size_t* written) {
  std::memcpy(to, &operation->data[attribute % 32], bytes);
  *written = bytes;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation,
                                              cublasLtMatmulDescAttributes_t attribute, const void* from,
                                              size_t bytes) {
  operation->data[attribute % 32] = 0;
  std::memcpy(&operation->data[attribute % 32], from, bytes);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = new cublasLtMatmulPreferenceOpaque_t{};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t, const void*,
                                                    size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int,
                                              cublasLtMatmulHeuristicResult_t[], int* found) {
  ++counts()["cublasLtMatmulAlgoGetHeuristic"];
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t operation, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t la, const void* b,
                              cublasLtMatrixLayout_t lb, const void* beta, const void* c,
                              cublasLtMatrixLayout_t lc, void* d, cublasLtMatrixLayout_t ld,
                              const cublasLtMatmulAlgo_t*, void*, size_t, cudaStream_t) {
  ++counts()["cublasLtMatmul"];
  const bool ta = operation->data[CUBLASLT_MATMUL_DESC_TRANSA] != 0;
  const auto at = [](cublasLtMatrixLayout_t layout, int attribute) {
    return static_cast<int64_t>(layout->data[attribute]);
  };
  product(ta, operation->data[CUBLASLT_MATMUL_DESC_TRANSB] != 0, at(ld, CUBLASLT_MATRIX_LAYOUT_ROWS),
          at(ld, CUBLASLT_MATRIX_LAYOUT_COLS),
          at(la, ta ? CUBLASLT_MATRIX_LAYOUT_ROWS : CUBLASLT_MATRIX_LAYOUT_COLS),
          *static_cast<const float*>(alpha), static_cast<const float*>(a), at(la, CUBLASLT_MATRIX_LAYOUT_LD),
          static_cast<const float*>(b), at(lb, CUBLASLT_MATRIX_LAYOUT_LD), *static_cast<const float*>(beta),
          static_cast<const float*>(c), at(lc, CUBLASLT_MATRIX_LAYOUT_LD), static_cast<float*>(d),
          at(ld, CUBLASLT_MATRIX_LAYOUT_LD),
          reinterpret_cast<const float*>(operation->data[CUBLASLT_MATMUL_DESC_BIAS_POINTER]));
  return CUBLAS_STATUS_SUCCESS;
}

#define GEMM_EX(name, Int)                                                                                  \
  cublasStatus_t name(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, Int m, Int n, Int k,      \
                      const void* alpha, const void* a, cudaDataType, Int lda, const void* b, cudaDataType, \
                      Int ldb, const void* beta, void* c, cudaDataType, Int ldc, cublasComputeType_t,       \
                      cublasGemmAlgo_t) {                                                                   \
    ++counts()[#name];                                                                                      \
    cublasLtMatmulDescOpaque_t operation{};                                                                 \
    operation.data[CUBLASLT_MATMUL_DESC_TRANSA] = ta;                                                       \
    operation.data[CUBLASLT_MATMUL_DESC_TRANSB] = tb;                                                       \
    operation.data[CUBLASLT_MATMUL_DESC_EPILOGUE] = CUBLASLT_EPILOGUE_DEFAULT;                              \
    operation.data[CUBLASLT_MATMUL_DESC_COMPUTE_TYPE] = CUBLAS_COMPUTE_32F_FAST_TF32;                       \
    const auto layout = [](int64_t rows, int64_t cols, int64_t ld) {                                        \
      cublasLtMatrixLayoutOpaque_t made{};                                                                  \
      made.data[CUBLASLT_MATRIX_LAYOUT_ROWS] = static_cast<uint64_t>(rows);                                 \
      made.data[CUBLASLT_MATRIX_LAYOUT_COLS] = static_cast<uint64_t>(cols);                                 \
      made.data[CUBLASLT_MATRIX_LAYOUT_LD] = static_cast<uint64_t>(ld);                                     \
      made.data[CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT] = 1;                                                    \
      return made;                                                                                          \
    };                                                                                                      \
    auto la = ta ? layout(k, m, lda) : layout(m, k, lda);                                                   \
    auto lb = tb ? layout(n, k, ldb) : layout(k, n, ldb);                                                   \
    auto lc = layout(m, n, ldc);                                                                            \
    return cublasLtMatmul(nullptr, &operation, alpha, a, &la, b, &lb, beta, c, &lc, c, &lc, nullptr,        \
                          nullptr, 0, nullptr);                                                             \
  }
GEMM_EX(cublasGemmEx, int)
GEMM_EX(cublasGemmEx_64, int64_t)

}  // extern "C"

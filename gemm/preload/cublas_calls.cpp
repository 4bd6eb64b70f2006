// cuBLAS's GEMM symbols. Each entry describes its product as a Problem; aligned ones go to the real function
// at once, others through run_hooked, which calls the real function of the same family on staged operands. So
// stream, pointer mode, math mode, compute type and workspace stay what the caller's handle says.
//
// Products by pointer arrays become strided ones on the stages. Complex and double products, integers and
// 8-bit floats are not exported here at all: the program reaches cuBLAS's own.
#include <cublas_v2.h>
#include <cuda_fp16.h>

#include "hook.h"
#include "real.h"

using namespace fullwarp::gemm;

namespace {

// A family: the four shapes of call that share types. Pointers and strides are all given; unused ones are 0.
enum class Kind { kSingle, kStrided, kPointers };

struct Types {
  cudaDataType a = CUDA_R_32F, b = CUDA_R_32F, c = CUDA_R_32F;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  bool scalars_are_half = false;
};

// False for types that have no cliff of ours.
bool type_of(cublasHandle_t handle, const Types& types, Type& out) {
  if (types.a != types.b) return false;
  if (types.c != types.a && types.c != CUDA_R_32F) return false;
  if (types.a == CUDA_R_16BF) {
    out = Type::kBf16;
  } else if (types.a == CUDA_R_16F) {
    out = Type::kF16;
  } else if (types.a == CUDA_R_32F) {
    out = Type::kF32;
    if (types.compute == CUBLAS_COMPUTE_32F_FAST_TF32) {
      out = Type::kTf32;
    } else if (types.compute == CUBLAS_COMPUTE_32F) {
      cublasMath_t mode = CUBLAS_DEFAULT_MATH;
      if (FULLWARP_REAL(cublasGetMathMode)(handle, &mode) == CUBLAS_STATUS_SUCCESS &&
          (mode & 0xf) == CUBLAS_TF32_TENSOR_OP_MATH) {
        out = Type::kTf32;
      }
    }
  } else {
    return false;
  }
  return true;
}

struct Arguments {
  cublasHandle_t handle;
  cublasOperation_t op_a, op_b;
  int64_t m, n, k;
  const void* alpha;
  const void* a;
  int64_t lda, stride_a;
  const void* b;
  int64_t ldb, stride_b;
  const void* beta;
  void* c;
  int64_t ldc, stride_c;
  int64_t batch;
};

Matrix matrix(const void* data, int64_t rows, int64_t cols, int64_t ld, int64_t stride, cudaDataType type,
              Kind kind) {
  Matrix x;
  x.data = reinterpret_cast<uintptr_t>(data);
  x.rows = rows;
  x.cols = cols;
  x.ld = ld;
  x.stride = stride;
  x.bytes = type == CUDA_R_32F ? 4 : 2;
  x.by_pointers = kind == Kind::kPointers;
  return x;
}

// False where the call is not for us (types, wrong arguments): cuBLAS answers as it would without us.
bool describe_problem(const Arguments& x, const Types& types, Kind kind, Problem& p) {
  if (x.m <= 0 || x.n <= 0 || x.k <= 0 || x.batch <= 0 || x.lda <= 0 || x.ldb <= 0 || x.ldc <= 0)
    return false;
  if (x.stride_a < 0 || x.stride_b < 0 || x.stride_c < 0 || x.alpha == nullptr || x.beta == nullptr)
    return false;
  constexpr int64_t kLargest = (int64_t{1} << 31) - 64;
  if (x.m > kLargest || x.n > kLargest || x.k > kLargest || x.batch > kLargest) return false;
  // cuBLAS before CUDA 12 has no 64-bit functions, on which pieces run.
  if (FULLWARP_REAL(cublasSgemm_v2_64) == nullptr) return false;
  if (!type_of(x.handle, types, p.type)) return false;
  p.transpose_a = x.op_a != CUBLAS_OP_N;
  p.transpose_b = x.op_b != CUBLAS_OP_N;
  p.m = x.m;
  p.n = x.n;
  p.k = x.k;
  p.batch = x.batch;
  p.a = matrix(x.a, p.transpose_a ? x.k : x.m, p.transpose_a ? x.m : x.k, x.lda, x.stride_a, types.a, kind);
  p.b = matrix(x.b, p.transpose_b ? x.n : x.k, p.transpose_b ? x.k : x.n, x.ldb, x.stride_b, types.b, kind);
  p.d = matrix(x.c, x.m, x.n, x.ldc, x.stride_c, types.c, kind);
  p.c = p.d;
  if (p.a.ld < p.a.rows || p.b.ld < p.b.rows || p.d.ld < p.d.rows) return false;
  if (!table_wanted() && !is_misaligned(p)) return false;
  cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;
  FULLWARP_REAL(cublasGetPointerMode_v2)(x.handle, &mode);
  p.scalars_known = mode == CUBLAS_POINTER_MODE_HOST;
  const auto scalar = [&types](const void* address) {
    return types.scalars_are_half ? __half2float(*static_cast<const __half*>(address))
                                  : *static_cast<const float*>(address);
  };
  if (p.scalars_known) {
    p.alpha = scalar(x.alpha);
    p.beta = scalar(x.beta);
  }
  p.sums_in_fp32 = !types.scalars_are_half;
  p.reads_c = !p.scalars_known || p.beta != 0.0f;
  return true;
}

template <class Call>
struct Hook {
  cublasHandle_t handle;
  const Call* call;

  static int multiply(void* self, const Piece& piece) { return (*static_cast<Hook*>(self)->call)(piece); }
  static Stream stream(void* self) {
    cudaStream_t stream = nullptr;
    FULLWARP_REAL(cublasGetStream_v2)(static_cast<Hook*>(self)->handle, &stream);
    return stream;
  }
};

// `plain()` is the call as it came; `staged(piece)` the same on a piece.
template <class Plain, class Staged>
cublasStatus_t hooked(const Arguments& x, const Types& types, Kind kind, Plain plain, Staged staged) {
  Problem p;
  if (Inside::already() || !describe_problem(x, types, kind, p)) return plain();
  const auto call = [&](const Piece& piece) -> int { return piece.staged ? staged(piece) : plain(); };
  Hook<decltype(call)> hook{x.handle, &call};
  return static_cast<cublasStatus_t>(run_hooked(
      {&p, &decltype(hook)::multiply, &decltype(hook)::stream, &hook, CUBLAS_STATUS_EXECUTION_FAILED}));
}

template <class T>
T* at(uintptr_t address) {
  return reinterpret_cast<T*>(address);
}

Types ex_types(cudaDataType a, cudaDataType b, cudaDataType c, cublasComputeType_t compute) {
  return {a, b, c, compute, compute == CUBLAS_COMPUTE_16F || compute == CUBLAS_COMPUTE_16F_PEDANTIC};
}

// cublas_api.h overloads the 32-bit functions for C++.
template <class Int>
using SingleEx = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, Int, Int, Int,
                                    const void*, const void*, cudaDataType, Int, const void*, cudaDataType,
                                    Int, const void*, void*, cudaDataType, Int, cublasComputeType_t,
                                    cublasGemmAlgo_t);
template <class Int>
using StridedEx = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, Int, Int, Int,
                                     const void*, const void*, cudaDataType, Int, long long, const void*,
                                     cudaDataType, Int, long long, const void*, void*, cudaDataType, Int,
                                     long long, Int, cublasComputeType_t, cublasGemmAlgo_t);
template <class Int>
using PointersEx = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, Int, Int, Int,
                                      const void*, const void* const[], cudaDataType, Int,
                                      const void* const[], cudaDataType, Int, const void*, void* const[],
                                      cudaDataType, Int, Int, cublasComputeType_t, cublasGemmAlgo_t);

const Types kSingleTypes{};
const Types kHalfTypes{CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, true};

}  // namespace

#define FULLWARP_EXPORT extern "C" __attribute__((visibility("default"))) cublasStatus_t

// cublasSgemm_v2, cublasHgemm and their batched forms, for one element type and one integer type.
// clang-format off
#define FULLWARP_TYPED(T, types, Int, single, single64, strided, strided64, pointers)                                       \
  FULLWARP_EXPORT single(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, Int m, Int n, Int k,                 \
                         const T* alpha, const T* a, Int lda, const T* b, Int ldb, const T* beta, T* c, Int ldc) {          \
    return hooked({h, ta, tb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1}, types, Kind::kSingle,              \
        [&] { return FULLWARP_REAL(single)(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); },                     \
        [&](const Piece& p) {                                                                                               \
          return FULLWARP_REAL(single64)(h, ta, tb, p.m, p.n, p.k, alpha, at<const T>(p.a.data), p.a.ld,                    \
                                         at<const T>(p.b.data), p.b.ld, beta, at<T>(p.d.data), p.d.ld);                     \
        });                                                                                                                 \
  }                                                                                                                         \
  FULLWARP_EXPORT strided(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, Int m, Int n, Int k,                \
                          const T* alpha, const T* a, Int lda, long long sa, const T* b, Int ldb, long long sb,             \
                          const T* beta, T* c, Int ldc, long long sc, Int batch) {                                          \
    return hooked({h, ta, tb, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, batch}, types, Kind::kStrided,      \
        [&] { return FULLWARP_REAL(strided)(h, ta, tb, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc,            \
                                            batch); },                                                                      \
        [&](const Piece& p) {                                                                                               \
          return FULLWARP_REAL(strided64)(h, ta, tb, p.m, p.n, p.k, alpha, at<const T>(p.a.data), p.a.ld,                   \
                                          p.a.stride, at<const T>(p.b.data), p.b.ld, p.b.stride, beta,                      \
                                          at<T>(p.d.data), p.d.ld, p.d.stride, p.batch);                                    \
        });                                                                                                                 \
  }                                                                                                                         \
  FULLWARP_EXPORT pointers(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, Int m, Int n, Int k,               \
                           const T* alpha, const T* const a[], Int lda, const T* const b[], Int ldb,                        \
                           const T* beta, T* const c[], Int ldc, Int batch) {                                               \
    return hooked({h, ta, tb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, const_cast<T**>(c), ldc, 0, batch}, types,        \
                  Kind::kPointers,                                                                                          \
        [&] { return FULLWARP_REAL(pointers)(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, batch); },            \
        [&](const Piece& p) {                                                                                               \
          return FULLWARP_REAL(strided64)(h, ta, tb, p.m, p.n, p.k, alpha, at<const T>(p.a.data), p.a.ld,                   \
                                          p.a.stride, at<const T>(p.b.data), p.b.ld, p.b.stride, beta,                      \
                                          at<T>(p.d.data), p.d.ld, p.d.stride, p.batch);                                    \
        });                                                                                                                 \
  }

FULLWARP_TYPED(float, kSingleTypes, int, cublasSgemm_v2, cublasSgemm_v2_64, cublasSgemmStridedBatched,
               cublasSgemmStridedBatched_64, cublasSgemmBatched)
FULLWARP_TYPED(float, kSingleTypes, int64_t, cublasSgemm_v2_64, cublasSgemm_v2_64, cublasSgemmStridedBatched_64,
               cublasSgemmStridedBatched_64, cublasSgemmBatched_64)
FULLWARP_TYPED(__half, kHalfTypes, int, cublasHgemm, cublasHgemm_64, cublasHgemmStridedBatched,
               cublasHgemmStridedBatched_64, cublasHgemmBatched)
FULLWARP_TYPED(__half, kHalfTypes, int64_t, cublasHgemm_64, cublasHgemm_64, cublasHgemmStridedBatched_64,
               cublasHgemmStridedBatched_64, cublasHgemmBatched_64)

// cublasGemmEx and its batched forms, and cublasSgemmEx, for one integer type.
#define FULLWARP_EX(Int, single, strided, pointers, sgemm_ex)                                                               \
  FULLWARP_EXPORT single(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, Int m, Int n, Int k,                 \
                         const void* alpha, const void* a, cudaDataType at_, Int lda, const void* b,                        \
                         cudaDataType bt, Int ldb, const void* beta, void* c, cudaDataType ct, Int ldc,                     \
                         cublasComputeType_t compute, cublasGemmAlgo_t algo) {                                              \
    return hooked({h, ta, tb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1}, ex_types(at_, bt, ct, compute),    \
                  Kind::kSingle,                                                                                            \
        [&] { return FULLWARP_REAL_AS(SingleEx<Int>, single)(h, ta, tb, m, n, k, alpha, a, at_, lda, b, bt, ldb, beta, c, ct, ldc,\
                                           compute, algo); },                                                               \
        [&](const Piece& p) {                                                                                               \
          return FULLWARP_REAL(cublasGemmEx_64)(h, ta, tb, p.m, p.n, p.k, alpha, at<const void>(p.a.data), at_,             \
                                                p.a.ld, at<const void>(p.b.data), bt, p.b.ld, beta,                         \
                                                at<void>(p.d.data), ct, p.d.ld, compute, algo);                             \
        });                                                                                                                 \
  }                                                                                                                         \
  FULLWARP_EXPORT strided(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, Int m, Int n, Int k,                \
                          const void* alpha, const void* a, cudaDataType at_, Int lda, long long sa,                        \
                          const void* b, cudaDataType bt, Int ldb, long long sb, const void* beta, void* c,                 \
                          cudaDataType ct, Int ldc, long long sc, Int batch, cublasComputeType_t compute,                   \
                          cublasGemmAlgo_t algo) {                                                                          \
    return hooked({h, ta, tb, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, batch},                             \
                  ex_types(at_, bt, ct, compute), Kind::kStrided,                                                           \
        [&] { return FULLWARP_REAL_AS(StridedEx<Int>, strided)(h, ta, tb, m, n, k, alpha, a, at_, lda, sa, b, bt, ldb, sb, beta, c,\
                                            ct, ldc, sc, batch, compute, algo); },                                          \
        [&](const Piece& p) {                                                                                               \
          return FULLWARP_REAL(cublasGemmStridedBatchedEx_64)(                                                              \
              h, ta, tb, p.m, p.n, p.k, alpha, at<const void>(p.a.data), at_, p.a.ld, p.a.stride,                           \
              at<const void>(p.b.data), bt, p.b.ld, p.b.stride, beta, at<void>(p.d.data), ct, p.d.ld, p.d.stride,           \
              p.batch, compute, algo);                                                                                      \
        });                                                                                                                 \
  }                                                                                                                         \
  FULLWARP_EXPORT pointers(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, Int m, Int n, Int k,               \
                           const void* alpha, const void* const a[], cudaDataType at_, Int lda,                             \
                           const void* const b[], cudaDataType bt, Int ldb, const void* beta, void* const c[],              \
                           cudaDataType ct, Int ldc, Int batch, cublasComputeType_t compute,                                \
                           cublasGemmAlgo_t algo) {                                                                         \
    return hooked({h, ta, tb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, const_cast<void**>(c), ldc, 0, batch},            \
                  ex_types(at_, bt, ct, compute), Kind::kPointers,                                                          \
        [&] { return FULLWARP_REAL_AS(PointersEx<Int>, pointers)(h, ta, tb, m, n, k, alpha, a, at_, lda, b, bt, ldb, beta, c, ct,\
                                             ldc, batch, compute, algo); },                                                 \
        [&](const Piece& p) {                                                                                               \
          return FULLWARP_REAL(cublasGemmStridedBatchedEx_64)(                                                              \
              h, ta, tb, p.m, p.n, p.k, alpha, at<const void>(p.a.data), at_, p.a.ld, p.a.stride,                           \
              at<const void>(p.b.data), bt, p.b.ld, p.b.stride, beta, at<void>(p.d.data), ct, p.d.ld, p.d.stride,           \
              p.batch, compute, algo);                                                                                      \
        });                                                                                                                 \
  }                                                                                                                         \
  FULLWARP_EXPORT sgemm_ex(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, Int m, Int n, Int k,               \
                           const float* alpha, const void* a, cudaDataType at_, Int lda, const void* b,                     \
                           cudaDataType bt, Int ldb, const float* beta, void* c, cudaDataType ct, Int ldc) {                \
    return hooked({h, ta, tb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1},                                    \
                  ex_types(at_, bt, ct, CUBLAS_COMPUTE_32F), Kind::kSingle,                                                 \
        [&] { return FULLWARP_REAL(sgemm_ex)(h, ta, tb, m, n, k, alpha, a, at_, lda, b, bt, ldb, beta, c, ct,               \
                                             ldc); },                                                                       \
        [&](const Piece& p) {                                                                                               \
          return FULLWARP_REAL(cublasSgemmEx_64)(h, ta, tb, p.m, p.n, p.k, alpha, at<const void>(p.a.data), at_,            \
                                                 p.a.ld, at<const void>(p.b.data), bt, p.b.ld, beta,                        \
                                                 at<void>(p.d.data), ct, p.d.ld);                                           \
        });                                                                                                                 \
  }
// clang-format on

FULLWARP_EX(int, cublasGemmEx, cublasGemmStridedBatchedEx, cublasGemmBatchedEx, cublasSgemmEx)
FULLWARP_EX(int64_t, cublasGemmEx_64, cublasGemmStridedBatchedEx_64, cublasGemmBatchedEx_64, cublasSgemmEx_64)

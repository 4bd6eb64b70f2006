// A program that knows nothing of fullwarp, run under LD_PRELOAD with a cuBLAS in host memory
// (fake_cublas.cpp): results, what reached the real functions, and that every symbol of the list is ours.
// FULLWARP_GEMM_MODE=staged.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

extern "C" int fake_count(const char* name);

namespace {

const cublasHandle_t kHost = reinterpret_cast<cublasHandle_t>(1);
const cublasHandle_t kDeviceScalars = reinterpret_cast<cublasHandle_t>(2);
const cublasHandle_t kFp32 = reinterpret_cast<cublasHandle_t>(3);

std::vector<float> numbers(int count, int seed) {
  std::vector<float> v(static_cast<size_t>(count));
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<float>((i * 7 + static_cast<size_t>(seed)) % 11) - 5;
  return v;
}

struct Sgemm {
  int m = 13, n = 7, k = 5;
  bool ta = false, tb = false;
  float alpha = 2, beta = 0;
  std::vector<float> a = numbers(13 * 5, 1), b = numbers(7 * 5, 2), c = numbers(13 * 7, 3);

  std::vector<float> want() const {
    std::vector<float> d = c;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        float sum = 0;
        for (int l = 0; l < k; ++l) {
          sum += a[static_cast<size_t>(ta ? i * k + l : l * m + i)] *
                 b[static_cast<size_t>(tb ? l * n + j : j * k + l)];
        }
        float& to = d[static_cast<size_t>(j * m + i)];
        to = alpha * sum + (beta == 0 ? 0 : beta * to);
      }
    }
    return d;
  }
  cublasOperation_t op_a() const { return ta ? CUBLAS_OP_T : CUBLAS_OP_N; }
  cublasOperation_t op_b() const { return tb ? CUBLAS_OP_T : CUBLAS_OP_N; }
  int lda() const { return ta ? k : m; }
  int ldb() const { return tb ? n : k; }
};

TEST(Preload, EverySymbolIsOurs) {
  for (const char* name : {"cublasSgemm_v2",
                           "cublasSgemm_v2_64",
                           "cublasSgemmStridedBatched",
                           "cublasSgemmStridedBatched_64",
                           "cublasSgemmBatched",
                           "cublasSgemmBatched_64",
                           "cublasSgemmEx",
                           "cublasSgemmEx_64",
                           "cublasHgemm",
                           "cublasHgemm_64",
                           "cublasHgemmStridedBatched",
                           "cublasHgemmStridedBatched_64",
                           "cublasHgemmBatched",
                           "cublasHgemmBatched_64",
                           "cublasGemmEx",
                           "cublasGemmEx_64",
                           "cublasGemmStridedBatchedEx",
                           "cublasGemmStridedBatchedEx_64",
                           "cublasGemmBatchedEx",
                           "cublasGemmBatchedEx_64",
                           "cublasLtMatmul"}) {
    void* const address = dlsym(RTLD_DEFAULT, name);
    ASSERT_NE(address, nullptr) << name;
    Dl_info info;
    ASSERT_NE(dladdr(address, &info), 0);
    EXPECT_NE(std::strstr(info.dli_fname, "fullwarp_cublas"), nullptr) << name << " is of " << info.dli_fname;
  }
}

TEST(Preload, SgemmOnStagesHasTheSameResult) {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      for (const float beta : {0.0f, 0.5f}) {
        Sgemm x;
        x.ta = ta, x.tb = tb, x.beta = beta;
        const std::vector<float> want = x.want();
        const int before = fake_count("cublasSgemm_v2_64");
        ASSERT_EQ(cublasSgemm_v2(kHost, x.op_a(), x.op_b(), x.m, x.n, x.k, &x.alpha, x.a.data(), x.lda(),
                                 x.b.data(), x.ldb(), &x.beta, x.c.data(), x.m),
                  CUBLAS_STATUS_SUCCESS);
        EXPECT_EQ(x.c, want);
        EXPECT_EQ(fake_count("cublasSgemm_v2_64"), before + 1);
      }
    }
  }
  EXPECT_EQ(fake_count("cublasSgemm_v2"), 0);
}

TEST(Preload, BetaOnTheDeviceIsNotReadOnTheHost) {
  Sgemm x;
  x.beta = 1;
  const std::vector<float> want = x.want();
  ASSERT_EQ(cublasSgemm_v2(kDeviceScalars, x.op_a(), x.op_b(), x.m, x.n, x.k, &x.alpha, x.a.data(), x.lda(),
                           x.b.data(), x.ldb(), &x.beta, x.c.data(), x.m),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(x.c, want);  // C was carried to the stage although its factor was not known
}

TEST(Preload, Fp32WithoutTensorCoresPassesThrough) {
  Sgemm x;
  const std::vector<float> want = x.want();
  const int before = fake_count("cublasSgemm_v2");
  ASSERT_EQ(cublasSgemm_v2(kFp32, x.op_a(), x.op_b(), x.m, x.n, x.k, &x.alpha, x.a.data(), x.lda(),
                           x.b.data(), x.ldb(), &x.beta, x.c.data(), x.m),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(x.c, want);
  EXPECT_EQ(fake_count("cublasSgemm_v2"), before + 1);
}

TEST(Preload, AlignedPassesThrough) {
  alignas(16) float a[64] = {}, b[64] = {}, c[64] = {};
  a[0] = b[0] = 3;
  const float one = 1, zero = 0;
  const int before = fake_count("cublasSgemm_v2");
  ASSERT_EQ(cublasSgemm_v2(kHost, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, a, 8, b, 8, &zero, c, 8),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(c[0], 9);
  EXPECT_EQ(fake_count("cublasSgemm_v2"), before + 1);
}

TEST(Preload, EmptyProductsPassThrough) {
  float a[1] = {}, c[3] = {1, 2, 3};
  const float one = 1, zero = 0;
  const int before = fake_count("cublasSgemm_v2");
  ASSERT_EQ(cublasSgemm_v2(kHost, CUBLAS_OP_N, CUBLAS_OP_N, 3, 1, 0, &one, a, 3, a, 1, &zero, c, 3),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(c[2], 0);
  EXPECT_EQ(fake_count("cublasSgemm_v2"), before + 1);
}

TEST(Preload, GemmExThatCallsLtMatmulIsTakenOnce) {
  Sgemm x;
  const std::vector<float> want = x.want();
  const int ex = fake_count("cublasGemmEx_64"), lt = fake_count("cublasLtMatmul");
  ASSERT_EQ(cublasGemmEx(kHost, x.op_a(), x.op_b(), x.m, x.n, x.k, &x.alpha, x.a.data(), CUDA_R_32F, x.lda(),
                         x.b.data(), CUDA_R_32F, x.ldb(), &x.beta, x.c.data(), CUDA_R_32F, x.m,
                         CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_GEMM_DEFAULT),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(x.c, want);
  EXPECT_EQ(fake_count("cublasGemmEx_64"), ex + 1);
  EXPECT_EQ(fake_count("cublasLtMatmul"), lt + 1);
  EXPECT_EQ(fake_count("cublasLtMatmulAlgoGetHeuristic"), 0);
}

TEST(Preload, BatchesByStrideAndByPointers) {
  Sgemm one;
  constexpr int kBatch = 3;
  std::vector<float> a, b, c, want;
  for (int q = 0; q < kBatch; ++q) {
    one.a = numbers(13 * 5, 10 + q), one.b = numbers(7 * 5, 20 + q);
    const std::vector<float> d = one.want();
    a.insert(a.end(), one.a.begin(), one.a.end());
    b.insert(b.end(), one.b.begin(), one.b.end());
    want.insert(want.end(), d.begin(), d.end());
  }
  c.assign(want.size(), -1);
  ASSERT_EQ(cublasSgemmStridedBatched(kHost, CUBLAS_OP_N, CUBLAS_OP_N, 13, 7, 5, &one.alpha, a.data(), 13, 65,
                                      b.data(), 5, 35, &one.beta, c.data(), 13, 91, kBatch),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(c, want);
  c.assign(want.size(), -1);
  const float *pa[kBatch], *pb[kBatch];
  float* pc[kBatch];
  for (int q = 0; q < kBatch; ++q) pa[q] = &a[q * 65u], pb[q] = &b[q * 35u], pc[q] = &c[q * 91u];
  ASSERT_EQ(cublasSgemmBatched(kHost, CUBLAS_OP_N, CUBLAS_OP_N, 13, 7, 5, &one.alpha, pa, 13, pb, 5,
                               &one.beta, pc, 13, kBatch),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(c, want);
  EXPECT_EQ(fake_count("cublasSgemmStridedBatched_64"), 2);
  EXPECT_EQ(fake_count("cublasSgemmBatched"), 0);
}

TEST(Preload, LtMatmulChoosesAgainOnceForAShape) {
  Sgemm x;
  std::vector<float> want = x.want();
  const std::vector<float> bias = numbers(x.m, 9);
  for (int i = 0; i < x.m * x.n; ++i) want[static_cast<size_t>(i)] += bias[static_cast<size_t>(i % x.m)];
  cublasLtMatmulDescOpaque_t operation{};
  operation.data[CUBLASLT_MATMUL_DESC_COMPUTE_TYPE] = CUBLAS_COMPUTE_32F_FAST_TF32;
  operation.data[CUBLASLT_MATMUL_DESC_EPILOGUE] = CUBLASLT_EPILOGUE_BIAS;
  operation.data[CUBLASLT_MATMUL_DESC_BIAS_POINTER] = reinterpret_cast<uint64_t>(bias.data());
  const auto layout = [](int64_t rows, int64_t cols) {
    cublasLtMatrixLayoutOpaque_t made{};
    made.data[CUBLASLT_MATRIX_LAYOUT_TYPE] = CUDA_R_32F;
    made.data[CUBLASLT_MATRIX_LAYOUT_ORDER] = CUBLASLT_ORDER_COL;
    made.data[CUBLASLT_MATRIX_LAYOUT_ROWS] = static_cast<uint64_t>(rows);
    made.data[CUBLASLT_MATRIX_LAYOUT_COLS] = static_cast<uint64_t>(cols);
    made.data[CUBLASLT_MATRIX_LAYOUT_LD] = static_cast<uint64_t>(rows);
    made.data[CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT] = 1;
    return made;
  };
  auto la = layout(x.m, x.k), lb = layout(x.k, x.n), lc = layout(x.m, x.n);
  operation.data[CUBLASLT_MATMUL_DESC_SCALE_TYPE] = CUDA_R_32F;
  for (int time = 0; time < 2; ++time) {
    x.c.assign(x.c.size(), -1);
    ASSERT_EQ(cublasLtMatmul(nullptr, &operation, &x.alpha, x.a.data(), &la, x.b.data(), &lb, &x.beta,
                             x.c.data(), &lc, x.c.data(), &lc, nullptr, nullptr, 0, nullptr),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(x.c, want);
    EXPECT_EQ(fake_count("cublasLtMatmulAlgoGetHeuristic"), 1);
  }
}

}  // namespace

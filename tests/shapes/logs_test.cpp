// Logs of cuBLAS and cuBLASLt, lists, and the table of the GEMM library's preload.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "products.h"
#include "shapes/read.h"

namespace fullwarp::shapes {
namespace {

using testing::HasSubstr;

Result<Model> read_log(const std::string& text) { return read_cublas_log(*bytes_of(text), "gemm.log"); }
Result<Model> list(const std::string& text) { return read_list(*bytes_of(text), "list.csv"); }

const Gemm& gemm_of(const Result<Model>& model, size_t index = 0) {
  EXPECT_TRUE(model) << (model ? "" : model.error().to_string());
  return std::get<Gemm>(model->operations.at(index).work);
}

// A linear layer y[1024,2304] = x[1024,768] w[2304,768]^T as PyTorch gives it to cublasLt: column-major, w
// first.
constexpr const char* kLt =
    "[2025-11-03 19:02:38][cublasLt][557785][Trace][cublasLtMatmul] A=0X7F3CB315E800 Adesc=[type=R_16BF "
    "rows=768 cols=2304 "
    "ld=768] B=0X7F3C9B644002 Bdesc=[type=R_16BF rows=768 cols=1024 ld=768] C=0X0 Cdesc=[type=R_16BF "
    "rows=2304 cols=1024 ld=2304] D=0X7F3CB30A4400 Ddesc=[type=R_16BF rows=2304 cols=1024 ld=2304] "
    "computeDesc=[computeType=COMPUTE_32F "
    "scaleType=R_32F transa=OP_T] algo=[algoId=66 tile=MATMUL_TILE_128x128] workSpace=0X0 beta=0 "
    "stream=0X0\n";

TEST(CublasLtLog, AColumnMajorProductBecomesItsRowMajorTranspose) {
  const Result<Model> model =
      read_log(std::string(kLt) + kLt + "[...][Api][cublasLtMatmulDescCreate] matmulDesc=1\n");
  const Gemm& g = gemm_of(model);
  EXPECT_EQ(describe(model->operations[0]), "1024 x 2304 x 768, NT");
  EXPECT_EQ(g.dtype, Dtype::bf16);
  EXPECT_EQ(model->operations[0].count, 2);
  EXPECT_EQ(g.lda, 768);
  EXPECT_EQ(g.ldb, 768);
  EXPECT_EQ(g.ldc, 2304);
  EXPECT_EQ(g.base_bytes, (std::array<uint32_t, 3>{2, 16, 16}));  // B of the log, our A, begins at ...02
}

TEST(CublasLtLog, Tf32IsToldByTheComputeType) {
  std::string line = kLt;
  for (size_t at; (at = line.find("R_16BF")) != std::string::npos;) line.replace(at, 6, "R_32F");
  line.replace(line.find("COMPUTE_32F"), 11, "COMPUTE_32F_FAST_TF32");
  EXPECT_EQ(gemm_of(read_log(line)).dtype, Dtype::tf32);
}

TEST(CublasLtLog, CallsThatAreLeftOutAreCountedWithTheirTypes) {
  std::string four_bits = kLt, wrapped = kLt;
  for (size_t at; (at = four_bits.find("R_16BF")) != std::string::npos;)
    four_bits.replace(at, 6, "R_4F_E2M1");
  wrapped.replace(wrapped.find(" Adesc"), 1, "\n");  // as a terminal or a forum breaks it
  const Result<Model> model = read_log(kLt + four_bits + wrapped);
  EXPECT_EQ(describe(model->operations.at(0)), "1024 x 2304 x 768, NT");
  EXPECT_EQ(model->operations.at(0).count, 1);
  EXPECT_THAT(
      model->notes,
      testing::Contains(HasSubstr("2 calls of other types (R_4F_E2M1) or without sizes are left out")));
}

constexpr const char* kCublas =
    "I! cuBLAS (v13.4.1) function cublasStatus_t cublasSgemm_v2(cublasHandle_t, cublasOperation_t, ...) "
    "called:\n"
    "i!  handle: type=cublasHandle_t; val=POINTER (IN HEX:0x0x1f9560f0)\n"
    "i!  transa: type=cublasOperation_t; val=CUBLAS_OP_T(1)\n"
    "i!  transb: type=cublasOperation_t; val=CUBLAS_OP_N(0)\n"
    "i!  m: type=int; val=51865\ni!  n: type=int; val=448\ni!  k: type=int; val=384\n"
    "i!  A: type=float; val=POINTER (IN HEX:0x0x504e20400)\ni!  lda: type=int; val=384\n"
    "i!  B: type=float; val=POINTER (IN HEX:0x0x504e20604)\ni!  ldb: type=int; val=384\n"
    "i!  C: type=float; val=POINTER (IN HEX:0x0x504e20c00)\ni!  ldc: type=int; val=51865\n"
    "i! Time: 2026-09-11T18:11:38 elapsed from start 0.016667 minutes or 1.000000 seconds\n";

TEST(CublasLog, BlocksOfArgumentsAreCalls) {
  const Result<Model> model = read_log(
      std::string(kCublas) +
      "I! cuBLAS (v13.4.1) function cublasStatus_t cublasDestroy_v2(cublasHandle_t) called:\n" + kCublas);
  const Gemm& g = gemm_of(model);
  EXPECT_EQ(describe(model->operations[0]), "448 x 51865 x 384, NT");
  EXPECT_EQ(g.dtype, Dtype::fp32);
  EXPECT_EQ(g.ldc, 51865);
  EXPECT_EQ(g.base_bytes, (std::array<uint32_t, 3>{4, 16, 16}));
  EXPECT_EQ(model->operations[0].count, 2);
}

// cublasGemmEx as cuBLAS 11 writes it: types as names with their numbers, the math mode behind the arguments.
TEST(CublasLog, TheMathModeTellsTf32) {
  const auto log = [](const std::string& mode) {
    return "I! cuBLAS (v11.0) function cublasStatus_t cublasGemmEx(cublasHandle_t, ...) called:\n"
           "i!  handle: type=cublasHandle_t; val=POINTER (IN HEX:0x0xb850e50)\n"
           "i!  transa: type=cublasOperation_t; val=CUBLAS_OP_N(0)\n"
           "i!  transb: type=cublasOperation_t; val=CUBLAS_OP_N(0)\n"
           "i!  m: type=int; val=20\ni!  n: type=int; val=30\ni!  k: type=int; val=40\n"
           "i!  alpha: type=void; val=POINTER (IN HEX:0x0x7f55b02f3490)\n"
           "i!  A: type=void; val=POINTER (IN HEX:0x0x7f54c9230200)\n"
           "i!  Atype: type=cudaDataType_t; val=CUDA_R_32F(0)\ni!  lda: type=int; val=20\n"
           "i!  B: type=void; val=POINTER (IN HEX:0x0x7f54c9250c00)\n"
           "i!  Btype: type=cudaDataType_t; val=CUDA_R_32F(0)\ni!  ldb: type=int; val=40\n"
           "i!  C: type=void; val=POINTER (IN HEX:0x0x7f54c9230400)\ni!  ldc: type=int; val=20\n"
           "i!  computeType: type=cublasComputeType_t; val=CUBLAS_COMPUTE_32F(68)\n"
           "i! Time: 2020-09-09T10:00:00 elapsed from start 0.016667 minutes or 1.000000 seconds\n"
           "i!Process=14055; Thread=140220191823680; GPU=0; Handle=POINTER (IN HEX:0x0xa8af7b0); MathMode=" +
           mode + "\n";
  };
  EXPECT_EQ(gemm_of(read_log(log("CUBLAS_DEFAULT_MATH"))).dtype, Dtype::fp32);
  EXPECT_EQ(gemm_of(read_log(log("CUBLAS_TF32_TENSOR_OP_MATH"))).dtype, Dtype::tf32);
  EXPECT_EQ(describe(read_log(log("CUBLAS_DEFAULT_MATH"))->operations[0]), "30 x 20 x 40, NN");
}

TEST(CublasLog, LinesOfBothLogsCountOnce) {
  const Result<Model> model = read_log(std::string(kCublas) + kLt);
  ASSERT_TRUE(model);
  ASSERT_EQ(model->operations.size(), 1u);
  EXPECT_EQ(describe(model->operations[0]), "1024 x 2304 x 768, NT");
}

TEST(CublasLog, ALogWithoutProductsSaysHowToGetThem) {
  const Result<Model> model = read_log("[cublasLt] hello\n");
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().to_string(), HasSubstr("CUBLASLT_LOG_LEVEL=2"));
}

TEST(List, FormsOfALine) {
  const Result<Model> model = list(
      "# a comment\n4096,4095,4096,bf16\n\n1, 2, 3, fp16, NT  # "
      "another\n5,6,7,tf32,8,9,10\n5,6,7,fp32,5,8,8,TN\n");
  ASSERT_TRUE(model) << model.error().to_string();
  ASSERT_EQ(model->operations.size(), 4u);
  EXPECT_EQ(describe(model->operations[0]), "4096 x 4095 x 4096, NN");
  EXPECT_EQ(gemm_of(model, 0).ldb, 4095);
  EXPECT_EQ(describe(model->operations[1]), "1 x 2 x 3, NT");
  EXPECT_EQ(gemm_of(model, 1).ldb, 3);
  EXPECT_EQ(gemm_of(model, 2).ldc, 10);
  EXPECT_EQ(gemm_of(model, 3).layout, Layout::tn);
}

TEST(List, ATableNamesItsColumnsInAnyOrder) {
  const Result<Model> model =
      list("dtype,calls,K,N,M,other,trans,ldc,a_bytes\nbf16,12,768,50257,8192,x,NT,50304,2\n");
  const Gemm& g = gemm_of(model);
  EXPECT_EQ(describe(model->operations[0]), "8192 x 50257 x 768, NT");
  EXPECT_EQ(model->operations[0].count, 12);
  EXPECT_EQ(g.ldc, 50304);
  EXPECT_EQ(g.base_bytes[0], 2u);
}

// The preload writes sizes as cuBLAS has them: D[m,n] column-major. y[1024,2304] = x w^T is m = 2304, n =
// 1024, TN.
TEST(List, ThePreloadsTableIsColumnMajor) {
  const Result<Model> model = list(
      "M,N,K,batch,dtype,trans,lda,ldb,ldc,calls,time_us,choice,plain_us,aligned_us,pad\n"
      "2304,1024,768,1,bf16,TN,768,768,2304,24,12.5,plain,12.0,12.0,\n");
  const Gemm& g = gemm_of(model);
  EXPECT_EQ(describe(model->operations[0]), "1024 x 2304 x 768, NT");
  EXPECT_EQ(g.lda, 768);
  EXPECT_EQ(g.ldc, 2304);
  EXPECT_EQ(model->operations[0].count, 24);
}

TEST(List, MistakesAreNamedByLine) {
  const auto message = [](const std::string& text) {
    const Result<Model> model = list(text);
    return model ? std::string("no error") : model.error().to_string();
  };
  EXPECT_THAT(message("1,2,3,bf16\n1,2\n"), HasSubstr("list.csv:2: error: a line of 2 fields"));
  EXPECT_THAT(message("1,2,x,bf16"), HasSubstr("`x` is no size from 1 to"));
  EXPECT_THAT(message("1,2,0,bf16"), HasSubstr("`0` is no size"));
  EXPECT_THAT(message("1,2,3,int3"), HasSubstr("unknown data type `int3`"));
  EXPECT_THAT(message("1,2,3,bf16,XX"), HasSubstr("`XX` is no transposition"));
  EXPECT_THAT(message("8,8,8,bf16,7,8,8"), HasSubstr("lda = 7 is smaller than the 8 elements of a row"));
  EXPECT_THAT(message("99999999999999999999,8,8,bf16"), HasSubstr("is no size"));
  EXPECT_THAT(message(""), HasSubstr("no product in the list"));
}

}  // namespace
}  // namespace fullwarp::shapes

// Products through cuBLASLt; see lt.h.
#include "lt.h"

#include <cuda_runtime.h>

namespace fullwarp::gemm {
namespace {

int64_t address_alignment(uintptr_t address) {
  const uintptr_t bits = address | 256;
  return static_cast<int64_t>(bits & (~bits + 1));
}

cudaDataType data_type(Type type) {
  switch (type) {
    case Type::kBf16: return CUDA_R_16BF;
    case Type::kF16: return CUDA_R_16F;
    default: return CUDA_R_32F;
  }
}

}  // namespace

struct LtProducts::Prepared {
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr, d = nullptr;
  cublasLtMatmulAlgo_t algorithm{};
  std::mutex bias_turn;  // the bias address lives in the shared descriptor

  ~Prepared() {
    for (cublasLtMatrixLayout_t layout : {a, b, c, d}) {
      if (layout != nullptr) cublasLtMatrixLayoutDestroy(layout);
    }
    if (operation != nullptr) cublasLtMatmulDescDestroy(operation);
  }
};

LtProducts::LtProducts() { status_ = cublasLtCreate(&handle_); }

LtProducts::~LtProducts() {
  prepared_.clear();
  if (handle_ != nullptr) cublasLtDestroy(handle_);
}

std::shared_ptr<LtProducts::Prepared> LtProducts::prepare(const Problem& p, const Piece& piece,
                                                          const LtCall& call, cublasStatus_t& status) {
  int device = 0;
  cudaGetDevice(&device);
  const Key key{device,
                static_cast<int64_t>(p.type),
                p.transpose_a * 2 + p.transpose_b,
                piece.m,
                piece.n,
                piece.k,
                piece.batch,
                piece.a.ld,
                piece.b.ld,
                piece.c.ld,
                piece.d.ld,
                piece.a.stride,
                piece.b.stride,
                piece.c.stride,
                piece.d.stride,
                address_alignment(piece.a.data) << 32 | address_alignment(piece.b.data),
                address_alignment(piece.c.data) << 32 | address_alignment(piece.d.data),
                call.activation * 4 + (piece.bias != 0) * 2 + call.scalars_on_device,
                static_cast<int64_t>(call.workspace_bytes),
                piece.c.data == piece.d.data};
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto found = prepared_.find(key); found != prepared_.end()) return found->second;

  auto made = std::make_shared<Prepared>();
  const auto layout = [&](cublasLtMatrixLayout_t* out, int64_t rows, int64_t cols, const Piece::Part& part) {
    const int32_t batch = static_cast<int32_t>(piece.batch);
    if (status == CUBLAS_STATUS_SUCCESS) {
      status = cublasLtMatrixLayoutCreate(out, data_type(p.type), static_cast<uint64_t>(rows),
                                          static_cast<uint64_t>(cols), part.ld);
    }
    if (status != CUBLAS_STATUS_SUCCESS || batch == 1) return;
    cublasLtMatrixLayoutSetAttribute(*out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof(batch));
    cublasLtMatrixLayoutSetAttribute(*out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &part.stride,
                                     sizeof(part.stride));
  };
  const cublasComputeType_t compute =
      p.type == Type::kTf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  status = cublasLtMatmulDescCreate(&made->operation, compute, CUDA_R_32F);
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
    if (status == CUBLAS_STATUS_SUCCESS) {
      status = cublasLtMatmulDescSetAttribute(made->operation, attribute, &value, sizeof(value));
    }
  };
  const cublasOperation_t op_a = p.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t op_b = p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  set(CUBLASLT_MATMUL_DESC_TRANSA, op_a);
  set(CUBLASLT_MATMUL_DESC_TRANSB, op_b);
  if (call.scalars_on_device) {
    const int32_t mode = CUBLASLT_POINTER_MODE_DEVICE;
    set(CUBLASLT_MATMUL_DESC_POINTER_MODE, mode);
  }
  if (piece.bias != 0 || call.activation != 0) {
    constexpr cublasLtEpilogue_t kEpilogues[3][2] = {{CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_BIAS},
                                                     {CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU_BIAS},
                                                     {CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS}};
    const cublasLtEpilogue_t epilogue = kEpilogues[call.activation][piece.bias != 0];
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    if (piece.bias != 0) {
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, piece.bias);
      const int32_t bias_type = data_type(p.type);
      set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, bias_type);
    }
  }
  layout(&made->a, p.transpose_a ? piece.k : piece.m, p.transpose_a ? piece.m : piece.k, piece.a);
  layout(&made->b, p.transpose_b ? piece.n : piece.k, p.transpose_b ? piece.k : piece.n, piece.b);
  layout(&made->c, piece.m, piece.n, piece.c);
  layout(&made->d, piece.m, piece.n, piece.d);
  if (status != CUBLAS_STATUS_SUCCESS) return nullptr;

  cublasLtMatmulPreference_t preference = nullptr;
  status = cublasLtMatmulPreferenceCreate(&preference);
  if (status != CUBLAS_STATUS_SUCCESS) return nullptr;
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof(value));
  };
  const uint64_t workspace_bytes = call.workspace_bytes;
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_bytes);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, static_cast<uint32_t>(address_alignment(piece.a.data)));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, static_cast<uint32_t>(address_alignment(piece.b.data)));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, static_cast<uint32_t>(address_alignment(piece.c.data)));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, static_cast<uint32_t>(address_alignment(piece.d.data)));
  cublasLtMatmulHeuristicResult_t result{};
  int found = 0;
  status = cublasLtMatmulAlgoGetHeuristic(handle_, made->operation, made->a, made->b, made->c, made->d,
                                          preference, 1, &result, &found);
  cublasLtMatmulPreferenceDestroy(preference);
  if (status == CUBLAS_STATUS_SUCCESS && found == 0) status = CUBLAS_STATUS_NOT_SUPPORTED;
  if (status != CUBLAS_STATUS_SUCCESS) return nullptr;
  made->algorithm = result.algo;
  prepared_[key] = made;
  return made;
}

cublasStatus_t LtProducts::run(const Problem& p, const Piece& piece, const LtCall& call) {
  if (status_ != CUBLAS_STATUS_SUCCESS) return status_;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  const std::shared_ptr<Prepared> ready = prepare(p, piece, call, status);
  if (ready == nullptr) return status;
  std::unique_lock<std::mutex> bias_turn;
  if (piece.bias != 0) {
    bias_turn = std::unique_lock<std::mutex>(ready->bias_turn);
    status = cublasLtMatmulDescSetAttribute(ready->operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &piece.bias,
                                            sizeof(piece.bias));
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return cublasLtMatmul(handle_, ready->operation, call.alpha, reinterpret_cast<const void*>(piece.a.data),
                        ready->a, reinterpret_cast<const void*>(piece.b.data), ready->b, call.beta,
                        reinterpret_cast<const void*>(piece.c.data), ready->c,
                        reinterpret_cast<void*>(piece.d.data), ready->d, &ready->algorithm, call.workspace,
                        call.workspace_bytes, call.stream);
}

}  // namespace fullwarp::gemm

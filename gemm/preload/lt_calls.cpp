// cublasLtMatmul. The caller chose an algorithm for its own layouts; staged operands have other pitches, so
// the real library's heuristic chooses again, once for a shape.
//
// Passed through as they are: layouts other than column-major, operand types other than bf16, fp16 and fp32,
// scale and amax pointers of 8-bit types, and epilogues that read or write a second matrix or sum gradients
// of a bias.
#include <cublasLt.h>

#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "hook.h"
#include "real.h"

using namespace fullwarp::gemm;

namespace {

template <class T>
bool read(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, T& value) {
  size_t written = 0;
  return FULLWARP_REAL(cublasLtMatrixLayoutGetAttribute)(layout, attribute, &value, sizeof(value),
                                                         &written) == CUBLAS_STATUS_SUCCESS;
}

template <class T>
bool read(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute, T& value) {
  size_t written = 0;
  return FULLWARP_REAL(cublasLtMatmulDescGetAttribute)(operation, attribute, &value, sizeof(value),
                                                       &written) == CUBLAS_STATUS_SUCCESS;
}

struct LtArguments {
  cublasLtHandle_t handle;
  cublasLtMatmulDesc_t operation;
  const void* alpha;
  const void* a;
  cublasLtMatrixLayout_t a_layout;
  const void* b;
  cublasLtMatrixLayout_t b_layout;
  const void* beta;
  const void* c;
  cublasLtMatrixLayout_t c_layout;
  void* d;
  cublasLtMatrixLayout_t d_layout;
  const cublasLtMatmulAlgo_t* algorithm;
  void* workspace;
  size_t workspace_bytes;
  cudaStream_t stream;
};

// False for what is not ours.
bool read_matrix(const void* data, cublasLtMatrixLayout_t layout, Matrix& x, int32_t& type, int32_t& batch) {
  uint64_t rows = 0, cols = 0;
  int32_t order = CUBLASLT_ORDER_COL;
  if (!read(layout, CUBLASLT_MATRIX_LAYOUT_TYPE, type) || !read(layout, CUBLASLT_MATRIX_LAYOUT_ROWS, rows) ||
      !read(layout, CUBLASLT_MATRIX_LAYOUT_COLS, cols) || !read(layout, CUBLASLT_MATRIX_LAYOUT_LD, x.ld) ||
      !read(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, order) ||
      !read(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, batch) ||
      !read(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, x.stride)) {
    return false;
  }
  x.data = reinterpret_cast<uintptr_t>(data);
  x.rows = static_cast<int64_t>(rows);
  x.cols = static_cast<int64_t>(cols);
  x.bytes = type == CUDA_R_32F ? 4 : 2;
  constexpr int64_t kLargest = (int64_t{1} << 31) - 64;
  return order == CUBLASLT_ORDER_COL && x.rows > 0 && x.cols > 0 && x.rows <= kLargest &&
         x.cols <= kLargest && x.ld >= x.rows && x.stride >= 0 &&
         (type == CUDA_R_16BF || type == CUDA_R_16F || type == CUDA_R_32F);
}

bool describe_problem(const LtArguments& x, Problem& p) {
  int32_t types[4], batches[4];
  if (x.operation == nullptr || x.a_layout == nullptr || x.b_layout == nullptr || x.c_layout == nullptr ||
      x.d_layout == nullptr || x.alpha == nullptr || x.beta == nullptr) {
    return false;
  }
  if (!read_matrix(x.a, x.a_layout, p.a, types[0], batches[0]) ||
      !read_matrix(x.b, x.b_layout, p.b, types[1], batches[1]) ||
      !read_matrix(x.c, x.c_layout, p.c, types[2], batches[2]) ||
      !read_matrix(x.d, x.d_layout, p.d, types[3], batches[3])) {
    return false;
  }
  if (types[0] != types[1] || types[2] != types[3] || (types[3] != types[0] && types[3] != CUDA_R_32F))
    return false;
  p.batch = batches[3];
  for (Matrix* matrix : {&p.a, &p.b, &p.c}) {
    const int32_t count = batches[matrix == &p.a ? 0 : matrix == &p.b ? 1 : 2];
    if (count != p.batch) return false;
  }
  int32_t op_a = 0, op_b = 0, op_c = 0, compute = 0;
  if (!read(x.operation, CUBLASLT_MATMUL_DESC_TRANSA, op_a) ||
      !read(x.operation, CUBLASLT_MATMUL_DESC_TRANSB, op_b) ||
      !read(x.operation, CUBLASLT_MATMUL_DESC_TRANSC, op_c) ||
      !read(x.operation, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, compute) || op_c != CUBLAS_OP_N) {
    return false;
  }
  p.transpose_a = op_a != CUBLAS_OP_N;
  p.transpose_b = op_b != CUBLAS_OP_N;
  p.m = p.d.rows;
  p.n = p.d.cols;
  p.k = p.transpose_a ? p.a.rows : p.a.cols;
  if ((p.transpose_a ? p.a.cols : p.a.rows) != p.m || (p.transpose_b ? p.b.rows : p.b.cols) != p.n ||
      (p.transpose_b ? p.b.cols : p.b.rows) != p.k || p.c.rows != p.m || p.c.cols != p.n) {
    return false;
  }
  p.type = types[0] == CUDA_R_16BF                   ? Type::kBf16
           : types[0] == CUDA_R_16F                  ? Type::kF16
           : compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? Type::kTf32
                                                     : Type::kF32;
  if (!table_wanted() && !is_misaligned(p)) return false;

  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  if (!read(x.operation, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue)) return false;
  const bool known = epilogue == CUBLASLT_EPILOGUE_DEFAULT || epilogue == CUBLASLT_EPILOGUE_RELU ||
                     epilogue == CUBLASLT_EPILOGUE_BIAS || epilogue == CUBLASLT_EPILOGUE_RELU_BIAS ||
                     epilogue == CUBLASLT_EPILOGUE_GELU || epilogue == CUBLASLT_EPILOGUE_GELU_BIAS;
  if (!known) return false;
  if (epilogue & CUBLASLT_EPILOGUE_BIAS) {
    const void* bias = nullptr;
    int32_t bias_type = -1;
    read(x.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    read(x.operation, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, bias_type);
    p.bias = reinterpret_cast<uintptr_t>(bias);
    p.bias_bytes = (bias_type == -1 ? types[3] : bias_type) == CUDA_R_32F ? 4 : 2;
    int64_t bias_stride = 0;
    read(x.operation, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, bias_stride);
    if (p.batch > 1 && bias_stride != 0) return false;
  }
  int32_t mode = CUBLASLT_POINTER_MODE_HOST, scale = CUDA_R_32F;
  if (!read(x.operation, CUBLASLT_MATMUL_DESC_POINTER_MODE, mode) ||
      !read(x.operation, CUBLASLT_MATMUL_DESC_SCALE_TYPE, scale)) {
    return false;
  }
  if (mode != CUBLASLT_POINTER_MODE_HOST && mode != CUBLASLT_POINTER_MODE_DEVICE) return false;
  if (scale != CUDA_R_32F && scale != CUDA_R_16F) return false;
  p.scalars_known = mode == CUBLASLT_POINTER_MODE_HOST;
  p.sums_in_fp32 = scale == CUDA_R_32F;
  if (p.scalars_known && p.sums_in_fp32) {
    p.alpha = *static_cast<const float*>(x.alpha);
    p.beta = *static_cast<const float*>(x.beta);
    p.reads_c = p.beta != 0.0f;
  } else if (p.scalars_known) {
    uint16_t bits = 0;  // a half; the fused product does not take these sums
    std::memcpy(&bits, x.beta, sizeof(bits));
    p.reads_c = (bits & 0x7fff) != 0;
  } else {
    p.reads_c = true;
  }
  p.activation = (epilogue & ~uint32_t{CUBLASLT_EPILOGUE_BIAS}) == CUBLASLT_EPILOGUE_RELU   ? 1
                 : (epilogue & ~uint32_t{CUBLASLT_EPILOGUE_BIAS}) == CUBLASLT_EPILOGUE_GELU ? 2
                                                                                            : 0;
  if (p.reads_c && x.c == nullptr) return false;
  if (!p.reads_c) p.c = p.d;
  return true;
}

// Layouts of a staged shape, and the algorithm for them. Descriptors are values without pointers to elsewhere
// (cublasLtMatmulDescInit fills them in place), so a copy is a descriptor of its own.
struct Chosen {
  cublasLtMatrixLayoutOpaque_t a, b, c, d;
  cublasLtMatmulAlgo_t algorithm;
  cublasStatus_t status;
};

class ChosenShapes {
 public:
  Chosen find(const LtArguments& x, const Problem& p, const Piece& piece,
              cublasLtMatmulDescOpaque_t& operation) {
    const uintptr_t bias = piece.bias;
    const auto set_bias = [&operation](const void* address) {
      FULLWARP_REAL(cublasLtMatmulDescSetAttribute)
      (&operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &address, sizeof(address));
    };
    std::string key;
    const auto add = [&key](const auto& value) {
      key.append(reinterpret_cast<const char*>(&value), sizeof(value));
    };
    if (bias != 0) set_bias(nullptr);
    add(operation);
    if (bias != 0) set_bias(reinterpret_cast<const void*>(bias));
    add(reinterpret_cast<uintptr_t>(x.handle));
    for (int64_t v : {piece.m, piece.n, piece.k, piece.batch, piece.a.ld, piece.b.ld, piece.c.ld, piece.d.ld,
                      piece.a.stride, piece.b.stride, piece.c.stride, piece.d.stride,
                      static_cast<int64_t>(x.workspace_bytes), static_cast<int64_t>(p.type),
                      static_cast<int64_t>(p.d.bytes), low_bits(piece.a.data), low_bits(piece.b.data),
                      low_bits(piece.c.data), low_bits(piece.d.data)}) {
      add(v);
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [place, fresh] = chosen_.try_emplace(key);
    if (fresh) choose(x, p, piece, operation, place->second);
    return place->second;
  }

 private:
  static int64_t low_bits(uintptr_t address) { return static_cast<int64_t>(address % 256); }

  static void choose(const LtArguments& x, const Problem& p, const Piece& piece,
                     cublasLtMatmulDescOpaque_t& operation, Chosen& out) {
    out.a = *x.a_layout;
    out.b = *x.b_layout;
    out.c = *x.c_layout;
    out.d = *x.d_layout;
    const auto shape = [](cublasLtMatrixLayoutOpaque_t& layout, int64_t rows, int64_t cols, int64_t ld,
                          int64_t stride, int64_t batch) {
      const auto set = [&layout](cublasLtMatrixLayoutAttribute_t attribute, const auto& value) {
        FULLWARP_REAL(cublasLtMatrixLayoutSetAttribute)(&layout, attribute, &value, sizeof(value));
      };
      set(CUBLASLT_MATRIX_LAYOUT_ROWS, static_cast<uint64_t>(rows));
      set(CUBLASLT_MATRIX_LAYOUT_COLS, static_cast<uint64_t>(cols));
      set(CUBLASLT_MATRIX_LAYOUT_LD, ld);
      set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(batch));
      set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
    };
    shape(out.a, p.transpose_a ? piece.k : piece.m, p.transpose_a ? piece.m : piece.k, piece.a.ld,
          piece.a.stride, piece.batch);
    shape(out.b, p.transpose_b ? piece.n : piece.k, p.transpose_b ? piece.k : piece.n, piece.b.ld,
          piece.b.stride, piece.batch);
    shape(out.c, piece.m, piece.n, piece.c.ld, piece.c.stride, piece.batch);
    shape(out.d, piece.m, piece.n, piece.d.ld, piece.d.stride, piece.batch);
    cublasLtMatmulPreference_t preference = nullptr;
    out.status = FULLWARP_REAL(cublasLtMatmulPreferenceCreate)(&preference);
    if (out.status != CUBLAS_STATUS_SUCCESS) return;
    const auto prefer = [preference](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
      FULLWARP_REAL(cublasLtMatmulPreferenceSetAttribute)(preference, attribute, &value, sizeof(value));
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<uint64_t>(x.workspace_bytes));
    const auto alignment = [](uintptr_t address) {
      const uintptr_t bits = address | 256;
      return static_cast<uint32_t>(bits & (~bits + 1));
    };
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment(piece.a.data));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment(piece.b.data));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment(piece.c.data));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment(piece.d.data));
    cublasLtMatmulHeuristicResult_t result{};
    int found = 0;
    out.status = FULLWARP_REAL(cublasLtMatmulAlgoGetHeuristic)(x.handle, &operation, &out.a, &out.b, &out.c,
                                                               &out.d, preference, 1, &result, &found);
    FULLWARP_REAL(cublasLtMatmulPreferenceDestroy)(preference);
    if (out.status == CUBLAS_STATUS_SUCCESS && found == 0) out.status = CUBLAS_STATUS_NOT_SUPPORTED;
    out.algorithm = result.algo;
  }

  std::mutex mutex_;
  std::map<std::string, Chosen> chosen_;
};

ChosenShapes& chosen_shapes() {
  static ChosenShapes* const shapes = new ChosenShapes;  // exit handlers may still multiply
  return *shapes;
}

cublasStatus_t plain(const LtArguments& x) {
  return FULLWARP_REAL(cublasLtMatmul)(x.handle, x.operation, x.alpha, x.a, x.a_layout, x.b, x.b_layout,
                                       x.beta, x.c, x.c_layout, x.d, x.d_layout, x.algorithm, x.workspace,
                                       x.workspace_bytes, x.stream);
}

struct LtHook {
  const LtArguments* arguments;
  const Problem* problem;

  static int multiply(void* self, const Piece& piece) {
    const LtArguments& x = *static_cast<LtHook*>(self)->arguments;
    const Problem& p = *static_cast<LtHook*>(self)->problem;
    if (!piece.staged) return plain(x);
    cublasLtMatmulDescOpaque_t operation = *x.operation;
    if (piece.bias != 0) {
      const void* const bias = reinterpret_cast<const void*>(piece.bias);
      FULLWARP_REAL(cublasLtMatmulDescSetAttribute)
      (&operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias));
    }
    Chosen chosen = chosen_shapes().find(x, p, piece, operation);
    if (chosen.status != CUBLAS_STATUS_SUCCESS) return chosen.status;
    return FULLWARP_REAL(cublasLtMatmul)(
        x.handle, &operation, x.alpha, reinterpret_cast<const void*>(piece.a.data), &chosen.a,
        reinterpret_cast<const void*>(piece.b.data), &chosen.b, x.beta,
        reinterpret_cast<const void*>(piece.c.data), &chosen.c, reinterpret_cast<void*>(piece.d.data),
        &chosen.d, &chosen.algorithm, x.workspace, x.workspace_bytes, x.stream);
  }
  static Stream stream(void* self) { return static_cast<LtHook*>(self)->arguments->stream; }
};

}  // namespace

extern "C" __attribute__((visibility("default"))) cublasStatus_t cublasLtMatmul(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, const void* alpha, const void* a,
    cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
    const void* c, cublasLtMatrixLayout_t c_layout, void* d, cublasLtMatrixLayout_t d_layout,
    const cublasLtMatmulAlgo_t* algorithm, void* workspace, size_t workspace_bytes, cudaStream_t stream) {
  const LtArguments x{handle, operation, alpha, a,        a_layout,  b,         b_layout,        beta,
                      c,      c_layout,  d,     d_layout, algorithm, workspace, workspace_bytes, stream};
  Problem p;
  if (Inside::already() || !describe_problem(x, p)) return plain(x);
  LtHook hook{&x, &p};
  return static_cast<cublasStatus_t>(
      run_hooked({&p, &LtHook::multiply, &LtHook::stream, &hook, CUBLAS_STATUS_EXECUTION_FAILED}));
}

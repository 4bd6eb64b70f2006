// The C interface: checks, plan, workspace, cuBLASLt.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "arena.h"
#include "convert.h"
#include "device_cuda.h"
#include "empty_product.h"
#include "fullwarp/gemm.h"
#include "lt.h"
#include "settings.h"

using namespace fullwarp::gemm;

struct fwGemmContext {
  CudaDevice device;
  Arenas arenas{device};
  LtProducts products;
  Settings settings = Settings::from_environment();
  Costs costs = Costs::with_tiles(settings.tile_columns);
};

namespace {

thread_local std::string last_message;

fwGemmStatus fail(fwGemmStatus status, const std::string& message) {
  last_message = message;
  return status;
}

struct Call {
  fwGemmContext* context;
  const Problem* problem;
  LtCall lt;
};

int multiply(void* caller, const Piece& piece) {
  Call& call = *static_cast<Call*>(caller);
  return call.context->products.run(*call.problem, piece, call.lt);
}

fwGemmStatus as_status(int result) {
  switch (result) {
    case 0: last_message.clear(); return FW_GEMM_OK;
    case kCopyFailed:
      return fail(FW_GEMM_CUDA_ERROR, std::string("a kernel could not be launched: ") +
                                          cudaGetErrorString(cudaPeekAtLastError()));
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return fail(FW_GEMM_UNSUPPORTED, "cuBLASLt has no algorithm for this product");
    default:
      return fail(FW_GEMM_CUDA_ERROR,
                  std::string("cuBLASLt: ") + cublasLtGetStatusString(static_cast<cublasStatus_t>(result)));
  }
}

Piece whole(const Problem& p) {
  const auto part = [](const Matrix& x) { return Piece::Part{x.data, x.ld, x.stride}; };
  return {part(p.a), part(p.b), part(p.c), part(p.d), p.bias, p.m, p.n, p.k, p.batch, 0, 0, false};
}

}  // namespace

extern "C" {

fwGemmProblem fwGemmDefaults(fwGemmType type, fwGemmOrder order, int64_t m, int64_t n, int64_t k) {
  fwGemmProblem p;
  std::memset(&p, 0, sizeof(p));
  p.type = type;
  p.order = order;
  p.m = m;
  p.n = n;
  p.k = k;
  const bool row_major = order == FW_GEMM_ROW_MAJOR;
  p.lda = row_major ? k : m;
  p.ldb = row_major ? n : k;
  p.ldc = p.ldd = row_major ? n : m;
  p.batch = 1;
  p.alpha = 1.0f;
  return p;
}

fwGemmStatus fwGemmCreate(fwGemm_t* gemm) {
  if (gemm == nullptr) return fail(FW_GEMM_INVALID, "gemm is null");
  *gemm = nullptr;
  auto* context = new (std::nothrow) fwGemmContext;
  if (context == nullptr) return fail(FW_GEMM_NO_MEMORY, "no host memory");
  if (const cublasStatus_t status = context->products.status(); status != CUBLAS_STATUS_SUCCESS) {
    delete context;
    return as_status(status);
  }
  *gemm = context;
  return FW_GEMM_OK;
}

void fwGemmDestroy(fwGemm_t gemm) { delete gemm; }

const char* fwGemmMessage(void) { return last_message.c_str(); }

int fwGemmExplain(fwGemm_t gemm, const fwGemmProblem* given, char* text, size_t size) {
  if (gemm == nullptr || given == nullptr) return 0;
  Problem p;
  if (const char* wrong = convert(*given, p); wrong != nullptr) return std::snprintf(text, size, "%s", wrong);
  return std::snprintf(text, size, "%s",
                       describe(p, make_plan(p, gemm->costs, gemm->settings.workspace_bytes,
                                             gemm->settings.mode, gemm->device.can_fuse()))
                           .c_str());
}

fwGemmStatus fwGemmRun(fwGemm_t gemm, const fwGemmProblem* given, fwGemmStream stream) {
  if (gemm == nullptr || given == nullptr) return fail(FW_GEMM_INVALID, "gemm or problem is null");
  Problem p;
  if (const char* wrong = convert(*given, p); wrong != nullptr) return fail(FW_GEMM_INVALID, wrong);
  if (p.m == 0 || p.n == 0) return FW_GEMM_OK;
  Plan plan =
      make_plan(p, gemm->costs, gemm->settings.workspace_bytes, gemm->settings.mode, gemm->device.can_fuse());
  if (gemm->settings.log) gemm->settings.write_log(describe(p, plan));

  Call call{gemm, &p, {}};
  call.lt.scalars_on_device = given->device_alpha != nullptr;
  call.lt.alpha = call.lt.scalars_on_device ? static_cast<const void*>(given->device_alpha) : &given->alpha;
  call.lt.beta = call.lt.scalars_on_device ? static_cast<const void*>(given->device_beta) : &given->beta;
  call.lt.activation = given->activation;
  call.lt.stream = stream;
  if (p.k == 0) {
    const EmptyProduct what{given->beta, given->device_beta, given->activation};
    return run_empty_product(p, what, stream) == cudaSuccess ? as_status(0) : as_status(kCopyFailed);
  }
  // cuBLASLt's own workspace lies behind the stages.
  Arenas::Lease lease = gemm->arenas.take(stream, plan.bytes + kLtWorkspaceBytes);
  if (lease.memory != 0) {
    call.lt.workspace = reinterpret_cast<void*>(lease.memory + plan.bytes);
    call.lt.workspace_bytes = kLtWorkspaceBytes;
    if (plan.choice != Choice::kPlain) {
      return as_status(execute(p, plan, lease.memory, gemm->device, stream, multiply, &call));
    }
  }
  return as_status(multiply(&call, whole(p)));
}

fwGemmStatus fwGemmPrepare(fwGemm_t gemm, const fwGemmProblem* given, fwGemmStream stream) {
  if (gemm == nullptr || given == nullptr) return fail(FW_GEMM_INVALID, "gemm or problem is null");
  Problem p;
  if (const char* wrong = convert(*given, p); wrong != nullptr) return fail(FW_GEMM_INVALID, wrong);
  const Plan plan =
      make_plan(p, gemm->costs, gemm->settings.workspace_bytes, gemm->settings.mode, gemm->device.can_fuse());
  if (gemm->arenas.take(stream, plan.bytes + kLtWorkspaceBytes).memory == 0) {
    return fail(FW_GEMM_NO_MEMORY, "no device memory for the workspace");
  }
  return FW_GEMM_OK;
}

}  // extern "C"

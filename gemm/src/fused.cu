// Tensor maps, tile choice and launch of the fused product; see fused.cuh.
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <mutex>

#include "fused.cuh"
#include "fused.h"
#include "fused_kernels.cuh"

namespace fullwarp::gemm {

#define FULLWARP_DECLARE(T, columns)                \
  template <>                                       \
  FusedKernel fused_kernel<T, columns, true>(bool); \
  template <>                                       \
  FusedKernel fused_kernel<T, columns, false>(bool);
FULLWARP_DECLARE(__nv_bfloat16, 64)
FULLWARP_DECLARE(__nv_bfloat16, 128)
FULLWARP_DECLARE(__nv_bfloat16, 192)
FULLWARP_DECLARE(__nv_bfloat16, 256)
FULLWARP_DECLARE(__half, 64)
FULLWARP_DECLARE(__half, 128)
FULLWARP_DECLARE(__half, 192)
FULLWARP_DECLARE(__half, 256)
#undef FULLWARP_DECLARE

namespace {

using EncodeTiled = decltype(&cuTensorMapEncodeTiled);

EncodeTiled encoder() {
  static const EncodeTiled found = [] {
    void* address = nullptr;
    cudaDriverEntryPointQueryResult result;
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &address, 12000, cudaEnableDefault,
                                         &result) != cudaSuccess ||
        result != cudaDriverEntryPointSuccess) {
      cudaGetLastError();
      address = nullptr;
    }
    return reinterpret_cast<EncodeTiled>(address);
  }();
  return found;
}

// A matrix of `rows` rows of `width` contiguous elements, read in boxes of 64 by `box_rows`.
bool make_map(CUtensorMap& map, bool bf16, const FusedJob::Operand& x, int64_t width, int64_t rows,
              int box_rows) {
  const cuuint64_t extents[2] = {static_cast<cuuint64_t>(width), static_cast<cuuint64_t>(rows)};
  // A single row has no pitch (plan.cpp passes any), but the copy engine asks for a multiple of 16 all the
  // same.
  const cuuint64_t pitch[1] = {rows == 1 ? (static_cast<cuuint64_t>(width) * 2 + 15) / 16 * 16
                                         : static_cast<cuuint64_t>(x.ld) * 2};
  const cuuint32_t box[2] = {64, static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[2] = {1, 1};
  return encoder()(&map, bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2,
                   reinterpret_cast<void*>(x.data), extents, pitch, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                   CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

struct Choice {
  FusedKernel kernel;
  int shared_bytes;
  int threads;
  int cluster_rows, cluster_columns;    // of D
  int x_box_rows, y_box_rows, y_box_k;  // see FusedShape
  bool copies_ahead;
};

template <class T, int kColumns>
Choice make_choice(bool x_along_k, bool y_along_k) {
  using Shape = FusedShape<kColumns>;
  return {
      x_along_k ? fused_kernel<T, kColumns, true>(y_along_k) : fused_kernel<T, kColumns, false>(y_along_k),
      Shape::kSharedBytes,
      Shape::kThreads,
      Shape::kClusterRows,
      Shape::kClusterColumns,
      Shape::kXBoxRows,
      Shape::kYBoxRows,
      Shape::kYBoxK,
      Shape::kCopiesAhead};
}

template <class T>
Choice choose_kernel(int columns, bool x_along_k, bool y_along_k) {
  switch (columns) {
    case 256:
      return make_choice<T, 256>(x_along_k, y_along_k);
    case 192:
      return make_choice<T, 192>(x_along_k, y_along_k);
    case 128:
      return make_choice<T, 128>(x_along_k, y_along_k);
    default:
      return make_choice<T, 64>(x_along_k, y_along_k);
  }
}

Choice choose_kernel(bool bf16, int columns, bool x_along_k, bool y_along_k) {
  return bf16 ? choose_kernel<__nv_bfloat16>(columns, x_along_k, y_along_k)
              : choose_kernel<__half>(columns, x_along_k, y_along_k);
}

// `rows` rows of `width` contiguous elements that the product copies itself.
AheadOperand ahead_operand(const FusedJob::Operand& x, int64_t width, int64_t rows) {
  AheadOperand out{};
  out.used = x.copy_from != 0;
  out.src = reinterpret_cast<const char*>(x.copy_from);
  out.dst = reinterpret_cast<char*>(x.data);
  out.src_pitch = x.copy_ld * 2;
  out.dst_pitch = x.ld * 2;
  out.span = ((rows - 1) * x.copy_ld + width) * 2;
  out.width = static_cast<int>(width * 2);
  out.rows = static_cast<int>(rows);
  out.along_k = x.along_k;
  return out;
}

void set_ahead(CopyAhead& ahead, const FusedJob& job, int cluster_columns, int64_t clusters) {
  ahead.x = job.x.along_k ? ahead_operand(job.x, job.k, job.m) : ahead_operand(job.x, job.m, job.k);
  ahead.y = job.y.along_k ? ahead_operand(job.y, job.k, job.n) : ahead_operand(job.y, job.n, job.k);
  if (!ahead.x.used && !ahead.y.used) return;
  ahead.counters = reinterpret_cast<uint32_t*>(job.counters);
  ahead.order = ahead_order(job.m, job.n, cluster_columns, clusters, ahead.x.used, ahead.y.used);
  for (int turn = 0; turn < ahead.order.turns; ++turn) {
    ahead.turn_blocks[turn] =
        FastDivisor(static_cast<uint32_t>(ahead.order.first[turn + 1] - ahead.order.first[turn]));
  }
  const int blocks = ahead.order.first[ahead.order.turns];
  const auto parts = [](int64_t extent) {
    return static_cast<int>((extent + kAheadBlock - 1) / kAheadBlock);
  };
  ahead.parts = parts(job.k);
  ahead.flags = blocks * ahead.parts;
  ahead.y.first_flag = ahead.x.used ? parts(job.m) * ahead.parts : 0;
  // Small tasks where there are few, so that all warps have one; else a fence for more rows.
  ahead.task_rows = job.task_rows != 0 ? job.task_rows : ahead.flags < 128 ? 8 : 32;
  while (ahead.task_rows << ahead.tasks_a_block_log < kAheadBlock) ++ahead.tasks_a_block_log;
  ahead.tasks = static_cast<uint32_t>(ahead.flags) << ahead.tasks_a_block_log;
}

}  // namespace

bool fused_is_there() {
  int device = 0, major = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return false;
  if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess) return false;
  return major == 9 && encoder() != nullptr;
}

void load_fused() {
  if (!fused_is_there()) return;
  static std::once_flag once;
  std::call_once(once, [] {
    for (const bool bf16 : {true, false}) {
      for (const int columns : {256, 192, 128, 64}) {
        for (const int majors : {0, 1, 2, 3}) {
          const Choice choice = choose_kernel(bf16, columns, majors & 1, majors & 2);
          cudaFuncSetAttribute(choice.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               choice.shared_bytes);
        }
      }
    }
  });
}

cudaError_t run_fused(const FusedJob& job, cudaStream_t stream) {
  load_fused();
  FusedOperands p{};
  p.d = reinterpret_cast<void*>(job.d);
  p.bias = reinterpret_cast<const void*>(job.bias);
  p.ldd = job.ldd;
  p.m = static_cast<int>(job.m);
  p.n = static_cast<int>(job.n);
  p.k = static_cast<int>(job.k);
  p.alpha = job.alpha;
  p.relu = job.relu;
  const Choice choice = choose_kernel(job.bf16, job.tile_columns, job.x.along_k, job.y.along_k);
  const bool made = (job.x.along_k ? make_map(p.x, job.bf16, job.x, job.k, job.m, choice.x_box_rows)
                                   : make_map(p.x, job.bf16, job.x, job.m, job.k, kFusedK)) &&
                    (job.y.along_k ? make_map(p.y, job.bf16, job.y, job.k, job.n, choice.y_box_rows)
                                   : make_map(p.y, job.bf16, job.y, job.n, job.k, choice.y_box_k));
  if (!made) return cudaErrorInvalidValue;
  if (!choice.copies_ahead && (job.x.copy_from != 0 || job.y.copy_from != 0)) return cudaErrorInvalidValue;

  static thread_local int known_device = -1;
  static thread_local int multiprocessors = 0;
  int device = 0;
  cudaGetDevice(&device);
  if (device != known_device) {
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    known_device = device;
  }
  const auto up = [](int64_t extent, int64_t size) { return (extent + size - 1) / size; };
  const int64_t clusters = std::min<int64_t>(
      up(job.m, choice.cluster_rows) * up(job.n, choice.cluster_columns), multiprocessors / kFusedCluster);
  set_ahead(p.ahead, job, choice.cluster_columns, clusters);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(kFusedCluster * clusters));
  config.blockDim = dim3(static_cast<unsigned>(choice.threads));
  config.dynamicSmemBytes = static_cast<size_t>(choice.shared_bytes);
  config.stream = stream;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, choice.kernel, p);
}

}  // namespace fullwarp::gemm

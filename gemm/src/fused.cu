// Tensor maps, tile choice and launch of the fused product; see fused.cuh.
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <mutex>

#include "fused.cuh"
#include "fused.h"
#include "fused_kernels.cuh"

namespace fullwarp::gemm {

template <>
FusedKernel fused_kernel<__nv_bfloat16, 128>(bool, bool);
template <>
FusedKernel fused_kernel<__nv_bfloat16, 192>(bool, bool);
template <>
FusedKernel fused_kernel<__nv_bfloat16, 256>(bool, bool);
template <>
FusedKernel fused_kernel<__half, 128>(bool, bool);
template <>
FusedKernel fused_kernel<__half, 192>(bool, bool);
template <>
FusedKernel fused_kernel<__half, 256>(bool, bool);

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
  // A single row has no pitch (plan.cpp passes any), but the copy engine asks for a multiple of 16 all the same.
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
  int columns;
  int shared_bytes;
};

template <class T>
Choice choose_kernel(int columns, bool x_along_k, bool y_along_k) {
  switch (columns) {
    case 256:
      return {fused_kernel<T, 256>(x_along_k, y_along_k), 256, FusedShape<256>::kSharedBytes};
    case 192:
      return {fused_kernel<T, 192>(x_along_k, y_along_k), 192, FusedShape<192>::kSharedBytes};
    default:
      return {fused_kernel<T, 128>(x_along_k, y_along_k), 128, FusedShape<128>::kSharedBytes};
  }
}

Choice choose_kernel(bool bf16, int columns, bool x_along_k, bool y_along_k) {
  return bf16 ? choose_kernel<__nv_bfloat16>(columns, x_along_k, y_along_k)
              : choose_kernel<__half>(columns, x_along_k, y_along_k);
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
      for (const int columns : {256, 192, 128}) {
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
  const int columns = job.tile_columns;
  const bool made = (job.x.along_k ? make_map(p.x, job.bf16, job.x, job.k, job.m, kFusedRows)
                                   : make_map(p.x, job.bf16, job.x, job.m, job.k, kFusedK)) &&
                    (job.y.along_k ? make_map(p.y, job.bf16, job.y, job.k, job.n, columns / 2)
                                   : make_map(p.y, job.bf16, job.y, job.n, job.k, kFusedK / 2));
  if (!made) return cudaErrorInvalidValue;
  const Choice choice = choose_kernel(job.bf16, columns, job.x.along_k, job.y.along_k);

  static thread_local int known_device = -1;
  static thread_local int multiprocessors = 0;
  int device = 0;
  cudaGetDevice(&device);
  if (device != known_device) {
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    known_device = device;
  }
  const int64_t tiles = (job.m + 2 * kFusedRows - 1) / (2 * kFusedRows) * ((job.n + columns - 1) / columns);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(kFusedCluster * std::min<int64_t>(tiles, multiprocessors / 2)));
  config.blockDim = dim3(kFusedThreads);
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

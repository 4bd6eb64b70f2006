// Launches and memory through the CUDA runtime; see device_cuda.h.
#include <cuda_runtime.h>

#include <mutex>

#include "copy_order.h"
#include "copy_rows.cuh"
#include "device_cuda.h"
#include "fused.h"

namespace fullwarp::gemm {
namespace {

// Another thread may be capturing in global mode, which forbids allocation to all threads but those that ask
// for the relaxed mode: nothing here touches a captured stream.
class RelaxedCapture {
 public:
  RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

// Programmatic dependent launch: the kernel's start overlaps the end of the one before it. Since sm_90.
bool overlaps_launches() {
  static thread_local int known_device = -1;
  static thread_local bool known = false;
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return false;
  if (device != known_device) {
    int major = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    known_device = device;
    known = major >= 9;
  }
  return known;
}

int64_t chunks_of(const CopyJob& job) { return (job.width + 15) / 16; }

DeviceCopyJob for_device(const CopyJob& job, int per_lane) {
  DeviceCopyJob out{};
  out.src = reinterpret_cast<const char*>(job.src);
  out.dst = reinterpret_cast<char*>(job.dst);
  out.src_offset = job.src_offset;
  out.dst_offset = job.dst_offset;
  out.src_pitch = job.src_pitch;
  out.dst_pitch = job.dst_pitch;
  out.src_stride = job.src_stride;
  out.dst_stride = job.dst_stride;
  out.width = job.width;
  out.src_span = (job.rows - 1) * job.src_pitch + job.width;
  out.source_rows = static_cast<uint32_t>(job.rows);
  out.src_by_pointers = job.src_by_pointers;
  out.dst_by_pointers = job.dst_by_pointers;
  out.pad = job.pad;
  out.backward = job.backward;
  const int64_t units_per_row = (chunks_of(job) + 32 * per_lane - 1) / (32 * per_lane);
  out.chunks_per_row = static_cast<uint32_t>(chunks_of(job));
  const int64_t rows = job.rows + job.zero_rows;
  out.units_per_row = FastDivisor(static_cast<uint32_t>(units_per_row));
  out.rows_per_product = FastDivisor(static_cast<uint32_t>(rows));
  out.units = static_cast<uint32_t>(units_per_row * rows * job.products);
  return out;
}

template <int kCount, int kPerLane>
cudaError_t launch_units(const CopyJob* jobs, Stream stream) {
  DeviceCopyJobs<kCount> device_jobs;
  uint32_t blocks = 0;
  for (int i = 0; i < kCount; ++i) {
    device_jobs.job[i] = for_device(jobs[i], kPerLane);
    device_jobs.job[i].first_block = blocks;
    constexpr uint32_t kUnitsPerBlock = kCopyThreads / 32;
    blocks += (device_jobs.job[i].units + kUnitsPerBlock - 1) / kUnitsPerBlock;
    device_jobs.job[i].end_block = blocks;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(kCopyThreads);
  config.stream = static_cast<cudaStream_t>(stream);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &attribute;
  config.numAttrs = overlaps_launches() ? 1 : 0;
  return cudaLaunchKernelEx(&config, copy_rows<kCount, kPerLane>, device_jobs);
}

// Longer units for longer rows, as long as few lanes idle at a row's end.
template <int kCount>
cudaError_t launch(const CopyJob* jobs, Stream stream) {
  const auto fits = [jobs](int per_lane) {
    int64_t chunks = 0, slots = 0;
    for (int i = 0; i < kCount; ++i) {
      const int64_t rows = (jobs[i].rows + jobs[i].zero_rows) * jobs[i].products;
      chunks += chunks_of(jobs[i]) * rows;
      slots += (chunks_of(jobs[i]) + 32 * per_lane - 1) / (32 * per_lane) * 32 * per_lane * rows;
    }
    return slots * 8 <= chunks * 9;
  };
  if (fits(4)) return launch_units<kCount, 4>(jobs, stream);
  if (fits(2)) return launch_units<kCount, 2>(jobs, stream);
  return launch_units<kCount, 1>(jobs, stream);
}

template <int kCount>
void load_kernels() {
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, copy_rows<kCount, 4>);
  cudaFuncGetAttributes(&attributes, copy_rows<kCount, 2>);
  cudaFuncGetAttributes(&attributes, copy_rows<kCount, 1>);
}

constexpr int64_t kMaxUnits = (int64_t{1} << 31) - 1;  // indices have 31 bits

}  // namespace

bool CudaDevice::copy_rows(const CopyJob* jobs, int count, Stream stream) {
  for (int i = 0; i < count; ++i) {
    const CopyJob& job = jobs[i];
    if ((job.width / 512 + 2) * (job.rows + job.zero_rows) * job.products >= kMaxUnits) return false;
  }
  switch (count) {
    case 1:
      return launch<1>(jobs, stream) == cudaSuccess;
    case 2:
      return launch<2>(jobs, stream) == cudaSuccess;
    case 3:
      return launch<3>(jobs, stream) == cudaSuccess;
    case 4:
      return launch<4>(jobs, stream) == cudaSuccess;
    default:
      return false;
  }
}

bool CudaDevice::can_fuse() { return fused_is_there(); }

bool CudaDevice::fused(const FusedJob& job, Stream stream) {
  return run_fused(job, static_cast<cudaStream_t>(stream)) == cudaSuccess;
}

void* CudaDevice::allocate(size_t bytes) {
  const RelaxedCapture relaxed;
  // Under capture kernels cannot be loaded; a workspace is always had before, so load them with it.
  load_kernels<1>();
  load_kernels<2>();
  load_kernels<3>();
  load_kernels<4>();
  load_fused();
  void* memory = nullptr;
  cudaStream_t own = nullptr;  // the default stream may not be used while another is captured
  const bool done = cudaMalloc(&memory, bytes + kCounterBytes) == cudaSuccess &&
                    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) == cudaSuccess &&
                    cudaMemsetAsync(memory, 0, kCounterBytes, own) == cudaSuccess &&
                    cudaStreamSynchronize(own) == cudaSuccess;
  if (own != nullptr) cudaStreamDestroy(own);
  if (!done) {
    if (memory != nullptr) cudaFree(memory);
    cudaGetLastError();  // the caller goes on without; the next call must not see this error
    return nullptr;
  }
  return static_cast<char*>(memory) + kCounterBytes;
}

void CudaDevice::release(void* memory) {
  const RelaxedCapture relaxed;
  if (memory != nullptr) cudaFree(static_cast<char*>(memory) - kCounterBytes);
}

void CudaDevice::synchronize(Stream stream) { cudaStreamSynchronize(static_cast<cudaStream_t>(stream)); }

uint64_t CudaDevice::capture_id(Stream stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  if (cudaStreamGetCaptureInfo(static_cast<cudaStream_t>(stream), &status, &id) != cudaSuccess) {
    cudaGetLastError();  // the legacy stream while another is captured: treat as captured, with no workspace
    return ~uint64_t{0};
  }
  return status == cudaStreamCaptureStatusActive ? id + 1 : 0;
}

bool CudaDevice::at_graph_end(Stream stream, void (*call)(void*), void* argument) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  if (cudaStreamGetCaptureInfo(static_cast<cudaStream_t>(stream), &status, &id, &graph) != cudaSuccess ||
      status != cudaStreamCaptureStatusActive) {
    cudaGetLastError();
    return false;
  }
  cudaUserObject_t object = nullptr;
  if (cudaUserObjectCreate(&object, argument, call, 1, cudaUserObjectNoDestructorSync) != cudaSuccess)
    return false;
  return cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove) == cudaSuccess;
}

namespace {
struct Timing {
  cudaEvent_t start, stop;
};
}  // namespace

uint64_t CudaDevice::start_timing(Stream stream) {
  if (capture_id(stream) != 0) return 0;
  Timing* const timing = new Timing{};
  if (cudaEventCreate(&timing->start) != cudaSuccess || cudaEventCreate(&timing->stop) != cudaSuccess ||
      cudaEventRecord(timing->start, static_cast<cudaStream_t>(stream)) != cudaSuccess) {
    cudaGetLastError();
    delete timing;
    return 0;
  }
  return reinterpret_cast<uint64_t>(timing);
}

void CudaDevice::stop_timing(uint64_t timing, Stream stream) {
  cudaEventRecord(reinterpret_cast<Timing*>(timing)->stop, static_cast<cudaStream_t>(stream));
}

bool CudaDevice::read_timing(uint64_t number, double& microseconds) {
  Timing* const timing = reinterpret_cast<Timing*>(number);
  const RelaxedCapture relaxed;
  const cudaError_t state = cudaEventQuery(timing->stop);
  if (state == cudaErrorNotReady) return false;
  float milliseconds = 0;
  microseconds =
      state == cudaSuccess && cudaEventElapsedTime(&milliseconds, timing->start, timing->stop) == cudaSuccess
          ? milliseconds * 1e3
          : -1;
  cudaEventDestroy(timing->start);
  cudaEventDestroy(timing->stop);
  delete timing;
  return true;
}

int CudaDevice::current_device() {
  int device = 0;
  cudaGetDevice(&device);
  return device;
}

uint64_t CudaDevice::stream_key(Stream stream) {
  if (stream != cudaStreamPerThread) return reinterpret_cast<uint64_t>(stream);
  // The address of a thread's own variable tells threads apart, and lies far above small handles.
  static thread_local char own;
  return reinterpret_cast<uint64_t>(&own);
}

}  // namespace fullwarp::gemm

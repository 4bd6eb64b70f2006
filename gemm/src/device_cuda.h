// The real GPU behind device.h.
#ifndef FULLWARP_GEMM_SRC_DEVICE_CUDA_H_
#define FULLWARP_GEMM_SRC_DEVICE_CUDA_H_

#include "device.h"

namespace fullwarp::gemm {

class CudaDevice final : public Device {
 public:
  bool copy_rows(const CopyJob* jobs, int count, Stream stream) override;
  bool can_fuse() override;
  bool fused(const FusedJob& job, Stream stream) override;
  void* allocate(size_t bytes) override;
  void release(void* memory) override;
  void synchronize(Stream stream) override;
  uint64_t capture_id(Stream stream) override;
  bool at_graph_end(Stream stream, void (*call)(void*), void* argument) override;
  uint64_t start_timing(Stream stream) override;
  void stop_timing(uint64_t timing, Stream stream) override;
  bool read_timing(uint64_t timing, double& microseconds) override;
  int current_device() override;
  uint64_t stream_key(Stream stream) override;
};

}  // namespace fullwarp::gemm
#endif  // FULLWARP_GEMM_SRC_DEVICE_CUDA_H_

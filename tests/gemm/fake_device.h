// A device in host memory: what the CUDA kernels do, in the plainest loops.
#ifndef FULLWARP_TESTS_GEMM_FAKE_DEVICE_H_
#define FULLWARP_TESTS_GEMM_FAKE_DEVICE_H_

#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "device.h"

namespace fullwarp::gemm {

class FakeDevice : public Device {
 public:
  bool copy_rows(const CopyJob* jobs, int count, Stream) override {
    ++copies;
    for (int j = 0; j < count; ++j) {
      const CopyJob& job = jobs[j];
      for (int64_t p = 0; p < job.products; ++p) {
        const uintptr_t src = job.src_by_pointers ? reinterpret_cast<const uintptr_t*>(job.src)[p] +
                                                        static_cast<uintptr_t>(job.src_offset)
                                                  : job.src + static_cast<uintptr_t>(p * job.src_stride);
        const uintptr_t dst = job.dst_by_pointers ? reinterpret_cast<const uintptr_t*>(job.dst)[p] +
                                                        static_cast<uintptr_t>(job.dst_offset)
                                                  : job.dst + static_cast<uintptr_t>(p * job.dst_stride);
        for (int64_t row = 0; row < job.rows + job.zero_rows; ++row) {
          char* const to = reinterpret_cast<char*>(dst) + row * job.dst_pitch;
          const int64_t filled = job.pad ? (job.width + 15) / 16 * 16 : job.width;
          if (job.pad) std::memset(to, 0, static_cast<size_t>(filled));
          if (row < job.rows) {
            std::memcpy(to, reinterpret_cast<const char*>(src) + row * job.src_pitch,
                        static_cast<size_t>(job.width));
          }
        }
      }
    }
    return true;
  }
  bool can_fuse() override { return fuses; }
  bool fused(const FusedJob& job, Stream) override {
    fused_jobs.push_back(job);
    return true;
  }
  void* allocate(size_t bytes) override {
    if (capturing != 0) ++allocations_under_capture;
    if (in_use + bytes > limit) return nullptr;
    in_use += bytes;
    void* const memory = std::malloc(bytes);
    std::memset(memory, 0xff, bytes);  // NaN: what nobody wrote must not reach a result
    sizes[memory] = bytes;
    return memory;
  }
  void release(void* memory) override {
    in_use -= sizes[memory];
    sizes.erase(memory);
    std::free(memory);
  }
  void synchronize(Stream) override { ++synchronizations; }
  uint64_t capture_id(Stream) override { return capturing; }
  bool at_graph_end(Stream, void (*call)(void*), void* argument) override {
    graph_ends.push_back({call, argument});
    return true;
  }
  uint64_t start_timing(Stream) override { return 0; }
  void stop_timing(uint64_t, Stream) override {}
  bool read_timing(uint64_t, double&) override { return false; }
  int current_device() override { return 0; }
  uint64_t stream_key(Stream stream) override { return reinterpret_cast<uint64_t>(stream); }

  void destroy_graphs() {
    for (const auto& [call, argument] : graph_ends) call(argument);
    graph_ends.clear();
  }

  bool fuses = false;
  uint64_t capturing = 0;
  size_t limit = size_t{1} << 30, in_use = 0;
  int copies = 0, synchronizations = 0, allocations_under_capture = 0;
  std::vector<FusedJob> fused_jobs;
  std::vector<std::pair<void (*)(void*), void*>> graph_ends;
  std::map<void*, size_t> sizes;
};

}  // namespace fullwarp::gemm
#endif  // FULLWARP_TESTS_GEMM_FAKE_DEVICE_H_

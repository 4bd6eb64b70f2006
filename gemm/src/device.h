// What the host logic asks of a GPU. device_cuda.cu answers with CUDA; tests answer with host memory.
#ifndef FULLWARP_GEMM_SRC_DEVICE_H_
#define FULLWARP_GEMM_SRC_DEVICE_H_

#include <cstddef>
#include <cstdint>

namespace fullwarp::gemm {

using Stream = void*;  // a cudaStream_t

// Rows of `width` bytes (a multiple of 2) from one pitch to another; any alignment of 2 bytes on both sides.
struct CopyJob {
  uintptr_t src = 0;
  uintptr_t dst = 0;
  bool src_by_pointers = false;  // `src` is the device address of `products` addresses
  bool dst_by_pointers = false;
  int64_t src_offset = 0;  // bytes added to each address read from a pointer array
  int64_t dst_offset = 0;
  int64_t src_pitch = 0, dst_pitch = 0;    // bytes from row to row
  int64_t src_stride = 0, dst_stride = 0;  // bytes from product to product
  int64_t width = 0;
  int64_t rows = 0;
  int64_t zero_rows = 0;  // more rows of the destination, filled with zeros
  int64_t products = 1;
  bool pad = false;  // the destination is ours and aligned: rows are filled with zeros to the next 16 bytes
  bool backward = false;  // last rows first: what was written last is still in the L2 cache
};

constexpr int kMaxCopyJobs = 4;

// D (m x n, rows of `ldd` elements at any 2-byte alignment) = alpha X Y (+ bias, ReLU) in 16-bit types.
// X and Y need bases and pitches of 16 bytes; extents may be any.
struct FusedJob {
  struct Operand {
    uintptr_t data = 0;
    int64_t ld = 0;
    bool along_k = false;     // contiguous along k; else along m or n
    uintptr_t copy_from = 0;  // not 0: the product itself copies the operand from here to `data`
    int64_t copy_ld = 0;
  };
  bool bf16 = true;
  Operand x, y;
  uintptr_t d = 0, bias = 0;  // bias may be 0
  int64_t ldd = 0;
  int64_t m = 0, n = 0, k = 0;
  float alpha = 1;
  bool relu = false;
  int tile_columns = 256;  // 256, 192, 128 or 64
  uintptr_t counters = 0;  // kCounterBytes of zeros (copy_order.h), where an operand is copied
  int task_rows = 0;       // that a warp copies at a time; 0: chosen by size
};

class Device {
 public:
  virtual ~Device() = default;
  // Enqueues the copies in one launch. False: the launch failed.
  virtual bool copy_rows(const CopyJob* jobs, int count, Stream stream) = 0;
  // The product of our own kernel; false: the launch failed. can_fuse() says whether the GPU has it.
  virtual bool can_fuse() = 0;
  virtual bool fused(const FusedJob& job, Stream stream) = 0;
  // Blocking; null where there is no memory. Never called under capture. In front of the memory lie
  // kCounterBytes of zeros.
  virtual void* allocate(size_t bytes) = 0;
  virtual void release(void* memory) = 0;
  virtual void synchronize(Stream stream) = 0;
  // 0 where the stream is not being captured; else the capture's number.
  virtual uint64_t capture_id(Stream stream) = 0;
  // Calls `call(argument)`, which must not use CUDA, once the graph being captured and all made from it are
  // gone.
  virtual bool at_graph_end(Stream stream, void (*call)(void*), void* argument) = 0;
  // GPU time of what is enqueued between start and stop; 0: not to be had now (capture). Reading does not
  // wait: false until it is known; a negative time means that it never will be.
  virtual uint64_t start_timing(Stream stream) = 0;
  virtual void stop_timing(uint64_t timing, Stream stream) = 0;
  virtual bool read_timing(uint64_t timing, double& microseconds) = 0;
  virtual int current_device() = 0;
  // Tells apart streams that share a handle (the per-thread default stream).
  virtual uint64_t stream_key(Stream stream) = 0;
};

}  // namespace fullwarp::gemm
#endif  // FULLWARP_GEMM_SRC_DEVICE_H_

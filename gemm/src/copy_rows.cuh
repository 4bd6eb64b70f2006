// Moves rows between pitches of any alignment at the speed of memory.
//
// A chunk is an aligned 16-byte piece of a destination row; its bytes lie anywhere in the source row, so two
// aligned 16-byte loads cover them (the second hits L1: it is the next chunk's first) and a funnel shift
// joins them:
//
//     source   ....|aabbccddeeffgghh|iijjkkllmmnnoopp|....     aligned loads
//     chunk              |ddeeffgghhiijjkk|                    shift 6: bytes 6..21 of the pair
//
// A unit is 32 kPerLane chunks of one row, so that row, bounds and shift are computed once for a warp and a
// lane has 2 kPerLane loads in flight. The few chunks whose loads would leave the matrix go element by
// element, and so do the stores of a row's first and last chunk where it shares them with other rows: nothing
// outside the caller's buffers is read or written.
#ifndef FULLWARP_GEMM_SRC_COPY_ROWS_CUH_
#define FULLWARP_GEMM_SRC_COPY_ROWS_CUH_

#include <cuda_runtime.h>

#include <cstdint>

namespace fullwarp::gemm {

// n / d for n, d < 2^31 by a multiplication (Granlund and Montgomery 1994).
struct FastDivisor {
  uint32_t divisor;
  uint32_t multiplier;
  uint32_t shift;

  FastDivisor() = default;
  explicit FastDivisor(uint32_t d) : divisor(d), shift(0) {
    while ((uint64_t{1} << shift) < d) ++shift;
    multiplier = static_cast<uint32_t>(((uint64_t{1} << 32) * ((uint64_t{1} << shift) - d)) / d + 1);
  }
  __device__ uint32_t divide(uint32_t n) const {
    return static_cast<uint32_t>((static_cast<uint64_t>(__umulhi(n, multiplier)) + n) >> shift);
  }
};

struct DeviceCopyJob {
  const char* src;
  char* dst;
  int64_t src_offset, dst_offset;
  int64_t src_pitch, dst_pitch, src_stride, dst_stride, width;
  int64_t src_span;         // bytes of one product's source
  uint32_t source_rows;     // destination rows from here on are zeros
  uint32_t chunks_per_row;  // counted from the row's first byte
  FastDivisor units_per_row, rows_per_product;
  uint32_t units;  // of the whole job
  uint32_t first_block, end_block;
  bool src_by_pointers, dst_by_pointers, pad, backward;
};

template <int kCount>
struct DeviceCopyJobs {
  DeviceCopyJob job[kCount];
};

constexpr int kCopyThreads = 256;
__device__ __forceinline__ uint4 load16(const char* address) {
  return __ldcs(reinterpret_cast<const uint4*>(address));
}

// Bytes shift .. shift + 15 of the pair.
__device__ __forceinline__ uint4 join(uint4 low, uint4 high, uint32_t shift) {
  uint32_t w0 = low.x, w1 = low.y, w2 = low.z, w3 = low.w, w4 = high.x, w5 = high.y, w6 = high.z, w7 = high.w;
  if (shift & 8) {
    w0 = w2, w1 = w3, w2 = w4, w3 = w5, w4 = w6, w5 = w7;
  }
  if (shift & 4) {
    w0 = w1, w1 = w2, w2 = w3, w3 = w4, w4 = w5;
  }
  const uint32_t bits = 8 * (shift & 3);
  return make_uint4(__funnelshift_r(w0, w1, bits), __funnelshift_r(w1, w2, bits),
                    __funnelshift_r(w2, w3, bits), __funnelshift_r(w3, w4, bits));
}

__device__ __forceinline__ uint32_t word_of(uint4 value, int byte) {
  const uint32_t low = byte & 4 ? value.y : value.x, high = byte & 4 ? value.w : value.z;
  return byte & 8 ? high : low;
}

__device__ __forceinline__ void store2(char* dst, uint4 value, int byte) {
  *reinterpret_cast<uint16_t*>(dst + byte) = static_cast<uint16_t>(word_of(value, byte) >> (8 * (byte & 2)));
}

__device__ __forceinline__ void store4(char* dst, uint4 value, int byte) {
  *reinterpret_cast<uint32_t*>(dst + byte) = word_of(value, byte);
}

// The bytes from `from` on of an aligned chunk's 16, in stores of 2, 4 and 8 bytes.
__device__ __forceinline__ void store_last(char* dst, uint4 value, int from) {
  if (from & 2) store2(dst, value, from);
  from += from & 2;
  if (from & 4) store4(dst, value, from);
  from += from & 4;
  if (from <= 8) *reinterpret_cast<uint2*>(dst + 8) = make_uint2(value.z, value.w);
  if (from == 0) *reinterpret_cast<uint2*>(dst) = make_uint2(value.x, value.y);
}

// The first `count` bytes of an aligned chunk's 16.
__device__ __forceinline__ void store_first(char* dst, uint4 value, int count) {
  if (count & 8) *reinterpret_cast<uint2*>(dst) = make_uint2(value.x, value.y);
  if (count & 4) store4(dst, value, count & 8);
  if (count & 2) store2(dst, value, count & 12);
}

// Bytes from .. to - 1.
__device__ __forceinline__ void store_part(char* dst, uint4 value, int from, int to) {
  if (to == 16) {
    store_last(dst, value, from);
  } else if (from == 0) {
    store_first(dst, value, to);
  } else {
    for (int i = from; i < to; i += 2) store2(dst, value, i);
  }
}

__device__ __forceinline__ uint4 keep_bytes(uint4 value, int count) {  // the first `count` of 16
  uint32_t word[4] = {value.x, value.y, value.z, value.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int here = min(max(count - 4 * i, 0), 4);
    word[i] &= here == 4 ? ~0u : (1u << (8 * here)) - 1;
  }
  return make_uint4(word[0], word[1], word[2], word[3]);
}

__device__ __forceinline__ void store_chunk(char* dst_row, int64_t first, int64_t width, bool pad,
                                            uint4 value) {
  char* const dst = dst_row + first;
  if (first >= 0 && first + 16 <= width) {
    *reinterpret_cast<uint4*>(dst) = value;
  } else if (pad) {
    *reinterpret_cast<uint4*>(dst) = keep_bytes(value, static_cast<int>(width - first));
  } else {
    store_part(dst, value, static_cast<int>(max(-first, int64_t{0})),
               static_cast<int>(min(width - first, int64_t{16})));
  }
}

// Reads element by element only what belongs to the row.
inline __device__ __noinline__ void copy_chunk_carefully(const char* src_row, char* dst_row, int64_t first,
                                                         int64_t width, bool pad) {
  if (first + 16 <= 0 || first >= width) return;
  uint32_t word[4] = {0, 0, 0, 0};
#pragma unroll
  for (int i = 0; i < 16; i += 2) {
    if (first + i >= 0 && first + i < width) {
      const uint32_t element = *reinterpret_cast<const uint16_t*>(src_row + first + i);
      word[i / 4] |= element << (8 * (i & 3));
    }
  }
  store_chunk(dst_row, first, width, pad, make_uint4(word[0], word[1], word[2], word[3]));
}

template <int kCount, int kPerLane>
__global__ void __launch_bounds__(kCopyThreads)
    copy_rows(const __grid_constant__ DeviceCopyJobs<kCount> jobs) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  int which = 0;
#pragma unroll
  for (int i = 1; i < kCount; ++i) {
    if (blockIdx.x >= jobs.job[i].first_block) which = i;
  }
  const DeviceCopyJob& job = jobs.job[which];
  const uint32_t block = job.backward ? job.end_block - 1 - blockIdx.x : blockIdx.x - job.first_block;
  const uint32_t lane = threadIdx.x & 31;
  const uint32_t index = __shfl_sync(~0u, block * (kCopyThreads / 32) + threadIdx.x / 32, 0);
  if (index >= job.units) return;

  const uint32_t row_index = job.units_per_row.divide(index);
  const uint32_t in_row = index - row_index * job.units_per_row.divisor;
  const uint32_t product = job.rows_per_product.divide(row_index);
  const uint32_t row = row_index - product * job.rows_per_product.divisor;
  const char* const src = job.src_by_pointers
                              ? reinterpret_cast<const char* const*>(job.src)[product] + job.src_offset
                              : job.src + product * job.src_stride;
  char* const dst = job.dst_by_pointers ? reinterpret_cast<char* const*>(job.dst)[product] + job.dst_offset
                                        : job.dst + product * job.dst_stride;
  char* const dst_row = dst + row * job.dst_pitch;
  const char* const src_row = src + row * job.src_pitch;
  const bool zero = row >= job.source_rows;
  const int64_t head = static_cast<int64_t>(reinterpret_cast<uintptr_t>(dst_row) & 15);
  constexpr uint32_t kUnitChunks = 32 * kPerLane;
  const uint32_t chunk = in_row * kUnitChunks + lane;
  const int64_t first =
      int64_t{16} * chunk - head;  // of this lane's first chunk; negative in a row's first chunk

  // The unit's aligned loads cover [low, high).
  const uintptr_t wanted = reinterpret_cast<uintptr_t>(src_row) + int64_t{16} * in_row * kUnitChunks - head;
  const uint32_t shift = static_cast<uint32_t>(wanted & 15);
  const char* const low = reinterpret_cast<const char*>(wanted - shift);
  const char* const high = low + 16 * (min(kUnitChunks, job.chunks_per_row - in_row * kUnitChunks) + 1);
  // At the matrix's two ends a lane whose pair would leave it goes element by element.
  const bool at_end = low < src || high > src + job.src_span;
  const auto inside = [&](int i) {
    const char* const pair = low + 16 * lane + 512 * i;
    return !at_end || (pair >= src && pair + 32 <= src + job.src_span);
  };
  uint4 left[kPerLane], right[kPerLane];
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    left[i] = right[i] = make_uint4(0, 0, 0, 0);
    if (chunk + 32 * i < job.chunks_per_row && !zero && inside(i)) {
      left[i] = load16(low + 16 * lane + 512 * i);
      right[i] = load16(low + 16 * lane + 512 * i + 16);
    }
  }
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    if (chunk + 32 * i < job.chunks_per_row && (zero || inside(i))) {
      store_chunk(dst_row, first + 512 * i, job.width, job.pad, join(left[i], right[i], shift));
    }
  }
  if (at_end && !zero) {
    for (int i = 0; i < kPerLane; ++i) {
      if (chunk + 32 * i < job.chunks_per_row && !inside(i)) {
        copy_chunk_carefully(src_row, dst_row, first + 512 * i, job.width, job.pad);
      }
    }
  }
  // A row that starts inside a chunk can end in one more.
  if (!job.pad && lane == 0 && in_row == job.units_per_row.divisor - 1) {
    const int64_t tail = int64_t{16} * job.chunks_per_row - head;
    if (tail < job.width) copy_chunk_carefully(src_row, dst_row, tail, job.width, false);
  }
}

}  // namespace fullwarp::gemm
#endif  // FULLWARP_GEMM_SRC_COPY_ROWS_CUH_

// Cooperative groups: blocks, tiles of a warp, coalesced threads, the grid. Groups are empty or hold a mask, so that
// their operations compile to the warp's instructions and nothing else.
#pragma once

#include "cuda_runtime.h"
#include "fullwarp/group_word.h"

namespace cooperative_groups {

#define FW_D __device__ __forceinline__

namespace details {
FW_D unsigned lane_id() { return __nvvm_read_ptx_sreg_laneid(); }
FW_D unsigned lanes_below() { return __nvvm_read_ptx_sreg_lanemask_lt(); }
FW_D unsigned block_size() { return blockDim.x * blockDim.y * blockDim.z; }
FW_D unsigned rank_in_block() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
// The lane that holds the n-th set bit of mask.
FW_D unsigned nth_lane(unsigned mask, unsigned n) {
  return mask == 0xffffffffu ? n : n == 0 ? (unsigned)__ffs((int)mask) - 1 : __fns(mask, 0, (int)n + 1);
}
// The bits of `word` under `mask`, moved together.
FW_D unsigned pack(unsigned word, unsigned mask) {
  if (mask == 0xffffffffu) return word;
  unsigned packed = 0, bit = 0;
  while (mask != 0) {
    const unsigned lowest = mask & (0u - mask);
    packed |= (word & lowest ? 1u : 0u) << bit++;
    mask ^= lowest;
  }
  return packed;
}
enum class Kind : unsigned { kThread, kTile, kCoalesced, kBlock, kGrid };
}  // namespace details

// Any group, the kind known at run time. A tile or coalesced group is its mask.
class thread_group {
 public:
  FW_D thread_group(details::Kind kind, unsigned mask, unsigned size) : kind_(kind), mask_(mask), size_(size) {}
  FW_D void sync() const {
    if (kind_ == details::Kind::kBlock) {
      __syncthreads();
    } else {
      __syncwarp(mask_);
    }
  }
  FW_D unsigned long long size() const { return size_; }
  FW_D unsigned long long num_threads() const { return size_; }
  FW_D unsigned long long thread_rank() const {
    return kind_ == details::Kind::kBlock ? details::rank_in_block()
                                          : (unsigned)__popc((int)(mask_ & details::lanes_below()));
  }
  FW_D bool is_valid() const { return true; }
  FW_D details::Kind kind() const { return kind_; }
  FW_D unsigned mask() const { return mask_; }

  // Shuffles by rank; only for groups within a warp.
  template <class T>
  FW_D T shfl(T v, unsigned rank) const {
    return details::shuffle_idx(mask_, v, (int)details::nth_lane(mask_, rank), 32);
  }

 protected:
  details::Kind kind_;
  unsigned mask_, size_;
};

class thread_block {
 public:
  struct arrival_token {};
  static FW_D void sync() { __barrier_sync(0); }
  static FW_D unsigned thread_rank() { return details::rank_in_block(); }
  static FW_D unsigned size() { return details::block_size(); }
  static FW_D unsigned num_threads() { return details::block_size(); }
  static FW_D dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static FW_D dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static FW_D dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static FW_D dim3 dim_threads() { return group_dim(); }
  static FW_D bool is_valid() { return true; }
  FW_D arrival_token barrier_arrive() const {
    asm volatile("barrier.cta.arrive 0, %0;" ::"r"((details::block_size() + 31) / 32 * 32) : "memory");
    return {};
  }
  FW_D void barrier_wait(arrival_token&&) const { __barrier_sync(0); }
  FW_D operator thread_group() const {
    return thread_group(details::Kind::kBlock, 0, details::block_size());
  }
};
static FW_D thread_block this_thread_block() { return {}; }

// A block with room in shared memory, 32 bytes a warp, in which tiles of several warps exchange values.
template <unsigned MaxBlockSize = 1024>
struct block_tile_memory {
  alignas(16) char bytes[(MaxBlockSize + 31) / 32 * 32];
};
class thread_block_with_memory : public thread_block {
 public:
  FW_D explicit thread_block_with_memory(char* memory) : memory_(memory) {}
  FW_D char* memory() const { return memory_; }

 private:
  char* memory_;
};
template <unsigned MaxBlockSize>
FW_D thread_block_with_memory this_thread_block(block_tile_memory<MaxBlockSize>& memory) {
  return thread_block_with_memory(memory.bytes);
}

// What tiles and coalesced groups share: votes over a mask. SELF gives mask().
#define FW_VOTES                                                                              \
  FW_D void sync() const { __syncwarp(mask()); }                                              \
  FW_D int any(int predicate) const { return __any_sync(mask(), predicate); }                 \
  FW_D int all(int predicate) const { return __all_sync(mask(), predicate); }                 \
  FW_D bool is_valid() const { return true; }

template <unsigned Size, class Parent = void, bool SeveralWarps = (Size > 32)>
class thread_block_tile {
  static_assert(Size >= 1 && (Size & (Size - 1)) == 0, "the size of a tile is a power of two");

 public:
  thread_block_tile() = default;
  // A tile with a known parent is a tile.
  template <class Other>
  FW_D thread_block_tile(const thread_block_tile<Size, Other>&) {}
  static FW_D unsigned mask() {
    return Size == 32 ? 0xffffffffu : ((1u << (Size & 31)) - 1) << (details::lane_id() & ~(Size - 1));
  }
  FW_VOTES
  static constexpr FW_D unsigned size() { return Size; }
  static constexpr FW_D unsigned num_threads() { return Size; }
  static FW_D unsigned thread_rank() { return details::lane_id() & (Size - 1); }
  static FW_D unsigned meta_group_rank() { return details::rank_in_block() / Size; }
  static FW_D unsigned meta_group_size() { return (details::block_size() + Size - 1) / Size; }
  FW_D unsigned ballot(int predicate) const {
    const unsigned all_lanes = __ballot_sync(mask(), predicate);
    return Size == 32 ? all_lanes : (all_lanes >> (details::lane_id() & ~(Size - 1))) & ((1u << (Size & 31)) - 1);
  }
  template <class T>
  FW_D T shfl(T v, int rank) const { return details::shuffle_idx(mask(), v, rank, Size); }
  template <class T>
  FW_D T shfl_up(T v, unsigned delta) const { return details::shuffle_up(mask(), v, delta, Size); }
  template <class T>
  FW_D T shfl_down(T v, unsigned delta) const { return details::shuffle_down(mask(), v, delta, Size); }
  template <class T>
  FW_D T shfl_xor(T v, unsigned lanes) const { return details::shuffle_xor(mask(), v, (int)lanes, Size); }
  template <class T>
  FW_D unsigned match_any(T v) const { return in_tile(__match_any_sync(mask(), v)); }
  template <class T>
  FW_D unsigned match_all(T v, int& predicate) const { return in_tile(__match_all_sync(mask(), v, &predicate)); }
  FW_D operator thread_group() const { return thread_group(details::Kind::kTile, mask(), Size); }

 private:
  static FW_D unsigned in_tile(unsigned word) {
    return Size == 32 ? word : (word >> (details::lane_id() & ~(Size - 1))) & ((1u << (Size & 31)) - 1);
  }
};

// A tile of several warps. Its barrier is one of the block's sixteen, counted from the last.
template <unsigned Size, class Parent>
class thread_block_tile<Size, Parent, true> {
  static_assert(Size <= 512 && (Size & (Size - 1)) == 0, "the size of a tile is a power of two up to 512");

 public:
  FW_D explicit thread_block_tile(char* memory) : memory_(memory) {}
  static FW_D void sync() { asm volatile("barrier.sync %0, %1;" ::"r"(15 - meta_group_rank()), "n"(Size) : "memory"); }
  static constexpr FW_D unsigned size() { return Size; }
  static constexpr FW_D unsigned num_threads() { return Size; }
  static FW_D unsigned thread_rank() { return details::rank_in_block() % Size; }
  static FW_D unsigned meta_group_rank() { return details::rank_in_block() / Size; }
  static FW_D unsigned meta_group_size() { return (details::block_size() + Size - 1) / Size; }
  FW_D bool is_valid() const { return true; }

  // Every thread gets `combine` of one value of each warp, in order.
  template <class T, class Op>
  FW_D T across_warps(T v, Op&& combine) const {
    static_assert(sizeof(T) <= 32, "a value that tiles of several warps exchange has at most 32 bytes");
    char* const cells = memory_ + meta_group_rank() * Size;  // 32 bytes for each 32 threads
    if (details::lane_id() == 0) __builtin_memcpy(cells + thread_rank() / 32 * 32, &v, sizeof(T));
    sync();
    __builtin_memcpy(&v, cells, sizeof(T));
    for (unsigned warp = 1; warp < Size / 32; ++warp) {
      T other;
      __builtin_memcpy(&other, cells + warp * 32, sizeof(T));
      v = combine(v, other);
    }
    sync();
    return v;
  }
  FW_D int any(int predicate) const {
    return across_warps(__any_sync(0xffffffffu, predicate), [](int a, int b) { return a | b; });
  }
  FW_D int all(int predicate) const {
    return across_warps(__all_sync(0xffffffffu, predicate), [](int a, int b) { return a & b; });
  }

 private:
  char* memory_;
};

class coalesced_group {
 public:
  FW_D explicit coalesced_group(unsigned mask, unsigned group_rank = 0, unsigned groups = 1)
      : mask_(mask), group_rank_(group_rank), groups_(groups) {}
  FW_D unsigned mask() const { return mask_; }
  FW_VOTES
  FW_D unsigned size() const { return (unsigned)__popc((int)mask_); }
  FW_D unsigned num_threads() const { return size(); }
  FW_D unsigned thread_rank() const { return (unsigned)__popc((int)(mask_ & details::lanes_below())); }
  FW_D unsigned meta_group_rank() const { return group_rank_; }
  FW_D unsigned meta_group_size() const { return groups_; }
  FW_D unsigned ballot(int predicate) const { return details::pack(__ballot_sync(mask_, predicate), mask_); }
  template <class T>
  FW_D T shfl(T v, int rank) const {
    return details::shuffle_idx(mask_, v, (int)details::nth_lane(mask_, (unsigned)rank), 32);
  }
  template <class T>
  FW_D T shfl_up(T v, int delta) const {
    if (size() == 32) return details::shuffle_up(0xffffffffu, v, (unsigned)delta, 32);
    const int from = (int)thread_rank() - delta;
    return details::shuffle_idx(mask_, v, from < 0 ? (int)details::lane_id() : (int)details::nth_lane(mask_, (unsigned)from), 32);
  }
  template <class T>
  FW_D T shfl_down(T v, unsigned delta) const {
    if (size() == 32) return details::shuffle_down(0xffffffffu, v, delta, 32);
    const unsigned from = thread_rank() + delta;
    return details::shuffle_idx(mask_, v, from >= size() ? (int)details::lane_id() : (int)details::nth_lane(mask_, from), 32);
  }
  template <class T>
  FW_D unsigned match_any(T v) const { return details::pack(__match_any_sync(mask_, v), mask_); }
  template <class T>
  FW_D unsigned match_all(T v, int& predicate) const {
    return details::pack(__match_all_sync(mask_, v, &predicate), mask_);
  }
  FW_D operator thread_group() const { return thread_group(details::Kind::kCoalesced, mask_, size()); }

 private:
  unsigned mask_, group_rank_, groups_;
};
#undef FW_VOTES
static FW_D coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

// Partitions.
template <unsigned Size, class Parent>
FW_D thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
  if constexpr (Size > 32) {
    return thread_block_tile<Size, Parent>(parent.memory());
  } else {
    return {};
  }
}
static FW_D thread_group tiled_partition(const thread_group& parent, unsigned size) {
  const unsigned first = details::lane_id() & ~(size - 1);
  const unsigned tile = (size >= 32 ? 0xffffffffu : ((1u << size) - 1) << first);
  if (parent.kind() != details::Kind::kCoalesced) return thread_group(details::Kind::kTile, tile, size);
  // By rank within the parent: lanes of ranks [first, first + size).
  const unsigned rank = (unsigned)parent.thread_rank(), base = rank - rank % size;
  unsigned members = 0, count = 0;
  for (unsigned n = base; n < base + size && n < (unsigned)parent.size(); ++n, ++count) {
    members |= 1u << details::nth_lane(parent.mask(), n);
  }
  return thread_group(details::Kind::kCoalesced, members, count);
}
static FW_D thread_group tiled_partition(const thread_block& parent, unsigned size) {
  return tiled_partition((thread_group)parent, size);
}
static FW_D coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
  return coalesced_group(tiled_partition((thread_group)parent, size).mask());
}
template <class Group>
FW_D coalesced_group labeled_partition(const Group& group, int label) {
  return coalesced_group(__match_any_sync(((thread_group)group).mask(), label));
}
template <class Group>
FW_D coalesced_group binary_partition(const Group& group, bool predicate) {
  const unsigned mask = ((thread_group)group).mask(), yes = __ballot_sync(mask, predicate);
  return coalesced_group(predicate ? yes : mask & ~yes, predicate ? 0 : 1, 2);
}

// The grid. sync() is the barrier of a cooperative launch: a counter in global memory, whose workspace the launch
// passes in %envreg1 (high) and %envreg2 (low); its top bit flips when all blocks have arrived.
class grid_group {
 public:
  static FW_D unsigned long long thread_rank() {
    return block_rank() * details::block_size() + details::rank_in_block();
  }
  static FW_D unsigned long long block_rank() {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static FW_D unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  static FW_D unsigned long long num_threads() { return num_blocks() * details::block_size(); }
  static FW_D unsigned long long size() { return num_threads(); }
  static FW_D dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static FW_D dim3 dim_blocks() { return group_dim(); }
  static FW_D dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  FW_D bool is_valid() const { return workspace() != nullptr; }
  FW_D void sync() const {
    volatile unsigned* arrived = workspace() + 1;
    __syncthreads();
    if (details::rank_in_block() == 0) {
      const unsigned step = block_rank() == 0 ? 0x80000000u - ((unsigned)num_blocks() - 1) : 1;
      __threadfence();
      const unsigned before = atomicAdd((unsigned*)arrived, step);
      while (((before ^ *arrived) & 0x80000000u) == 0) {
      }
      __threadfence();
    }
    __syncthreads();
  }

 private:
  static FW_D unsigned* workspace() {
    unsigned high, low;
    asm("mov.u32 %0, %%envreg1;" : "=r"(high));
    asm("mov.u32 %0, %%envreg2;" : "=r"(low));
    return (unsigned*)((unsigned long long)high << 32 | low);
  }
};
static FW_D grid_group this_grid() { return {}; }

#if __CUDA_ARCH__ >= 900
// A cluster of blocks.
class cluster_group {
 public:
  static FW_D void sync() { barrier_arrive(), barrier_wait(); }
  static FW_D void barrier_arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
  static FW_D void barrier_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
  static FW_D unsigned block_rank() {
    unsigned r;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
  }
  static FW_D unsigned num_blocks() {
    unsigned r;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(r));
    return r;
  }
  static FW_D unsigned thread_rank() { return block_rank() * details::block_size() + details::rank_in_block(); }
  static FW_D unsigned num_threads() { return num_blocks() * details::block_size(); }
  static FW_D unsigned size() { return num_threads(); }
  template <class T>
  FW_D T* map_shared_rank(T* p, int rank) const {
    unsigned long long r;
    asm("mapa.u64 %0, %1, %2;" : "=l"(r) : "l"(p), "r"(rank));
    return (T*)r;
  }
};
static FW_D cluster_group this_cluster() { return {}; }
#endif

// The same operations as functions.
template <class Group>
FW_D void sync(const Group& group) { group.sync(); }
template <class Group>
FW_D auto thread_rank(const Group& group) -> decltype(group.thread_rank()) { return group.thread_rank(); }
template <class Group>
FW_D auto group_size(const Group& group) -> decltype(group.size()) { return group.size(); }

// Calls `work` on one thread of the group.
template <class Group, class F>
FW_D void invoke_one(const Group& group, F&& work) {
  if (group.thread_rank() == 0) work();
}

#undef FW_D

}  // namespace cooperative_groups

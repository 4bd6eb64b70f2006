// The state of execution: a warp is a set of fragments (lanes that share a program counter), a block is its
// warps and shared memory, a worker is one CPU thread with counters of its own.
//
// Reconvergence. A branch whose lanes part pushes a Join at its immediate post-dominator. Lanes that get
// there wait (Join::arrived) until all that are expected have come, then go on as one fragment. A wait is
// not binding: if the others cannot come before these lanes go on (a spin lock, a rendezvous, a barrier),
// they are let go. Lanes that exit are no longer expected anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/warp.h"
#include "exec/micro_op.h"
#include "exec/program.h"

namespace fullwarp::exec {

struct Worker;
struct BlockState;
struct Site;
struct BufferView;

struct Frame {
  std::byte* regs = nullptr;
  const FunctionProgram* program = nullptr;
  Frame* parent = nullptr;
  const MicroOp* call = nullptr;           // the call op in the parent's program; null for the entry
  LaneMask lanes = 0;                      // in this function or one that it called
  uint32_t local_base = 0, local_top = 0;  // in the thread's local memory
  AlignedBytes storage;
  uint64_t storage_bytes = 0;
};

struct Join {
  const MicroOp* at = nullptr;
  Frame* frame = nullptr;
  Join* parent = nullptr;
  LaneMask expected = 0, arrived = 0;
};

enum class Stop : uint8_t { none, yield, parted, waits_join, waits_barrier, waits_sync, exited };

struct Fragment {
  const MicroOp* pc = nullptr;
  LaneMask mask = 0;
  Frame* frame = nullptr;
  Join* join = nullptr;
  Stop wait = Stop::none;  // in Warp::waiting: barrier or sync
  uint32_t barrier = 0;    // waits_barrier: its number
  LaneMask members = 0;    // waits_sync

  // Field by field: a copy in wider pieces would wait for what was stored just before.
  void set(const MicroOp* at, LaneMask lanes, Frame* in, Join* meets) {
    pc = at;
    mask = lanes;
    frame = in;
    join = meets;
    wait = Stop::none;
    barrier = members = 0;
  }
};

// Fragments that can run, first come first served; one that parted goes to the front. A ring, so that neither
// end takes memory.
class FragmentQueue {
 public:
  bool empty() const { return count_ == 0; }
  size_t size() const { return count_; }
  const Fragment& front() const { return ring_[head_]; }
  void pop_front() {
    head_ = next(head_);
    --count_;
  }
  // A place in the queue, to be filled by Fragment::set.
  Fragment& push_front() {
    if (count_ == ring_.size()) grow();
    head_ = (head_ == 0 ? ring_.size() : head_) - 1;
    ++count_;
    return ring_[head_];
  }
  Fragment& push_back() {
    if (count_ == ring_.size()) grow();
    size_t at = head_ + count_++;
    if (at >= ring_.size()) at -= ring_.size();
    return ring_[at];
  }
  void clear() { count_ = 0; }

 private:
  size_t next(size_t at) const { return at + 1 == ring_.size() ? 0 : at + 1; }
  void grow() {
    std::vector<Fragment> larger(ring_.size() * 2);
    for (size_t k = 0, at = head_; k < count_; ++k, at = next(at)) larger[k] = ring_[at];
    ring_ = std::move(larger);
    head_ = 0;
  }

  std::vector<Fragment> ring_ = std::vector<Fragment>(8);
  size_t head_ = 0, count_ = 0;
};

struct alignas(64) Warp {
  // hot
  std::byte* regs = nullptr;  // frame->regs
  LaneMask active = 0;        // lanes of the running fragment
  LaneMask exec = 0;          // active and the guard
  uint32_t masked = 0;        // index in MicroOp::run: 1 where some live lane is not active
  LaneMask live = 0;          // lanes that have not exited
  int32_t budget = 0;         // blocks left in this quantum
  Stop stop = Stop::none;
  uint32_t polls = 0;  // compare-and-swaps, exchanges and volatile loads of this turn: is it a spin?
  const MicroOp* saved = nullptr;  // where the fragment goes on, if it stopped
  Worker* worker = nullptr;
  BlockState* block = nullptr;
  Frame* frame = nullptr;
  Join* join = nullptr;
  uint64_t steps = 0;  // instructions so far
  std::byte* shared = nullptr;
  uint32_t shared_bytes = 0;
  uint32_t index = 0;         // in the block
  uint32_t first_thread = 0;  // index * 32
  uint32_t block_number = 0;  // the block's linear index + 1
  Site* sites = nullptr;      // the worker's
  const BufferView* views = nullptr;
  size_t view_count = 0;
  bool watch_stores = false;  // a store to a buffer without a shadow must be noticed

  std::vector<std::byte> specials;  // rows that `mov %r, %tid.x` copies, by SpecialRow
  FragmentQueue ready;
  std::vector<Fragment> waiting;  // at barriers and at .sync instructions
  std::vector<std::unique_ptr<Join>> joins, spare_joins;
  std::vector<std::unique_ptr<Frame>> frames, free_frames;
  AlignedBytes local;         // interleaved: 4-byte word w of lane l at (w * 32 + l) * 4
  uint64_t local_bytes = 0;   // per lane
  LaneMask carry = 0;         // the condition code register, a bit a lane
  LaneMask participants = 0;  // lanes that take part in the .sync operation at hand

  template <class T>
  T* row(uint32_t offset) {
    return reinterpret_cast<T*>(regs + static_cast<int32_t>(offset));
  }
  LaneMask& pred(uint32_t offset) { return *row<LaneMask>(offset); }
  void set_active(LaneMask mask) {
    active = exec = mask;
    masked = (live & ~mask) != 0;
  }
  bool done() const { return live == 0; }
};

// Rows of Warp::specials.
enum SpecialRow : uint32_t {
  kTidX,
  kTidY,
  kTidZ,
  kLaneId,
  kMaskEq,
  kMaskLe,
  kMaskLt,
  kMaskGe,
  kMaskGt,
  kCtaIdX,
  kCtaIdY,
  kCtaIdZ,
  kWarpId,
  kSpecialRows
};

}  // namespace fullwarp::exec

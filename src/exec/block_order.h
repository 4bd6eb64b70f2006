// Which blocks of a launch are ordered through memory: by a ticket (each block's atomic on a counter, the
// last one reads what all have left), by flags, by a lock, by a barrier of the grid made of atomics.
//
// A block that executes a fence and then writes a place by an atomic, volatile, relaxed or release access
// hands over what it did before the fence; a block that later reads the place by such an access takes it
// over, with all that the first had taken over itself. This is synchronisation through morally strong
// accesses as the PTX memory model has it (PTX ISA, "Memory Consistency Model"), coarser in three ways, each
// of which can only hide a race: a fence or an access of one thread counts for its block; time within a block
// is told by its barriers; and whether the reader fences too is not looked at.
//
// Used where blocks run in order on one CPU thread (exec.cpp); race_global.cpp asks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace fullwarp::exec {

struct Decoder;

// Blocks are given by number + 1, as in the shadows (race.h); stamps are a block's own, of SharedShadow.
class BlockOrder {
 public:
  explicit BlockOrder(bool active = false) : active_(active) {}
  bool active() const { return active_; }

  void start(uint32_t block) { blocks_.try_emplace(block); }
  // What the block did up to `stamp` may be handed over from now on.
  void fence(uint32_t block, uint32_t stamp) { blocks_[block].fenced = stamp; }
  void hand_over(uint32_t block, uint64_t address);
  void take_over(uint32_t block, uint64_t address);

  // Is what `other` did at its time `stamp` ordered before what `block` does now?
  bool before(uint32_t other, uint32_t stamp, uint32_t block);
  // ... is what every other block did that has started?
  bool all_before(uint32_t block);

 private:
  static constexpr uint32_t kNone = ~0u;
  struct Handed {
    uint32_t block, stamp;  // all that the block did up to then
    uint32_t earlier;       // index of the same block's entry before, or kNone
  };
  struct Place {
    std::vector<Handed> handed;                     // in the order of the accesses
    std::unordered_map<uint32_t, uint32_t> latest;  // by block: index in `handed`
  };
  struct Block {
    uint32_t fenced = 0;                               // 0: has not executed a fence
    std::unordered_map<const Place*, uint32_t> taken;  // entries of the place that it has taken over
  };
  uint32_t stamp_at(const Place& place, uint32_t count, uint32_t other) const;
  void close(uint32_t block);

  bool active_;
  std::unordered_map<uint32_t, Block> blocks_;
  std::unordered_map<uint64_t, Place> places_;  // by 4 bytes of global memory
  // All that the block asked for last has taken over, directly or through others: block to stamp.
  uint32_t closed_for_ = 0;
  std::unordered_map<uint32_t, uint32_t> closed_;
};

// Emits the micro-op that hands over and takes over at an atomic or strong access of global or generic
// memory. `row` and `imm` are the access's address.
struct OrderedAccess {
  bool reads = false, writes = false;
  bool releases = false;  // .release or .acq_rel: a fence and an access in one
};
void emit_block_order(Decoder& decoder, OrderedAccess access, uint32_t row, int64_t imm);
// Emits a fence of the device or the system.
void emit_block_fence(Decoder& decoder);

}  // namespace fullwarp::exec

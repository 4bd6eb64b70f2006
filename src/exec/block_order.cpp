#include "exec/block_order.h"

#include <algorithm>
#include <bit>

#include "exec/decode.h"
#include "exec/worker.h"

namespace fullwarp::exec {

void BlockOrder::hand_over(uint32_t block, uint64_t address) {
  const uint32_t stamp = blocks_[block].fenced;
  if (stamp == 0) return;
  Place& place = places_[address / 4];
  const auto [latest, fresh] = place.latest.try_emplace(block, kNone);
  // A spin on a lock writes the same place over and over, with nothing new to hand over.
  if (!fresh && place.handed[latest->second].stamp == stamp) return;
  place.handed.push_back({block, stamp, latest->second});
  latest->second = static_cast<uint32_t>(place.handed.size() - 1);
}

void BlockOrder::take_over(uint32_t block, uint64_t address) {
  const auto found = places_.find(address / 4);
  if (found == places_.end()) return;
  const Place& place = found->second;
  const uint32_t all = static_cast<uint32_t>(place.handed.size());
  uint32_t& taken = blocks_[block].taken[&place];
  if (taken == all) return;
  taken = all;
  closed_for_ = 0;  // through others, anybody's may have grown
}

// Up to when the first `count` entries hand over what `other` did; 0: not at all.
uint32_t BlockOrder::stamp_at(const Place& place, uint32_t count, uint32_t other) const {
  const auto latest = place.latest.find(other);
  if (latest == place.latest.end()) return 0;
  uint32_t at = latest->second;
  while (at != kNone && at >= count) at = place.handed[at].earlier;
  return at == kNone ? 0 : place.handed[at].stamp;
}

void BlockOrder::close(uint32_t block) {
  if (closed_for_ == block) return;
  closed_for_ = block;
  closed_.clear();
  std::unordered_map<const Place*, uint32_t> seen;  // entries of the place that are followed already
  std::vector<uint32_t> left{block};
  std::unordered_set<uint32_t> queued{block};
  while (!left.empty()) {
    const uint32_t by = left.back();
    left.pop_back();
    for (const auto& [place, count] : blocks_[by].taken) {
      uint32_t& from = seen[place];
      for (; from < count; ++from) {
        const Handed& handed = place->handed[from];
        uint32_t& stamp = closed_[handed.block];
        stamp = std::max(stamp, handed.stamp);
        if (queued.insert(handed.block).second) left.push_back(handed.block);
      }
    }
  }
}

bool BlockOrder::before(uint32_t other, uint32_t stamp, uint32_t block) {
  for (const auto& [place, count] : blocks_[block].taken)
    if (stamp_at(*place, count, other) >= stamp) return true;
  close(block);
  const auto found = closed_.find(other);
  return found != closed_.end() && found->second >= stamp;
}

bool BlockOrder::all_before(uint32_t block) {
  close(block);
  return closed_.size() - closed_.count(block) + 1 >= blocks_.size();
}

namespace {

constexpr uint32_t kReads = 1, kWrites = 2, kReleases = 4;

void fence_now(Warp& w) { w.worker->block_order.fence(w.block_number, w.block->shadow.barrier_stamp); }

const MicroOp* fence(Warp& w, const MicroOp* op) {
  if (w.worker->block_order.active() && w.exec) fence_now(w);
  return op + 1;
}

const MicroOp* order(Warp& w, const MicroOp* op) {
  BlockOrder& blocks = w.worker->block_order;
  if (!blocks.active() || !w.exec) return op + 1;
  if (op->flags & kReleases) fence_now(w);
  const uint64_t* const row = w.row<uint64_t>(op->a);
  uint64_t last = ~uint64_t{0};
  for (LaneMask left = w.exec; left; left &= left - 1) {
    const uint64_t address = row[std::countr_zero(left)] + static_cast<uint64_t>(op->imm);
    if (address / 4 == last || window_of(address) < kFirstBufferWindow) continue;
    last = address / 4;
    if (op->flags & kReads) blocks.take_over(w.block_number, address);
    if (op->flags & kWrites) blocks.hand_over(w.block_number, address);
  }
  return op + 1;
}

}  // namespace

void emit_block_order(Decoder& d, OrderedAccess access, uint32_t row, int64_t imm) {
  if (!d.program.fences || !d.program.check_races) return;
  MicroOp& op = d.emit({order, nullptr}, 0, row);
  op.imm = imm;
  op.flags = (access.reads ? kReads : 0) | (access.writes ? kWrites : 0) | (access.releases ? kReleases : 0);
}

void emit_block_fence(Decoder& d) { d.emit({fence, nullptr}); }

}  // namespace fullwarp::exec

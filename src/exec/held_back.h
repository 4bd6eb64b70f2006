// Atomics of one worker that have not been brought to memory. Only for launches that neither load nor store
// what they do atomics on, and read no atomic's result (exec.cpp): nobody can tell when they arrive.
//
// Where several workers add to the same few places (a histogram, a counter), the places' cache line goes from
// core to core for each addition, and two workers are slower than one. So a worker adds up what it has for a
// place and brings it there when another place needs the entry, and at its end.
//
// Sums of floats depend on their order. Workers note each operation, by block, and in the end all are done in
// the order of blocks: the same as if one worker had run them all.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace fullwarp::exec {

class HeldBack {
 public:
  using Bring = void (*)(std::byte* place, uint64_t operand);
  // An aligned word of eight bytes, in parts as wide as the operation: one or two.
  struct Entry {
    std::byte* word = nullptr;
    uint32_t parts = 0;  // a bit each: holds an operand
    uint64_t operand[2] = {};
    // Does the operation on memory with what was held back.
    Bring bring = nullptr;
  };

  void start() { entries_ = std::make_unique<Entries>(); }
  bool active() const { return entries_ != nullptr; }

  void start_in_order() { in_order_ = true; }
  bool in_order() const { return in_order_; }
  void begin_block(uint64_t block) {
    if (in_order_) blocks_.push_back({block, noted_.size()});
  }
  void note(std::byte* place, Bring bring, uint64_t operand) { noted_.push_back({place, bring, operand}); }
  // Too much to keep: the launch has to be run in order instead.
  bool full() const { return noted_.size() > kMostNoted; }
  // Does what workers have noted.
  static void bring_in_order(const std::vector<HeldBack*>& workers);

  // The operand held back for a place, 4 or 8 bytes and aligned, and `bring`'s operation; null where there
  // was none: it is `operand` now. What another operation or width held back for the same word is brought
  // first.
  uint64_t* hold(std::byte* place, Bring bring, uint64_t operand) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(place), within = address % 8;
    Entry& entry = (*entries_)[address / 8 % kEntries];
    if (entry.word != place - within || entry.bring != bring) {
      bring_one(entry);
      entry.word = place - within;
      entry.bring = bring;
    }
    const unsigned part = within != 0;
    if ((entry.parts >> part) & 1) return &entry.operand[part];
    entry.operand[part] = operand;
    entry.parts |= 1u << part;
    return nullptr;
  }
  void bring_all() {
    if (!active()) return;
    for (Entry& entry : *entries_) bring_one(entry);
  }

 private:
  static constexpr size_t kEntries = 1024;
  using Entries = std::array<Entry, kEntries>;

  static void bring_one(Entry& entry) {
    for (unsigned part = 0; part < 2; ++part)
      if ((entry.parts >> part) & 1) entry.bring(entry.word + 4 * part, entry.operand[part]);
    entry.parts = 0;
  }

  static constexpr size_t kMostNoted = size_t{1} << 20;
  struct Noted {
    std::byte* place;
    Bring bring;
    uint64_t operand;
  };
  struct Block {
    uint64_t number;
    size_t first;  // of what it noted
  };

  std::unique_ptr<Entries> entries_;
  bool in_order_ = false;
  std::vector<Noted> noted_;
  std::vector<Block> blocks_;  // as the worker ran them
};

inline void HeldBack::bring_in_order(const std::vector<HeldBack*>& workers) {
  struct Part {
    uint64_t block;
    const Noted *first, *last;
  };
  std::vector<Part> parts;
  for (const HeldBack* worker : workers)
    for (size_t k = 0; k < worker->blocks_.size(); ++k) {
      const size_t last =
          k + 1 < worker->blocks_.size() ? worker->blocks_[k + 1].first : worker->noted_.size();
      parts.push_back({worker->blocks_[k].number, worker->noted_.data() + worker->blocks_[k].first,
                       worker->noted_.data() + last});
    }
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.block < b.block; });
  for (const Part& part : parts)
    for (const Noted* n = part.first; n != part.last; ++n) n->bring(n->place, n->operand);
}

}  // namespace fullwarp::exec

// Atomics of one worker that have not been brought to memory. Where several workers add to the same few
// places (a histogram, a counter), the places' cache line goes from core to core for each addition, and two
// workers are slower than one. So a worker adds up what it has for a place and brings it there when another
// place needs the entry, and at its end. Only for launches that neither load nor store what they do atomics
// on, and read no atomic's result (exec.cpp): nobody can tell when the sums arrive.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace fullwarp::exec {

class HeldBack {
 public:
  // An aligned word of eight bytes, in parts as wide as the operation: one or two.
  struct Entry {
    std::byte* word = nullptr;
    uint32_t parts = 0;  // a bit each: holds an operand
    uint64_t operand[2] = {};
    // Does the operation on memory with what was held back.
    void (*bring)(std::byte* place, uint64_t operand) = nullptr;
  };

  void start() { entries_ = std::make_unique<Entries>(); }
  bool active() const { return entries_ != nullptr; }

  // The operand held back for a place, 4 or 8 bytes and aligned, and `bring`'s operation; null where there
  // was none: it is `operand` now. What another operation or width held back for the same word is brought
  // first.
  uint64_t* hold(std::byte* place, void (*bring)(std::byte*, uint64_t), uint64_t operand) {
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

  std::unique_ptr<Entries> entries_;
};

}  // namespace fullwarp::exec

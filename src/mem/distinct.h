// Distinct values among a few: a small open-addressed set on the stack. Clearing one byte a slot is all the
// set-up; a slot holds garbage until its mark is set.
#pragma once

#include <array>
#include <cstdint>

namespace fullwarp::mem {

// For at most 2^kBits / 2 distinct keys.
template <unsigned kBits>
class DistinctSet {
 public:
  // True if the key was not there yet.
  bool insert(uint64_t key) {
    uint32_t slot = static_cast<uint32_t>((key * 0x9e3779b97f4a7c15u) >> (64 - kBits));
    while (used_[slot]) {
      if (keys_[slot] == key) return false;
      slot = (slot + 1) % kSlots;
    }
    used_[slot] = 1;
    keys_[slot] = key;
    return true;
  }

 private:
  static constexpr uint32_t kSlots = 1u << kBits;
  std::array<uint8_t, kSlots> used_ = {};
  std::array<uint64_t, kSlots> keys_;
};

}  // namespace fullwarp::mem

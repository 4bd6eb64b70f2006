// Zeroed memory for what a launch keeps beside its buffers. The next launch wants blocks of the same sizes,
// and to clear what was written in an old block costs a fraction of what the system takes for new pages. Each
// worker takes its blocks in its own thread and clears them there.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "exec/device_memory.h"

namespace fullwarp::exec {

class SpareBlocks {
 public:
  struct Range {
    uint64_t first, last;  // bytes, the last one not included
  };

  // A block of zeroes, as allocate_zeroed makes it.
  AlignedBytes take(uint64_t bytes);
  // A block that take(bytes) made, and where it may hold something else than zeroes.
  void give(AlignedBytes block, uint64_t bytes, std::vector<Range> dirty);

 private:
  static constexpr uint64_t kMostBytes = uint64_t{1} << 28;  // that wait here

  struct Spare {
    AlignedBytes block;
    uint64_t bytes = 0;
    std::vector<Range> dirty;
  };

  std::mutex mutex_;
  std::vector<Spare> spares_;  // the oldest first
  uint64_t bytes_ = 0;         // of all of them
};

}  // namespace fullwarp::exec

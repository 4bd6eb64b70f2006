// Hands the blocks of a launch to its workers. Neighbours in the grid mostly touch neighbouring memory, so
// that each worker begins with a range of its own: the arrays beside the buffers (coverage, shadows) then
// have most of their pages on one worker only, where a turn block by block would have every worker make every
// page. A worker that has come to its range's end takes the back half of the longest one left.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace fullwarp::exec {

class BlockQueue {
 public:
  BlockQueue(uint64_t blocks, unsigned workers) : ranges_(std::max(1u, workers)) {
    const auto part = [&](uint64_t k) {
      return static_cast<uint64_t>(static_cast<unsigned __int128>(blocks) * k / ranges_.size());
    };
    for (size_t k = 0; k < ranges_.size(); ++k) {
      ranges_[k].next = part(k);
      ranges_[k].end = part(k + 1);
    }
  }

  // The next block for this worker; none: all are handed out. Safe from all workers at the same time.
  std::optional<uint64_t> take(unsigned worker) {
    Range& own = ranges_[worker];
    for (;;) {
      {
        const std::lock_guard<std::mutex> hold(own.lock);
        if (own.next < own.end) return own.next++;
      }
      if (!refill(own)) return std::nullopt;
    }
  }

 private:
  struct alignas(64) Range {
    std::mutex lock;
    uint64_t next = 0, end = 0;
  };

  static uint64_t left(Range& range) {
    const std::lock_guard<std::mutex> hold(range.lock);
    return range.end - range.next;
  }

  // Only the owner adds to a range, so that it stays empty until this gives it blocks.
  bool refill(Range& own) {
    for (;;) {
      Range* longest = nullptr;
      uint64_t most = 0;
      for (Range& range : ranges_)
        if (const uint64_t n = left(range); n > most) {
          most = n;
          longest = &range;
        }
      if (longest == nullptr) return false;
      uint64_t first, last;
      {
        const std::lock_guard<std::mutex> hold(longest->lock);
        last = longest->end;
        first = longest->next + (last - longest->next) / 2;
        longest->end = first;
      }
      if (first == last) continue;  // its owner was faster
      const std::lock_guard<std::mutex> hold(own.lock);
      own.next = first;
      own.end = last;
      return true;
    }
  }

  std::vector<Range> ranges_;
};

}  // namespace fullwarp::exec

// How far a check has come, for another thread to watch: `check()` writes, a progress line reads.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

namespace fullwarp {

class Progress {
 public:
  // A new step begins: "compiling tile.cu", "transpose". `blocks`: how many it will run; 0 if it has none.
  void begin(std::string step, uint64_t blocks) {
    const std::lock_guard lock(mutex_);
    step_ = std::move(step);
    blocks_ = blocks;
    blocks_done = 0;
  }

  struct State {
    std::string step;
    uint64_t blocks = 0, blocks_done = 0;
  };
  State state() const {
    const std::lock_guard lock(mutex_);
    return {step_, blocks_, blocks_done};
  }

  std::atomic<uint64_t> blocks_done = 0;  // of the current step

 private:
  mutable std::mutex mutex_;
  std::string step_;
  uint64_t blocks_ = 0;
};

}  // namespace fullwarp

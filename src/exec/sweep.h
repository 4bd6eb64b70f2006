// What is to be looked at sector by sector once all blocks of a launch have run: which bytes any worker has
// touched, and did blocks of two workers meet? The workers do it together, in the threads that they run in:
// what one of them has written last is in its own cache, and no thread has to be started for it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "exec/device_memory.h"
#include "exec/worker.h"

namespace fullwarp::exec {

using Workers = std::vector<std::unique_ptr<Worker>>;

class Sweep {
 public:
  // `workers` may still be empty; both outlive the sweep.
  Sweep(const DeviceMemory& memory, const Workers& workers) : memory_(memory), workers_(workers) {}

  // When every worker's last block has ended, once.
  void prepare();
  // By each worker after that, at the same time: takes pieces of the work until none is left.
  void take_part();

  // When all have taken part. Bytes of a buffer that were loaded from and stored to:
  uint64_t loaded_bytes(size_t buffer) const { return touched_[buffer].loaded; }
  uint64_t stored_bytes(size_t buffer) const { return touched_[buffer].stored; }
  // Two blocks of two workers came to one place, and one of them wrote.
  bool workers_met() const { return met_; }

 private:
  struct Touched {
    std::atomic<uint64_t> loaded{0}, stored{0};
  };
  struct Job {
    size_t buffer;
    std::vector<const Coverage*> uses;         // to count; or
    std::vector<const GlobalShadow*> shadows;  // to compare
    uint64_t pieces;                           // of kPiece sectors or lines
    uint64_t count;
  };
  static constexpr uint64_t kPiece = Coverage::kPartSectors;

  void add(Job job);
  void do_piece(const Job& job, uint64_t first, uint64_t last);

  const DeviceMemory& memory_;
  const Workers& workers_;
  std::vector<Job> jobs_;
  uint64_t pieces_ = 0;
  std::atomic<uint64_t> next_{0};
  std::vector<Touched> touched_;
  std::atomic<bool> met_{false};
};

}  // namespace fullwarp::exec

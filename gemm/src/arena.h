// Workspaces: one for each stream, one for each captured stream.
//
// Work in one stream runs in order, so a stream's calls share one workspace, which grows and is never
// returned before the end. A CUDA graph keeps the addresses it captured and may run beside anything: each
// captured stream gets a workspace that nobody else uses until the graph is destroyed. Nothing may be
// allocated under capture, so a spare one as large as the largest so far is kept ready; a capture that finds
// none gets none, and its products stay plain.
#ifndef FULLWARP_GEMM_SRC_ARENA_H_
#define FULLWARP_GEMM_SRC_ARENA_H_

#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "device.h"

namespace fullwarp::gemm {

class Arenas {
 public:
  explicit Arenas(Device& device) : device_(device) {}
  ~Arenas();
  Arenas(const Arenas&) = delete;
  Arenas& operator=(const Arenas&) = delete;

  // A workspace and the right to enqueue work that uses it; work of two threads must not interleave in one.
  struct Lease {
    uintptr_t memory = 0;  // 0: none could be had
    std::unique_lock<std::mutex> turn;
  };
  Lease take(Stream stream, size_t bytes);

  // Workspaces in existence.
  size_t count();

 private:
  using Key = std::tuple<int, uint64_t, uint64_t>;  // device, stream, capture
  struct Arena {
    void* memory = nullptr;
    size_t bytes = 0;
    std::mutex turn;
    Key captured_by;  // of one that a graph holds
  };
  // A graph may outlive this object.
  struct Alive {
    std::mutex mutex;
    bool yes = true;
  };
  struct Held {
    std::shared_ptr<Alive> alive;
    Arenas* owner;
    Arena* arena;
  };

  Arena* find(const Key& key, Stream stream, size_t bytes);
  Arena* make(size_t bytes);
  void make_spare(int device, size_t bytes);
  static void graph_is_gone(void* held);

  Device& device_;
  std::shared_ptr<Alive> alive_ = std::make_shared<Alive>();
  std::mutex mutex_;
  std::map<Key, Arena*> by_stream_;
  std::map<int, std::vector<Arena*>> spare_;  // by device
  std::vector<std::unique_ptr<Arena>> all_;
};

}  // namespace fullwarp::gemm
#endif  // FULLWARP_GEMM_SRC_ARENA_H_

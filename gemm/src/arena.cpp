// Workspaces by stream and by capture; see arena.h.
#include "arena.h"

#include <algorithm>
#include <vector>

namespace fullwarp::gemm {

Arenas::~Arenas() {
  {
    const std::lock_guard<std::mutex> lock(alive_->mutex);
    alive_->yes = false;
  }
  for (const auto& arena : all_) {
    if (arena->memory != nullptr) device_.release(arena->memory);
  }
}

size_t Arenas::count() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<size_t>(
      std::count_if(all_.begin(), all_.end(), [](const auto& arena) { return arena->memory != nullptr; }));
}

Arenas::Arena* Arenas::make(size_t bytes) {
  void* const memory = device_.allocate(bytes);
  if (memory == nullptr) return nullptr;
  all_.push_back(std::make_unique<Arena>());
  all_.back()->memory = memory;
  all_.back()->bytes = bytes;
  return all_.back().get();
}

void Arenas::graph_is_gone(void* argument) {
  const std::unique_ptr<Held> held(static_cast<Held*>(argument));
  const std::lock_guard<std::mutex> living(held->alive->mutex);
  if (!held->alive->yes) return;
  Arenas& owner = *held->owner;
  const std::lock_guard<std::mutex> lock(owner.mutex_);
  owner.by_stream_.erase(held->arena->captured_by);
  owner.spare_[std::get<0>(held->arena->captured_by)].push_back(held->arena);
}

// Keeps one spare of at least `bytes`; smaller ones have no more use.
void Arenas::make_spare(int device, size_t bytes) {
  std::vector<Arena*>& spares = spare_[device];
  for (const Arena* spare : spares) {
    if (spare->bytes >= bytes) return;
  }
  for (Arena* spare : spares) {
    device_.release(spare->memory);
    spare->memory = nullptr;
    spare->bytes = 0;
  }
  spares.clear();
  Arena* const made = make(bytes);
  if (made != nullptr) spares.push_back(made);
}

Arenas::Arena* Arenas::find(const Key& key, Stream stream, size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const int device = std::get<0>(key);
  const bool captured = std::get<2>(key) != 0;
  const auto found = by_stream_.find(key);
  Arena* arena = found == by_stream_.end() ? nullptr : found->second;
  if (captured) {
    if (arena != nullptr) return arena->bytes >= bytes ? arena : nullptr;
    std::vector<Arena*>& spares = spare_[device];
    // The largest: later products of the same capture may need more.
    const auto largest = std::max_element(spares.begin(), spares.end(),
                                          [](const Arena* x, const Arena* y) { return x->bytes < y->bytes; });
    if (largest == spares.end() || (*largest)->bytes < bytes) return nullptr;
    arena = *largest;
    arena->captured_by = key;
    auto held = std::make_unique<Held>(Held{alive_, this, arena});
    if (!device_.at_graph_end(stream, &Arenas::graph_is_gone, held.get())) return nullptr;
    (void)held.release();  // graph_is_gone deletes it
    spares.erase(largest);
    by_stream_[key] = arena;
    return arena;
  }
  if (arena == nullptr) {
    arena = make(bytes);
    if (arena == nullptr) return nullptr;
    by_stream_[key] = arena;
  } else if (arena->bytes < bytes) {
    // Work in flight still uses the old one; another thread may be about to enqueue more.
    const std::lock_guard<std::mutex> turn(arena->turn);
    device_.synchronize(stream);
    device_.release(arena->memory);
    arena->memory = device_.allocate(bytes);
    arena->bytes = arena->memory == nullptr ? 0 : bytes;
    if (arena->memory == nullptr) return nullptr;
  }
  make_spare(device, arena->bytes);
  return arena;
}

Arenas::Lease Arenas::take(Stream stream, size_t bytes) {
  const Key key{device_.current_device(), device_.stream_key(stream), device_.capture_id(stream)};
  Arena* const arena = find(key, stream, bytes);
  if (arena == nullptr) return {};
  Lease lease;
  lease.turn = std::unique_lock<std::mutex>(arena->turn);
  if (arena->bytes < bytes) return {};
  lease.memory = reinterpret_cast<uintptr_t>(arena->memory);
  return lease;
}

}  // namespace fullwarp::gemm

#include "exec/spare_blocks.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fullwarp::exec {

AlignedBytes SpareBlocks::take(uint64_t bytes) {
  Spare found;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto at = std::find_if(spares_.begin(), spares_.end(),
                                 [&](const Spare& spare) { return spare.bytes == bytes; });
    if (at != spares_.end()) {
      found = std::move(*at);
      spares_.erase(at);
      bytes_ -= bytes;
    }
  }
  if (!found.block) return allocate_zeroed(bytes);
  for (const Range& range : found.dirty)
    std::memset(found.block.get() + range.first, 0, range.last - range.first);
  return std::move(found.block);
}

void SpareBlocks::give(AlignedBytes block, uint64_t bytes, std::vector<Range> dirty) {
  if (!block || bytes > kMostBytes) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  while (bytes_ + bytes > kMostBytes) {
    bytes_ -= spares_.front().bytes;
    spares_.erase(spares_.begin());
  }
  bytes_ += bytes;
  spares_.push_back({std::move(block), bytes, std::move(dirty)});
}

}  // namespace fullwarp::exec

// Long passes over memory, on several threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace fullwarp::exec {

// Runs `sweep(first, last)` over [0, count) in at most `threads` pieces at the same time; a short range in
// one.
template <class Sweep>
void in_pieces(uint64_t threads, uint64_t count, const Sweep& sweep) {
  constexpr uint64_t kShort = uint64_t{1} << 14;
  const uint64_t pieces = std::clamp<uint64_t>(count / kShort, 1, std::max<uint64_t>(threads, 1));
  std::vector<std::thread> pool;
  for (uint64_t p = 1; p < pieces; ++p)
    pool.emplace_back([&, p] { sweep(count * p / pieces, count * (p + 1) / pieces); });
  sweep(uint64_t{0}, count / pieces);
  for (std::thread& t : pool) t.join();
}

}  // namespace fullwarp::exec

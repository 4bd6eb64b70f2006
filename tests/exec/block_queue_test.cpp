// Every block is handed out once, whatever the workers' pace.
#include "exec/block_queue.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <vector>

namespace fullwarp::exec {
namespace {

TEST(BlockQueue, AWorkerBeginsWithItsOwnRange) {
  BlockQueue queue(100, 4);
  for (unsigned worker = 0; worker < 4; ++worker) {
    EXPECT_EQ(queue.take(worker), 25 * worker);
    EXPECT_EQ(queue.take(worker), 25 * worker + 1);
  }
}

TEST(BlockQueue, OneThatIsDoneTakesTheBackHalfOfTheLongestRange) {
  BlockQueue queue(20, 2);
  for (uint64_t k = 10; k < 20; ++k) EXPECT_EQ(queue.take(1), k);
  EXPECT_EQ(queue.take(0), 0u);
  EXPECT_EQ(queue.take(0), 1u);
  EXPECT_EQ(queue.take(1), 6u);  // 2 to 9 are left: 6 to 9 go
  for (uint64_t k = 2; k < 6; ++k) EXPECT_EQ(queue.take(0), k);
}

TEST(BlockQueue, HandsOutEachBlockOnce) {
  for (const uint64_t blocks : {0u, 1u, 2u, 7u, 1000u, 20011u})
    for (const unsigned workers : {1u, 2u, 3u, 5u}) {
      BlockQueue queue(blocks, workers);
      std::vector<std::vector<uint64_t>> taken(workers);
      std::vector<std::thread> pool;
      for (unsigned worker = 0; worker < workers; ++worker)
        pool.emplace_back([&, worker] {
          while (const std::optional<uint64_t> block = queue.take(worker)) taken[worker].push_back(*block);
        });
      for (std::thread& thread : pool) thread.join();
      std::vector<unsigned> times(blocks);
      for (const std::vector<uint64_t>& by_worker : taken)
        for (const uint64_t block : by_worker) ++times.at(block);
      EXPECT_EQ(times, std::vector<unsigned>(blocks, 1)) << blocks << " blocks, " << workers << " workers";
    }
}

}  // namespace
}  // namespace fullwarp::exec

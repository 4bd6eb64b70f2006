// Workspaces: one a stream, one a captured graph, nothing allocated under capture.
#include "arena.h"

#include <gtest/gtest.h>

#include <thread>

#include "fake_device.h"

namespace fullwarp::gemm {
namespace {

const Stream kOne = reinterpret_cast<Stream>(0x10), kTwo = reinterpret_cast<Stream>(0x20);

TEST(Arenas, AStreamKeepsItsWorkspaceUntilItMustGrow) {
  FakeDevice device;
  Arenas arenas(device);
  const uintptr_t first = arenas.take(kOne, 1000).memory;
  EXPECT_NE(first, 0u);
  EXPECT_EQ(arenas.take(kOne, 500).memory, first);
  EXPECT_NE(arenas.take(kTwo, 500).memory, first);
  EXPECT_EQ(device.synchronizations, 0);
  EXPECT_NE(arenas.take(kOne, 5000).memory, 0u);
  EXPECT_EQ(device.synchronizations, 1);  // before the old one goes
}

TEST(Arenas, NothingIsAllocatedUnderCapture) {
  FakeDevice device;
  Arenas arenas(device);
  device.capturing = 7;
  EXPECT_EQ(arenas.take(kOne, 1000).memory, 0u);  // nothing is there yet
  EXPECT_EQ(device.allocations_under_capture, 0);
}

TEST(Arenas, AGraphHasItsOwnUntilItIsDestroyed) {
  FakeDevice device;
  Arenas arenas(device);
  const uintptr_t stream = arenas.take(kOne, 1000).memory;
  device.capturing = 7;
  const uintptr_t graph = arenas.take(kOne, 1000).memory;
  EXPECT_NE(graph, 0u);
  EXPECT_NE(graph, stream);
  EXPECT_EQ(arenas.take(kOne, 800).memory, graph);  // the same capture
  device.capturing = 8;
  EXPECT_EQ(arenas.take(kOne, 1000).memory, 0u);  // the spare one is taken
  device.capturing = 0;
  EXPECT_EQ(arenas.take(kOne, 1000).memory, stream);  // and makes a new spare one
  device.capturing = 9;
  const uintptr_t second = arenas.take(kOne, 1000).memory;
  EXPECT_NE(second, 0u);
  EXPECT_NE(second, graph);
  const size_t count = arenas.count();
  device.capturing = 0;
  device.destroy_graphs();
  device.capturing = 10;
  EXPECT_NE(arenas.take(kOne, 1000).memory, 0u);
  device.capturing = 11;
  EXPECT_NE(arenas.take(kOne, 1000).memory, 0u);
  EXPECT_EQ(arenas.count(), count);  // both came back
  EXPECT_EQ(device.allocations_under_capture, 0);
  device.capturing = 0;
  device.destroy_graphs();
}

TEST(Arenas, AGraphMayOutliveThem) {
  FakeDevice device;
  {
    Arenas arenas(device);
    arenas.take(kOne, 1000);
    device.capturing = 7;
    EXPECT_NE(arenas.take(kOne, 1000).memory, 0u);
  }
  device.destroy_graphs();
}

TEST(Arenas, NoMemoryIsNoWorkspace) {
  FakeDevice device;
  device.limit = 2000;
  Arenas arenas(device);
  EXPECT_EQ(arenas.take(kOne, 4000).memory, 0u);
  EXPECT_NE(arenas.take(kOne, 1000).memory, 0u);
}

TEST(Arenas, TwoThreadsInOneStreamTakeTurns) {
  FakeDevice device;
  Arenas arenas(device);
  arenas.take(kOne, 1000);
  int inside = 0, most = 0;
  const auto work = [&] {
    for (int i = 0; i < 1000; ++i) {
      const Arenas::Lease lease = arenas.take(kOne, 1000);
      most = std::max(most, ++inside);
      --inside;
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(most, 1);
}

}  // namespace
}  // namespace fullwarp::gemm

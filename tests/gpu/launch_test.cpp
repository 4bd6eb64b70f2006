// Launches that the driver takes and refuses (CUDA programming guide, technical specifications).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/gpu.h"

namespace fullwarp::gpu {
namespace {

using testing::HasSubstr;

const Gpu& h200() { return *find_gpu("h200"); }

std::string refusal(Dim3 grid, Dim3 block, uint64_t static_shared = 0, uint64_t dynamic_shared = 0,
                    uint32_t registers = 0) {
  const auto result = check_launch(h200(), grid, block, static_shared, dynamic_shared, registers);
  return result.ok() ? "" : result.error().message;
}

TEST(Launch, Block) {
  EXPECT_EQ(refusal({1}, {1024}), "");
  EXPECT_EQ(refusal({1}, {32, 32}), "");
  EXPECT_EQ(refusal({1}, {16, 1, 64}), "");
  EXPECT_EQ(refusal({1}, {32, 33}), "a block of 1056 threads is beyond the limit of 1024");
  EXPECT_EQ(refusal({1}, {1025}), "block (1025, 1, 1) is beyond the limit (1024, 1024, 64)");
  EXPECT_EQ(refusal({1}, {1, 1, 65}), "block (1, 1, 65) is beyond the limit (1024, 1024, 64)");
  EXPECT_EQ(refusal({1}, {0}), "block (0, 1, 1) is empty");
  EXPECT_THAT(refusal({1}, {0xffffffff, 0xffffffff, 0xffffffff}), HasSubstr("beyond"));
}

TEST(Launch, Grid) {
  EXPECT_EQ(refusal({0x7fffffff, 65535, 65535}, {1}), "");
  EXPECT_THAT(refusal({0x80000000}, {1}), HasSubstr("grid (2147483648, 1, 1)"));
  EXPECT_THAT(refusal({1, 65536}, {1}), HasSubstr("beyond the limit (2147483647, 65535, 65535)"));
  EXPECT_THAT(refusal({1, 1, 65536}, {1}), HasSubstr("beyond"));
  EXPECT_EQ(refusal({1, 0}, {1}), "grid (1, 0, 1) is empty");
}

TEST(Launch, Shared) {
  EXPECT_EQ(refusal({1}, {1}, 49152), "");
  EXPECT_EQ(refusal({1}, {1}, 49156), "49156 bytes of static shared memory are beyond the limit of 49152");
  EXPECT_EQ(refusal({1}, {1}, 1024, 226 * 1024), "");
  EXPECT_THAT(refusal({1}, {1}, 1024, 226 * 1024 + 1), HasSubstr("beyond the limit of 232448 on h200"));
  EXPECT_THAT(refusal({1}, {1}, 1024, ~uint64_t{0}), HasSubstr("beyond"));
  EXPECT_FALSE(check_launch(h200(), {1}, {1}, 1024, 47 * 1024).value().needs_shared_optin);
  EXPECT_TRUE(check_launch(h200(), {1}, {1}, 1024, 47 * 1024 + 1).value().needs_shared_optin);
  EXPECT_FALSE(check_launch(*find_gpu("t4"), {1}, {1}, 0, 64 * 1024 + 1).ok());
}

TEST(Launch, Registers) {
  EXPECT_EQ(refusal({1}, {1024}, 0, 0, 64), "");
  EXPECT_THAT(refusal({1}, {1024}, 0, 0, 65),
              HasSubstr("65 registers a thread and 1024 threads need 73728 registers"));
  EXPECT_EQ(refusal({1}, {256}, 0, 0, 255), "");
  EXPECT_EQ(refusal({1}, {256}, 0, 0, 256), "256 registers a thread are beyond the limit of 255");
}

}  // namespace
}  // namespace fullwarp::gpu

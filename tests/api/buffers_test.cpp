// Comparison, summary and text of typed buffers, against values worked out by hand.
#include "api/buffers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace fullwarp::api {
namespace {

using input::ElementType;

template <class T>
std::vector<std::byte> bytes_of(std::initializer_list<T> values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), std::data(values), bytes.size());
  return bytes;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(),
                kInfinity = std::numeric_limits<float>::infinity();

TEST(Compare, ExactComparesValues) {
  const auto got = bytes_of<float>({0.0f, kNan, 1.0f, 5.0f}),
             expected = bytes_of<float>({-0.0f, kNan, 1.5f, 2.0f});
  const Comparison c = compare(got, expected, ElementType::f32, std::nullopt);
  EXPECT_EQ(c.compared, 4u);
  EXPECT_EQ(c.different, 2u);
  EXPECT_EQ(c.first_index, 2u);
  EXPECT_EQ(c.largest_difference, 3.0);
}

TEST(Compare, TolerancesAddUp) {
  // 1 + 0.01 * 100 = 2 around 100; 1 + 0.01 * 0 = 1 around 0.
  const auto expected = bytes_of<float>({100.0f, 100.0f, 0.0f, 0.0f});
  const auto got = bytes_of<float>({102.0f, 102.5f, -1.0f, 1.25f});
  const Comparison c = compare(got, expected, ElementType::f32, Tolerance{0.01, 1.0});
  EXPECT_EQ(c.different, 2u);
  EXPECT_EQ(c.first_index, 1u);
}

TEST(Compare, InfinitiesAndNanPassNoTolerance) {
  const auto expected = bytes_of<float>({kInfinity, kInfinity, 1.0f});
  const auto got = bytes_of<float>({kInfinity, 1e30f, kNan});
  const Comparison c = compare(got, expected, ElementType::f32, Tolerance{1.0, 1e30});
  EXPECT_EQ(c.different, 2u);
  EXPECT_EQ(c.first_index, 1u);
}

TEST(Compare, WideIntegersAreExact) {
  const auto got = bytes_of<uint64_t>({0xffffffffffffffff}),
             expected = bytes_of<uint64_t>({0xfffffffffffffffe});
  EXPECT_EQ(compare(got, expected, ElementType::u64, std::nullopt).different, 1u);
}

TEST(Summary, CountsNanAndFindsTheRange) {
  const report::Output output =
      summarise("out", ElementType::f32, bytes_of<float>({3.0f, kNan, -2.5f, 0.0f}));
  EXPECT_EQ(output.type, "f32");
  EXPECT_EQ(output.count, 4u);
  EXPECT_EQ(output.nan, 1u);
  EXPECT_EQ(output.min, -2.5);
  EXPECT_EQ(output.max, 3.0);
}

TEST(Summary, OfNothing) {
  const report::Output output = summarise("out", ElementType::i32, {});
  EXPECT_EQ(output.count, 0u);
  EXPECT_FALSE(output.min);
}

TEST(Hash, IsFnv1a) {
  // The published test vectors: "" and "foobar".
  EXPECT_EQ(fnv1a64({}), 0xcbf29ce484222325u);
  EXPECT_EQ(fnv1a64(bytes_of<char>({'f', 'o', 'o', 'b', 'a', 'r'})), 0x85944171f73967e8u);
}

TEST(Text, TellsNeighboursApart) {
  EXPECT_EQ(text_at(bytes_of<float>({0.1f}), ElementType::f32, 0), "0.1");
  EXPECT_EQ(text_at(bytes_of<int8_t>({-3}), ElementType::i8, 0), "-3");
  EXPECT_EQ(text_at(bytes_of<uint16_t>({0x3c00, 0x3e00}), ElementType::f16, 1), "1.5");
  EXPECT_EQ(text_at(bytes_of<uint16_t>({0x3fc0}), ElementType::bf16, 0), "1.5");
}

}  // namespace
}  // namespace fullwarp::api

// Logic, shifts, bit fields and permutes against loops over single bits, as the PTX manual writes them.
#include "exec/semantics/bits.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "values.h"

namespace fullwarp::exec::sem::test {
namespace {

template <class T>
bool bit(T a, uint32_t i) {
  return (Unsigned<T>(a) >> i & 1) != 0;
}

template <class T>
std::vector<T> operands() {
  std::vector<T> values = integer_values<T>();
  Random random(3);
  for (int i = 0; i < 100; ++i) values.push_back(random.integer<T>());
  return values;
}

template <class T>
class BitsTest : public testing::Test {};
using BitTypes = testing::Types<int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(BitsTest, BitTypes);

TYPED_TEST(BitsTest, ShiftsBeyondTheWidthClamp) {
  using T = TypeParam;
  for (T a : operands<T>()) {
    const bool fill = std::is_signed_v<T> && bit(a, kBits<T> - 1);
    for (uint32_t n : amounts()) {
      Unsigned<T> left = 0, right = 0;
      for (uint64_t i = 0; i < kBits<T>; ++i) {
        if (i >= n && bit(a, static_cast<uint32_t>(i - n))) left |= Unsigned<T>(Unsigned<T>(1) << i);
        const bool from = i + n < kBits<T> ? bit(a, static_cast<uint32_t>(i + n)) : fill;
        if (from) right |= Unsigned<T>(Unsigned<T>(1) << i);
      }
      ASSERT_EQ(shl(a, n), static_cast<T>(left)) << +a << " << " << n;
      ASSERT_EQ(shr(a, n), static_cast<T>(right)) << +a << " >> " << n;
    }
  }
}

TYPED_TEST(BitsTest, CnotSelpSlct) {
  using T = TypeParam;
  EXPECT_EQ(cnot(T(0)), T(1));
  EXPECT_EQ(cnot(std::numeric_limits<T>::max()), T(0));
  EXPECT_EQ(selp(T(1), T(2), true), T(1));
  EXPECT_EQ(selp(T(1), T(2), false), T(2));
  EXPECT_EQ(slct(T(1), T(2), 0), T(1));
  EXPECT_EQ(slct(T(1), T(2), INT32_MAX), T(1));
  EXPECT_EQ(slct(T(1), T(2), -1), T(2));
  EXPECT_EQ(slct(T(1), T(2), INT32_MIN), T(2));
}

template <class T>
class WordTest : public testing::Test {};
using WordTypes = testing::Types<int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(WordTest, WordTypes);

TYPED_TEST(WordTest, CountsAndSearches) {
  using T = TypeParam;
  for (T a : operands<T>()) {
    uint32_t ones = 0, zeros = 0, found = 0xffffffffu;
    Unsigned<T> reversed = 0;
    const bool sign = std::is_signed_v<T> && bit(a, kBits<T> - 1);
    for (uint32_t i = 0; i < kBits<T>; ++i) {
      ones += bit(a, i);
      zeros = bit(a, i) ? 0 : zeros + 1;
      if (bit(a, i) != sign) found = i;
      if (bit(a, kBits<T> - 1 - i)) reversed |= Unsigned<T>(1) << i;
    }
    ASSERT_EQ(popc(a), ones);
    ASSERT_EQ(clz(a), zeros);
    ASSERT_EQ(bfind(a), found) << a;
    ASSERT_EQ(bfind_shiftamt(a), found == 0xffffffffu ? found : kBits<T> - 1 - found);
    ASSERT_EQ(brev(a), static_cast<T>(reversed));
  }
}

TYPED_TEST(WordTest, BitFields) {
  using T = TypeParam;
  using U = Unsigned<T>;
  const std::vector<T> values = operands<T>();
  constexpr uint32_t kTop = kBits<T> - 1;
  for (size_t v = 0; v < values.size(); ++v) {
    const T a = values[v];
    const U base = static_cast<U>(values[(v * 7 + 3) % values.size()]);
    for (uint32_t b : amounts())
      for (uint32_t c : amounts()) {
        const uint32_t position = b & 0xff, length = c & 0xff;
        const bool sign = std::is_signed_v<T> && length != 0 && bit(a, std::min(position + length - 1, kTop));
        U extracted = 0, inserted = base;
        for (uint32_t i = 0; i <= kTop; ++i) {
          const bool inside = i < length && position + i <= kTop;
          if (inside ? bit(a, position + i) : sign) extracted |= U{1} << i;
          if (inside) {
            inserted &= ~(U{1} << (position + i));
            if (bit(a, i)) inserted |= U{1} << (position + i);
          }
        }
        ASSERT_EQ(bfe(a, b, c), static_cast<T>(extracted)) << a << " " << b << " " << c;
        ASSERT_EQ(bfi(static_cast<U>(a), base, b, c), inserted) << a << " " << b << " " << c;
      }
  }
}

TEST(Bits, FunnelShifts) {
  const std::vector<uint32_t> values = operands<uint32_t>();
  for (size_t i = 0; i + 1 < values.size(); ++i) {
    const uint32_t a = values[i], b = values[i + 1];
    const uint128 whole = uint128{b} << 32 | a;
    for (uint32_t c : amounts()) {
      const uint32_t clamp = std::min(c, 32u), wrap = c % 32;
      ASSERT_EQ(shf_l_clamp(a, b, c), static_cast<uint32_t>(whole << clamp >> 32));
      ASSERT_EQ(shf_l_wrap(a, b, c), static_cast<uint32_t>(whole << wrap >> 32));
      ASSERT_EQ(shf_r_clamp(a, b, c), static_cast<uint32_t>(whole >> clamp));
      ASSERT_EQ(shf_r_wrap(a, b, c), static_cast<uint32_t>(whole >> wrap));
    }
  }
}

uint32_t lop3_by_bits(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (uint32_t i = 0; i < 32; ++i) {
    const uint32_t row = uint32_t{bit(a, i)} * 4 + uint32_t{bit(b, i)} * 2 + uint32_t{bit(c, i)};
    result |= (table >> row & 1) << i;
  }
  return result;
}

TEST(Bits, Lop3AllTables) {
  Random random(4);
  for (uint32_t table = 0; table < 256; ++table)
    for (int i = 0; i < 20; ++i) {
      const auto a = random.integer<uint32_t>(), b = random.integer<uint32_t>(),
                 c = random.integer<uint32_t>();
      ASSERT_EQ(lop3(a, b, c, table), lop3_by_bits(a, b, c, table)) << table;
    }
  const uint32_t a = 0x0f0f5533u, b = 0x33cc6699u, c = 0x12345678u;
  EXPECT_EQ((lop3<0x80>(a, b, c)), a & b & c);
  EXPECT_EQ((lop3<0x96>(a, b, c)), a ^ b ^ c);
  EXPECT_EQ((lop3<0xea>(a, b, c)), (a & b) | c);
  EXPECT_EQ((lop3<0x1a>(a, b, c)), ((a & b) | c) ^ a);  // the manual's example
}

TEST(Bits, Bmsk) {
  for (uint32_t a : amounts())
    for (uint32_t b : amounts()) {
      uint32_t clamp = 0, wrap = 0;
      for (uint64_t i = 0; i < 32; ++i) {
        clamp |= uint32_t{i >= a && i < uint64_t{a} + b} << i;
        wrap |= uint32_t{i >= a % 32 && i < uint64_t{a % 32} + b % 32} << i;
      }
      ASSERT_EQ(bmsk_clamp(a, b), clamp) << a << " " << b;
      ASSERT_EQ(bmsk_wrap(a, b), wrap) << a << " " << b;
    }
}

TEST(Bits, Szext) {
  for (uint32_t a : operands<uint32_t>())
    for (uint32_t b : amounts()) {
      const auto extended = [a](uint32_t n, bool is_signed) {
        uint32_t result = 0;
        for (uint32_t i = 0; i < 32; ++i)
          if (n != 0 && (i < n ? bit(a, i) : is_signed && n < 32 && bit(a, n - 1))) result |= 1u << i;
        return result;
      };
      ASSERT_EQ(szext_clamp(a, b), extended(std::min(b, 32u), false));
      ASSERT_EQ(szext_wrap(a, b), extended(b % 32, false));
      ASSERT_EQ(szext_clamp(static_cast<int32_t>(a), b),
                static_cast<int32_t>(extended(std::min(b, 32u), true)));
      ASSERT_EQ(szext_wrap(static_cast<int32_t>(a), b), static_cast<int32_t>(extended(b % 32, true)));
    }
}

TEST(Bits, Fns) {
  EXPECT_EQ(fns(0xaaaaaaaau, 3, 1), 3u);  // the manual's examples
  EXPECT_EQ(fns(0xaaaaaaaau, 3, -1), 3u);
  EXPECT_EQ(fns(0xaaaaaaaau, 2, 1), 3u);
  EXPECT_EQ(fns(0xaaaaaaaau, 2, -1), 1u);
  EXPECT_EQ(fns(0xaaaaaaaau, 3, 0), 3u);
  EXPECT_EQ(fns(0xaaaaaaaau, 2, 0), 0xffffffffu);
  EXPECT_EQ(fns(0xffffffffu, 0, 32), 31u);
  EXPECT_EQ(fns(0xffffffffu, 0, 33), 0xffffffffu);
  EXPECT_EQ(fns(0xffffffffu, 31, INT32_MIN), 0xffffffffu);
  EXPECT_EQ(fns(0xffffffffu, 32, 1), 0xffffffffu);
}

TEST(Bits, PrmtGenericAndModes) {
  const uint32_t a = 0x83828180u, b = 0x07060504u;  // byte i of b:a is i, with the top bit set below 4
  EXPECT_EQ(prmt(a, b, 0x3210), a);
  EXPECT_EQ(prmt(a, b, 0x7654), b);
  EXPECT_EQ(prmt(a, b, 0x0123), 0x80818283u);
  EXPECT_EQ(prmt(a, b, 0xf0c8), 0x008000ffu);  // signs of bytes 7 and 4, byte 0, sign of byte 0
  EXPECT_EQ(prmt(a, b, 0xffff3210), a) << "only 16 bits select";
  // d.b3 .. d.b0 by c[1:0], as in the manual's table.
  const auto numbers = [](uint32_t d) { return d & 0x07070707u; };
  EXPECT_EQ(numbers(prmt(a, b, 1, PrmtMode::f4e)), 0x04030201u);
  EXPECT_EQ(numbers(prmt(a, b, 0, PrmtMode::b4e)), 0x05060700u);
  EXPECT_EQ(numbers(prmt(a, b, 2, PrmtMode::b4e)), 0x07000102u);
  EXPECT_EQ(numbers(prmt(a, b, 2, PrmtMode::rc8)), 0x02020202u);
  EXPECT_EQ(numbers(prmt(a, b, 1, PrmtMode::ecl)), 0x03020101u);
  EXPECT_EQ(numbers(prmt(a, b, 2, PrmtMode::ecl)), 0x03020202u);
  EXPECT_EQ(numbers(prmt(a, b, 1, PrmtMode::ecr)), 0x01010100u);
  EXPECT_EQ(numbers(prmt(a, b, 2, PrmtMode::ecr)), 0x02020100u);
  EXPECT_EQ(numbers(prmt(a, b, 1, PrmtMode::rc16)), 0x03020302u);
  EXPECT_EQ(numbers(prmt(a, b, 6, PrmtMode::rc16)), 0x01000100u) << "only the two low bits count";
}

TEST(Bits, SlctByFloat) {
  const auto picks_a = [](uint32_t c) { return slct_f32(1, 2, c) == 1; };
  EXPECT_TRUE(picks_a(0x00000000u));
  EXPECT_TRUE(picks_a(0x80000000u)) << "-0 is zero";
  EXPECT_TRUE(picks_a(0x00000001u));
  EXPECT_TRUE(picks_a(0x7f800000u));
  EXPECT_FALSE(picks_a(0x80000001u));
  EXPECT_FALSE(picks_a(0xff800000u));
  EXPECT_FALSE(picks_a(0x7fc00000u)) << "NaN selects b";
  EXPECT_FALSE(picks_a(0xffc00000u));
  EXPECT_EQ((slct_f32<int, true>(1, 2, 0x807fffffu)), 1) << ".ftz makes it zero";
  EXPECT_EQ((slct_f32<int, true>(1, 2, 0x80800000u)), 2);
}

}  // namespace
}  // namespace fullwarp::exec::sem::test

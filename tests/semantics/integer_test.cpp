// Integer arithmetic against 128-bit arithmetic.
#include "exec/semantics/integer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "values.h"

namespace fullwarp::exec::sem::test {
namespace {

template <class T>
class IntegerTest : public testing::Test {
 protected:
  // Calls check(a, b, c) for edge triples and random ones.
  template <class F>
  static void for_operands(F check) {
    const std::vector<T> values = integer_values<T>();
    for (T a : values)
      for (T b : values)
        for (T c : {values[0], values[5], T(0), std::numeric_limits<T>::max(), std::numeric_limits<T>::min()})
          check(a, b, c);
    Random random(1);
    for (int i = 0; i < 20000; ++i) check(random.integer<T>(), random.integer<T>(), random.integer<T>());
  }

  static int128 exact(T a) { return a; }
};

using IntegerTypes = testing::Types<int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(IntegerTest, IntegerTypes);

TYPED_TEST(IntegerTest, AddSubNegAbsWrap) {
  using T = TypeParam;
  this->for_operands([this](T a, T b, T) {
    ASSERT_EQ(add(a, b), static_cast<T>(this->exact(a) + b));
    ASSERT_EQ(sub(a, b), static_cast<T>(this->exact(a) - b));
    ASSERT_EQ(neg(a), static_cast<T>(-this->exact(a)));
    ASSERT_EQ(abs(a), static_cast<T>(a < 0 ? -this->exact(a) : this->exact(a)));
  });
}

TYPED_TEST(IntegerTest, ProductsHaveLowHighAndWideForms) {
  using T = TypeParam;
  this->for_operands([](T a, T b, T c) {
    // Two's complement products of 64-bit operands fit 128 bits in either signedness.
    const uint128 product = static_cast<uint128>(a) * static_cast<uint128>(b);
    const T low = static_cast<T>(product), high = static_cast<T>(product >> kBits<T>);
    ASSERT_EQ(mul_lo(a, b), low);
    ASSERT_EQ(mul_hi(a, b), high);
    ASSERT_EQ(mad_lo(a, b, c), static_cast<T>(static_cast<uint128>(low) + static_cast<uint128>(c)));
    ASSERT_EQ(mad_hi(a, b, c), static_cast<T>(static_cast<uint128>(high) + static_cast<uint128>(c)));
    ASSERT_TRUE(mul_wide(a, b) == static_cast<Wide<T>>(product));
    if constexpr (sizeof(T) < 8) {
      ASSERT_EQ(mad_wide(a, b, Wide<T>(c)), static_cast<Wide<T>>(product + static_cast<uint128>(c)));
    }
  });
}

TYPED_TEST(IntegerTest, DivisionTruncatesAndZeroDivisorsGiveAllOnes) {
  using T = TypeParam;
  this->for_operands([this](T a, T b, T) {
    const T quotient = b == 0 ? T(-1) : static_cast<T>(this->exact(a) / this->exact(b));
    const T remainder = b == 0 ? T(-1) : static_cast<T>(this->exact(a) % this->exact(b));
    ASSERT_EQ(div(a, b), quotient) << +a << " / " << +b;
    ASSERT_EQ(rem(a, b), remainder) << +a << " % " << +b;
  });
}

template <class T>
void expect_least_over_minus_one() {
  const T least = std::numeric_limits<T>::min();
  EXPECT_EQ(div(least, T(-1)), least);
  EXPECT_EQ(rem(least, T(-1)), T(0));
}

TEST(Integer, LeastOverMinusOneIsItselfWithoutRemainder) {
  expect_least_over_minus_one<int16_t>();
  expect_least_over_minus_one<int32_t>();
  expect_least_over_minus_one<int64_t>();
}

TYPED_TEST(IntegerTest, MinMaxSad) {
  using T = TypeParam;
  this->for_operands([this](T a, T b, T c) {
    const int128 x = this->exact(a), y = this->exact(b);
    ASSERT_EQ(min(a, b), static_cast<T>(x < y ? x : y));
    ASSERT_EQ(max(a, b), static_cast<T>(x < y ? y : x));
    ASSERT_EQ(sad(a, b, c), static_cast<T>((x < y ? y - x : x - y) + c));
    if constexpr (std::is_signed_v<T>) {
      const int128 least = x < y ? x : y, most = x < y ? y : x;
      ASSERT_EQ(min_relu(a, b), static_cast<T>(least < 0 ? 0 : least));
      ASSERT_EQ(max_relu(a, b), static_cast<T>(most < 0 ? 0 : most));
    }
  });
}

TYPED_TEST(IntegerTest, CarriesChainLikeOneWideNumber) {
  using T = TypeParam;
  if constexpr (sizeof(T) >= 4) {
    using U = Unsigned<T>;
    this->for_operands([](T a, T b, T c) {
      const uint128 product = static_cast<uint128>(a) * static_cast<uint128>(b);
      const U low = static_cast<U>(product), high = static_cast<U>(product >> kBits<T>);
      for (uint32_t carry : {0u, 1u}) {
        const uint128 sum = uint128{U(a)} + U(b) + carry;
        ASSERT_EQ(addc(a, b, carry), static_cast<T>(sum));
        ASSERT_EQ(addc_carry(a, b, carry), static_cast<uint32_t>(sum >> kBits<T>));
        const int128 difference = int128{U(a)} - int128{U(b)} - int128{carry};
        ASSERT_EQ(subc(a, b, carry), static_cast<T>(difference));
        ASSERT_EQ(subc_carry(a, b, carry), difference < 0 ? 1u : 0u);
        const uint128 lo_sum = uint128{low} + U(c) + carry, hi_sum = uint128{high} + U(c) + carry;
        ASSERT_EQ(madc_lo(a, b, c, carry), static_cast<T>(lo_sum));
        ASSERT_EQ(madc_lo_carry(a, b, c, carry), static_cast<uint32_t>(lo_sum >> kBits<T>));
        ASSERT_EQ(madc_hi(a, b, c, carry), static_cast<T>(hi_sum));
        ASSERT_EQ(madc_hi_carry(a, b, c, carry), static_cast<uint32_t>(hi_sum >> kBits<T>));
      }
    });
  }
}

// ---- forms of 32 bits only ----

template <class F>
void for_s32(F check) {
  const std::vector<int32_t> values = integer_values<int32_t>();
  for (int32_t a : values)
    for (int32_t b : values)
      for (int32_t c : {0, 1, -1, INT32_MAX, INT32_MIN, 0x12345678}) check(a, b, c);
  Random random(2);
  for (int i = 0; i < 50000; ++i)
    check(random.integer<int32_t>(), random.integer<int32_t>(), random.integer<int32_t>());
}

int32_t clamped(int64_t x) {
  return static_cast<int32_t>(x < INT32_MIN ? INT32_MIN : (x > INT32_MAX ? INT32_MAX : x));
}

int32_t sign_extended_24(int32_t a) {
  const uint32_t low = static_cast<uint32_t>(a) & 0xffffffu;
  return low & 0x800000u ? static_cast<int32_t>(low) - (1 << 24) : static_cast<int32_t>(low);
}

TEST(Integer32, SaturatingFormsClamp) {
  for_s32([](int32_t a, int32_t b, int32_t c) {
    ASSERT_EQ(add_sat(a, b), clamped(int64_t{a} + b));
    ASSERT_EQ(sub_sat(a, b), clamped(int64_t{a} - b));
    ASSERT_EQ(mad_hi_sat(a, b, c), clamped((int64_t{a} * b >> 32) + c));
    const int64_t product = int64_t{sign_extended_24(a)} * sign_extended_24(b);
    ASSERT_EQ(mad24_hi_sat(a, b, c), clamped(int64_t{static_cast<int32_t>(product >> 16)} + c));
  });
}

TEST(Integer32, TwentyFourBitForms) {
  for_s32([](int32_t a, int32_t b, int32_t c) {
    const int64_t product = int64_t{sign_extended_24(a)} * sign_extended_24(b);
    ASSERT_EQ(mul24_lo(a, b), static_cast<int32_t>(product));
    ASSERT_EQ(mul24_hi(a, b), static_cast<int32_t>(product >> 16));
    ASSERT_EQ(mad24_lo(a, b, c), static_cast<int32_t>(product + c));
    ASSERT_EQ(mad24_hi(a, b, c), static_cast<int32_t>((product >> 16) + c));
    const uint32_t ua = static_cast<uint32_t>(a), ub = static_cast<uint32_t>(b);
    const uint64_t uproduct = uint64_t{ua % (1u << 24)} * (ub % (1u << 24));
    ASSERT_EQ(mul24_lo(ua, ub), static_cast<uint32_t>(uproduct));
    ASSERT_EQ(mul24_hi(ua, ub), static_cast<uint32_t>(uproduct >> 16));
    ASSERT_EQ(mad24_hi(ua, ub, 7u), static_cast<uint32_t>((uproduct >> 16) + 7));
  });
}

TEST(Integer32, PackedHalvesDoNotTouchEachOther) {
  for_s32([](int32_t sa, int32_t sb, int32_t) {
    const uint32_t a = static_cast<uint32_t>(sa), b = static_cast<uint32_t>(sb);
    for (unsigned shift : {0u, 16u}) {
      const auto ua = static_cast<uint16_t>(a >> shift), ub = static_cast<uint16_t>(b >> shift);
      const auto ha = static_cast<int16_t>(ua), hb = static_cast<int16_t>(ub);
      const auto half = [shift](uint32_t x) { return static_cast<uint16_t>(x >> shift); };
      ASSERT_EQ(half(add_x2(a, b)), (ua + ub) & 0xffff);
      ASSERT_EQ(half(min_x2<uint16_t>(a, b)), std::min(ua, ub));
      ASSERT_EQ(half(max_x2<uint16_t>(a, b)), std::max(ua, ub));
      ASSERT_EQ(half(min_x2<int16_t>(a, b)), static_cast<uint16_t>(std::min(ha, hb)));
      ASSERT_EQ(half(max_x2<int16_t>(a, b)), static_cast<uint16_t>(std::max(ha, hb)));
      ASSERT_EQ(half(min_relu_s16x2(a, b)), std::max(0, int{std::min(ha, hb)}));
      ASSERT_EQ(half(max_relu_s16x2(a, b)), std::max(0, int{std::max(ha, hb)}));
    }
  });
}

TEST(Integer32, DotProducts) {
  for_s32([](int32_t sa, int32_t sb, int32_t sc) {
    const uint32_t a = static_cast<uint32_t>(sa), b = static_cast<uint32_t>(sb),
                   c = static_cast<uint32_t>(sc);
    int64_t uu = 0, ss = 0, us = 0;
    for (int i = 0; i < 4; ++i) {
      const int64_t ua = a >> 8 * i & 255, ub = b >> 8 * i & 255;
      const int64_t ia = ua - (ua > 127 ? 256 : 0), ib = ub - (ub > 127 ? 256 : 0);
      uu += ua * ub, ss += ia * ib, us += ua * ib;
    }
    ASSERT_EQ((dp4a<uint8_t, uint8_t>(a, b, c)), static_cast<uint32_t>(c + uu));
    ASSERT_EQ((dp4a<int8_t, int8_t>(a, b, c)), static_cast<uint32_t>(c + ss));
    ASSERT_EQ((dp4a<uint8_t, int8_t>(a, b, c)), static_cast<uint32_t>(c + us));
    for (int hi = 0; hi < 2; ++hi) {
      int64_t su = 0;
      int64_t uu2 = 0;
      for (int i = 0; i < 2; ++i) {
        const int64_t ua = a >> 16 * i & 0xffff, ub = b >> (16 * hi + 8 * i) & 255;
        su += (ua - (ua > 32767 ? 65536 : 0)) * ub;
        uu2 += ua * ub;
      }
      const uint32_t got =
          hi ? dp2a<int16_t, uint8_t, true>(a, b, c) : dp2a<int16_t, uint8_t, false>(a, b, c);
      ASSERT_EQ(got, static_cast<uint32_t>(c + su));
      const uint32_t got_u =
          hi ? dp2a<uint16_t, uint8_t, true>(a, b, c) : dp2a<uint16_t, uint8_t, false>(a, b, c);
      ASSERT_EQ(got_u, static_cast<uint32_t>(c + uu2));
    }
  });
}

}  // namespace
}  // namespace fullwarp::exec::sem::test

// Comparisons by their definition in the manual, for numbers and NaN.
#include "exec/semantics/compare.h"

#include <gtest/gtest.h>

#include <cmath>

#include "exec/semantics/half.h"
#include "values.h"

namespace fullwarp::exec::sem::test {
namespace {

template <class F, class Get>
void check_floats(const std::vector<F>& values, Get get) {
  for (F a : values)
    for (F b : values) {
      const double x = a, y = b;
      const bool nan = std::isnan(x) || std::isnan(y);
      const bool table[][2] = {
          {get.template operator()<Cmp::eq>(a, b), !nan && x == y},
          {get.template operator()<Cmp::ne>(a, b), !nan && x != y},
          {get.template operator()<Cmp::lt>(a, b), !nan && x < y},
          {get.template operator()<Cmp::le>(a, b), !nan && x <= y},
          {get.template operator()<Cmp::gt>(a, b), !nan && x > y},
          {get.template operator()<Cmp::ge>(a, b), !nan && x >= y},
          {get.template operator()<Cmp::equ>(a, b), nan || x == y},
          {get.template operator()<Cmp::neu>(a, b), nan || x != y},
          {get.template operator()<Cmp::ltu>(a, b), nan || x < y},
          {get.template operator()<Cmp::leu>(a, b), nan || x <= y},
          {get.template operator()<Cmp::gtu>(a, b), nan || x > y},
          {get.template operator()<Cmp::geu>(a, b), nan || x >= y},
          {get.template operator()<Cmp::num>(a, b), !nan},
          {get.template operator()<Cmp::nan>(a, b), nan},
      };
      for (const auto& row : table) ASSERT_EQ(row[0], row[1]) << x << " " << y << " row " << &row - table;
    }
}

TEST(Compare, Floats) {
  check_floats(f32_values(), []<Cmp kCmp>(float a, float b) { return compare<kCmp>(a, b); });
  check_floats(f64_values(), []<Cmp kCmp>(double a, double b) { return compare<kCmp>(a, b); });
}

TEST(Compare, Halves) {
  std::vector<float> values;  // compared as themselves, passed as bits
  for (uint16_t h : f16_values()) values.push_back(f32_from_f16(h));
  check_floats(
      values, []<Cmp kCmp>(float a, float b) { return compare_f16<kCmp>(f16_from_f32(a), f16_from_f32(b)); });
  values.clear();
  for (uint16_t h : bf16_values()) values.push_back(f32_from_bf16(h));
  check_floats(values, []<Cmp kCmp>(float a, float b) {
    return compare_bf16<kCmp>(bf16_from_f32(a), bf16_from_f32(b));
  });
}

TEST(Compare, FlushMakesSubnormalsEqualToZero) {
  const float tiny = as_f32(0x00000001);
  EXPECT_FALSE((compare_f32<Cmp::eq>(tiny, 0.0f)));
  EXPECT_TRUE((compare_f32<Cmp::eq, true>(tiny, 0.0f)));
  EXPECT_FALSE((compare_f32<Cmp::lt, true>(-tiny, 0.0f)));
  EXPECT_TRUE((compare_f16<Cmp::eq, true>(0x0001, 0x8000)));
}

TEST(Compare, IntegersBySignednessOfTypeOrOperator) {
  for (int32_t a : integer_values<int32_t>())
    for (int32_t b : integer_values<int32_t>()) {
      const auto ua = static_cast<uint32_t>(a), ub = static_cast<uint32_t>(b);
      const int64_t x = a, y = b, ux = ua, uy = ub;
      ASSERT_EQ(compare<Cmp::eq>(a, b), x == y);
      ASSERT_EQ(compare<Cmp::ne>(a, b), x != y);
      ASSERT_EQ(compare<Cmp::lt>(a, b), x < y);
      ASSERT_EQ(compare<Cmp::le>(a, b), x <= y);
      ASSERT_EQ(compare<Cmp::gt>(a, b), x > y);
      ASSERT_EQ(compare<Cmp::ge>(a, b), x >= y);
      ASSERT_EQ(compare<Cmp::lt>(ua, ub), ux < uy);
      ASSERT_EQ(compare<Cmp::lo>(a, b), ux < uy);
      ASSERT_EQ(compare<Cmp::ls>(a, b), ux <= uy);
      ASSERT_EQ(compare<Cmp::hi>(a, b), ux > uy);
      ASSERT_EQ(compare<Cmp::hs>(a, b), ux >= uy);
    }
}

TEST(Compare, CombineAndSet) {
  for (bool t : {false, true})
    for (bool c : {false, true}) {
      EXPECT_EQ(combine<BoolOp::and_>(t, c), t && c);
      EXPECT_EQ(combine<BoolOp::or_>(t, c), t || c);
      EXPECT_EQ(combine<BoolOp::xor_>(t, c), t != c);
    }
  EXPECT_EQ(set_integer(true), 0xffffffffu);
  EXPECT_EQ(set_integer(false), 0u);
  EXPECT_EQ(as_f32(set_f32(true)), 1.0f);
  EXPECT_EQ(set_f32(false), 0u);
  EXPECT_EQ(f32_from_f16(set_f16(true)), 1.0f);
  EXPECT_EQ(f32_from_bf16(set_bf16(true)), 1.0f);
}

}  // namespace
}  // namespace fullwarp::exec::sem::test

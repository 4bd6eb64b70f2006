// Numbers and constant expressions, against values worked out by hand.
#include <bit>

#include "test_module.h"

namespace fullwarp::ptx {
namespace {

int64_t value_of(const std::string& text) {
  Module module = parsed_body("mov.b64 %rd1, " + text + ";");
  const Operand& operand_1 = operand(module, 1);
  EXPECT_EQ(operand_1.kind, Operand::Kind::imm) << text;
  return operand_1.value;
}

TEST(Constants, Integers) {
  EXPECT_EQ(value_of("0"), 0);
  EXPECT_EQ(value_of("42"), 42);
  EXPECT_EQ(value_of("42U"), 42);
  EXPECT_EQ(value_of("-7"), -7);
  EXPECT_EQ(value_of("0x7f"), 127);
  EXPECT_EQ(value_of("0XfF"), 255);
  EXPECT_EQ(value_of("017"), 15);
  EXPECT_EQ(value_of("0b101"), 5);
  EXPECT_EQ(value_of("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(value_of("18446744073709551615"), -1);
  EXPECT_EQ(value_of("WARP_SZ"), 32);
}

TEST(Constants, Expressions) {
  EXPECT_EQ(value_of("1+2*3"), 7);
  EXPECT_EQ(value_of("(1+2)*3"), 9);
  EXPECT_EQ(value_of("1<<4|1"), 17);
  EXPECT_EQ(value_of("-8>>1"), -4);
  EXPECT_EQ(value_of("7%4-1"), 2);
  EXPECT_EQ(value_of("~0"), -1);
  EXPECT_EQ(value_of("!5"), 0);
  EXPECT_EQ(value_of("3>2?10:20"), 10);
  EXPECT_EQ(value_of("-1<0U"), 0);  // unsigned: -1 is the largest
  EXPECT_EQ(value_of("(.s64)5"), 5);
  EXPECT_EQ(value_of("WARP_SZ-1"), 31);
  EXPECT_EQ(value_of("(-9223372036854775807-1)/-1"), INT64_MIN);  // wraps, does not trap
  EXPECT_EQ(value_of("-9223372036854775808/-1"), 0);  // too large for .s64, so unsigned: 2^63 / (2^64 - 1)
  EXPECT_EQ(value_of("7 %4"), 3);
}

TEST(Constants, Floats) {
  Module module =
      parsed_body("mov.f32 %f1, 0f3F800000; mov.f64 %rd1, 0d3FF0000000000000; mov.f32 %f1, -1.5e+2;");
  EXPECT_TRUE(operand(module, 1, 0).is_float);
  EXPECT_EQ(operand(module, 1, 0).float_type, Type::f32);
  EXPECT_EQ(operand(module, 1, 0).value, 0x3f800000);
  EXPECT_EQ(operand(module, 1, 1).float_type, Type::f64);
  EXPECT_EQ(std::bit_cast<double>(operand(module, 1, 1).value), 1.0);
  EXPECT_EQ(operand(module, 1, 2).float_type, Type::f64);
  EXPECT_EQ(std::bit_cast<double>(operand(module, 1, 2).value), -150.0);
}

}  // namespace
}  // namespace fullwarp::ptx

// Variables and what initialisers put into them, against bytes written out by hand.
#include <cstring>

#include "test_module.h"

namespace fullwarp::ptx {
namespace {

std::vector<int> bytes_of(const Variable& variable) {
  std::vector<int> result;
  for (std::byte b : variable.init) result.push_back(static_cast<int>(b));
  return result;
}

TEST(Variables, SpacesSizesAndAlignment) {
  Module module = parsed(
      ".visible .global .align 16 .b8 a[100];\n.const .v4 .f32 b[2];\n.extern .shared .align 8 .b8 dyn[];\n"
      ".global .attribute(.managed) .u64 m;\n.weak .global .u16 c, d[3][5];\n"
      ".entry k() { .shared .f64 s[4]; .local .align 8 .b8 depot[24]; ret; }\n");
  auto& v = module.variables;
  ASSERT_EQ(v.size(), 8u);
  EXPECT_EQ(v[0].bytes, 100u);
  EXPECT_EQ(v[0].align, 16u);
  EXPECT_EQ(v[1].bytes, 32u);
  EXPECT_EQ(v[1].align, 16u);
  EXPECT_EQ(v[1].space, Space::const_);
  EXPECT_TRUE(v[2].external && v[2].array);
  EXPECT_EQ(v[2].bytes, 0u);
  EXPECT_TRUE(v[3].managed);
  EXPECT_EQ(v[4].bytes, 2u);
  EXPECT_EQ(v[5].bytes, 30u);
  EXPECT_EQ(v[6].function, 0);
  EXPECT_EQ(v[7].space, Space::local);
  EXPECT_EQ(module.functions[0].variables, (std::vector<int32_t>{6, 7}));
  EXPECT_EQ(module.find_variable("d"), 5);
  EXPECT_EQ(module.find_variable("s"), -1);
}

TEST(Variables, InitialBytes) {
  Module module = parsed(
      ".global .u32 a = 0x01020304;\n.global .u16 b[2][2] = {{1}, {2, 3}};\n.global .b8 c[4] = {-1, 0x10, "
      "7};\n"
      ".global .f32 d[2] = {0f3F800000, 2.0};\n.global .s8 e[] = {1, 2, 3};\n.global .b8 f[8] = "
      "\"a\\n\\101\";\n"
      ".const .f64 g = 1;\n");
  auto& v = module.variables;
  EXPECT_EQ(bytes_of(v[0]), (std::vector<int>{4, 3, 2, 1}));
  EXPECT_EQ(bytes_of(v[1]), (std::vector<int>{1, 0, 0, 0, 2, 0, 3, 0}));
  EXPECT_EQ(bytes_of(v[2]), (std::vector<int>{255, 16, 7}));  // the rest is zero
  EXPECT_EQ(bytes_of(v[3]), (std::vector<int>{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}));
  EXPECT_EQ(v[4].bytes, 3u);
  EXPECT_EQ(bytes_of(v[5]), (std::vector<int>{'a', '\n', 'A', 0}));
  double one;
  ASSERT_EQ(v[6].init.size(), 8u);
  std::memcpy(&one, v[6].init.data(), 8);
  EXPECT_EQ(one, 1.0);
}

TEST(Variables, AddressesInInitialisers) {
  Module module = parsed(
      ".global .u32 x[4];\n.func f();\n.global .u64 p[4] = {x, generic(x)+8, f, 0};\n"
      ".global .b8 s[9] = {7, 0xFF(generic(x)), 0xFF00(generic(x)), 0xFF0000(generic(x)), "
      "0xFF000000(generic(x)),\n"
      "0xFF00000000(generic(x)), 0xFF0000000000(generic(x)), 0xFF000000000000(generic(x)), "
      "0xFF00000000000000(generic(x))};\n.func f() { ret; }\n");
  auto& p = module.variables[1].relocations;
  ASSERT_EQ(p.size(), 3u);
  EXPECT_EQ(p[0].variable, 0);
  EXPECT_FALSE(p[0].generic);
  EXPECT_EQ(p[1].offset, 8u);
  EXPECT_EQ(p[1].addend, 8);
  EXPECT_TRUE(p[1].generic);
  EXPECT_EQ(p[2].function, 0);
  EXPECT_EQ(module.variables[1].init.size(), 32u);
  auto& s = module.variables[2].relocations;
  ASSERT_EQ(s.size(), 1u);  // eight bytes of one address are one
  EXPECT_EQ(s[0].offset, 1u);
  EXPECT_EQ(s[0].size_bytes, 8u);
  EXPECT_EQ(s[0].shift_bytes, 0);
}

TEST(Variables, AnExternalVariableAndItsDefinitionAreOne) {
  Module module = parsed(".extern .global .u32 x;\n.global .u32 x = 5;\n.extern .global .u32 x;\n");
  ASSERT_EQ(module.variables.size(), 1u);
  EXPECT_FALSE(module.variables[0].external);
  EXPECT_EQ(module.variables[0].init.size(), 4u);
}

}  // namespace
}  // namespace fullwarp::ptx

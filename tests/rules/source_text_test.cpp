// What is read from the source's text: declarations, constants, parameters, operators.
#include "rules/source_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fullwarp::rules {
namespace {

using testing::ElementsAre;

diag::SourceCache cache(const std::string& text) {
  diag::SourceCache sources;
  sources.add("k.cu", text);
  return sources;
}

TEST(SourceText, FindsTheDeclarationAboveTheUse) {
  auto sources = cache(
      "#define TILE 32\n"
      "constexpr int ROWS = TILE / 4, HALO = 2;\n"
      "__global__ void f() {\n"
      "  __shared__ float a[TILE][TILE], b[ROWS * 2][TILE + HALO];\n"
      "  extern __shared__ int dynamic[];\n"
      "  int counts[16] = {};\n"
      "  a[0][1] = b[1][0] + dynamic[3] + counts[2];\n"
      "}\n");
  const auto a = find_array(sources, "k.cu", 7, "a");
  ASSERT_TRUE(a);
  EXPECT_EQ(a->line, 4u);
  EXPECT_TRUE(a->shared);
  EXPECT_EQ(a->type, "float");
  EXPECT_THAT(a->dims, ElementsAre("TILE", "TILE"));
  EXPECT_THAT(a->sizes, ElementsAre(32u, 32u));
  const auto b = find_array(sources, "k.cu", 7, "b");
  ASSERT_TRUE(b);
  EXPECT_EQ(b->type, "float");
  EXPECT_THAT(b->sizes, ElementsAre(16u, 34u));
  const auto dynamic = find_array(sources, "k.cu", 7, "dynamic");
  ASSERT_TRUE(dynamic);
  EXPECT_THAT(dynamic->dims, ElementsAre(""));
  const auto counts = find_array(sources, "k.cu", 7, "counts");
  ASSERT_TRUE(counts);
  EXPECT_FALSE(counts->shared);
  EXPECT_EQ(counts->line, 6u);
  EXPECT_FALSE(find_array(sources, "k.cu", 7, "missing"));
  EXPECT_FALSE(find_array(sources, "other.cu", 7, "a"));
}

TEST(SourceText, ConstantsThatNameEachOtherHaveNoValue) {
  auto sources = cache("#define A B + B\n#define B A + A\n");
  EXPECT_EQ(constant_value(sources, "k.cu", "A"), std::nullopt);
  EXPECT_EQ(constant_value(sources, "k.cu", "(2 + 3) * 4 - 6 / 2"), 17u);
  EXPECT_EQ(constant_value(sources, "k.cu", "1 - 2"), std::nullopt);
  EXPECT_EQ(constant_value(sources, "k.cu", "4 / 0"), std::nullopt);
  EXPECT_EQ(constant_value(sources, "k.cu", std::string(1000, '(')), std::nullopt);
}

TEST(SourceText, KnowsStructsByTheirDeclaration) {
  auto sources = cache(
      "#include \"shapes.h\"\n"
      "struct __align__(16) Particle { float x, y, z; };\n"
      "typedef struct { int left, right; } Node;\n"
      "class Ball : public Particle {};\n"
      "typedef float real;\n"
      "// struct Ghost { int x; };\n"
      "struct Opaque;\n"
      "template <class Item> __global__ void k(Item* items);\n");
  sources.add("shapes.h", "struct Circle { float x, y, r; };\n");
  for (const char* type : {"const Particle*", "Particle const *", "volatile ns::Node *", "Ball*", "float3*",
                           "const uint4 *", "struct Opaque*", "Circle*"})
    EXPECT_TRUE(is_struct(sources, "k.cu", type)) << type;
  for (const char* type : {"const float*", "real *", "Ghost*", "Item*", "unsigned char*", "half2*",
                           "Unknown*", "", "int1*", "std::vector<Particle>*"})
    EXPECT_FALSE(is_struct(sources, "k.cu", type)) << type;
}

TEST(SourceText, FindsWordsNotParts) {
  EXPECT_THAT(columns_of("a[i] = aa[i] + a[j];  // a", "a"), ElementsAre(1, 16));
  EXPECT_THAT(subscripted_names("out[i] = tile[j] + tile[k] + (x)[2];"), ElementsAre("out", "tile"));
}

TEST(SourceText, FindsTheDivisor) {
  const auto n = divisor_in("sum += (i * 7u + k * k) % n;", '%');
  ASSERT_TRUE(n);
  EXPECT_EQ(n->text, "n");
  EXPECT_EQ(n->column, 25u);
  EXPECT_EQ(n->end_column, 28u);
  EXPECT_EQ(divisor_in("if (tid % (2 * s) == 0)", '%')->text, "2 * s");
  EXPECT_EQ(divisor_in("i %= p->n;", '%')->text, "p->n");
  EXPECT_FALSE(divisor_in("x = a % b + c % d;", '%'));
  EXPECT_FALSE(divisor_in("x = a;  // % b", '%'));
}

}  // namespace
}  // namespace fullwarp::rules

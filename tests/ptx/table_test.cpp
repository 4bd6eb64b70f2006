// The table of instructions: in order, and the page made from it is the one in docs/.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "ptx/forms.h"
#include "ptx/names.h"
#include "ptx/table_page.h"

namespace fullwarp::ptx {
namespace {

TEST(Table, HasNoDuplicatesAndNoUnknownWords) { EXPECT_THAT(table_problems(), testing::IsEmpty()); }

TEST(Table, PageIsCurrent) {
  std::ifstream file(FULLWARP_SOURCE_DIR "/docs/instructions.md");
  std::stringstream page;
  page << file.rdbuf();
  EXPECT_EQ(page.str(), instructions_page()) << "run ptx_table_docs > docs/instructions.md";
}

TEST(Table, NamesGoBothWays) {
  for (unsigned i = 0; i < static_cast<unsigned>(Op::count); ++i)
    EXPECT_EQ(op_from(to_string(static_cast<Op>(i))), static_cast<Op>(i));
  for (unsigned i = 0; i < static_cast<unsigned>(Mod::count); ++i)
    EXPECT_EQ(mod_from(to_string(static_cast<Mod>(i))), static_cast<Mod>(i));
  for (unsigned i = 1; i < static_cast<unsigned>(Type::count); ++i)
    EXPECT_EQ(type_from(to_string(static_cast<Type>(i))), static_cast<Type>(i));
  EXPECT_FALSE(op_from("frobnicate"));
}

TEST(Table, SizesOfTypes) {
  EXPECT_EQ(size_bytes(Type::b8), 1u);
  EXPECT_EQ(size_bytes(Type::f16x2), 4u);
  EXPECT_EQ(size_bytes(Type::u64), 8u);
  EXPECT_EQ(size_bytes(Type::b128), 16u);
  EXPECT_EQ(size_bytes(Type::e4m3x2), 2u);
  EXPECT_EQ(size_bytes(Type::none), 0u);
}

}  // namespace
}  // namespace fullwarp::ptx

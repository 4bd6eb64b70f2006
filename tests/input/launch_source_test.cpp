// Launch statements in the comments of a CUDA source, and the places they name.
#include <gtest/gtest.h>

#include "input/launch.h"

namespace fullwarp::input {
namespace {

TEST(LaunchSource, FindsStatementsInComments) {
  const Result<Script> script = launches_in_source(
      "// fullwarp: in = f32[32]\n"
      "__global__ void k(float* p) { p[0] = 1'000; }  // fullwarp: k<<<1, 32>>>(in,\n"
      "int between;\n"
      "  //fullwarp:   f32[4])\n"
      "/* fullwarp:\n"
      "   print in\n"
      "   save in -> in.npy */\n",
      "k.cu");
  ASSERT_TRUE(script.ok()) << script.error().to_string();
  ASSERT_EQ(script->size(), 4u);
  EXPECT_EQ((*script)[0].line, 1u);
  EXPECT_EQ((*script)[0].column, 14u);
  EXPECT_EQ((*script)[1].line, 2u);
  EXPECT_EQ(std::get<KernelLaunch>((*script)[1].value).arguments.size(), 2u);
  EXPECT_EQ((*script)[2].line, 6u);
  EXPECT_EQ((*script)[2].column, 4u);
  EXPECT_EQ((*script)[3].file, "k.cu");
}

TEST(LaunchSource, OtherTextIsNotAStatement) {
  const Result<Script> script = launches_in_source(
      "const char* a = \"// fullwarp: a = f32[1]\\\" // fullwarp: b\";\n"
      "const char* b = R\"x(\n// fullwarp: c = f32[1]\n)x\";\n"
      "char q = '\"'; // nothing: fullwarp: d\n"
      "// fullwarp-ignore: bank-conflict on purpose\n"
      "/* see // fullwarp: e */\n"
      "k<<<1, 32>>>(p);\n",
      "k.cu");
  ASSERT_TRUE(script.ok()) << script.error().to_string();
  EXPECT_TRUE(script->empty());
}

TEST(LaunchSource, ErrorsPointIntoTheSource) {
  const Result<Script> script = launches_in_source("int x;\n  // fullwarp: in = f33[32]\n", "dir/k.cu");
  ASSERT_FALSE(script.ok());
  EXPECT_EQ(script.error().to_string(),
            "dir/k.cu:2:21: error: unknown element type `f33`\n"
            "  hint: the types are i8..i64, u8..u64, f16, bf16, f32, f64");
}

TEST(LaunchSource, UnfinishedTextIsNoTrouble) {
  for (const char* source :
       {"/* fullwarp: a = f32[1]", "\"// fullwarp: a", "R\"", "R\"abc(", "'\\", "//", "/*"}) {
    (void)launches_in_source(source, "k.cu");
  }
}

}  // namespace
}  // namespace fullwarp::input

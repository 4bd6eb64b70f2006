// What a wrong launch statement says: every row is an input and its whole message.
#include <gtest/gtest.h>

#include "input/launch.h"

namespace fullwarp::input {
namespace {

struct BadInput {
  const char* text;
  const char* message;
};

constexpr BadInput kBadInputs[] = {
    {"in", "t:1:3: error: expected `=` or `<<<` after `in`, found the end"},
    {"in f32[4]", "t:1:4: error: expected `=` or `<<<` after `in`, found `f32`"},
    {"in = float[4]",
     "t:1:6: error: unknown element type `float`\n"
     "  hint: write `f32`; the types are i8..i64, u8..u64, f16, bf16, f32, f64"},
    {"in = f32", "t:1:9: error: expected `[`, found the end\n  hint: a buffer is written `f32[1024]`"},
    {"in = f32[", "t:1:9: error: `[` is not closed\n  hint: expected a number"},
    {"in = f32[]", "t:1:10: error: the buffer has no count\n  hint: write `f32[1024]`"},
    {"in = f32[0]", "t:1:10: error: the count must be at least 1"},
    {"in = f32[-1]", "t:1:10: error: the count must be from 0 to 9223372036854775807, this is -1"},
    {"in = f32[1.5]", "t:1:10: error: the count must be a whole number"},
    {"in = f64[1 << 40]",
     "t:1:10: error: the buffer has 1099511627776 x 8 bytes, more than 16 GiB\n"
     "  hint: use a smaller problem: what a kernel does wrong shows on a few blocks"},
    {"in = f32[1 << 64]", "t:1:12: error: a shift must be by 0 to 63"},
    {"in = f32[9999999999 * 9999999999]", "t:1:21: error: the value does not fit in 64 bits"},
    {"in = f32[1 / 0]", "t:1:12: error: division by zero"},
    {"in = f32[7 % (3 - 3)]", "t:1:12: error: remainder by zero"},
    {"in = f32[99999999999999999999]", "t:1:10: error: `99999999999999999999` does not fit in 64 bits"},
    {"in = f32[12abc]", "t:1:10: error: `12abc` is not a number"},
    {"in = f32[n]", "t:1:10: error: unknown name `n`\n  hint: define the number first: `n = 1024`"},
    {"a = f32[1]; b = f32[a]", "t:1:21: error: `a` is a buffer, a number is needed here"},
    {"in = f32[4] : ones",
     "t:1:15: error: unknown initial values `ones`\n"
     "  hint: write zero, uninit, iota, uniform(SEED), below(K, SEED) or @file.npy"},
    {"in = f32[4] : 1",
     "t:1:15: error: expected initial values, found `1`\n"
     "  hint: write zero, uninit, iota, uniform(SEED), below(K, SEED) or @file.npy"},
    {"in = u8[4] : below(257)", "t:1:20: error: the bound of below() must be from 1 to 256, this is 257"},
    {"in = i8[4] : below(129)", "t:1:20: error: the bound of below() must be from 1 to 128, this is 129"},
    {"in = f32[4] : below(0)",
     "t:1:21: error: the bound of below() must be from 1 to 18446744073709551615, this is 0"},
    {"in = f32[4] : @", "t:1:15: error: a path must follow `@`"},
    {"in = f32[4] : @\"x", "t:1:15: error: `\"` is not closed"},
    {"f32 = f32[4]", "t:1:1: error: `f32` is a type and cannot name a buffer"},
    {"a = f32[1]\nb = f32[1]\na = f32[2]", "t:3:1: error: `a` is defined twice"},
    {"k<<<32>>>(in)",
     "t:1:2: error: a launch needs a grid and a block\n  hint: write `k<<<grid, block>>>(...)`"},
    {"k<<<0, 32>>>(in)", "t:1:5: error: grid.x must be from 1 to 4294967295, this is 0"},
    {"k<<<1, (32, -1)>>>(in)", "t:1:13: error: block.y must be from 1 to 4294967295, this is -1"},
    {"k<<<1, (1, 2, 3, 4)>>>(in)", "t:1:16: error: expected `,` or `)`, found `,`"},
    {"k<<<1, 32>>>", "t:1:13: error: expected `(`, found the end"},
    {"k<<<1, 32>>>(in", "t:1:13: error: `(` is not closed\n  hint: expected `,` or `)`"},
    {"k<<<1, 32>>>(in out)", "t:1:17: error: expected `,` or `)`, found `out`"},
    {"k<<<1, 32>>>(in) in",
     "t:1:18: error: expected the end of the statement, found `in`\n"
     "  hint: separate statements with `;`"},
    {"k<<<1, 32, 0, 0, 0>>>(in)", "t:1:16: error: expected `,` or `>>>`, found `,`"},
    {"k<<<1, 32>>>({})", "t:1:14: error: the struct has no members"},
    {"k<<<1, 32>>>(ptr[]{})", "t:1:14: error: the array of pointers is empty"},
    {"k<<<1, 32>>>(ptr[]{in, 3})", "t:1:14: error: ptr[] holds buffers only\n  hint: write `ptr[]{in, out}`"},
    {"k<<<1, 32>>>(@x.npy)", "t:1:14: error: a file needs a type here\n  hint: write `f32[] : @x.npy`"},
    {"k<<<1, 32>>>(in + 1.5)", "t:1:17: error: a buffer is moved by a whole number of elements"},
    {"expect out", "t:1:11: error: expected `=` (equal) or `~` (within tolerances), found the end"},
    {"expect out = 3",
     "t:1:14: error: expected a buffer's name, `@file.npy` or a buffer such as `f32[4]:iota`, "
     "found `3`"},
    {"expect out = b (rtol 1)",
     "t:1:16: error: `=` compares for equality and takes no tolerances\n"
     "  hint: write `~` instead of `=`"},
    {"expect out ~ b (eps 1)",
     "t:1:17: error: expected `rtol` or `atol`, found `eps`\n  hint: write `(rtol 1e-5, atol 0)`"},
    {"expect out ~ b (rtol -1)", "t:1:22: error: a tolerance must not be negative"},
    {"expect out[8:8] = b", "t:1:11: error: the range is empty\n  hint: [0:8] names elements 0 to 7"},
    {"expect out = f32[4]:uniform",
     "t:1:14: error: random values to compare with need a seed\n  hint: write `uniform(7)`"},
    {"save out", "t:1:9: error: expected `->` and a path, found the end"},
    {"save out ->", "t:1:12: error: a path must follow `->`"},
    {"symbol c", "t:1:9: error: expected `=`, found the end"},
    {"symbol c = 3", "t:1:12: error: expected a buffer such as `f32[1024]`, found `3`"},
    {"print", "t:1:6: error: expected the name of a buffer, found the end"},
    {"= 3",
     "t:1:1: error: expected a statement, found `=`\n"
     "  hint: write `name = f32[1024]` or `kernel<<<grid, block>>>(arguments)`"},
    {"\xc3\xa9 = 3",
     "t:1:1: error: expected a statement, found `\xc3\xa9`\n"
     "  hint: write `name = f32[1024]` or `kernel<<<grid, block>>>(arguments)`"},
    {"a = 1 /* b", "t:1:7: error: `/*` is not closed"},
};

TEST(LaunchErrors, EveryMessage) {
  for (const BadInput& bad : kBadInputs) {
    const Result<Script> script = parse_launches(bad.text, "t");
    ASSERT_FALSE(script.ok()) << bad.text;
    EXPECT_EQ(script.error().to_string(), bad.message) << bad.text;
  }
}

TEST(LaunchErrors, FirstLineCounts) {
  const Result<Script> script = parse_launches("a = f32[1]\n\n  b = f32[x]", "file", 40);
  ASSERT_FALSE(script.ok());
  EXPECT_EQ(script.error().line, 42u);
  EXPECT_EQ(script.error().column, 11u);
}

TEST(LaunchErrors, DeepNestingIsAnErrorNotACrash) {
  for (const char* open : {"(", "-", "{"}) {
    std::string text = "k<<<1, 1>>>(";
    for (int i = 0; i < 100000; ++i) text += open;
    const Result<Script> script = parse_launches(text, "t");
    ASSERT_FALSE(script.ok());
    EXPECT_EQ(script.error().message, "nested too deeply");
  }
}

}  // namespace
}  // namespace fullwarp::input

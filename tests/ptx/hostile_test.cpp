// Files that ask for much in few bytes. The bounds are counts of what the tree holds, not times or sizes of
// the process: memory follows the text, not the numbers in it.
#include "test_module.h"

namespace fullwarp::ptx {
namespace {

std::string repeated(const std::string& part, unsigned times) {
  std::string result;
  for (unsigned i = 0; i < times; ++i) result += part;
  return result;
}

TEST(Hostile, LargeRangesCostNothing) {
  std::string kernels;
  for (unsigned i = 0; i < 2000; ++i)
    kernels +=
        ".entry k" + std::to_string(i) + "() { .reg .b64 %r<16777216>; mov.u64 %r16777215, 1; ret; }\n";
  Module module = parsed(kernels);
  ASSERT_EQ(module.functions.size(), 2000u);
  for (const Function& function : module.functions) EXPECT_EQ(function.registers.size(), 1u);
}

TEST(Hostile, LargeVariablesCostNothing) {
  std::string text;
  for (unsigned i = 0; i < 2000; ++i) text += ".global .b8 x" + std::to_string(i) + "[2000000000] = {1};\n";
  Module module = parsed(text);
  for (const Variable& variable : module.variables) EXPECT_EQ(variable.init.size(), 1u);
}

TEST(Hostile, ManySparseInitialisersAreBounded) {
  std::string text = ".version 9.0\n.target sm_90\n";
  for (unsigned i = 0; i < 100; ++i)
    text += ".global .b8 x" + std::to_string(i) + "[2][8000000] = {{1},{2}};\n";
  auto module = parse(text, "x.ptx");
  ASSERT_FALSE(module.ok());
  EXPECT_NE(module.error().message.find("64 MB"), std::string::npos);
}

TEST(Hostile, UnsupportedInstructionsAreListedUpToALimit) {
  Module module = parsed(".entry k() {" + repeated("x;", 100000) + "}");
  EXPECT_EQ(module.unsupported.size(), 32u);
}

TEST(Hostile, EqualLocationsAreKeptOnce) {
  Module module = parsed(
      ".entry k() {" + repeated(".loc 1 2 3\n.loc 1 2 4, function_name f, inlined_at 1 2 3\n", 50000) + "}");
  EXPECT_EQ(module.locations.size(), 2u);
}

TEST(Hostile, ManyOpenLabelsInManyBlocks) {
  std::string text =
      ".entry k() {" + repeated("{", 100) + repeated("bra X;", 20000) + repeated("}", 100) + "X: ret; }";
  Module module = parsed(text);
  EXPECT_EQ(module.operands[0].value, 20000);
}

TEST(Hostile, ALongInstructionNameIsCutInTheMessage) {
  Module module = parsed(".entry k() { add." + std::string(100000, 'x') + " %r1; }");
  ASSERT_EQ(module.unsupported.size(), 1u);
  EXPECT_LT(module.unsupported[0].message.size(), 300u);
}

TEST(Hostile, EveryPrefixOfAFileEndsInAModuleOrAnError) {
  std::string text =
      ".version 9.0\n.target sm_90\n.global .b8 x[4] = {1, 0xFF(x0)};\n.entry k(.param .u64 .ptr .align 4 p) "
      ".maxntid 1,2 {\n"
      ".reg .b32 %r<9>; .reg .pred p1; @!p1 ld.global.v2.b32 {%r1, %r2}, [%r3+-4]; call (%r1), %r2, (_), q;\n"
      "L: .branchtargets A; mov.f32 %r1, 1.5e+3; /* c */ // d\n.loc 1 2 3, inlined_at 1 2 3\n}\n.section "
      ".debug_str { a: .b8 1 }";
  for (size_t length = 0; length <= text.size(); ++length) {
    auto module = parse(text.substr(0, length), "prefix.ptx");
    if (!module) {
      EXPECT_FALSE(module.error().message.empty());
    }
  }
}

}  // namespace
}  // namespace fullwarp::ptx

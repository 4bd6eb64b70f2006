// Where instructions come from: .file, .loc with inlining, debug sections.
#include "test_module.h"

namespace fullwarp::ptx {
namespace {

TEST(Debug, LocationsWithTheirInliningChain) {
  Module module = parsed(
      ".file 1 \"/src/a \\\"b\\\".cu\", 1700000000, 4242\n.file 3 \"c.h\"\n.entry k() {\n.reg .b32 %r<4>;\n"
      "mov.u32 %r1, 0;\n.loc 1 10 3\nmov.u32 %r1, 1;\n.loc 3 5 7, function_name $L__info_string0, inlined_at "
      "1 10 3\n"
      "mov.u32 %r1, 2;\n.loc 3 8 1, function_name $L__info_string1+2, inlined_at 3 5 7\nmov.u32 %r1, 3;\n"
      ".loc 1 10 3\nmov.u32 %r1, 4;\nret;\n}\n"
      ".section .debug_info\n{\n.b32 .debug_abbrev // } in a comment\n.b8 {1}\n}\n"
      ".section .debug_str\n{\n$L__info_string0:\n.b8 95,90,52,0\n$L__info_string1:\n.b8 120 // x\n.b8 "
      "121\n.b8 122\n"
      ".b8 0\n}\n");
  EXPECT_EQ(module.files[1].name, "/src/a \"b\".cu");
  EXPECT_EQ(module.files[3].name, "c.h");
  const auto& list = module.functions[0].instructions;
  EXPECT_EQ(list[0].location, -1);
  const auto& at = module.locations;
  const SourceLocation& outer = at[static_cast<size_t>(list[1].location)];
  EXPECT_EQ(outer.line, 10u);
  EXPECT_EQ(outer.column, 3u);
  EXPECT_EQ(outer.inlined_at, -1);
  const SourceLocation& inner = at[static_cast<size_t>(list[2].location)];
  EXPECT_EQ(inner.file, 3u);
  EXPECT_EQ(inner.inlined_at, list[1].location);
  EXPECT_EQ(inner.function, "_Z4");
  const SourceLocation& innermost = at[static_cast<size_t>(list[3].location)];
  EXPECT_EQ(innermost.inlined_at, list[2].location);
  EXPECT_EQ(innermost.function, "z");
  EXPECT_EQ(list[4].location, list[1].location);  // equal locations are one
}

}  // namespace
}  // namespace fullwarp::ptx

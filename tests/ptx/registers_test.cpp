// Registers of ranges are read eight characters at a time where the text allows it; whatever their names,
// their numbers and what stands around them, a name means one register, of its declaration's type.
#include <map>
#include <string>
#include <vector>

#include "test_module.h"

namespace fullwarp::ptx {
namespace {

struct Range {
  std::string prefix;
  const char* type;
  Type parsed_type;
  unsigned count;
};

const std::vector<Range> kRanges = {{"%r", "b32", Type::b32, 100000000 / 8},  // larger than an array may be
                                    {"%rd", "b64", Type::b64, 1001},
                                    {"%f", "f32", Type::f32, 10},
                                    {"%", "b16", Type::b16, 12},
                                    {"abcdef", "u32", Type::u32, 1000},   // seven characters with a digit
                                    {"abcdefg", "s32", Type::s32, 1000},  // the longest that fits a word
                                    {"abcdefgh", "b32", Type::b32, 1000},
                                    {"%a_name_longer_than_a_word_", "b32", Type::b32, 50}};

// Every name against a table kept here, through every kind of separator.
TEST(registers, a_name_is_one_register_of_its_type) {
  std::string text = ".visible .entry k()\n{\n";
  for (const Range& range : kRanges)
    text +=
        ".reg ." + std::string(range.type) + " " + range.prefix + "<" + std::to_string(range.count) + ">;\n";
  const char* const separators[][2] = {{" ", ", "}, {"\t", ","}, {" /*c*/ ", " ,"}, {"\n", " // c\n , "}};
  std::vector<std::pair<std::string, Type>> names;
  unsigned turn = 0;
  for (const Range& range : kRanges) {
    for (unsigned number : {0u, 1u, 9u, 10u, 11u, 49u, 99u, 100u, 999u, 1000u, 1234567u, 12499999u}) {
      if (number >= range.count) continue;
      std::string name = range.prefix + std::to_string(number);
      const auto& separator = separators[turn++ % 4];
      text += std::string("mov.") + (size_bytes(range.parsed_type) == 8   ? "b64"
                                     : size_bytes(range.parsed_type) == 2 ? "b16"
                                                                          : "b32");
      text += separator[0] + name + separator[1] + name + " ;\n";
      names.push_back({name, range.parsed_type});
    }
  }
  Module module = parsed(text + "ret;\n}\n");
  ASSERT_EQ(module.functions.size(), 1u);
  ASSERT_EQ(module.functions[0].instructions.size(), names.size() + 1);
  std::map<uint32_t, std::string> name_of;
  for (size_t i = 0; i < names.size(); ++i) {
    const Operand& a = operand(module, 0, static_cast<unsigned>(i));
    const Operand& b = operand(module, 1, static_cast<unsigned>(i));
    ASSERT_EQ(a.kind, Operand::Kind::reg) << names[i].first;
    EXPECT_EQ(a.index, b.index) << names[i].first;
    EXPECT_EQ(module.functions[0].registers[a.index].name, names[i].first);
    EXPECT_EQ(module.functions[0].registers[a.index].type, names[i].second) << names[i].first;
    EXPECT_TRUE(name_of.emplace(a.index, names[i].first).second) << names[i].first << " shares a register";
  }
}

TEST(registers, a_number_at_or_beyond_the_count_is_not_declared) {
  for (const char* name : {"%r100", "%r101", "%r4294967296", "%r18446744073709551616", "%r05", "%r"}) {
    auto module =
        parse(".version 9.0\n.target sm_90\n.entry k() {\n.reg .b32 %r<100>;\nmov.u32 " + std::string(name) +
                  ", 1;\nret;\n}\n// some text behind it, so that words can be read whole\n",
              "test.ptx");
    ASSERT_FALSE(module.ok()) << name;
    EXPECT_EQ(module.error().line, 5u) << name;
  }
}

// An inner block's range hides the outer one until the block ends.
TEST(registers, an_inner_range_hides_an_outer_one) {
  Module module = parsed_body("mov.u32 %r1, 1;\n{\n.reg .b32 %r<5>;\nmov.u32 %r1, 2;\n}\nmov.u32 %r1, 3;\n");
  EXPECT_EQ(operand(module, 0, 0).index, operand(module, 0, 2).index);
  EXPECT_NE(operand(module, 0, 0).index, operand(module, 0, 1).index);
}

TEST(registers, a_label_may_have_the_name_of_an_instruction) {
  Module module =
      parsed_body("add: add.s32 %r1, %r2, %r3;\nadd.s32 %r1, %r2, %r3;\nbra add;\nbra ret;\nret :");
  EXPECT_EQ(operand(module, 0, 2).value, 0);
  EXPECT_EQ(operand(module, 0, 3).value, 4);
}

// The row is remembered by the operands' kinds; other kinds must find another row, or none.
TEST(registers, equal_names_with_other_operands_take_another_form) {
  Module module = parsed_body(
      "setp.eq.s32 %p1, %r1, %r2;\nsetp.eq.s32 %p1|%p2, %r1, %r2;\nsetp.eq.s32 %p1, %r1, 5;\n"
      "bar.sync 0;\nbar.sync 0, 64;\nmov.b64 %rd1, {%r1, %r2};\nmov.b64 %rd1, %rd2;\nmov.b64 {%r1, %r2}, "
      "%rd1;\n");
  EXPECT_TRUE(module.unsupported.empty());
  Module wrong = parsed_body("add.s32 %r1, %r2, %r3;\nadd.s32 %r1, %r2, [%rd1];\nadd.s32 %r1, %r2;\n");
  EXPECT_EQ(wrong.unsupported.size(), 2u);
}

}  // namespace
}  // namespace fullwarp::ptx

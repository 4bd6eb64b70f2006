// A DWARF 2 line program put together by hand, byte by byte, from the standard.
#include "cubin/line_program.h"

#include <gtest/gtest.h>

namespace fullwarp::cubin {
namespace {

std::string program(const std::string& code) {
  std::string header;
  header += '\x10';  // minimum instruction length 16
  header += '\x01';  // default is_stmt
  header += '\xfb';  // line base -5
  header += '\x0e';  // line range 14
  header += '\x0a';  // opcode base 10
  header += std::string("\0\1\1\1\1\0\0\0\1", 9);
  header += std::string("\0\0", 2);  // no directories, no files
  const auto u32 = [](uint32_t v) {
    std::string s;
    for (int i = 0; i < 4; ++i) s += static_cast<char>(v >> 8 * i & 255);
    return s;
  };
  std::string unit = std::string("\2\0", 2) + u32(static_cast<uint32_t>(header.size())) + header + code;
  return u32(static_cast<uint32_t>(unit.size())) + unit;
}

const std::string kSetAddress = std::string("\0\x09\x02\x20\0\0\0\0\0\0\0", 11);  // 0x20
const std::string kEnd = std::string("\0\1\1", 3);

TEST(LineProgram, SpecialAndStandardOpcodes) {
  // line += 9 (advance_line), copy; special: address + 1 unit, line + 2; advance_pc 3 units; end.
  const char special = static_cast<char>(10 + 14 * 1 + (2 + 5));
  const std::string code =
      kSetAddress + std::string("\x03\x09\x01", 3) + special + std::string("\x02\x03", 2) + kEnd;
  const auto sequences = parse_line_program(program(code), {});
  ASSERT_EQ(sequences.size(), 1u);
  EXPECT_EQ(sequences[0].symbol, -1);
  ASSERT_EQ(sequences[0].rows.size(), 3u);
  EXPECT_EQ(sequences[0].rows[0].address, 0x20u);
  EXPECT_EQ(sequences[0].rows[0].line, 10u);
  EXPECT_EQ(sequences[0].rows[1].address, 0x30u);
  EXPECT_EQ(sequences[0].rows[1].line, 12u);
  EXPECT_EQ(sequences[0].rows[2].address, 0x60u);
  EXPECT_TRUE(sequences[0].rows[2].end);
}

TEST(LineProgram, RelocationNamesTheSymbol) {
  const std::string bytes = program(kSetAddress + "\x01" + kEnd + kSetAddress + "\x01" + kEnd);
  const uint64_t first = bytes.find(kSetAddress) + 3, second = bytes.rfind(kSetAddress) + 3;
  const auto sequences = parse_line_program(bytes, {{second, 2, 7, 16}, {first, 2, 5, 0}});
  ASSERT_EQ(sequences.size(), 2u);
  EXPECT_EQ(sequences[0].symbol, 5);
  EXPECT_EQ(sequences[1].symbol, 7);
  EXPECT_EQ(sequences[1].rows[0].address, 0x30u);
}

TEST(LineProgram, GarbageGivesNothing) {
  EXPECT_TRUE(parse_line_program("", {}).empty());
  EXPECT_TRUE(parse_line_program("\x01", {}).empty());
  EXPECT_TRUE(parse_line_program(std::string(64, '\xff'), {}).empty());
  std::string bytes = program(kSetAddress + kEnd);
  bytes[14] = 0;  // line range 0 would divide by zero
  EXPECT_TRUE(parse_line_program(bytes.substr(0, 15) + std::string(40, '\0'), {}).empty());
}

}  // namespace
}  // namespace fullwarp::cubin

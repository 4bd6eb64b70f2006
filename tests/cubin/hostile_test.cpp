// Broken cubins: cut off anywhere, with bytes changed, or not cubins at all. None may crash, hang or ask for
// more memory than a small multiple of the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "cubin/cubin.h"
#include "read_file.h"

namespace fullwarp::cubin {
namespace {

using testing::HasSubstr;

std::string message(const std::string& bytes) {
  const auto result = parse_cubin(bytes, "x.cubin");
  return result.ok() ? "" : result.error().message;
}

TEST(Hostile, NotACubin) {
  EXPECT_EQ(message(""), "not an ELF file");
  EXPECT_EQ(message("\x7f"
                    "ELF"),
            "not an ELF file");
  EXPECT_EQ(message(".version 9.0\n.target sm_90"), "not an ELF file");
  std::string other = read_file("tiled_sm90.cubin");
  other[18] = 62;  // x86-64
  EXPECT_THAT(message(other), HasSubstr("not one for an NVIDIA GPU"));
  EXPECT_FALSE(looks_like_cubin(other));
  other[4] = 1;
  EXPECT_THAT(message(other), HasSubstr("not a 64-bit"));
}

// Where the 28 section headers of 64 bytes begin (e_shoff of the ELF header).
size_t section_table(const std::string& bytes) {
  size_t offset = 0;
  for (int i = 7; i >= 0; --i) offset = offset << 8 | static_cast<unsigned char>(bytes[40 + i]);
  return offset;
}

TEST(Hostile, CutOffAnywhere) {
  const std::string whole = read_file("tiled_sm90.cubin");
  ASSERT_TRUE(looks_like_cubin(whole));
  const size_t table_end = section_table(whole) + 28 * 64;
  for (size_t size = 0; size < table_end; size += size < 256 ? 1 : 61)
    EXPECT_FALSE(parse_cubin(whole.substr(0, size), "").ok()) << size;
}

TEST(Hostile, ChangedBytes) {
  const std::string whole = read_file("tiled_sm90.cubin");
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = whole;
    const size_t table = section_table(bytes);  // headers and section table get half of the hits
    for (int i = 0; i < 1 + round % 8; ++i) {
      const size_t at = round % 2      ? random() % bytes.size()
                        : random() % 3 ? table + random() % (28 * 64)
                                       : random() % 64;
      bytes[at] = static_cast<char>(random() % 2 ? random() : 0xff);
    }
    const auto result = parse_cubin(bytes, "");
    if (!result.ok()) continue;
    size_t instructions = 0;
    for (const Kernel& kernel : result->kernels) instructions += kernel.code.size();
    ASSERT_LE(instructions, bytes.size() / 16);
  }
}

TEST(Hostile, OverlappingSectionsAreRefused) {
  // All sections of an ELF file made one executable `.text.` section that covers the whole file.
  std::string bytes = read_file("tiled_sm90.cubin");
  const size_t table = section_table(bytes);
  const std::string text(bytes, table + 22 * 64, 64);
  for (size_t i = 3; i < 28; ++i) {
    bytes.replace(table + i * 64, 64, text);
    bytes.replace(table + i * 64 + 24, 8, std::string(8, '\0'));
    bytes.replace(table + i * 64 + 32, 8, std::string("\0\x40\0\0\0\0\0\0", 8));
  }
  EXPECT_EQ(message(bytes), "the sections of the cubin overlap");
}

}  // namespace
}  // namespace fullwarp::cubin

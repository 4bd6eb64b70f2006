// .npy files: bytes as NumPy writes them, round trips, and what a bad file says.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "input/launch.h"

namespace fullwarp::input {
namespace {

std::string npy(const std::string& header, const std::string& values, int version = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) text += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return text + header + values;
}
std::string numbers(int count, int width = 1) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += static_cast<char>(i);
    text.append(static_cast<size_t>(width - 1), '\0');
  }
  return text;
}
std::string error_of(const std::string& bytes) {
  const Result<NpyArray> array = parse_npy(bytes, "x.npy");
  return array.ok() ? "no error" : array.error().message;
}

TEST(Npy, ReadsVersions1To3) {
  for (int version : {1, 2, 3}) {
    const Result<NpyArray> array = parse_npy(
        npy("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }   \n", numbers(6, 4), version), "x");
    ASSERT_TRUE(array.ok()) << array.error().to_string();
    EXPECT_EQ(array->type, ElementType::i32);
    EXPECT_EQ(array->shape, (std::vector<uint64_t>{2, 3}));
    EXPECT_EQ(array->bytes.size(), 24u);
    EXPECT_EQ(static_cast<int>(array->bytes[20]), 5);
  }
}

TEST(Npy, ReadsEveryType) {
  const std::pair<const char*, ElementType> types[] = {
      {"<f2", ElementType::f16},  {"<f4", ElementType::f32}, {"<f8", ElementType::f64},
      {"|i1", ElementType::i8},   {"<i2", ElementType::i16}, {"<i4", ElementType::i32},
      {"<i8", ElementType::i64},  {"|u1", ElementType::u8},  {"<u2", ElementType::u16},
      {"<u4", ElementType::u32},  {"<u8", ElementType::u64}, {"|b1", ElementType::u8},
      {"|V2", ElementType::bf16}, {"<V2", ElementType::bf16}};
  for (const auto& [descr, type] : types) {
    const std::string header =
        std::string("{\"descr\": \"") + descr + "\", 'fortran_order': False, 'shape': (3,)}";
    const Result<NpyArray> array = parse_npy(npy(header, std::string(3 * size_bytes(type), 'x')), "x");
    ASSERT_TRUE(array.ok()) << descr << array.error().to_string();
    EXPECT_EQ(array->type, type);
  }
}

TEST(Npy, BringsFortranOrderToRowMajor) {
  // Column by column the file holds 0..5: [[0, 2, 4], [1, 3, 5]]
  const Result<NpyArray> array =
      parse_npy(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", numbers(6)), "x");
  ASSERT_TRUE(array.ok());
  std::string values;
  for (std::byte b : array->bytes) values += static_cast<char>('0' + static_cast<int>(b));
  EXPECT_EQ(values, "024135");
}

TEST(Npy, ScalarsAndEmptyArrays) {
  EXPECT_EQ(
      parse_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': ()}", "abcd"), "x")->bytes.size(), 4u);
  EXPECT_EQ(parse_npy(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (0, 7)}", ""), "x")->bytes.size(),
            0u);
}

TEST(Npy, BadFiles) {
  const auto header = [](const std::string& descr, const std::string& shape) {
    return "{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + "}";
  };
  EXPECT_EQ(error_of(""), "this is not a .npy file");
  EXPECT_EQ(error_of("PK\x03\x04 a zip file of arrays"), "this is not a .npy file");
  EXPECT_EQ(error_of(npy("{", "")), "expected a quoted text in the header");
  EXPECT_EQ(error_of(npy("{}", "")), "the header needs descr, fortran_order and shape");
  EXPECT_EQ(error_of(npy("{'a': 1}", "")), "unknown header key 'a'");
  EXPECT_EQ(error_of(npy("{'descr': '<f4', 'descr': '<f4'}", "")), "the header key 'descr' stands twice");
  EXPECT_EQ(error_of(npy("{'descr", "")), "a quote in the header is not closed");
  EXPECT_EQ(error_of(npy("{'descr': '<f4' 'shape'}", "")), "expected `,` or `}` in the header");
  EXPECT_EQ(error_of(npy("{'fortran_order': Maybe}", "")), "fortran_order must be True or False");
  EXPECT_EQ(error_of(npy(header("'<f4'", "(1,)") + "x", "")), "text after the header's `}`");
  EXPECT_EQ(error_of(npy(header("'<f4'", "(a,)"), "")), "expected a number in the shape");
  EXPECT_EQ(error_of(npy(header("'<f4'", "(99999999999999999999,)"), "")),
            "an extent in the shape does not fit in 64 bits");
  EXPECT_EQ(error_of(npy(header("'<f4'", "(4294967296, 4294967296)"), "")),
            "the array is larger than 16 GiB");
  EXPECT_EQ(error_of(npy(header("'<c8'", "(1,)"), "")), "the type '<c8' is not supported");
  EXPECT_EQ(error_of(npy(header("''", "(1,)"), "")), "the type '' is not supported");
  EXPECT_EQ(error_of(npy(header("'>f4'", "(1,)"), "")), "the values are big-endian ('>f4')");
  EXPECT_EQ(error_of(npy(header("[('x', '<f4')]", "(1,)"), "")),
            "arrays of records are not supported; save each field on its own");
  EXPECT_EQ(error_of(npy(header("'<f4'", "(2,)"), "abcd")),
            "the shape needs 8 bytes of values, the file has 4");
  EXPECT_EQ(error_of(npy(header("'<f4'", "(1,)"), "abcde")),
            "the shape needs 4 bytes of values, the file has 5");
  EXPECT_EQ(error_of(npy("{}", "", 9)), "version 9 of the .npy format is not supported");
  EXPECT_EQ(error_of(npy("{'descr': '<f4'}", "").substr(0, 12)), "the file ends inside its header");
  std::string shape = "(";
  for (int i = 0; i < 65; ++i) shape += "1,";
  EXPECT_EQ(error_of(npy(header("'<f4'", shape + ")"), "abcd")), "the shape has more than 64 dimensions");
}

class NpyFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("fullwarp_npy_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::filesystem::path folder_;
};

TEST_F(NpyFile, RoundTripsEveryType) {
  for (int t = 0; t <= static_cast<int>(ElementType::f64); ++t) {
    NpyArray array;
    array.type = static_cast<ElementType>(t);
    array.shape = {3, 5};
    for (unsigned i = 0; i < 15 * size_bytes(array.type); ++i)
      array.bytes.push_back(static_cast<std::byte>(i * 7));
    ASSERT_TRUE(write_npy(path("a.npy"), array).ok());
    const Result<NpyArray> back = read_npy(path("a.npy"));
    ASSERT_TRUE(back.ok()) << back.error().to_string();
    EXPECT_EQ(back->type, array.type);
    EXPECT_EQ(back->shape, array.shape);
    EXPECT_EQ(back->bytes, array.bytes);
  }
}

TEST_F(NpyFile, WritesWhatNumpyWrites) {
  NpyArray array;
  array.type = ElementType::u8;
  array.shape = {4};
  array.bytes = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  ASSERT_TRUE(write_npy(path("a.npy"), array).ok());
  std::ifstream file(path("a.npy"), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  // numpy.save('a.npy', numpy.array([1, 2, 3, 4], dtype='u1')): the header padded with blanks to 128 bytes
  std::string expected = std::string("\x93NUMPY\x01\x00\x76\x00", 10) +
                         "{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }";
  expected.append(127 - expected.size(), ' ');
  expected += "\n\x01\x02\x03\x04";
  EXPECT_EQ(bytes, expected);
}

TEST_F(NpyFile, BuffersComeFromFiles) {
  NpyArray array;
  array.type = ElementType::u32;
  array.shape = {2};
  array.bytes.resize(8, std::byte{9});
  ASSERT_TRUE(write_npy(path("a.npy"), array).ok());
  const Fill fill{Fill::Kind::file, {}, 0, "a.npy"};
  EXPECT_EQ(make_buffer({ElementType::u32, 0, fill}, 1, folder_.string())->count, 2u);
  EXPECT_EQ(make_buffer({ElementType::i32, 2, fill}, 1, folder_.string())->type, ElementType::i32);
  EXPECT_EQ(make_buffer({ElementType::f32, 2, fill}, 1, folder_.string()).error().message,
            "the file holds u32 values, the buffer f32");
  EXPECT_EQ(make_buffer({ElementType::u32, 3, fill}, 1, folder_.string()).error().message,
            "the file holds 2 values, the buffer 3");
}

TEST_F(NpyFile, FilesThatCannotBeUsed) {
  EXPECT_EQ(read_npy(path("none.npy")).error().message, "there is no such file");
  EXPECT_EQ(read_npy(folder_.string()).error().message, "this is not a file");
  EXPECT_FALSE(write_npy(path("no/such/folder.npy"), {ElementType::u8, {0}, {}}).ok());
}

}  // namespace
}  // namespace fullwarp::input

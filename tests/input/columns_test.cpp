// Columns of names, operators and calls in a line. The expected part of each line is marked below it.
#include "input/columns.h"

#include <gtest/gtest.h>

namespace fullwarp::input {
namespace {

// The columns of the `^~~` mark.
ColumnRange marked(std::string_view mark) {
  const size_t begin = mark.find('^');
  if (begin == std::string_view::npos) return {};
  return {static_cast<uint32_t>(begin) + 1, static_cast<uint32_t>(mark.size()) + 1};
}

TEST(Columns, Names) {
  constexpr std::string_view line =
      "  out[y * n + x] = tile[threadIdx.x][y] + tiles[0] + tile[1][2];  // tile";
  EXPECT_EQ(narrow_column(line, {.names = {"tile"}}), marked("                   ^~~~"));
  EXPECT_EQ(narrow_column(line, {.names = {"tile"}, .occurrence = 1}),
            marked("                                                     ^~~~"));
  EXPECT_EQ(narrow_column(line, {.names = {"tile"}, .occurrence = 9}),
            marked("                                                     ^~~~"));
  EXPECT_EQ(narrow_column(line, {.names = {"none", "out"}}), marked("  ^~~"));
  EXPECT_EQ(narrow_column(line, {.names = {"tile"}, .from_column = 25}),
            marked("                                                     ^~~~"));
  EXPECT_FALSE(narrow_column(line, {.names = {"none"}}).found());
  EXPECT_FALSE(narrow_column(line, {.names = {""}}).found());
}

TEST(Columns, ReadsAndWrites) {
  constexpr std::string_view line = "  s[i] = s[i + 1] + b; c += s[0]; n++;";
  EXPECT_EQ(narrow_column(line, {.names = {"s"}, .use = Hint::Use::written}), marked("  ^"));
  EXPECT_EQ(narrow_column(line, {.names = {"s"}, .use = Hint::Use::read}), marked("         ^"));
  EXPECT_EQ(narrow_column(line, {.names = {"c"}, .use = Hint::Use::read}),
            marked("                       ^"));
  EXPECT_EQ(narrow_column(line, {.names = {"n"}, .use = Hint::Use::written}),
            marked("                                  ^"));
  EXPECT_FALSE(narrow_column(line, {.names = {"b"}, .use = Hint::Use::written}).found());
  EXPECT_EQ(narrow_column("  p[a[1]].x = a[0] == 1;", {.names = {"a"}, .use = Hint::Use::read}),
            marked("    ^"));
  EXPECT_EQ(narrow_column("  p[a[1]].x = 3;", {.names = {"p"}, .use = Hint::Use::written}), marked("  ^"));
}

TEST(Columns, Operators) {
  constexpr std::string_view line = "  if (i % 32 == 0 && a <= b / c) x %= y;  // 3 / 4";
  EXPECT_EQ(narrow_column(line, {.operators = {"%"}}), marked("        ^"));
  EXPECT_EQ(narrow_column(line, {.operators = {"/"}}).begin, line.find("/ c") + 1);
  EXPECT_EQ(narrow_column(line, {.operators = {"%="}}).begin, line.find("%=") + 1);
  EXPECT_FALSE(narrow_column(line, {.operators = {"<"}}).found());
  EXPECT_FALSE(narrow_column(line, {.operators = {"="}}).found());
}

TEST(Columns, Calls) {
  EXPECT_EQ(narrow_column("  x = atomicAdd; atomicAdd(&p[0], 1);", {.calls = {"atomicAdd"}}),
            marked("                 ^~~~~~~~~"));
  EXPECT_EQ(narrow_column("  if (c) __syncthreads ();", {.calls = {"__syncthreads"}}),
            marked("         ^~~~~~~~~~~~~"));
}

TEST(Columns, CommentsAndStrings) {
  EXPECT_EQ(narrow_column("/* a */ printf(\"a %d // a\", '\\'', a);", {.names = {"a"}}).begin, 35u);
  EXPECT_FALSE(narrow_column("x = 1; /* a", {.names = {"a"}}).found());
  EXPECT_EQ(code_columns("\t  x = 1;  // set x"), (ColumnRange{4, 10}));
  EXPECT_FALSE(code_columns("   // nothing").found());
}

TEST(Columns, UnfinishedLines) {
  for (const char* line : {"", "a[", "a.", "\"a", "'", "a[[[[", "/*", "a[0"}) {
    for (const auto use : {Hint::Use::any, Hint::Use::read, Hint::Use::written}) {
      (void)narrow_column(line, {.names = {"a"}, .operators = {"/"}, .calls = {"a"}, .use = use});
    }
  }
}

}  // namespace
}  // namespace fullwarp::input

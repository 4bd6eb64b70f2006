// Launches that a formatter tore apart: joined where they are launches, and nothing else is touched.
#include "input/launch_brackets.h"

#include <gtest/gtest.h>

#include <string>

namespace fullwarp::input {
namespace {

TEST(LaunchBrackets, AreJoinedInPlace) {
  EXPECT_EQ(with_joined_launch_brackets("k << <grid, block >> > (a, b);"), "k <<< grid, block >>>  (a, b);");
  EXPECT_EQ(with_joined_launch_brackets("k<T> < < < 1, n > > >(a)"), "k<T> <<<   1, n >>>  (a)");
  EXPECT_EQ(with_joined_launch_brackets("k<<<dim3(1, 2), f(3)>> > (a)"), "k<<<dim3(1, 2), f(3)>>>  (a)");
  EXPECT_EQ(with_joined_launch_brackets("k << <(n + 31) / 32, 32, 0, s >>>\n(a)"),
            "k <<< (n + 31) / 32, 32, 0, s >>>\n(a)");
}

TEST(LaunchBrackets, OtherTextStaysAsItIs) {
  for (const std::string text :
       {"k<<<1, 2>>>(a);", "std::vector<std::vector<std::vector<int> > > v(3);",
        "friend S& operator<< <T>(S&, T);", "x = a << (b < c);", "out << \"k << <1, 2 >> > (a)\";",
        "// k << <1, 2 >> > (a)\n", "a << <", "k << <1; b >> > (a)"}) {
    EXPECT_EQ(with_joined_launch_brackets(text), text);
  }
}

}  // namespace
}  // namespace fullwarp::input

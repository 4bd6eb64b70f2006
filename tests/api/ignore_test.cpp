// `// fullwarp-ignore: RULE reason`.
#include "api/ignore.h"

#include <gtest/gtest.h>

namespace fullwarp::api {
namespace {

TEST(Ignore, NeedsTheCommentAndTheRule) {
  EXPECT_TRUE(ignores("x = a[i];  // fullwarp-ignore: bank-conflict runs once", "bank-conflict"));
  EXPECT_TRUE(ignores("// fullwarp-ignore:bank-conflict", "bank-conflict"));
  EXPECT_FALSE(ignores("// fullwarp-ignore: bank-conflicts", "bank-conflict"));
  EXPECT_FALSE(ignores("// fullwarp-ignore: bank", "bank-conflict"));
  EXPECT_FALSE(ignores("\"fullwarp-ignore: bank-conflict\"", "bank-conflict"));
  EXPECT_FALSE(ignores("// fullwarp-ignore:", "bank-conflict"));
  EXPECT_TRUE(ignores("// fullwarp-ignore: a reason // fullwarp-ignore: b reason", "b"));
}

TEST(Ignore, LineItselfOrACommentAlone) {
  diag::SourceCache sources;
  sources.add("a.cu", "// fullwarp-ignore: r because\nx;\ny;  // fullwarp-ignore: r because\nz;\n");
  diag::Finding finding;
  finding.rule = "r";
  finding.place.file = "a.cu";
  const auto ignored_on = [&](uint32_t line) {
    finding.place.line = line;
    return is_ignored(finding, sources);
  };
  EXPECT_TRUE(ignored_on(2));   // the comment stands alone above
  EXPECT_TRUE(ignored_on(3));   // on the line
  EXPECT_FALSE(ignored_on(4));  // the comment above belongs to code of its own line
  EXPECT_FALSE(ignored_on(0));
}

TEST(Ignore, CommentsOneBelowTheOther) {
  diag::SourceCache sources;
  sources.add("a.cu",
              "// fullwarp-ignore: r because\n// fullwarp-ignore: other because\nx;\n"
              "// fullwarp-ignore: r because\n// of this\ny;\n");
  diag::Finding finding;
  finding.rule = "r";
  finding.place.file = "a.cu";
  finding.place.line = 3;
  EXPECT_TRUE(is_ignored(finding, sources));
  finding.place.line = 6;  // another comment lies between
  EXPECT_FALSE(is_ignored(finding, sources));
}

}  // namespace
}  // namespace fullwarp::api

// Every rule about shapes has a page with its parts, and every page belongs to a rule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "shapes/findings.h"

namespace fullwarp::shapes {
namespace {

using testing::HasSubstr;

TEST(Rules, EachHasAPageWithItsParts) {
  for (const RuleInfo& rule : rule_infos()) {
    const std::string page(explain(rule.id));
    EXPECT_THAT(page, testing::StartsWith("# " + std::string(rule.id) + "\n")) << rule.id;
    for (const char* part :
         {"## The mechanism", "```\n", "## Evidence", "## When it speaks", "## What to do", "## Examples"})
      EXPECT_THAT(page, HasSubstr(part)) << rule.id;
  }
  EXPECT_EQ(explain("shape-of-things"), "");
}

TEST(Rules, EachPageIsAboutOne) {
  std::set<std::string> known, pages;
  for (const RuleInfo& rule : rule_infos()) known.emplace(rule.id);
  for (const auto& entry : std::filesystem::directory_iterator(FULLWARP_SOURCE_DIR "/docs/rules/shapes"))
    pages.insert(entry.path().stem());
  EXPECT_EQ(pages, known);
}

}  // namespace
}  // namespace fullwarp::shapes

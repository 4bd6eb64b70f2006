// A rule is four things together: code, list, page, kernels. These tests fail where one of them is missing.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "built_profile.h"

namespace fullwarp::rules {
namespace {

std::set<std::string> ids() {
  std::set<std::string> ids;
  for (const RuleInfo& info : rule_infos()) ids.emplace(info.id);
  return ids;
}

std::string underscored(std::string id) {
  for (char& c : id)
    if (c == '-') c = '_';
  return id;
}

TEST(Registry, IdsAreUniqueAndSummariesAreThere) {
  EXPECT_EQ(ids().size(), rule_infos().size());
  for (const RuleInfo& info : rule_infos()) {
    EXPECT_TRUE(std::regex_match(std::string(info.id), std::regex("[a-z]+(-[a-z]+)*"))) << info.id;
    EXPECT_FALSE(info.summary.empty()) << info.id;
  }
}

TEST(Registry, EveryRuleHasAPageThatNamesItsThresholds) {
  for (const RuleInfo& info : rule_infos()) {
    const std::string page(explain(info.id));
    EXPECT_THAT(page, testing::StartsWith(fmt::format("# {}\n", info.id)));
    for (const Threshold& threshold : info.thresholds) {
      EXPECT_FALSE(threshold.description.empty()) << info.id;
      EXPECT_THAT(page, testing::HasSubstr(
                            fmt::format("| `{}.{}` | {:g} |", info.id, threshold.name, threshold.value)));
    }
    EXPECT_THAT(page, testing::HasSubstr("```\n")) << info.id << " has no picture";
    EXPECT_THAT(page, testing::HasSubstr("## What to do")) << info.id;
  }
}

TEST(Registry, EveryPageAndEveryLinkIsAboutARule) {
  const std::set<std::string> known = ids();
  const std::string folder = std::string(FULLWARP_SOURCE_DIR) + "/docs/rules";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_directory()) continue;  // the pages of src/shapes/
    const std::string id = entry.path().stem();
    EXPECT_TRUE(known.count(id)) << entry.path();
    const std::string page(explain(id));
    const std::regex link(R"(\]\(([a-z-]+)\.md\))"), threshold(R"(`([a-z-]+)\.[a-z-]+` \|)");
    for (const std::regex& pattern : {link, threshold})
      for (std::sregex_iterator m(page.begin(), page.end(), pattern), end; m != end; ++m)
        EXPECT_TRUE(known.count((*m)[1])) << id << " names " << (*m)[1];
  }
}

TEST(Registry, EveryRuleHasAKernelItFiresOnAndOneItDoesNot) {
  for (const RuleInfo& info : rule_infos()) {
    for (const char* prefix : {"fires_", "silent_"}) {
      const std::string name = prefix + underscored(std::string(info.id));
      EXPECT_THAT(read_source(name + ".cu"), testing::HasSubstr("// fullwarp: ")) << name;
      EXPECT_THAT(read_source(name + ".ptx"), testing::HasSubstr(".entry")) << name;
      EXPECT_THAT(std::string(explain(info.id)), testing::HasSubstr(name + ".cu"));
    }
  }
}

TEST(Options, SetsThresholdsAndLevels) {
  Options options;
  EXPECT_DOUBLE_EQ(options.threshold("bank-conflict", "min-share"), 0.05);
  ASSERT_TRUE(options.set("bank-conflict.min-share=0.2").ok());
  EXPECT_DOUBLE_EQ(options.threshold("bank-conflict", "min-share"), 0.2);
  ASSERT_TRUE(options.set("trap.level=off").ok());
  EXPECT_TRUE(options.off("trap"));
  EXPECT_FALSE(options.off("bank-conflict"));
  ASSERT_TRUE(options.set("trap.level=note").ok());
  EXPECT_FALSE(options.off("trap"));
  EXPECT_EQ(options.level("trap"), diag::Level::note);
}

TEST(Options, RefusesWhatIsUnknownAndSaysWhatIsKnown) {
  Options options;
  EXPECT_THAT(options.set("bank-conflict").error().message, testing::HasSubstr("not a rule setting"));
  EXPECT_THAT(options.set("banks.min-share=1").error().hint, testing::HasSubstr("bank-conflict"));
  EXPECT_THAT(options.set("bank-conflict.share=1").error().hint, testing::HasSubstr("min-share"));
  for (const char* bad :
       {"bank-conflict.min-share=", "bank-conflict.min-share=x", "bank-conflict.min-share=1x",
        "bank-conflict.min-share=nan", "bank-conflict.min-share=-1", "trap.level=loud"})
    EXPECT_FALSE(options.set(bad).ok()) << bad;
}

TEST(Options, LevelsApplyToFindings) {
  BuiltProfile built("fires_partial_warp", {164, 1, 1}, {100, 1, 1});
  ASSERT_EQ(of_rule(built.run(), "partial-warp").size(), 1u);
  ASSERT_TRUE(built.options.set("partial-warp.level=error").ok());
  EXPECT_EQ(of_rule(built.run(), "partial-warp")[0].level, diag::Level::error);
  ASSERT_TRUE(built.options.set("partial-warp.level=off").ok());
  EXPECT_TRUE(of_rule(built.run(), "partial-warp").empty());
}

}  // namespace
}  // namespace fullwarp::rules

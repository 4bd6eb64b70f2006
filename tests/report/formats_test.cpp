// CSV, SARIF and HTML.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/format.h"
#include "report/render.h"
#include "sample_report.h"

namespace fullwarp::report {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Csv, OneCounterARow) {
  const std::string csv = render_csv(sample_report());
  EXPECT_THAT(csv, StartsWith("kernel,launch,file,line,metric,value\n"));
  // The kernel's name holds commas, so it is quoted.
  EXPECT_THAT(
      csv, HasSubstr("\n\"transpose(float*, float const*, int)\",1,,,memory_l1_wavefronts_shared,1081344\n"));
  EXPECT_THAT(
      csv,
      HasSubstr(
          "\n\"transpose(float*, float const*, int)\",1,tile.cu,3,memory_l1_wavefronts_shared,1048576\n"));
}

TEST(Csv, QuotesAreDoubled) {
  Report report = sample_report();
  report.kernels[0].name = "a\"b";
  EXPECT_THAT(render_csv(report), HasSubstr("\n\"a\"\"b\",1,"));
}

TEST(Sarif, HoldsResultsAndRules) {
  const json run = json::parse(render_sarif(sample_report()))["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["name"], "fullwarp");
  EXPECT_EQ(run["tool"]["driver"]["rules"][0]["id"], "bank-conflict");
  const json& result = run["results"][0];
  EXPECT_EQ(result["ruleId"], "bank-conflict");
  EXPECT_EQ(result["level"], "warning");
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "tile.cu");
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["region"],
            json({{"startLine", 3}, {"startColumn", 20}, {"endColumn", 24}}));
  EXPECT_EQ(result["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"], "main.cu");
  EXPECT_EQ(run["invocations"][0]["executionSuccessful"], true);
}

// Section 3.49 of the specification: `id` is required, texts stand in multiformatMessageString objects, which
// need `text`; the level is one of three words. Section 3.27.6: ruleIndex points into the driver's rules.
TEST(Sarif, RulesAreDescribed) {
  const RuleText rules[] = {
      {"another", "never named", "", diag::Level::error},
      {"bank-conflict", "requests that take more than one go",
       "# bank-conflict\n\nRequests that the banks serve\nin more than one go.\n\n## The mechanism\n",
       diag::Level::warning}};
  const json run = json::parse(render_sarif(sample_report(), rules))["runs"][0];
  const json& described = run["tool"]["driver"]["rules"];
  for (const json& rule : described) EXPECT_NE(rule["id"], "another");
  const json& rule = described[run["results"][0]["ruleIndex"].get<size_t>()];
  EXPECT_EQ(rule["id"], run["results"][0]["ruleId"]);
  EXPECT_EQ(rule["shortDescription"], json({{"text", "requests that take more than one go"}}));
  EXPECT_EQ(rule["fullDescription"], json({{"text", "Requests that the banks serve in more than one go."}}));
  EXPECT_EQ(rule["help"]["text"], rules[1].page);
  EXPECT_EQ(rule["help"]["markdown"], rules[1].page);
  EXPECT_EQ(rule["defaultConfiguration"]["level"], "warning");
}

TEST(Sarif, ErrorsAreNotifications) {
  Report report;
  report.errors = {{"cannot read the file", "dir with space/x.cu", 0, 0, ""}};
  const json invocation = json::parse(render_sarif(report))["runs"][0]["invocations"][0];
  EXPECT_EQ(invocation["executionSuccessful"], false);
  const json& notification = invocation["toolExecutionNotifications"][0];
  EXPECT_EQ(notification["message"]["text"], "cannot read the file");
  EXPECT_EQ(notification["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "dir%20with%20space/x.cu");
}

TEST(Html, EscapesWhatTheSourceHolds) {
  Report report = sample_report();
  report.kernels[0].findings[0].message = "<script>alert(1)</script>";
  report.sources["tile.cu"] = "\n\na < b && \"c\"\n";
  const std::string html = render_html(report);
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, HasSubstr("3 | a &lt; b &amp;&amp; &quot;c&quot;"));
}

TEST(Html, NeedsNothingFromElsewhere) {
  const std::string html = render_html(sample_report());
  EXPECT_THAT(html, Not(HasSubstr("http")));
  EXPECT_THAT(html, HasSubstr("<td>memory_l1_wavefronts_shared</td><td class=\"number\">1 081 344</td>"));
}

TEST(Format, GroupsByThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1 000");
  EXPECT_EQ(grouped(18446744073709551615ULL), "18 446 744 073 709 551 615");
  EXPECT_EQ(to_text(diag::Value{INT64_MIN}), "-9 223 372 036 854 775 808");
}

TEST(Format, FindsLines) {
  EXPECT_EQ(line_of("a\r\nb\nc", 1), "a");
  EXPECT_EQ(line_of("a\r\nb\nc", 3), "c");
  EXPECT_EQ(line_of("a\r\nb\nc", 4), "");
  EXPECT_EQ(line_of("a", 0), "");
}

}  // namespace
}  // namespace fullwarp::report

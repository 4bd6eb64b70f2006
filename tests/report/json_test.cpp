// The JSON against its published schema, and its values against the sample's.
#include <gtest/gtest.h>

#include <fstream>

#include "json_schema.h"
#include "report/render.h"
#include "sample_report.h"

namespace fullwarp::report {
namespace {

using nlohmann::json;

json schema() {
  std::ifstream file(FULLWARP_SOURCE_DIR "/docs/schema/report-1.json");
  return json::parse(file);
}

TEST(Json, FitsTheSchema) {
  const json rules = schema();
  EXPECT_EQ(test::SchemaValidator(rules).validate(json::parse(render_json(sample_report()))), "");
}

TEST(Json, EmptyReportFitsTheSchema) {
  const json rules = schema();
  Report report;
  report.errors = {{"cannot read the file", "missing.cu", 0, 0, ""}};
  report.kernels.emplace_back();
  EXPECT_EQ(test::SchemaValidator(rules).validate(json::parse(render_json(report))), "");
}

TEST(Json, SchemaRefusesWhatItDoesNotDescribe) {
  const json rules = schema();
  const test::SchemaValidator validator(rules);
  const json good = json::parse(render_json(sample_report()));
  json bad = good;
  bad["schema"] = 2;
  EXPECT_EQ(validator.validate(bad), "$.schema: is not 1");
  bad = good;
  bad["kernels"][0]["findings"][0]["level"] = "fatal";
  EXPECT_NE(validator.validate(bad), "");
  bad = good;
  bad["kernels"][0].erase("metrics");
  EXPECT_NE(validator.validate(bad), "");
  bad = good;
  bad["kernels"][0]["colour"] = 1;
  EXPECT_NE(validator.validate(bad), "");
  bad = good;
  bad["kernels"][0]["metrics"]["ptx.instructions"] = "many";
  EXPECT_NE(validator.validate(bad), "");
}

TEST(Json, HoldsTheCounters) {
  const json kernel = json::parse(render_json(sample_report()))["kernels"][0];
  const json& metrics = kernel["metrics"];
  EXPECT_EQ(metrics["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"], 32768);
  EXPECT_EQ(metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"], 131072);
  EXPECT_EQ(metrics["memory_l2_theoretical_sectors_global"], 262144);
  EXPECT_EQ(metrics["memory_l1_wavefronts_shared"], 1048576 + 32768);
  EXPECT_EQ(metrics["memory_l1_wavefronts_shared_ideal"], 65536);
  EXPECT_EQ(metrics["ptx.shared.bank_conflicts"], 1048576 - 32768);
  EXPECT_EQ(metrics["launch__thread_count"], 262144);
  EXPECT_EQ(metrics["sm__maximum_warps_per_active_cycle_pct"], 100.0);
  EXPECT_EQ(kernel["lines"][0]["metrics"]["memory_l1_wavefronts_shared"], 1048576);
  EXPECT_FALSE(kernel["lines"][0]["metrics"].contains("memory_l2_theoretical_sectors_global"));
  EXPECT_EQ(kernel["grid"], json({32, 32, 1}));
}

TEST(Json, HoldsTheFinding) {
  const json finding = json::parse(render_json(sample_report()))["kernels"][0]["findings"][0];
  EXPECT_EQ(finding["rule"], "bank-conflict");
  EXPECT_EQ(finding["level"], "warning");
  EXPECT_EQ(finding["line"], 3);
  EXPECT_EQ(finding["evidence"], json({{"requests", 32768}, {"conflict_degree", 32.0}, {"bank", "0"}}));
  EXPECT_EQ(finding["gain"], 32.0);
}

TEST(Json, ReplacesBytesThatAreNotUtf8) {
  Report report = sample_report();
  report.kernels[0].printed = "caf\xe9\n";
  EXPECT_EQ(json::parse(render_json(report))["kernels"][0]["printed"], "caf\xef\xbf\xbd\n");
}

}  // namespace
}  // namespace fullwarp::report

// The forms of a report: text, JSON against its schema, SARIF, CSV, the picture, the page.
#include "shapes/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "../report/json_schema.h"
#include "shapes/read.h"

namespace fullwarp::shapes {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

const gpu::Gpu& h200() { return *gpu::find_gpu("h200"); }

Model gpt2() {
  return *read_config(
      R"({"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_embd": 768, "n_head": 12,
    "n_layer": 12, "vocab_size": 50257})",
      "models/gpt2/config.json");
}

std::vector<Advice> advices() {
  std::vector<Advice> all;
  all.push_back(advise(gpt2(), {.batch = 8, .sequence = 1024, .backward = true}, h200()));
  all.push_back(advise(*read_list(*bytes_of("4096,4095,4096,bf16,NT\n8,8,8,fp8,NN\n"), "a,b.csv"), {},
                       *gpu::find_gpu("a100")));
  return all;
}

TEST(Json, FollowsItsSchema) {
  std::ifstream file(FULLWARP_SOURCE_DIR "/docs/schema/shapes-1.json");
  const Json schema = Json::parse(file);
  const std::vector<Error> errors = {{"cannot open", "x.gguf", 0, 0, "look"}};
  for (const std::string& text : {render_json(advices(), errors), render_json({}, {})}) {
    const Json document = Json::parse(text);
    EXPECT_EQ(test::SchemaValidator(schema).validate(document), "");
  }
}

TEST(Json, HasTheFigures) {
  const Json document = Json::parse(render_json(advices(), {}));
  EXPECT_EQ(document["schema"], 1);
  const Json& model = document["models"][0];
  EXPECT_EQ(model["basis"], "measured");
  EXPECT_EQ(model["changes"][0]["number"], "vocab_size");
  EXPECT_EQ(model["changes"][0]["from"], 50257);
  bool head = false;
  for (const Json& operation : model["operations"])
    if (operation["name"] == "output head" && operation["step"] == "forward") {
      head = true;
      EXPECT_EQ(operation["n"], 50257);
      EXPECT_EQ(operation["alignment"], "C: 2 bytes");
      EXPECT_GT(operation["time"]["us"], 1000);
      EXPECT_EQ(operation["flops"], 2.0 * 8192 * 50257 * 768);
    }
  EXPECT_TRUE(head);
  EXPECT_EQ(document["models"][1]["basis"], "estimated");
}

TEST(Json, BytesThatAreNoUtf8AreReplaced) {
  std::vector<Advice> all;
  all.push_back(advise(*read_list(*bytes_of("8,7,8,bf16\n"), "\xff\xfe.csv"), {}, h200()));
  EXPECT_FALSE(Json::parse(render_json(all, {}), nullptr, false).is_discarded());
}

TEST(Sarif, NamesRuleFileAndLine) {
  const Json document = Json::parse(render_sarif(advices(), {}));
  const Json& result = document["runs"][0]["results"][0];
  EXPECT_EQ(document["version"], "2.1.0");
  EXPECT_EQ(result["ruleId"], "shape-alignment");
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "models/gpt2/config.json");
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["region"]["startLine"], 2);
}

TEST(Sarif, DescribesTheRulesThatSpoke) {
  const Json document = Json::parse(render_sarif(advices(), {}));
  const Json& rules = document["runs"][0]["tool"]["driver"]["rules"];
  ASSERT_FALSE(rules.empty());
  const Json& first = rules[document["runs"][0]["results"][0]["ruleIndex"].get<size_t>()];
  EXPECT_EQ(first["id"], "shape-alignment");
  EXPECT_THAT(first["shortDescription"]["text"].get<std::string>(), HasSubstr("16 bytes"));
  EXPECT_EQ(first["fullDescription"]["text"], "Rows of a matrix product that are no multiple of 16 bytes.");
  EXPECT_THAT(first["help"]["markdown"].get<std::string>(), HasSubstr("## What to do"));
}

TEST(Text, SaysWhatGainsMost) {
  const std::string text = render_text(advices()[0]);
  EXPECT_THAT(text, HasSubstr("models/gpt2/config.json:2: warning: vocab_size 50257"));
  EXPECT_THAT(text, HasSubstr("the change that gains most: vocab_size 50257 -> "));
  EXPECT_THAT(text, HasSubstr("output head, weight gradient"));
  EXPECT_THAT(text, HasSubstr("interpolated between measurements on this GPU (NVIDIA H200"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(render_text(advices()[0], {.colour = true}), HasSubstr("\x1b[1;35mwarning:"));
}

TEST(Text, ControlCharactersOfFilesDoNotReachTheTerminal) {
  const Advice advice =
      advise(*read_list(*bytes_of("M,N,K,dtype,name\n8,7,8,bf16,\x1b[2J\n"), "a\x1b[31m.csv"), {}, h200());
  EXPECT_THAT(render_text(advice), Not(HasSubstr("\x1b")));
}

TEST(Text, TheTableIsCutAtItsLimit) {
  EXPECT_THAT(render_text(advices()[0], {.rows = 3}), HasSubstr("more; --rows"));
}

TEST(Csv, HasOneRowAnOperationAndQuotesCommas) {
  const std::vector<Advice> all = advices();
  const std::string text = render_csv(all);
  EXPECT_EQ(static_cast<size_t>(std::count(text.begin(), text.end(), '\n')),
            1 + all[0].rows.size() + all[1].rows.size());
  EXPECT_THAT(text, HasSubstr("\"a,b.csv\",line 1,forward,\"4096 x 4095 x 4096, NT\",1,"));
}

TEST(Svg, ShowsNowAndPadded) {
  const Model model = gpt2();
  const Advice advice = advise(model, {.batch = 8, .sequence = 1024}, h200());
  const Result<Curve> curve = curve_of(model, advice, h200(), "vocab_size");
  ASSERT_TRUE(curve);
  const std::string svg = render_svg(*curve, advice);
  EXPECT_TRUE(svg.starts_with("<svg xmlns="));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr("now 50257: "));
  EXPECT_THAT(svg, HasSubstr("padded 50"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(Html, EscapesWhatFilesSayAndHasNoScripts) {
  const Model model = *read_list(*bytes_of("M,N,K,dtype,name\n4096,4095,4096,bf16,<script>x\n"), "<b>.csv");
  const std::vector<Advice> all = {advise(model, {}, h200())};
  const std::vector<Curve> curves = {*curve_of(model, all[0], h200(), "")};
  const std::string page = render_html(all, curves, {});
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;x"));
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;.csv"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("<svg"));
}

}  // namespace
}  // namespace fullwarp::shapes

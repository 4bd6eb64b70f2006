// What is found, what is proposed, and what is left alone.
#include "shapes/advise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "held_back.h"
#include "shapes/findings.h"
#include "shapes/read.h"

namespace fullwarp::shapes {
namespace {

using testing::HasSubstr;

constexpr const char* kGpt2 =
    R"({"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_embd": 768, "n_head": 12,
  "n_layer": 12, "n_positions": 1024, "vocab_size": 50257})";
constexpr const char* kLlama3 =
    R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096,
  "intermediate_size": 14336, "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
  "vocab_size": 128256})";

const gpu::Gpu& h200() { return *gpu::find_gpu("h200"); }

Model config(const std::string& text) { return *read_config(text, "config.json"); }
Model list(const std::string& text) { return *read_list(*bytes_of(text), "list.csv"); }

const diag::Finding* find(const Advice& advice, const std::string& rule) {
  for (const diag::Finding& finding : advice.findings)
    if (finding.rule == rule) return &finding;
  return nullptr;
}

// Measured on an H200 (../shared/measured, PyTorch under load): output head 8192 x 50257 x 768, weights as
// [out, in]: 6.84 ms; padded to 50304: 1.06 ms.
TEST(Advice, Gpt2sVocabularyIsTheChangeThatGainsMost) {
  const Advice advice = advise(config(kGpt2), {.batch = 8, .sequence = 1024}, h200());
  ASSERT_FALSE(advice.changes.empty());
  const Change& change = advice.changes[0];
  EXPECT_EQ(change.number.name, "vocab_size");
  EXPECT_EQ(change.to % 8, 0);
  EXPECT_LE(change.to, 50432);
  EXPECT_TRUE(change.alignment);
  EXPECT_NEAR(change.affected_now.us, 6838, 0.25 * 6838);
  EXPECT_NEAR(change.affected_then.us, 1059, 0.25 * 1059);
  // Embedding and head are one tensor: 768 elements of 2 bytes a new row.
  EXPECT_EQ(change.extra_weight_bytes, 2.0 * 768 * static_cast<double>(change.to - 50257));
  const diag::Finding* finding = find(advice, "shape-alignment");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, diag::Level::warning);
  EXPECT_EQ(finding->place.line, 2u);
  EXPECT_THAT(
      finding->message,
      HasSubstr("vocab_size 50257 is no multiple of 8 elements, 16 bytes in bf16: output head takes"));
  EXPECT_THAT(finding->fix, HasSubstr("vocab_size 50257 -> "));
}

TEST(Advice, AModelOfGoodSizesIsLeftAlone) {
  const Advice advice = advise(config(kLlama3), {.batch = 8, .sequence = 1024}, h200());
  for (const diag::Finding& finding : advice.findings)
    EXPECT_LT(finding.level, diag::Level::warning) << finding.message;
}

TEST(Advice, OneTokenOfExtraVocabularyIsSeen) {
  std::string text = kLlama3;
  text.replace(text.find("128256"), 6, "128257");
  const Advice advice = advise(config(text), {.batch = 8, .sequence = 1024}, h200());
  ASSERT_FALSE(advice.changes.empty());
  EXPECT_EQ(advice.changes[0].number.name, "vocab_size");
  EXPECT_GT(advice.changes[0].affected_now.us, 3 * advice.changes[0].affected_then.us);
}

TEST(Advice, OddMlpWidthsAndHeadSizesAreFoundEachUnderItsName) {
  const Advice advice =
      advise(config(R"({"model_type": "llama", "hidden_size": 2048, "intermediate_size": 5461,
      "head_dim": 63, "num_attention_heads": 32, "num_hidden_layers": 16, "vocab_size": 32000})"),
             {.batch = 8, .sequence = 1024}, h200());
  std::map<std::string, int64_t> to;
  for (const Change& change : advice.changes) to[change.number.name] = change.to;
  EXPECT_EQ(to["head_dim"], 64);
  EXPECT_GE(to["intermediate_size"], 5464);
  EXPECT_EQ(to["intermediate_size"] % 8, 0);
  const diag::Finding* head = find(advice, "shape-head-size");
  ASSERT_NE(head, nullptr);
  EXPECT_EQ(head->level, diag::Level::warning);
  ASSERT_TRUE(advice.together);
  EXPECT_LT(advice.together->then.us, advice.changes[0].then.us);
}

TEST(Advice, WhereAFixGainsNothingItSaysSo) {
  // A product of a few elements takes the time of a launch, aligned or not.
  const Advice advice = advise(list("8192,8192,8192,bf16,NT\n4,15,16,bf16,NT\n"), {}, h200());
  const diag::Finding* finding = find(advice, "shape-alignment");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, diag::Level::note);
}

TEST(Advice, Fp32HasNoCliff) {
  const Advice advice = advise(list("4096,4095,4095,fp32,NT\n"), {}, h200());
  EXPECT_TRUE(advice.findings.empty());
}

TEST(Advice, APaddedPitchUnderAnOddExtentGainsNothing) {
  const Advice padded = advise(list("4096,4095,4096,bf16,4096,4096,4096,NT\n"), {}, h200());
  const Advice plain = advise(list("4096,4095,4096,bf16,NT\n"), {}, h200());
  EXPECT_EQ(padded.total.us, plain.total.us);
}

TEST(Advice, AnOddPitchOrBaseUnderGoodExtentsIsNamed) {
  const Advice pitch = advise(list("4096,4096,4096,bf16,4096,4096,4097,NT\n"), {}, h200());
  const diag::Finding* finding = find(pitch, "shape-pitch");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(finding->message, HasSubstr("row pitch 4097 of C"));
  const Advice base = advise(list("M,N,K,dtype,trans,a_bytes\n4096,4096,4096,bf16,NT,2\n"), {}, h200());
  finding = find(base, "shape-pitch");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(finding->message, HasSubstr("base of A at a multiple of 2 bytes"));
}

TEST(Advice, Fp8RefusesWhatOtherTypesOnlyPayFor) {
  const Advice advice = advise(list("4096,4100,4096,fp8,NT\n"), {}, h200());
  const diag::Finding* finding = find(advice, "shape-alignment");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, diag::Level::error);
}

TEST(Advice, WideHeadsHaveNoFusedKernel) {
  const Advice advice =
      advise(config(R"({"model_type": "llama", "hidden_size": 2560, "head_dim": 320, "num_attention_heads": 8,
      "intermediate_size": 8192, "num_hidden_layers": 8, "vocab_size": 32000})"),
             {.batch = 4, .sequence = 2048}, h200());
  const diag::Finding* finding = find(advice, "shape-head-size");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(finding->message, HasSubstr("more than the 256"));
}

TEST(Advice, OtherHopperGpusAreScaledAndOtherArchitecturesEstimated) {
  const Model model = config(kGpt2);
  const RunOptions run = {.batch = 8, .sequence = 1024};
  const Advice h100 = advise(model, run, *gpu::find_gpu("h100"));
  EXPECT_EQ(h100.basis, Basis::scaled);
  EXPECT_GE(h100.total.us, advise(model, run, h200()).total.us);  // the same SMs, less bandwidth
  const Advice a100 = advise(model, run, *gpu::find_gpu("a100"));
  EXPECT_EQ(a100.basis, Basis::estimated);
  EXPECT_GT(a100.total.high_us, h100.total.high_us);
  EXPECT_NE(find(a100, "shape-alignment"), nullptr);  // sizes are judged all the same
}

TEST(Advice, ProblemsAreErrorsAtTheirLine) {
  const Advice advice =
      advise(config("{\"model_type\": \"llama\",\n\"hidden_size\": 4096,\n\"intermediate_size\": 11008,\n"
                    "\"num_attention_heads\": 32, \"num_hidden_layers\": 2, \"vocab_size\": 32000}"),
             {.batch = 1, .sequence = 16, .tensor_parallel = 3}, h200());
  bool seen = false;
  for (const diag::Finding& finding : advice.findings)
    if (finding.rule == "shape-parallel" && finding.kernel == "intermediate_size") {
      seen = true;
      EXPECT_EQ(finding.level, diag::Level::error);
      EXPECT_EQ(finding.place.line, 3u);
    }
  EXPECT_TRUE(seen);
}

TEST(Advice, TheCurveHasTheCliff) {
  const Model model = list("4096,4095,4096,bf16,NT\n");
  const Advice advice = advise(model, {}, h200());
  const Result<Curve> curve = curve_of(model, advice, h200(), "");
  ASSERT_TRUE(curve);
  EXPECT_EQ(curve->now, 4095);
  EXPECT_EQ(curve->to, 4096);
  std::map<int64_t, double> us;
  for (const auto& [value, total] : curve->points) us[value] = total.us;
  EXPECT_GT(us.at(4095), 4 * us.at(4096));
  EXPECT_GT(us.at(4094), 2 * us.at(4096));
  EXPECT_GT(us.at(4095), 1.5 * us.at(4094));
  EXPECT_FALSE(curve_of(model, advice, h200(), "nothing"));
}

// Large power-of-two pitches: the same product with pitches 64 elements wider is no faster. That is why no
// rule warns of them (the measurement is repeated if the table is).
TEST(Evidence, PowerOfTwoPitchesDoNotHurt) {
  std::map<std::string, double> plain, wider;
  for (const test::Row& row : test::read_rows("h200_pitch.csv")) {
    const int64_t extent = row.at("layout") == "TN" ? test::whole(row, "M") : test::whole(row, "K");
    const std::string key =
        row.at("dtype") + row.at("layout") + row.at("M") + "x" + row.at("N") + "x" + row.at("K");
    const int64_t extra = test::whole(row, "lda") - extent;
    const bool power = (extent & (extent - 1)) == 0 && extent >= 4096;
    if (power && extra == 0 && test::whole(row, "ldc") == test::whole(row, "N"))
      plain[key] = test::number(row, "us");
    if (power && extra == 64) wider[key] = test::number(row, "us");
  }
  std::vector<double> ratios;
  for (const auto& [key, us] : wider)
    if (plain.contains(key)) ratios.push_back(plain[key] / us);
  ASSERT_GE(ratios.size(), 15u);
  std::sort(ratios.begin(), ratios.end());
  EXPECT_NEAR(ratios[ratios.size() / 2], 1.0, 0.03);
  EXPECT_LT(ratios.back(), 1.08);
}

}  // namespace
}  // namespace fullwarp::shapes

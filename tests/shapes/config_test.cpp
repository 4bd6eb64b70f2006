// The public configs of well-known models (their numbers only): every product that follows from them, by
// hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "products.h"
#include "shapes/read.h"

namespace fullwarp::shapes {
namespace {

using test::find;
using test::product;
using testing::HasSubstr;

Model model_of(const std::string& text) {
  Result<Model> model = read_config(text, "config.json");
  EXPECT_TRUE(model) << (model ? "" : model.error().to_string());
  return model ? *model : Model{};
}

constexpr const char* kGpt2 = R"({
  "architectures": ["GPT2LMHeadModel"], "model_type": "gpt2",
  "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024,
  "vocab_size": 50257
})";

TEST(Config, Gpt2KeepsWeightsAsInputsByOutputsAndTiesItsHead) {
  const Model model = model_of(kGpt2);
  EXPECT_EQ(model.find("vocab_size")->line, 4u);
  EXPECT_EQ(model.max_sequence, 1024);
  const Derived derived = derive(model, {.batch = 8, .sequence = 1024});
  // 8 x 1024 = 8192 tokens; q, k and v in one product of 3 x 768.
  EXPECT_EQ(product(derived, "attention qkv"), "8192 x 2304 x 768, NN, 12 times");
  EXPECT_EQ(product(derived, "attention output"), "8192 x 768 x 768, NN, 12 times");
  EXPECT_EQ(product(derived, "mlp up"), "8192 x 3072 x 768, NN, 12 times");
  EXPECT_EQ(product(derived, "mlp down"), "8192 x 768 x 3072, NN, 12 times");
  EXPECT_EQ(product(derived, "output head"), "8192 x 50257 x 768, NT, 1 times");
  EXPECT_EQ(product(derived, "attention scores"),
            "8 x 12 heads of 64, 1024 queries, 1024 keys, causal, 12 times");
  // 12 x (2304 + 768 + 3072 + 3072) x 768 = 84 934 656 weights in the layers, 50257 x 768 in embedding and
  // head.
  EXPECT_EQ(test::total_weights(derived), 84934656.0 + 38597376.0);
}

TEST(Config, BackwardHasTwoProductsForEachForwardOne) {
  const Derived derived = derive(model_of(kGpt2), {.batch = 8, .sequence = 1024, .backward = true});
  // y[8192,2304] = x[8192,768] w[768,2304]: dx = dy w^T, dw = x^T dy.
  EXPECT_EQ(product(derived, "attention qkv", Step::input_gradient), "8192 x 768 x 2304, NT, 12 times");
  EXPECT_EQ(product(derived, "attention qkv", Step::weight_gradient), "768 x 2304 x 8192, TN, 12 times");
  // The head's weights are [50257,768]: dx = dy w, dw = dy^T x.
  EXPECT_EQ(product(derived, "output head", Step::input_gradient), "8192 x 768 x 50257, NN, 1 times");
  EXPECT_EQ(product(derived, "output head", Step::weight_gradient), "50257 x 768 x 8192, TN, 1 times");
}

TEST(Config, LastLogitsOnly) {
  const Derived derived = derive(model_of(kGpt2), {.batch = 8, .sequence = 1024, .last_logits = true});
  EXPECT_EQ(product(derived, "output head"), "8 x 50257 x 768, NT, 1 times");
}

TEST(Config, BertHasAHeadTransformAndNoCausalMask) {
  const Derived derived = derive(model_of(R"({"architectures": ["BertForMaskedLM"], "model_type": "bert",
      "hidden_size": 768, "intermediate_size": 3072, "max_position_embeddings": 512, "num_attention_heads": 12,
      "num_hidden_layers": 12, "vocab_size": 30522})"),
                                 {.batch = 16, .sequence = 512});
  EXPECT_EQ(product(derived, "attention q, k, v"), "8192 x 768 x 768, NT, 36 times");
  EXPECT_EQ(product(derived, "attention scores"), "16 x 12 heads of 64, 512 queries, 512 keys, 12 times");
  EXPECT_EQ(product(derived, "mlp up"), "8192 x 3072 x 768, NT, 12 times");
  EXPECT_EQ(product(derived, "head transform"), "8192 x 768 x 768, NT, 1 times");
  EXPECT_EQ(product(derived, "output head"), "8192 x 30522 x 768, NT, 1 times");
}

TEST(Config, RobertaAndXlmRCountPositionsFromThePaddingId) {
  const Model roberta = model_of(R"({"architectures": ["RobertaForMaskedLM"], "model_type": "roberta",
      "hidden_size": 768, "intermediate_size": 3072, "max_position_embeddings": 514, "num_attention_heads": 12,
      "num_hidden_layers": 12, "vocab_size": 50265})");
  EXPECT_EQ(roberta.max_sequence, 512);
  EXPECT_EQ(product(derive(roberta, {.batch = 1, .sequence = 512}), "output head"),
            "512 x 50265 x 768, NT, 1 times");
  const Model xlm = model_of(R"({"architectures": ["XLMRobertaForMaskedLM"], "model_type": "xlm-roberta",
      "hidden_size": 1024, "intermediate_size": 4096, "max_position_embeddings": 514, "num_attention_heads": 16,
      "num_hidden_layers": 24, "vocab_size": 250002})");
  EXPECT_EQ(product(derive(xlm, {.batch = 2, .sequence = 512}), "output head"),
            "1024 x 250002 x 1024, NT, 1 times");
}

TEST(Config, ClassifiersHaveLabelsInsteadOfAVocabulary) {
  const Derived derived = derive(model_of(R"({"architectures": ["BertForSequenceClassification"],
      "model_type": "bert", "hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12,
      "num_hidden_layers": 12, "vocab_size": 30522, "id2label": {"0": "a", "1": "b", "2": "c"}})"),
                                 {.batch = 4, .sequence = 128});
  EXPECT_EQ(product(derived, "classifier"), "4 x 3 x 768, NT, 1 times");
  EXPECT_EQ(find(derived, "output head"), nullptr);
}

TEST(Config, WhisperHearsThirtySecondsWhateverTheDecoderWrites) {
  const Model model =
      model_of(R"({"architectures": ["WhisperForConditionalGeneration"], "model_type": "whisper",
      "d_model": 384, "decoder_attention_heads": 6, "decoder_ffn_dim": 1536, "decoder_layers": 4,
      "encoder_attention_heads": 6, "encoder_ffn_dim": 1536, "encoder_layers": 4, "max_source_positions": 1500,
      "max_target_positions": 448, "num_hidden_layers": 4, "num_mel_bins": 80, "vocab_size": 51865})");
  const Derived derived = derive(model, {.batch = 2, .sequence = 448});
  EXPECT_EQ(product(derived, "encoder conv1"), "80 -> 384 channels, 3 x 1 kernel, 2 x 3000 x 1, 1 times");
  EXPECT_EQ(product(derived, "encoder conv2"), "384 -> 384 channels, 3 x 1 kernel, 2 x 3000 x 1, 1 times");
  EXPECT_EQ(product(derived, "encoder attention q, k, v"), "3000 x 384 x 384, NT, 12 times");
  EXPECT_EQ(product(derived, "encoder mlp up"), "3000 x 1536 x 384, NT, 4 times");
  EXPECT_EQ(product(derived, "decoder attention q, k, v"), "896 x 384 x 384, NT, 12 times");
  EXPECT_EQ(product(derived, "decoder cross attention k, v"), "3000 x 384 x 384, NT, 8 times");
  EXPECT_EQ(product(derived, "decoder cross attention scores"),
            "2 x 6 heads of 64, 448 queries, 1500 keys, 4 times");
  EXPECT_EQ(product(derived, "output head"), "896 x 51865 x 384, NT, 1 times");
}

constexpr const char* kLlama3 =
    R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096,
    "intermediate_size": 14336, "max_position_embeddings": 8192, "num_attention_heads": 32, "num_hidden_layers": 32,
    "num_key_value_heads": 8, "torch_dtype": "bfloat16", "vocab_size": 128256})";

TEST(Config, LlamaGroupsItsKeysAndGatesItsMlp) {
  const Derived derived = derive(model_of(kLlama3), {.batch = 1, .sequence = 4096});
  EXPECT_EQ(product(derived, "attention q"), "4096 x 4096 x 4096, NT, 32 times");
  EXPECT_EQ(product(derived, "attention k, v"), "4096 x 1024 x 4096, NT, 64 times");
  EXPECT_EQ(product(derived, "mlp gate, up"), "4096 x 14336 x 4096, NT, 64 times");
  EXPECT_EQ(product(derived, "mlp down"), "4096 x 4096 x 14336, NT, 32 times");
  EXPECT_EQ(product(derived, "output head"), "4096 x 128256 x 4096, NT, 1 times");
  // Published: 8 030 261 248 parameters; less 65 norms of 4096, which are no matrices.
  EXPECT_EQ(test::total_weights(derived), 8030261248.0 - 65 * 4096.0);
}

TEST(Config, TensorParallelRanksSplitWideningLayersByOutputsAndNarrowingOnesByInputs) {
  const Derived derived = derive(model_of(kLlama3), {.batch = 1, .sequence = 4096, .tensor_parallel = 8});
  EXPECT_TRUE(derived.problems.empty());
  EXPECT_EQ(product(derived, "attention q"), "4096 x 512 x 4096, NT, 32 times");
  EXPECT_EQ(product(derived, "attention k, v"), "4096 x 128 x 4096, NT, 64 times");
  EXPECT_EQ(product(derived, "attention output"), "4096 x 4096 x 512, NT, 32 times");
  EXPECT_EQ(product(derived, "mlp down"), "4096 x 4096 x 1792, NT, 32 times");
  EXPECT_EQ(product(derived, "output head"), "4096 x 16032 x 4096, NT, 1 times");
}

TEST(Config, RanksBeyondTheKeyHeadsHoldCopies) {
  const Derived derived = derive(model_of(kLlama3), {.batch = 1, .sequence = 128, .tensor_parallel = 16});
  EXPECT_EQ(product(derived, "attention k, v"), "128 x 128 x 4096, NT, 64 times");  // one head of 128 each
  EXPECT_TRUE(derived.problems.empty());
}

TEST(Config, WhatCannotBeSplitIsAnError) {
  const Derived derived = derive(model_of(kLlama3), {.batch = 1, .sequence = 128, .tensor_parallel = 6});
  std::vector<std::string> numbers;
  for (const Problem& problem : derived.problems) {
    EXPECT_EQ(problem.rule, "shape-parallel");
    numbers.push_back(problem.number);
  }
  // 32 = 5 x 6 + 2, 14336 = 2389 x 6 + 2, 8 = 6 + 2; 128256 = 21376 x 6 fits.
  EXPECT_THAT(numbers, testing::UnorderedElementsAre("num_attention_heads", "intermediate_size",
                                                     "num_key_value_heads"));
}

TEST(Config, RanksThatDoNotDivideTheHeadsHaveWholeOnesAllTheSame) {
  const Derived derived = derive(model_of(kLlama3), {.batch = 1, .sequence = 128, .tensor_parallel = 6});
  // 32 heads of 128 on 6 ranks: 6 on the fullest; 8 key heads: 2.
  EXPECT_EQ(product(derived, "attention q"), "128 x 768 x 4096, NT, 32 times");
  EXPECT_EQ(product(derived, "attention k, v"), "128 x 256 x 4096, NT, 64 times");
  for (const Problem& problem : derived.problems) {
    // 14336 to a multiple of 6 x 8 elements; heads to one of 6.
    const std::string to = problem.number == "intermediate_size"     ? "pad it to 14352"
                           : problem.number == "num_attention_heads" ? "pad it to 36"
                                                                     : "pad it to 12";
    EXPECT_THAT(problem.fix, HasSubstr(to)) << problem.number;
  }
}

TEST(Config, QwenHasAHeadSizeOfItsOwn) {
  const Derived derived = derive(model_of(R"({"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3",
      "head_dim": 128, "hidden_size": 1024, "intermediate_size": 3072, "num_attention_heads": 16,
      "num_hidden_layers": 28, "num_key_value_heads": 8, "vocab_size": 151936})"),
                                 {.batch = 1, .sequence = 1024});
  EXPECT_EQ(product(derived, "attention q"), "1024 x 2048 x 1024, NT, 28 times");  // 16 x 128, not 1024
  EXPECT_EQ(product(derived, "attention output"), "1024 x 1024 x 2048, NT, 28 times");
  EXPECT_EQ(product(derived, "output head"), "1024 x 151936 x 1024, NT, 1 times");
}

TEST(Config, Qwen2OfHalfABillion) {
  const Derived derived = derive(model_of(R"({"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2",
      "hidden_size": 896, "intermediate_size": 4864, "num_attention_heads": 14, "num_hidden_layers": 24,
      "num_key_value_heads": 2, "vocab_size": 151936})"),
                                 {.batch = 1, .sequence = 1024});
  EXPECT_EQ(product(derived, "attention k, v"), "1024 x 128 x 896, NT, 48 times");
  EXPECT_EQ(product(derived, "mlp gate, up"), "1024 x 4864 x 896, NT, 48 times");
}

TEST(Config, MixtralSpreadsTokensOverEightExperts) {
  const Derived derived =
      derive(model_of(R"({"architectures": ["MixtralForCausalLM"], "model_type": "mixtral",
      "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32, "num_experts_per_tok": 2,
      "num_hidden_layers": 32, "num_key_value_heads": 8, "num_local_experts": 8, "vocab_size": 32000})"),
             {.batch = 4, .sequence = 1024});
  EXPECT_EQ(product(derived, "router"), "4096 x 8 x 4096, NT, 32 times");
  // 4096 tokens x 2 of 8 experts = 1024 tokens each; gate and up of 32 x 8 experts.
  EXPECT_EQ(product(derived, "expert gate, up"), "1024 x 14336 x 4096, NT, 512 times");
  EXPECT_EQ(product(derived, "expert down"), "1024 x 4096 x 14336, NT, 256 times");
  // Published: 46.7 billion parameters.
  EXPECT_NEAR(test::total_weights(derived), 46.7e9, 0.05e9);
}

TEST(Config, QwenMoeHasASharedExpert) {
  const Derived derived =
      derive(model_of(R"({"architectures": ["Qwen2MoeForCausalLM"], "model_type": "qwen2_moe",
      "hidden_size": 2048, "intermediate_size": 5632, "moe_intermediate_size": 1408,
      "shared_expert_intermediate_size": 5632, "num_attention_heads": 16, "num_experts": 60, "num_experts_per_tok": 4,
      "num_hidden_layers": 24, "num_key_value_heads": 16, "decoder_sparse_step": 1, "vocab_size": 151936})"),
             {.batch = 1, .sequence = 1500});
  EXPECT_EQ(product(derived, "router"), "1500 x 60 x 2048, NT, 24 times");
  EXPECT_EQ(product(derived, "expert gate, up"),
            "100 x 1408 x 2048, NT, 2880 times");  // 1500 x 4 / 60; 2 x 24 x 60
  EXPECT_EQ(product(derived, "shared expert down"), "1500 x 2048 x 5632, NT, 24 times");
}

TEST(Config, QuantizationBlocksMustDivideEveryRanksPart) {
  const Model model = model_of(R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008,
      "num_attention_heads": 32, "num_hidden_layers": 32, "vocab_size": 32000,
      "quantization_config": {"bits": 4, "group_size": 128, "quant_method": "gptq"}})");
  EXPECT_TRUE(
      derive(model, {.batch = 1, .sequence = 1, .tensor_parallel = 2}).problems.empty());  // 5504 = 43 x 128
  const Derived four =
      derive(model, {.batch = 1, .sequence = 1, .tensor_parallel = 4});  // 2752 = 21 x 128 + 64
  ASSERT_EQ(four.problems.size(), 1u);
  EXPECT_EQ(four.problems[0].rule, "shape-quantization-block");
  EXPECT_THAT(four.problems[0].message, HasSubstr("mlp down: 2752 inputs on each of 4 ranks"));
}

TEST(Config, AnUnknownTypeIsReadByItsNumbersAndSaysSo) {
  const Model model = model_of(R"({"model_type": "novel", "hidden_act": "silu", "hidden_size": 512,
      "intermediate_size": 2048, "num_attention_heads": 8, "num_hidden_layers": 6, "vocab_size": 1000})");
  ASSERT_FALSE(model.notes.empty());
  EXPECT_THAT(model.notes[0], HasSubstr("`novel` is not known"));
  EXPECT_EQ(product(derive(model, {.batch = 1, .sequence = 8}), "mlp gate, up"),
            "8 x 2048 x 512, NT, 12 times");
}

TEST(Config, ErrorsSayWhereAndWhat) {
  const auto message = [](const std::string& text) {
    const Result<Model> model = read_config(text, "c.json");
    return model ? std::string("no error") : model.error().to_string();
  };
  EXPECT_THAT(message("{\n\"hidden_size\": 768,\n}"), HasSubstr("c.json:3: error: not valid JSON"));
  EXPECT_THAT(message("{\"hidden_size\": 40e11008}"), HasSubstr("not valid JSON"));
  EXPECT_THAT(message("[1]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(message("{\"a\": 1}"), HasSubstr("no model_type"));
  EXPECT_THAT(
      message(R"({"model_type": "llama", "hidden_size": 768, "num_hidden_layers": 2, "num_attention_heads": 7,
      "vocab_size": 10})"),
      HasSubstr("hidden_size 768 is no multiple of the 7 attention heads"));
  EXPECT_THAT(message("{\"model_type\": \"llama\",\n\"hidden_size\": -1}"),
              HasSubstr("c.json:2: error: `hidden_size` lies outside"));
  EXPECT_THAT(message("{\"model_type\": \"llama\", \"hidden_size\": 1e9}"), HasSubstr("no whole number"));
  EXPECT_THAT(message("{\"model_type\": \"llama\", \"hidden_size\": 64}"),
              HasSubstr("`num_attention_heads` is missing"));
}

}  // namespace
}  // namespace fullwarp::shapes

// Products of architectures that are more than attention and one MLP, by hand; and what is not known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "products.h"
#include "shapes/read.h"

namespace fullwarp::shapes {
namespace {

using test::find;
using test::product;
using testing::Contains;
using testing::HasSubstr;

Model model_of(const std::string& text) {
  Result<Model> model = read_config(text, "config.json");
  EXPECT_TRUE(model) << (model ? "" : model.error().to_string());
  return model ? *model : Model{};
}
std::string error_of(const std::string& text) {
  const Result<Model> model = read_config(text, "config.json");
  return model ? std::string("no error") : model.error().to_string();
}

constexpr const char* kDeepSeek =
    R"({"model_type": "deepseek_v3", "first_k_dense_replace": 3, "hidden_size": 7168,
    "intermediate_size": 18432, "kv_lora_rank": 512, "moe_intermediate_size": 2048, "n_routed_experts": 256,
    "n_shared_experts": 1, "num_attention_heads": 128, "num_experts_per_tok": 8, "num_hidden_layers": 61,
    "num_key_value_heads": 128, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
    "v_head_dim": 128, "vocab_size": 129280,
    "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}})";

TEST(DeepSeek, KeysAndValuesComeFromANarrowVector) {
  const Derived derived = derive(model_of(kDeepSeek), {.batch = 1, .sequence = 4096});
  EXPECT_EQ(product(derived, "attention q down"), "4096 x 1536 x 7168, NT, 61 times");
  EXPECT_EQ(product(derived, "attention q up"), "4096 x 24576 x 1536, NT, 61 times");     // 128 x (128 + 64)
  EXPECT_EQ(product(derived, "attention k, v down"), "4096 x 576 x 7168, NT, 61 times");  // 512 + 64
  EXPECT_EQ(product(derived, "attention k, v up"), "4096 x 32768 x 512, NT, 61 times");   // 128 x (128 + 128)
  EXPECT_EQ(product(derived, "attention output"), "4096 x 7168 x 16384, NT, 61 times");   // 128 x 128
  EXPECT_EQ(product(derived, "attention scores"),
            "1 x 128 heads of 192, 4096 queries, 4096 keys, causal, 61 times");
  // q k^T over 192, p v over 128 elements; half of the pairs.
  EXPECT_EQ(flops(*find(derived, "attention scores")), 2.0 * 128 * (192 + 128) * 4096 * 4096 / 2);
  EXPECT_EQ(product(derived, "mlp down"), "4096 x 7168 x 18432, NT, 3 times");
  EXPECT_EQ(product(derived, "router"), "4096 x 256 x 7168, NT, 58 times");
  EXPECT_EQ(product(derived, "expert down"),
            "128 x 7168 x 2048, NT, 14848 times");  // 4096 x 8 / 256; 58 x 256
  EXPECT_EQ(product(derived, "shared expert gate, up"), "4096 x 2048 x 7168, NT, 116 times");
}

TEST(DeepSeek, AWholeLayerMayEndWithinABlockARanksPartMayNot) {
  // 576 = 4.5 blocks of 128, on every rank the same; 18432 / 16 = 1152 = 9 blocks; 2048 / 16 = 128.
  const Model model = model_of(kDeepSeek);
  EXPECT_TRUE(derive(model, {.batch = 1, .sequence = 1, .tensor_parallel = 16}).problems.empty());
  // 2048 / 32 = 64: half a block; 18432 / 32 = 576.
  EXPECT_FALSE(derive(model, {.batch = 1, .sequence = 1, .tensor_parallel = 32}).problems.empty());
}

TEST(DeepSeek, RanksShareHeadsAndKeepTheNarrowVector) {
  const Derived derived = derive(model_of(kDeepSeek), {.batch = 1, .sequence = 64, .tensor_parallel = 8});
  EXPECT_EQ(product(derived, "attention k, v down"), "64 x 576 x 7168, NT, 61 times");
  EXPECT_EQ(product(derived, "attention k, v up"), "64 x 4096 x 512, NT, 61 times");
  EXPECT_EQ(product(derived, "attention output"), "64 x 7168 x 2048, NT, 61 times");
}

TEST(Gemma2, EveryOtherLayerSeesAWindow) {
  const Model model = model_of(R"({"model_type": "gemma2", "head_dim": 256, "hidden_size": 2304,
      "intermediate_size": 9216, "num_attention_heads": 8, "num_hidden_layers": 26, "num_key_value_heads": 4,
      "sliding_window": 4096, "vocab_size": 256000})");
  const Derived longer = derive(model, {.batch = 1, .sequence = 8192});
  EXPECT_EQ(product(longer, "attention scores"),
            "1 x 8 heads of 256, 8192 queries, 8192 keys, causal, 13 times");
  const Operation* narrow = find(longer, "attention scores, sliding window");
  ASSERT_NE(narrow, nullptr);
  EXPECT_EQ(narrow->count, 13);
  // The first 4096 queries see 1 to 4096 keys, the others 4096 each.
  EXPECT_EQ(scores(std::get<Attention>(narrow->work)), 4096.0 * 4096 / 2 + 4096.0 * 4096);
  EXPECT_EQ(find(derive(model, {.batch = 1, .sequence = 4096}), "attention scores, sliding window"), nullptr);
}

TEST(Windows, OfAllLayersOfNoneOrAsTheLayersSay) {
  const auto windows = [](const std::string& type, const std::string& more) {
    const Model model = model_of(R"({"hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 12,
        "intermediate_size": 128, "vocab_size": 64, "sliding_window": 16, "model_type": ")" +
                                 type + "\"" + more + "}");
    return model.architectures.at(0).window_layers;
  };
  EXPECT_EQ(windows("mistral", ""), 12);
  EXPECT_EQ(windows("qwen2", R"(, "use_sliding_window": false)"), 0);
  EXPECT_EQ(windows("qwen2", R"(, "use_sliding_window": true, "max_window_layers": 8)"), 4);
  EXPECT_EQ(windows("gemma3_text", ""), 10);  // every sixth sees all
  EXPECT_EQ(windows("llama", ""), 0);
  EXPECT_EQ(
      windows("gpt_oss", R"(, "layer_types": ["sliding_attention", "full_attention", "sliding_attention"])"),
      2);
}

TEST(Gemma2, BehindACacheAWindowReadsNoMoreThanItSees) {
  const Model model = model_of(R"({"model_type": "gemma2", "head_dim": 256, "hidden_size": 2304,
      "intermediate_size": 9216, "num_attention_heads": 8, "num_hidden_layers": 26, "num_key_value_heads": 4,
      "sliding_window": 4096, "vocab_size": 256000})");
  const Derived decode = derive(model, {.batch = 2, .sequence = 1, .cached = 8191});
  const Operation* whole = find(decode, "attention scores");
  EXPECT_EQ(product(decode, "attention scores"),
            "2 x 8 heads of 256, 1 queries, 8192 keys, causal, 13 times");
  EXPECT_EQ(flops(*whole), 2.0 * 2 * 8 * (256 + 256) * 8192);
  // Queries of 8 heads, keys and values of 4; 512 elements of 2 bytes for both.
  EXPECT_EQ(bytes(*whole), 2.0 * 2 * 512 * (8 * 1 + 4 * 8192));
  const Operation* narrow = find(decode, "attention scores, sliding window");
  ASSERT_NE(narrow, nullptr);
  EXPECT_EQ(flops(*narrow), 2.0 * 2 * 8 * (256 + 256) * 4096);
  EXPECT_EQ(bytes(*narrow), 2.0 * 2 * 512 * (8 * 1 + 4 * 4096));
  EXPECT_EQ(product(decode, "attention output"), "2 x 2304 x 2048, NT, 26 times");
}

TEST(Cache, PairsAreThoseOfEveryQueryCountedOneByOne) {
  for (int64_t queries : {1, 2, 5, 9})
    for (int64_t cached : {1, 3, 7, 20})
      for (int64_t window : {0, 1, 4, 8, 100}) {
        double pairs = 0;
        for (int64_t query = 0; query < queries; ++query)
          for (int64_t key = 0; key <= cached + query; ++key)
            pairs += window == 0 || key > cached + query - window ? 1 : 0;
        EXPECT_EQ(scores({.queries = queries, .keys = cached + queries, .window = window}), pairs)
            << queries << " queries behind " << cached << ", window " << window;
      }
}

TEST(T5, BehindACacheTheEncoderHasRun) {
  const Model model =
      model_of(R"({"architectures": ["T5ForConditionalGeneration"], "model_type": "t5", "d_ff": 1024,
      "d_kv": 64, "d_model": 512, "num_heads": 6, "num_layers": 8, "num_decoder_layers": 8, "vocab_size": 32128})");
  const Derived decode = derive(model, {.batch = 4, .sequence = 1, .cached = 127});
  EXPECT_EQ(find(decode, "encoder attention q, k, v"), nullptr);
  EXPECT_EQ(find(decode, "decoder cross attention k, v"), nullptr);
  EXPECT_EQ(product(decode, "decoder cross attention q"), "4 x 384 x 512, NT, 8 times");
  EXPECT_EQ(product(decode, "decoder attention scores"),
            "4 x 6 heads of 64, 1 queries, 128 keys, causal, 8 times");
  EXPECT_EQ(product(decode, "decoder cross attention scores"),
            "4 x 6 heads of 64, 1 queries, 128 keys, 8 times");
}

TEST(T5, EncoderAndDecoderShareTheirNumbers) {
  const Model model =
      model_of(R"({"architectures": ["T5ForConditionalGeneration"], "model_type": "t5", "d_ff": 1024,
      "d_kv": 64, "d_model": 512, "num_heads": 6, "num_layers": 8, "num_decoder_layers": 8, "vocab_size": 32128,
      "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false})");
  const Derived derived = derive(model, {.batch = 4, .sequence = 512});
  EXPECT_EQ(product(derived, "encoder attention q, k, v"),
            "2048 x 384 x 512, NT, 24 times");  // 6 heads of 64
  EXPECT_EQ(product(derived, "encoder attention output"), "2048 x 512 x 384, NT, 8 times");
  EXPECT_EQ(product(derived, "encoder mlp gate, up"), "2048 x 1024 x 512, NT, 16 times");
  EXPECT_EQ(product(derived, "decoder cross attention k, v"), "2048 x 384 x 512, NT, 16 times");
  EXPECT_EQ(product(derived, "decoder mlp down"), "2048 x 512 x 1024, NT, 8 times");
  EXPECT_EQ(find(derived, "output head")->weight_elements, 32128.0 * 512);
  EXPECT_EQ(find(derived, "encoder attention scores")->count, 8);
}

TEST(Bart, HasItsOwnNumbersOnEachSide) {
  const Derived derived =
      derive(model_of(R"({"architectures": ["BartForConditionalGeneration"], "model_type": "bart",
      "d_model": 1024, "encoder_layers": 12, "decoder_layers": 6, "encoder_attention_heads": 16,
      "decoder_attention_heads": 16, "encoder_ffn_dim": 4096, "decoder_ffn_dim": 2048, "num_hidden_layers": 12,
      "vocab_size": 50265})"),
             {.batch = 1, .sequence = 256});
  EXPECT_EQ(product(derived, "encoder mlp up"), "256 x 4096 x 1024, NT, 12 times");
  EXPECT_EQ(product(derived, "decoder mlp up"), "256 x 2048 x 1024, NT, 6 times");
  EXPECT_EQ(product(derived, "output head"), "256 x 50265 x 1024, NT, 1 times");
}

TEST(VisionTransformer, CutsImagesIntoPatches) {
  const Model model = model_of(R"({"architectures": ["ViTModel"], "model_type": "vit", "hidden_size": 768,
      "image_size": 224, "intermediate_size": 3072, "num_attention_heads": 12, "num_hidden_layers": 12,
      "patch_size": 16})");
  const Derived derived = derive(model, {.batch = 32, .sequence = 1024, .backward = true});
  EXPECT_EQ(product(derived, "patch embedding"),
            "3 -> 768 channels, 16 x 16 kernel, 32 x 224 x 224, 1 times");
  EXPECT_EQ(product(derived, "attention q, k, v"), "6304 x 768 x 768, NT, 36 times");  // 32 x (14 x 14 + 1)
  EXPECT_EQ(product(derived, "attention scores"), "32 x 12 heads of 64, 197 queries, 197 keys, 12 times");
  EXPECT_EQ(product(derived, "pooler"), "32 x 768 x 768, NT, 1 times");
  EXPECT_EQ(find(derived, "output head"), nullptr);
  // Images need no gradient.
  EXPECT_EQ(find(derived, "patch embedding", Step::input_gradient), nullptr);
  EXPECT_NE(find(derived, "patch embedding", Step::weight_gradient), nullptr);
}

TEST(ImagesAndText, BothHalvesAreRead) {
  // As Llava's config has it: numbers that are transformers' defaults are left out.
  const Model model = model_of(R"({"architectures": ["LlavaForConditionalGeneration"], "model_type": "llava",
      "text_config": {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 32064},
      "vision_config": {"model_type": "clip_vision_model", "hidden_size": 1024, "image_size": 336,
      "intermediate_size": 4096, "num_attention_heads": 16, "num_hidden_layers": 24, "patch_size": 14}})");
  const Derived derived = derive(model, {.batch = 1, .sequence = 1024});
  EXPECT_EQ(product(derived, "text mlp down"), "1024 x 4096 x 11008, NT, 32 times");
  EXPECT_EQ(product(derived, "text output head"), "1024 x 32064 x 4096, NT, 1 times");
  EXPECT_EQ(product(derived, "vision mlp up"), "577 x 4096 x 1024, NT, 24 times");  // 24 x 24 + 1
  EXPECT_THAT(model.notes, Contains(HasSubstr("as transformers has them for `llama`: hidden_size 4096")));
  EXPECT_THAT(model.notes, Contains(HasSubstr("what joins images and text is left out")));
  // A change of one half leaves the other as it is.
  const Derived padded =
      derive(with_number(model, *model.find("vision_config.head_dim"), 72), {.batch = 1, .sequence = 8});
  EXPECT_EQ(product(padded, "vision attention output"), "577 x 1024 x 1152, NT, 24 times");
  EXPECT_EQ(product(padded, "text attention output"), "8 x 4096 x 4096, NT, 32 times");
}

TEST(Phi3, ItsGateAndUpAreOneProduct) {
  const Derived derived =
      derive(model_of(R"({"model_type": "phi3", "hidden_size": 3072, "intermediate_size": 8192,
      "num_attention_heads": 32, "num_hidden_layers": 32, "vocab_size": 32064})"),
             {.batch = 1, .sequence = 1024});
  EXPECT_EQ(product(derived, "mlp gate and up"), "1024 x 16384 x 3072, NT, 32 times");
  EXPECT_EQ(product(derived, "attention qkv"), "1024 x 9216 x 3072, NT, 32 times");
}

TEST(Falcon, OneKeyHeadForAll) {
  const Derived derived = derive(model_of(R"({"architectures": ["FalconForCausalLM"], "model_type": "falcon",
      "hidden_size": 4544, "multi_query": true, "new_decoder_architecture": false, "num_attention_heads": 71,
      "num_hidden_layers": 32, "num_kv_heads": 71, "vocab_size": 65024})"),
                                 {.batch = 1, .sequence = 1024});
  EXPECT_EQ(product(derived, "attention qkv"), "1024 x 4672 x 4544, NT, 32 times");  // (71 + 2) x 64
  EXPECT_EQ(product(derived, "mlp up"), "1024 x 18176 x 4544, NT, 32 times");
}

TEST(Electra, ItsEmbeddingIsNarrowerThanItsLayers) {
  const std::string numbers = R"("model_type": "electra", "embedding_size": 128, "hidden_size": 256,
      "intermediate_size": 1024, "num_attention_heads": 4, "num_hidden_layers": 12, "vocab_size": 30522})";
  const Derived generator = derive(model_of(R"({"architectures": ["ElectraForMaskedLM"], )" + numbers),
                                   {.batch = 1, .sequence = 512});
  EXPECT_EQ(product(generator, "embedding projection"), "512 x 256 x 128, NT, 1 times");
  EXPECT_EQ(product(generator, "head transform"), "512 x 128 x 256, NT, 1 times");
  EXPECT_EQ(product(generator, "output head"), "512 x 30522 x 128, NT, 1 times");
  const Derived discriminator = derive(model_of(R"({"architectures": ["ElectraForPreTraining"], )" + numbers),
                                       {.batch = 1, .sequence = 512});
  EXPECT_EQ(product(discriminator, "discriminator output"), "512 x 1 x 256, NT, 1 times");
  EXPECT_EQ(find(discriminator, "output head"), nullptr);
}

TEST(Bert, HeadsByTaskSeeTokensOrSequences) {
  const auto derived = [](const std::string& task) {
    return derive(
        model_of(R"({"architectures": ["Bert)" + task + R"("], "model_type": "bert", "hidden_size": 768,
        "intermediate_size": 3072, "num_attention_heads": 12, "num_hidden_layers": 12, "vocab_size": 30522,
        "id2label": {"0": "a", "1": "b", "2": "c"}})"),
        {.batch = 4, .sequence = 128});
  };
  EXPECT_EQ(product(derived("ForTokenClassification"), "classifier"), "512 x 3 x 768, NT, 1 times");
  EXPECT_EQ(find(derived("ForTokenClassification"), "pooler"), nullptr);
  EXPECT_EQ(product(derived("ForQuestionAnswering"), "classifier"), "512 x 2 x 768, NT, 1 times");
  EXPECT_EQ(product(derived("ForPreTraining"), "next sentence"), "4 x 2 x 768, NT, 1 times");
  EXPECT_EQ(product(derived("Model"), "pooler"), "4 x 768 x 768, NT, 1 times");
  EXPECT_EQ(find(derived("Model"), "output head"), nullptr);
}

TEST(UnknownType, OfAnotherKindIsAnError) {
  const std::string message = error_of(R"({"architectures": ["Wav2Vec2ForCTC"],
      "model_type": "wav2vec2", "hidden_size": 768, "num_attention_heads": 12, "num_hidden_layers": 12,
      "intermediate_size": 3072, "vocab_size": 32})");
  EXPECT_THAT(message,
              HasSubstr("config.json:2: error: model_type `wav2vec2` (Wav2Vec2ForCTC) is not known"));
  EXPECT_THAT(message, HasSubstr("export it to ONNX"));
}

TEST(UnknownType, WithOtherLayersIsAnError) {
  EXPECT_THAT(error_of(R"({"architectures": ["JambaForCausalLM"], "model_type": "jamba", "hidden_size": 4096,
      "mamba_d_state": 16, "num_attention_heads": 32, "num_hidden_layers": 32, "vocab_size": 65536})"),
              HasSubstr("`mamba_d_state` says that it has layers besides attention and MLP"));
}

TEST(UnknownType, OfALanguageModelIsReadByItsNumbersAndSaysSo) {
  const Model model =
      model_of(R"({"architectures": ["NovelForMaskedLM"], "model_type": "novel", "hidden_act": "gelu",
      "hidden_size": 512, "intermediate_size": 2048, "num_attention_heads": 8, "num_hidden_layers": 6,
      "vocab_size": 1000})");
  EXPECT_THAT(model.notes, Contains(HasSubstr("`novel` is not known: read as an encoder")));
  EXPECT_NE(find(derive(model, {.batch = 1, .sequence = 8}), "head transform"), nullptr);
}

}  // namespace
}  // namespace fullwarp::shapes

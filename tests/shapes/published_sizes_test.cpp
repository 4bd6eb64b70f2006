// The weights that are derived add up to the numbers of parameters that are published. Every figure below is
// the published one less what is no matrix product or look-up by token: norms, biases, positions; by hand.
#include <gtest/gtest.h>

#include "products.h"
#include "shapes/read.h"

namespace fullwarp::shapes {
namespace {

double weights_of(const char* config) {
  const Result<Model> model = read_config(config, "config.json");
  EXPECT_TRUE(model) << (model ? "" : model.error().to_string());
  return model ? test::total_weights(derive(*model, {.batch = 1, .sequence = 16})) : 0;
}

TEST(PublishedSizes, DeepSeekV3) {
  // Norms: 61 x (2 x 7168 + 1536 + 512) + 7168; one number an expert to balance them: 58 x 256.
  EXPECT_EQ(weights_of(R"({"architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3",
      "first_k_dense_replace": 3, "hidden_size": 7168, "intermediate_size": 18432, "kv_lora_rank": 512,
      "moe_intermediate_size": 2048, "moe_layer_freq": 1, "n_routed_experts": 256, "n_shared_experts": 1,
      "num_attention_heads": 128, "num_experts_per_tok": 8, "num_hidden_layers": 61, "num_key_value_heads": 128,
      "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
      "tie_word_embeddings": false, "vocab_size": 129280})"),
            671026419200.0 - 61 * 16384 - 7168 - 58 * 256);
}

TEST(PublishedSizes, DeepSeekV2) {
  EXPECT_NEAR(weights_of(R"({"architectures": ["DeepseekV2ForCausalLM"], "model_type": "deepseek_v2",
      "first_k_dense_replace": 1, "hidden_size": 5120, "intermediate_size": 12288, "kv_lora_rank": 512,
      "moe_intermediate_size": 1536, "moe_layer_freq": 1, "n_routed_experts": 160, "n_shared_experts": 2,
      "num_attention_heads": 128, "num_experts_per_tok": 6, "num_hidden_layers": 60, "num_key_value_heads": 128,
      "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 102400})"),
              235.741e9, 0.001e9);
}

TEST(PublishedSizes, Gemma2OfTwoBillion) {
  EXPECT_EQ(weights_of(R"({"architectures": ["Gemma2ForCausalLM"], "model_type": "gemma2", "head_dim": 256,
      "hidden_size": 2304, "intermediate_size": 9216, "num_attention_heads": 8, "num_hidden_layers": 26,
      "num_key_value_heads": 4, "sliding_window": 4096, "vocab_size": 256000})"),
            2614341888.0 - (26 * 4 + 1) * 2304);
}

TEST(PublishedSizes, Qwen3OfThirtyBillion) {
  // Norms: 48 x (2 x 2048 + 2 x 128) + 2048.
  EXPECT_EQ(
      weights_of(R"({"architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe", "head_dim": 128,
      "hidden_size": 2048, "intermediate_size": 6144, "moe_intermediate_size": 768, "num_attention_heads": 32,
      "num_experts": 128, "num_experts_per_tok": 8, "num_hidden_layers": 48, "num_key_value_heads": 4,
      "tie_word_embeddings": false, "vocab_size": 151936})"),
      30532122624.0 - 48 * 4352 - 2048);
}

TEST(PublishedSizes, WhisperTiny) {
  // Positions 748032; biases and norms: convolutions 768, encoder 4 x 4608, decoder 4 x 6528, ends 1536.
  EXPECT_EQ(weights_of(R"({"architectures": ["WhisperForConditionalGeneration"], "model_type": "whisper",
      "d_model": 384, "decoder_attention_heads": 6, "decoder_ffn_dim": 1536, "decoder_layers": 4,
      "encoder_attention_heads": 6, "encoder_ffn_dim": 1536, "encoder_layers": 4, "max_source_positions": 1500,
      "max_target_positions": 448, "num_hidden_layers": 4, "num_mel_bins": 80, "vocab_size": 51865})"),
            37760640.0 - 748032 - 768 - 4 * 4608 - 4 * 6528 - 1536);
}

TEST(PublishedSizes, T5Small) {
  // 2 biases of 32 x 8 for positions; norms: 6 x 2 + 1 and 6 x 3 + 1 of 512.
  EXPECT_EQ(weights_of(R"({"architectures": ["T5ForConditionalGeneration"], "model_type": "t5", "d_ff": 2048,
      "d_kv": 64, "d_model": 512, "num_heads": 8, "num_layers": 6, "vocab_size": 32128})"),
            60506624.0 - 512 - 32 * 512);
}

TEST(PublishedSizes, VisionTransformerBase) {
  // Positions 197 x 768 and the class token, biases and norms 12 x 9984, patches 768, last norm 1536, classes
  // 1000.
  std::string labels;
  for (int i = 0; i < 1000; ++i) labels += (i == 0 ? "\"" : ", \"") + std::to_string(i) + "\": \"x\"";
  EXPECT_EQ(
      weights_of((R"({"architectures": ["ViTForImageClassification"], "model_type": "vit", "hidden_size": 768,
      "image_size": 224, "intermediate_size": 3072, "num_attention_heads": 12, "num_channels": 3,
      "num_hidden_layers": 12, "patch_size": 16, "id2label": {)" +
                  labels + "}}")
                     .c_str()),
      86567656.0 - 197 * 768 - 768 - 12 * 9984 - 768 - 1536 - 1000);
}

TEST(PublishedSizes, ClipBase) {
  // Images: class token, 50 positions, two norms, 12 x 9984; text: 77 positions, 12 x 6656, a norm; one
  // scale.
  EXPECT_EQ(weights_of(R"({"architectures": ["CLIPModel"], "model_type": "clip", "projection_dim": 512,
      "text_config": {"hidden_size": 512, "intermediate_size": 2048, "num_attention_heads": 8, "projection_dim": 512},
      "vision_config": {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12, "patch_size": 32,
      "projection_dim": 512}})"),
            151277313.0 - 768 - 50 * 768 - 2 * 1536 - 12 * 9984 - 77 * 512 - 12 * 6656 - 1024 - 1);
}

}  // namespace
}  // namespace fullwarp::shapes

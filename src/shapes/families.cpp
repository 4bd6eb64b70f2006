#include "shapes/families.h"

#include <algorithm>

namespace fullwarp::shapes {

namespace {

constexpr uint32_t kPlain = 0;

constexpr Family kFamilies[] = {
    // Decoders with a plain MLP.
    {"gpt2", Kind::decoder, kFusedQkv | kTransposed | kTied},
    {"gpt_neox", Kind::decoder, kFusedQkv},
    {"gpt_neo", Kind::decoder, kTied},
    {"gptj", Kind::decoder, kPlain},
    {"gpt_bigcode", Kind::decoder, kFusedQkv | kTied},
    {"starcoder2", Kind::decoder, kTied | kWindows},
    {"opt", Kind::decoder, kTied},
    {"bloom", Kind::decoder, kFusedQkv | kTied},
    {"falcon", Kind::decoder, kFusedQkv | kTied},
    {"mpt", Kind::decoder, kFusedQkv | kTied},
    {"phi", Kind::decoder, kPlain},
    {"nemotron", Kind::decoder, kPlain},
    // Decoders with a gated MLP.
    {"llama", Kind::decoder, kGated},
    {"mistral", Kind::decoder, kGated | kWindows},
    {"mixtral", Kind::decoder, kGated | kWindows},
    {"qwen2", Kind::decoder, kGated},
    {"qwen2_moe", Kind::decoder, kGated | kSharedGate},
    {"qwen3", Kind::decoder, kGated},
    {"qwen3_moe", Kind::decoder, kGated},
    {"qwen2_vl_text", Kind::decoder, kGated},
    {"qwen2_5_vl_text", Kind::decoder, kGated},
    {"gemma", Kind::decoder, kGated | kTied},
    {"gemma2", Kind::decoder, kGated | kTied},
    {"gemma3_text", Kind::decoder, kGated | kTied},
    {"phi3", Kind::decoder, kGated | kFusedGateUp | kFusedQkv | kWindows},
    {"phimoe", Kind::decoder, kGated | kWindows},
    {"deepseek_v2", Kind::decoder, kGated},
    {"deepseek_v3", Kind::decoder, kGated},
    {"llama4_text", Kind::decoder, kGated},
    {"gpt_oss", Kind::decoder, kGated | kFusedGateUp},
    {"cohere", Kind::decoder, kGated | kTied},
    {"cohere2", Kind::decoder, kGated | kTied},
    {"granite", Kind::decoder, kGated},
    {"granitemoe", Kind::decoder, kGated | kFusedGateUp},
    {"olmo", Kind::decoder, kGated},
    {"olmo2", Kind::decoder, kGated},
    {"olmoe", Kind::decoder, kGated},
    {"stablelm", Kind::decoder, kGated},
    {"internlm", Kind::decoder, kGated},
    {"baichuan", Kind::decoder, kGated | kFusedQkv},
    {"internlm2", Kind::decoder, kGated | kFusedQkv},
    {"chatglm", Kind::decoder, kGated | kFusedGateUp | kFusedQkv},
    {"glm", Kind::decoder, kGated | kFusedGateUp},
    {"glm4", Kind::decoder, kGated | kFusedGateUp},
    {"glm4_moe", Kind::decoder, kGated},
    {"smollm3", Kind::decoder, kGated | kTied},
    // Encoders of text.
    {"bert", Kind::encoder, kTied | kPooler},
    {"roberta", Kind::encoder, kTied | kPooler},
    {"xlm-roberta", Kind::encoder, kTied | kPooler},
    {"camembert", Kind::encoder, kTied | kPooler},
    {"mpnet", Kind::encoder, kTied | kPooler},
    {"distilbert", Kind::encoder, kTied},
    {"electra", Kind::encoder, kTied},
    {"modernbert", Kind::encoder, kGated | kFusedGateUp | kFusedQkv | kTied},
    {"clip_text_model", Kind::encoder, kCausal},
    {"siglip_text_model", Kind::encoder, kPlain},
    // An encoder and a decoder that looks at it.
    {"whisper", Kind::speech, kTied},
    {"t5", Kind::encoder_decoder, kTied},
    {"mt5", Kind::encoder_decoder, kTied},
    {"umt5", Kind::encoder_decoder, kTied},
    {"bart", Kind::encoder_decoder, kTied},
    {"mbart", Kind::encoder_decoder, kTied},
    {"m2m_100", Kind::encoder_decoder, kTied},
    {"marian", Kind::encoder_decoder, kTied},
    {"pegasus", Kind::encoder_decoder, kTied},
    {"blenderbot", Kind::encoder_decoder, kTied},
    // Encoders of images.
    {"vit", Kind::vision, kPooler},
    {"deit", Kind::vision, kPooler},
    {"dinov2", Kind::vision, kPlain},
    {"clip_vision_model", Kind::vision, kPlain},
    {"siglip_vision_model", Kind::vision, kPlain},
};

constexpr std::string_view kVocabulary =
    "resize the token embedding, model.resize_token_embeddings({}) in transformers; ids stay the same, and "
    "the logits of the new rows are to be masked";
constexpr std::string_view kHidden = "only before training: normalisation runs over this dimension";
constexpr std::string_view kMels = "pad the spectrogram and the first convolution with zero channels";
constexpr std::string_view kWidth = "pad the weights with zero rows and columns: results stay the same";
constexpr std::string_view kHead =
    "pad queries, keys and values with zeros and keep the softmax scale of the old size: results stay the "
    "same";

constexpr Field kFields[] = {
    {"vocab_size", {"vocab_size", "padded_vocab_size"}, kVocabulary},
    {"hidden_size", {"hidden_size", "n_embd", "n_embed", "d_model", "dim"}, kHidden},
    {"num_hidden_layers", {"num_hidden_layers", "n_layer", "num_layers", "n_layers"}, {}},
    {"num_attention_heads", {"num_attention_heads", "n_head", "num_heads", "n_heads"}, {}},
    {"num_key_value_heads", {"num_key_value_heads", "num_kv_heads", "multi_query_group_num"}, {}},
    {"head_dim", {"head_dim", "attention_head_size", "d_kv", "kv_channels"}, kHead},
    {"intermediate_size",
     {"intermediate_size", "n_inner", "ffn_dim", "hidden_dim", "d_ff", "ffn_hidden_size"},
     kWidth},
    {"embedding_size", {"embedding_size", "word_embed_proj_dim"}, {}, true},
    {"num_experts", {"num_local_experts", "num_experts", "n_routed_experts"}, {}},
    {"num_experts_per_tok", {"num_experts_per_tok", "num_experts_per_token", "top_k"}, {}},
    {"moe_intermediate_size", {"moe_intermediate_size"}, kWidth},
    {"shared_expert_intermediate_size", {"shared_expert_intermediate_size"}, kWidth},
    {"q_lora_rank", {"q_lora_rank"}, {}},
    {"kv_lora_rank", {"kv_lora_rank"}, {}},
    {"qk_nope_head_dim", {"qk_nope_head_dim"}, {}},
    {"qk_rope_head_dim", {"qk_rope_head_dim"}, {}},
    {"v_head_dim", {"v_head_dim"}, {}},
    {"sliding_window", {"sliding_window", "local_attention"}, {}, true},
    {"max_position_embeddings",
     {"max_position_embeddings", "n_positions", "max_target_positions", "n_ctx"},
     {}},
    {"encoder_layers", {"encoder_layers"}, {}},
    {"decoder_layers", {"decoder_layers", "num_decoder_layers"}, {}},
    {"encoder_attention_heads", {"encoder_attention_heads"}, {}},
    {"decoder_attention_heads", {"decoder_attention_heads"}, {}},
    {"encoder_ffn_dim", {"encoder_ffn_dim"}, kWidth},
    {"decoder_ffn_dim", {"decoder_ffn_dim"}, kWidth},
    {"num_mel_bins", {"num_mel_bins"}, kMels},
    {"max_source_positions", {"max_source_positions"}, {}},
    {"image_size", {"image_size"}, {}, true},
    {"patch_size", {"patch_size"}, {}, true},
    {"num_channels", {"num_channels"}, {}, true},
    {"projection_dim", {"projection_dim"}, {}, true},
};

struct Default {
  std::string_view model_type, field;
  int64_t value;
};
constexpr Default kDefaults[] = {
    {"llama", "hidden_size", 4096},
    {"llama", "intermediate_size", 11008},
    {"llama", "num_hidden_layers", 32},
    {"llama", "num_attention_heads", 32},
    {"llama", "vocab_size", 32000},
    {"mistral", "hidden_size", 4096},
    {"mistral", "intermediate_size", 14336},
    {"mistral", "num_hidden_layers", 32},
    {"mistral", "num_attention_heads", 32},
    {"mistral", "num_key_value_heads", 8},
    {"mistral", "vocab_size", 32000},
    {"gemma3_text", "hidden_size", 2304},
    {"gemma3_text", "intermediate_size", 9216},
    {"gemma3_text", "num_hidden_layers", 26},
    {"gemma3_text", "num_attention_heads", 8},
    {"gemma3_text", "num_key_value_heads", 4},
    {"gemma3_text", "head_dim", 256},
    {"gemma3_text", "vocab_size", 262208},
    {"clip_text_model", "hidden_size", 512},
    {"clip_text_model", "intermediate_size", 2048},
    {"clip_text_model", "num_hidden_layers", 12},
    {"clip_text_model", "num_attention_heads", 8},
    {"clip_text_model", "max_position_embeddings", 77},
    {"clip_text_model", "vocab_size", 49408},
    {"clip_vision_model", "hidden_size", 768},
    {"clip_vision_model", "intermediate_size", 3072},
    {"clip_vision_model", "num_hidden_layers", 12},
    {"clip_vision_model", "num_attention_heads", 12},
    {"clip_vision_model", "image_size", 224},
    {"clip_vision_model", "patch_size", 32},
    {"siglip_text_model", "hidden_size", 768},
    {"siglip_text_model", "intermediate_size", 3072},
    {"siglip_text_model", "num_hidden_layers", 12},
    {"siglip_text_model", "num_attention_heads", 12},
    {"siglip_text_model", "max_position_embeddings", 64},
    {"siglip_text_model", "vocab_size", 32000},
    {"siglip_vision_model", "hidden_size", 768},
    {"siglip_vision_model", "intermediate_size", 3072},
    {"siglip_vision_model", "num_hidden_layers", 12},
    {"siglip_vision_model", "num_attention_heads", 12},
    {"siglip_vision_model", "image_size", 224},
    {"siglip_vision_model", "patch_size", 16},
};

}  // namespace

const std::string_view kHowToPadHeads = kHead;
const std::string_view kHowToPadWidth = kWidth;

const Family* family_of(std::string_view model_type) {
  const Family* found = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                     [&](const Family& family) { return family.model_type == model_type; });
  return found == std::end(kFamilies) ? nullptr : found;
}

std::span<const Field> config_fields() { return kFields; }

int64_t default_number(std::string_view model_type, std::string_view field) {
  for (const Default& row : kDefaults)
    if (row.model_type == model_type && row.field == field) return row.value;
  return 0;
}

}  // namespace fullwarp::shapes

// One stack of layers of a config.json: families.h says which layers its model_type has and what its numbers
// are called; here they are read, checked and completed as transformers completes them. A model_type that is
// not in the table is read as a decoder or encoder only if its class says that it is one, and the report says
// so.
#include "shapes/config_stack.h"

#include <fmt/format.h>

#include <algorithm>

#include "shapes/families.h"
#include "shapes/read.h"

namespace fullwarp::shapes {

namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxExpertsPerToken = 1 << 16;
constexpr int64_t kMaxLayers = 1 << 20;

std::string class_of(const Json& json) {  // the first word of `architectures`
  const auto found = json.find("architectures");
  return found != json.end() && found->is_array() && !found->empty() && found->front().is_string()
             ? found->front().get<std::string>()
             : std::string();
}

// One stack: an object of the file, its numbers named with a prefix if it is nested in another.
class StackReader {
 public:
  StackReader(const Json& json, std::string_view text, std::string prefix, std::string model_type,
              Model& model)
      : json_(json), text_(text), model_(model), class_(class_of(json)) {
    a_.prefix = std::move(prefix);
    a_.model_type = std::move(model_type);
    if (const size_t nested = text.find(fmt::format("\"{}\"", a_.prefix.substr(0, a_.prefix.find('.'))));
        !a_.prefix.empty() && nested != std::string_view::npos)
      begin_ = nested;
  }

  Status read() && {
    if (Status status = family(); !status) return status;
    for (const Field& field : config_fields())
      if (Status status = take(field); !status) return status;
    defaults();
    if (Status status = complete(); !status) return status;
    heads_of_class();
    windows();
    model_.architectures.push_back(std::move(a_));
    return Ok{};
  }

 private:
  bool is(std::string_view type) const { return a_.model_type == type; }
  bool has_class(std::string_view part) const { return class_.find(part) != std::string::npos; }
  int64_t at(const std::string& name) const { return model_.at(a_.prefix + name); }
  void set(const std::string& name, int64_t value, std::string_view how = {}, uint32_t line = 0) {
    model_.set({a_.prefix + name, value, line, !how.empty(), std::string(how)});
  }

  uint32_t line_of(std::string_view key) const {
    const size_t at = text_.find(fmt::format("\"{}\"", key), begin_);
    if (at == std::string_view::npos) return 0;
    return static_cast<uint32_t>(
        1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  }
  Error error(const std::string& message, std::string_view key, std::string hint = {}) const {
    return Error{message, model_.file, line_of(key), 0, std::move(hint)};
  }

  // ---- the kind of model

  Status family() {
    if (const Family* known = family_of(a_.model_type)) {
      a_.kind = known->kind;
      traits_ = known->traits;
    } else if (Status status = guess(); !status) {
      return status;
    }
    const std::string activation = config_text(json_, "feed_forward_proj");
    if (activation.starts_with("gated")) traits_ |= kGated;  // T5 of version 1.1
    a_.gated_mlp = traits_ & kGated;
    a_.fused_gate_up = traits_ & kFusedGateUp;
    a_.fused_qkv = traits_ & kFusedQkv;
    a_.transposed_weights = traits_ & kTransposed;
    a_.shared_expert_gate = traits_ & kSharedGate;
    a_.causal = a_.kind == Kind::decoder || (traits_ & kCausal);
    a_.tied = flag("tie_word_embeddings", traits_ & kTied);
    return Ok{};
  }

  // Of a model_type that is not known. Its class must say that it is a language model, and no number may
  // speak of layers other than attention and MLP.
  Status guess() {
    const std::string type = a_.model_type.substr(0, 60);
    const bool encoder = has_class("MaskedLM");
    if (type.empty() && !json_.contains("hidden_size"))
      return Error{"no model_type and no hidden_size: this is no config.json of a model", model_.file, 0, 0,
                   "give the config.json that stands beside the weights"};
    const char* const elsewhere =
        "its products do not follow from its numbers alone: export it to ONNX, or log what runs with "
        "CUBLASLT_LOG_LEVEL=2";
    if (!type.empty() && !class_.empty() && !encoder && !has_class("CausalLM") && !has_class("LMHead"))
      return error(fmt::format("model_type `{}` ({}) is not known", type, class_.substr(0, 60)), "model_type",
                   elsewhere);
    for (const auto& [key, value] : json_.items())
      for (const char* word :
           {"mamba", "ssm_", "rwkv", "time_mix", "lru_width", "conv_kernel", "conv_L_cache", "linear_num"})
        if (key.find(word) != std::string::npos)
          return error(fmt::format("model_type `{}` is not known, and `{}` says that it has layers besides "
                                   "attention and MLP",
                                   type, key.substr(0, 60)),
                       key, elsewhere);
    a_.kind = encoder ? Kind::encoder : Kind::decoder;
    std::string activation = config_text(json_, "hidden_act");
    if (activation.empty()) activation = config_text(json_, "hidden_activation");
    if (!encoder && (activation == "silu" || activation == "swish" || activation == "gelu_pytorch_tanh"))
      traits_ |= kGated;
    model_.notes.push_back(
        fmt::format("model_type `{}` is not known: read as {} with separate q, k, v and {} MLP; "
                    "compare the products below with the model",
                    type, encoder ? "an encoder" : "a decoder", traits_ & kGated ? "a gated" : "an ungated"));
    return Ok{};
  }

  bool flag(const char* key, bool otherwise) const {
    const auto found = json_.find(key);
    return found != json_.end() && found->is_boolean() ? found->get<bool>() : otherwise;
  }

  // ---- numbers

  Status take(const Field& field) {
    for (std::string_view key : field.keys) {
      if (key.empty()) break;
      const auto found = json_.find(std::string(key));
      if (found == json_.end() || found->is_null()) continue;
      const bool whole = found->is_number_integer() || found->is_number_unsigned();
      const bool fits =
          whole && (found->is_number_unsigned() ? found->get<uint64_t>() <= uint64_t{kMaxConfigNumber}
                                                : found->get<int64_t>() >= 0);
      if (field.lenient && !fits) continue;
      if (!whole) return error(fmt::format("`{}` is no whole number", key), key);
      if (!fits) return error(fmt::format("`{}` lies outside of 0 to {}", key, kMaxConfigNumber), key);
      if (found->get<int64_t>() == 0) continue;
      set(field.name, found->get<int64_t>(), field.how, line_of(key));
      return Ok{};
    }
    return Ok{};
  }

  // Configs within others leave out what they share with transformers' defaults.
  void defaults() {
    if (a_.prefix.empty()) return;
    std::string taken;
    for (const Field& field : config_fields()) {
      const int64_t value = default_number(a_.model_type, field.name);
      if (value == 0 || at(field.name) != 0) continue;
      if (std::string_view(field.name) == "num_key_value_heads" && json_.contains("num_attention_heads"))
        continue;
      set(field.name, value, field.how);
      taken += fmt::format("{}{} {}", taken.empty() ? "" : ", ", field.name, value);
    }
    if (!taken.empty())
      model_.notes.push_back(
          fmt::format("not in the file, so as transformers has them for `{}`: {}", a_.model_type, taken));
  }

  int64_t whole_or(const char* key, int64_t otherwise) const {
    const auto found = json_.find(key);
    if (found == json_.end() || !found->is_number_integer()) return otherwise;
    const auto value = found->is_number_unsigned() && found->get<uint64_t>() > uint64_t{kMaxConfigNumber}
                           ? kMaxConfigNumber
                           : found->get<int64_t>();
    return std::clamp<int64_t>(value, 0, kMaxConfigNumber);
  }

  Status needs(std::initializer_list<const char*> names) const {
    for (const char* name : names)
      if (at(name) == 0)
        return Error{fmt::format("`{}{}` is missing", a_.prefix, name), model_.file, 0, 0,
                     "every product's size follows from it"};
    return Ok{};
  }

  Status complete() {
    if (a_.kind == Kind::speech || a_.kind == Kind::encoder_decoder) {
      if (at("num_attention_heads") == 0 || a_.kind == Kind::speech)
        set("num_attention_heads", at("decoder_attention_heads"));
      if (at("encoder_layers") == 0) set("encoder_layers", at("num_hidden_layers"));
      if (at("decoder_layers") == 0) set("decoder_layers", at("encoder_layers"));
      for (const char* side : {"encoder", "decoder"}) {
        const std::string heads = std::string(side) + "_attention_heads",
                          width = std::string(side) + "_ffn_dim";
        if (at(heads) == 0) set(heads, at("num_attention_heads"));
        // One number for both sides stays one, so that it is changed on both.
        a_.shared_width = a_.shared_width || (at(width) == 0 && at("intermediate_size") != 0);
      }
      set("num_key_value_heads", at("num_attention_heads"));
      Status status = needs({"hidden_size", "num_attention_heads", "encoder_layers", "decoder_layers",
                             "vocab_size", "encoder_attention_heads", "decoder_attention_heads"});
      if (status && !a_.shared_width) status = needs({"encoder_ffn_dim", "decoder_ffn_dim"});
      if (status && a_.kind == Kind::speech) status = needs({"num_mel_bins", "max_source_positions"});
      if (!status) return status;
      if (a_.kind == Kind::encoder_decoder)
        model_.notes.emplace_back("--sequence is the length on both sides, encoder and decoder");
    } else {
      Status status = needs({"hidden_size", "num_attention_heads", "num_hidden_layers"});
      if (status && a_.kind == Kind::vision) status = image();
      if (status && a_.kind != Kind::vision) status = needs({"vocab_size"});
      if (!status) return status;
    }
    if (std::max({at("num_hidden_layers"), at("encoder_layers"), at("decoder_layers")}) > kMaxLayers)
      return Error{fmt::format("more than {} layers", kMaxLayers), model_.file};
    if (Status status = heads(); !status) return status;
    widths();
    const int64_t positions = at("max_position_embeddings");
    // RoBERTa's positions begin behind the padding id.
    const bool shifted = is("roberta") || is("xlm-roberta") || is("camembert");
    if (a_.kind != Kind::vision)
      model_.max_sequence = shifted ? std::max<int64_t>(1, positions - 2) : positions;
    return experts();
  }

  Status image() {
    if (at("num_channels") == 0) set("num_channels", 3);
    if (Status status = needs({"image_size", "patch_size"}); !status) return status;
    const int64_t side = at("image_size") / at("patch_size");
    if (side < 1 || side > 4096)
      return error("`image_size` is smaller than `patch_size`, or more than 4096 times as large",
                   "image_size");
    a_.class_tokens = is("siglip_vision_model") ? 0 : is("deit") ? 2 : 1;
    if (a_.prefix.empty()) model_.max_sequence = side * side + a_.class_tokens;
    return Ok{};
  }

  Status heads() {
    const int64_t hidden = at("hidden_size"), heads = at("num_attention_heads");
    if (at("kv_lora_rank") > 0 && (is("deepseek_v2") || is("deepseek_v3"))) {
      if (Status status = needs({"qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"}); !status)
        return status;
      set("head_dim", at("qk_nope_head_dim") + at("qk_rope_head_dim"));
      a_.latent_attention = true;
    } else if (at("head_dim") == 0) {
      if (hidden % heads != 0)
        return error(fmt::format("hidden_size {} is no multiple of the {} attention heads", hidden, heads),
                     "num_attention_heads", "give head_dim, or choose a number of heads that divides it");
      set("head_dim", hidden / heads, kHowToPadHeads, model_.find(a_.prefix + "hidden_size")->line);
    }
    const bool one_key_head = flag("multi_query", is("falcon")) && !flag("new_decoder_architecture", false);
    if (is("falcon") && one_key_head) set("num_key_value_heads", 1);
    if (at("num_key_value_heads") == 0) {
      const auto nested = json_.find("attn_config");  // of MPT
      const bool grouped = nested != json_.end() && nested->is_object() && nested->contains("kv_n_heads") &&
                           (*nested)["kv_n_heads"].is_number_unsigned();
      const uint64_t count = grouped ? (*nested)["kv_n_heads"].get<uint64_t>() : 0;
      set("num_key_value_heads", one_key_head ? 1
                                 : count > 0 && count <= uint64_t{kMaxConfigNumber}
                                     ? static_cast<int64_t>(count)
                                     : heads);
    }
    return Ok{};
  }

  void widths() {
    if (at("intermediate_size") != 0 || a_.kind == Kind::speech ||
        (a_.kind == Kind::encoder_decoder && !a_.shared_width))
      return;
    const int64_t factor = std::clamp<int64_t>(whole_or("expansion_ratio", whole_or("mlp_ratio", 4)), 1, 64);
    set("intermediate_size", factor * at("hidden_size"), kHowToPadWidth);
    for (const char* known : {"gpt2", "bloom", "gptj", "gpt_neo", "gpt_bigcode", "falcon", "mpt", "dinov2"})
      if (is(known)) return;
    model_.notes.emplace_back("no intermediate_size: 4 x hidden_size assumed");
  }

  Status experts() {
    if (at("num_experts") < 2 || a_.kind != Kind::decoder) return Ok{};
    const int64_t layers = at("num_hidden_layers");
    if (at("num_experts_per_tok") == 0) set("num_experts_per_tok", 1);
    if (at("num_experts_per_tok") > std::min(at("num_experts"), kMaxExpertsPerToken))
      return error("num_experts_per_tok is larger than the number of experts", "num_experts_per_tok");
    const auto as = [&](const char* name, const char* other) {  // the same value under another name
      Number number = *model_.find(a_.prefix + other);
      number.name = a_.prefix + name;
      model_.set(std::move(number));
    };
    if (at("moe_intermediate_size") == 0) as("moe_intermediate_size", "intermediate_size");
    int64_t dense = std::min(layers, whole_or("first_k_dense_replace", 0));
    int64_t step = std::max<int64_t>(1, whole_or("decoder_sparse_step", whole_or("moe_layer_freq", 1)));
    if (is("llama4_text")) {  // experts are as wide as `intermediate_size`, the shared one too
      as("shared_expert_intermediate_size", "moe_intermediate_size");
      step = std::max<int64_t>(1, whole_or("interleave_moe_layer_step", 1));
      if (whole_or("intermediate_size_mlp", 0) > 0)
        set("intermediate_size", whole_or("intermediate_size_mlp", 0), kHowToPadWidth,
            line_of("intermediate_size_mlp"));
    }
    if (const auto only = json_.find("mlp_only_layers"); only != json_.end() && only->is_array())
      dense += std::min<int64_t>(layers - dense, static_cast<int64_t>(only->size()));
    const int64_t shared = whole_or("n_shared_experts", 0);
    if (shared > 0 && shared < 1024 && at("shared_expert_intermediate_size") == 0)
      set("shared_expert_intermediate_size", shared * at("moe_intermediate_size"), kHowToPadWidth,
          line_of("moe_intermediate_size"));
    a_.expert_layers = (layers - dense) / step;
    a_.dense_layers = layers - a_.expert_layers;
    if (a_.dense_layers == 0)  // then no layer has this width
      for (Number& number : model_.numbers)
        if (number.name == a_.prefix + "intermediate_size") number.adjustable = false;
    return Ok{};
  }

  // ---- what stands behind the layers

  void heads_of_class() {
    const auto layer = [&](const char* name, const std::string& number, int64_t out, bool per_token) {
      a_.heads.push_back({name, number.empty() ? number : a_.prefix + number, out, per_token});
    };
    const auto found = json_.find("id2label");
    const int64_t labels = found != json_.end() && found->is_object()
                               ? std::max<int64_t>(1, static_cast<int64_t>(found->size()))
                               : 2;
    const bool sequences = has_class("SequenceClassification") || has_class("ImageClassification");
    const bool tokens = has_class("TokenClassification");
    const bool bare = class_.ends_with("Model") && !has_class("LMHead");  // "GPT2LMHeadModel" has a head
    if (a_.kind == Kind::vision) {
      a_.language_head = false;
      if ((traits_ & kPooler) && bare) layer("pooler", "hidden_size", 0, false);
      if (sequences) layer("classifier", {}, labels, false);
    } else if (a_.kind == Kind::encoder) {
      const bool discriminator = is("electra") && has_class("PreTraining");
      a_.language_head =
          !(traits_ & kCausal) && !is("siglip_text_model") && !discriminator &&
          (class_.empty() || has_class("MaskedLM") || has_class("PreTraining") || has_class("LMHead"));
      const bool pooled = (traits_ & kPooler) && (bare || has_class("PreTraining"));
      if (pooled || sequences || has_class("MultipleChoice")) layer("pooler", "hidden_size", 0, false);
      if (has_class("PreTraining") && is("bert")) layer("next sentence", {}, 2, false);
      if (discriminator) {
        layer("discriminator dense", "hidden_size", 0, true);
        layer("discriminator output", {}, 1, true);
      }
      if (sequences || tokens) layer("classifier", {}, labels, tokens);
      if (has_class("MultipleChoice")) layer("classifier", {}, 1, false);
      if (has_class("QuestionAnswering")) layer("classifier", {}, 2, true);
    } else {
      a_.language_head = class_.empty() || !(has_class("Classification") || bare);
      if (sequences || tokens) layer("score", {}, labels, true);
    }
    if (at("projection_dim") > 0 && (is("clip_text_model") || is("clip_vision_model")))
      layer("projection", "projection_dim", 0, false);
  }

  // Layers whose tokens see only those within `sliding_window`.
  void windows() {
    const int64_t window = at("sliding_window"), layers = at("num_hidden_layers");
    if (window == 0) return;
    const auto types = json_.find("layer_types");
    if (types != json_.end() && types->is_array()) {
      for (const Json& type : *types)
        if (type.is_string() && type.get<std::string>() == "sliding_attention") ++a_.window_layers;
      a_.window_layers = std::min(a_.window_layers, layers);
    } else if (is("gemma2") || is("gpt_oss")) {
      a_.window_layers = (layers + 1) / 2;
    } else if (is("gemma3_text") || is("cohere2")) {
      const int64_t pattern = std::max<int64_t>(1, whole_or("sliding_window_pattern", is("cohere2") ? 4 : 6));
      a_.window_layers = layers - layers / pattern;
    } else if (is("modernbert")) {
      const int64_t every = std::max<int64_t>(1, whole_or("global_attn_every_n_layers", 3));
      a_.window_layers = layers - (layers + every - 1) / every;
    } else if (flag("use_sliding_window", traits_ & kWindows)) {
      a_.window_layers =
          layers - std::min(layers, is("qwen2") || is("qwen2_moe") || is("qwen3") || is("qwen3_moe")
                                        ? whole_or("max_window_layers", layers)
                                        : 0);
    }
  }

  const Json& json_;
  std::string_view text_;
  size_t begin_ = 0;  // of the nested object in the text
  Model& model_;
  std::string class_;
  uint32_t traits_ = 0;
  Architecture a_;
};

}  // namespace

std::string config_text(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Status read_stack(const Json& json, std::string_view text, const std::string& prefix,
                  const std::string& model_type, Model& model) {
  return StackReader(json, text, prefix, model_type, model).read();
}

}  // namespace fullwarp::shapes

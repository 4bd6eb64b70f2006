// config.json of Hugging Face's transformers. Families name the same numbers differently (hidden_size,
// n_embd, d_model), so one table says which names mean what, and one which architecture a model_type is. A
// model_type that is not in the table is read as a decoder with whatever standard numbers it has, and the
// report says so.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "shapes/read.h"

namespace fullwarp::shapes {

namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxNumber = kMaxSize / 8;  // so that heads x head size and the like stay within 64 bits
constexpr int64_t kMaxExpertsPerToken = 1 << 16;

struct Family {
  std::string_view model_type;
  Kind kind;
  bool gated, fused_qkv, transposed;
  bool tied = false;  // where the config does not say
};

constexpr Family kFamilies[] = {
    {"gpt2", Kind::decoder, false, true, true, true},
    {"gpt_neox", Kind::decoder, false, true, false},
    {"gpt_neo", Kind::decoder, false, false, false, true},
    {"gptj", Kind::decoder, false, false, false},
    {"gpt_bigcode", Kind::decoder, false, true, false, true},
    {"starcoder2", Kind::decoder, false, false, false},
    {"opt", Kind::decoder, false, false, false, true},
    {"bloom", Kind::decoder, false, true, false, true},
    {"phi", Kind::decoder, false, false, false},
    {"phi3", Kind::decoder, true, true, false},
    {"llama", Kind::decoder, true, false, false},
    {"mistral", Kind::decoder, true, false, false},
    {"mixtral", Kind::decoder, true, false, false},
    {"qwen2", Kind::decoder, true, false, false},
    {"qwen2_moe", Kind::decoder, true, false, false},
    {"qwen3", Kind::decoder, true, false, false},
    {"qwen3_moe", Kind::decoder, true, false, false},
    {"gemma", Kind::decoder, true, false, false, true},
    {"gemma2", Kind::decoder, true, false, false, true},
    {"gemma3_text", Kind::decoder, true, false, false, true},
    {"granite", Kind::decoder, true, false, false},
    {"olmo", Kind::decoder, true, false, false},
    {"olmo2", Kind::decoder, true, false, false},
    {"stablelm", Kind::decoder, true, false, false},
    {"internlm2", Kind::decoder, true, true, false},
    {"bert", Kind::encoder, false, false, false, true},
    {"roberta", Kind::encoder, false, false, false, true},
    {"xlm-roberta", Kind::encoder, false, false, false, true},
    {"camembert", Kind::encoder, false, false, false, true},
    {"distilbert", Kind::encoder, false, false, false, true},
    {"electra", Kind::encoder, false, false, false, true},
    {"whisper", Kind::speech, false, false, false, true},
};

constexpr std::string_view kVocabulary =
    "resize the token embedding, model.resize_token_embeddings({}) in transformers; ids stay the same, and "
    "the logits of "
    "the new rows are to be masked";
constexpr std::string_view kWidth = "pad the weights with zero rows and columns: results stay the same";
constexpr std::string_view kHead =
    "pad queries, keys and values with zeros and keep the softmax scale of the old size: results stay the "
    "same";
constexpr std::string_view kHidden = "only before training: normalisation runs over this dimension";
constexpr std::string_view kMels = "pad the spectrogram and the first convolution with zero channels";

// A number, the names that families give it in the order of trust, and how one changes it (empty: not by
// padding).
struct Field {
  const char* name;
  std::array<std::string_view, 4> keys;
  std::string_view how;
};

constexpr Field kFields[] = {
    {"vocab_size", {"vocab_size"}, kVocabulary},
    {"hidden_size", {"hidden_size", "n_embd", "d_model", "dim"}, kHidden},
    {"num_hidden_layers", {"num_hidden_layers", "n_layer", "num_layers", "n_layers"}, {}},
    {"num_attention_heads", {"num_attention_heads", "n_head", "num_heads", "n_heads"}, {}},
    {"num_key_value_heads", {"num_key_value_heads", "num_kv_heads"}, {}},
    {"head_dim", {"head_dim", "attention_head_size"}, kHead},
    {"intermediate_size", {"intermediate_size", "n_inner", "ffn_dim", "hidden_dim"}, kWidth},
    {"num_experts", {"num_local_experts", "num_experts", "n_routed_experts"}, {}},
    {"num_experts_per_tok", {"num_experts_per_tok", "num_experts_per_token", "top_k"}, {}},
    {"moe_intermediate_size", {"moe_intermediate_size"}, kWidth},
    {"shared_expert_intermediate_size", {"shared_expert_intermediate_size"}, kWidth},
    {"max_position_embeddings",
     {"max_position_embeddings", "n_positions", "max_target_positions", "n_ctx"},
     {}},
    {"encoder_layers", {"encoder_layers"}, {}},
    {"decoder_layers", {"decoder_layers"}, {}},
    {"encoder_attention_heads", {"encoder_attention_heads"}, {}},
    {"decoder_attention_heads", {"decoder_attention_heads"}, {}},
    {"encoder_ffn_dim", {"encoder_ffn_dim"}, kWidth},
    {"decoder_ffn_dim", {"decoder_ffn_dim"}, kWidth},
    {"num_mel_bins", {"num_mel_bins"}, kMels},
    {"max_source_positions", {"max_source_positions"}, {}},
};

uint32_t line_of_key(std::string_view text, std::string_view key) {
  const size_t at = text.find(fmt::format("\"{}\"", key));
  if (at == std::string_view::npos) return 0;
  return static_cast<uint32_t>(
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

class ConfigReader {
 public:
  ConfigReader(const Json& json, std::string_view text, const std::string& file)
      : json_(json), text_(text), file_(file) {
    model_.file = file;
  }

  Result<Model> read() && {
    for (const Field& field : kFields)
      if (Status status = take(field); !status) return status.error();
    if (Status status = shape(); !status) return status.error();
    if (Status status = derived_numbers(); !status) return status.error();
    quantization();
    title();
    return std::move(model_);
  }

 private:
  Error error(const std::string& message, std::string_view key, std::string hint = {}) const {
    return Error{message, file_, line_of_key(text_, key), 0, std::move(hint)};
  }

  Status take(const Field& field) {
    for (std::string_view key : field.keys) {
      if (key.empty()) break;
      const auto found = json_.find(std::string(key));
      if (found == json_.end() || found->is_null()) continue;
      if (!found->is_number_integer() && !found->is_number_unsigned())
        return error(fmt::format("`{}` is no whole number", key), key);
      const bool too_large = found->is_number_unsigned() ? found->get<uint64_t>() > uint64_t{kMaxNumber}
                                                         : found->get<int64_t>() < 0;
      if (too_large) return error(fmt::format("`{}` lies outside of 0 to {}", key, kMaxNumber), key);
      if (found->get<int64_t>() == 0) continue;
      model_.set({field.name, found->get<int64_t>(), line_of_key(text_, key), !field.how.empty(),
                  std::string(field.how)});
      return Ok{};
    }
    return Ok{};
  }

  std::string text_at(const char* key) const {
    const auto found = json_.find(key);
    return found != json_.end() && found->is_string() ? found->get<std::string>() : std::string();
  }

  Status shape() {
    Architecture a;
    a.model_type = text_at("model_type");
    const auto family = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                     [&](const Family& f) { return f.model_type == a.model_type; });
    if (family != std::end(kFamilies)) {
      a.kind = family->kind;
      a.gated_mlp = family->gated;
      a.fused_qkv = family->fused_qkv;
      a.transposed_weights = family->transposed;
      a.tied = family->tied;
    } else if (a.model_type.empty() && model_.at("hidden_size") == 0) {
      return Error{"no model_type and no hidden_size: this is no config.json of a model", file_, 0, 0,
                   "give the config.json that stands beside the weights"};
    } else {
      const std::string activation = text_at("hidden_act");
      a.gated_mlp = activation == "silu" || activation == "swish" || activation == "gelu_pytorch_tanh";
      model_.notes.push_back(
          fmt::format("model_type `{}` is not known: read as a decoder with separate q, k, v and {} MLP",
                      a.model_type.substr(0, 60), a.gated_mlp ? "a gated" : "an ungated"));
    }
    if (const auto tied = json_.find("tie_word_embeddings"); tied != json_.end() && tied->is_boolean())
      a.tied = tied->get<bool>();
    heads_of_architecture(a);
    model_.architecture = a;
    return Ok{};
  }

  // What the class on top of the layers adds: the first word of `architectures`.
  void heads_of_architecture(Architecture& a) {
    const auto found = json_.find("architectures");
    std::string name;
    if (found != json_.end() && found->is_array() && !found->empty() && found->front().is_string())
      name = found->front().get<std::string>();
    const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
    if (a.kind == Kind::encoder) {
      a.language_head = name.empty() || has("MaskedLM") || has("PreTraining") || has("LMHead");
      if (has("Classification")) {
        const auto labels = json_.find("id2label");
        a.labels = labels != json_.end() && labels->is_object() ? static_cast<int64_t>(labels->size()) : 2;
      }
    } else {
      const bool bare =
          name.ends_with("Model") && !has("LMHead");  // "GPT2Model"; "GPT2LMHeadModel" has a head
      a.language_head = name.empty() || !(has("Classification") || bare);
    }
  }

  Status derived_numbers() {
    Architecture& a = *model_.architecture;
    if (a.kind == Kind::speech) {
      const int64_t heads = model_.at("decoder_attention_heads");
      if (heads != 0) model_.set({"num_attention_heads", heads, 0, false, {}});
      model_.set({"num_key_value_heads", heads, 0, false, {}});
    }
    const int64_t hidden = model_.at("hidden_size"), heads = model_.at("num_attention_heads");
    const auto needs = [&](std::initializer_list<const char*> names) -> Status {
      for (const char* name : names)
        if (model_.at(name) == 0)
          return Error{fmt::format("`{}` is missing", name), file_, 0, 0,
                       "every product's size follows from it"};
      return Ok{};
    };
    Status complete = a.kind == Kind::speech
                          ? needs({"hidden_size", "num_attention_heads", "encoder_layers", "decoder_layers",
                                   "encoder_attention_heads", "encoder_ffn_dim", "decoder_ffn_dim",
                                   "num_mel_bins", "max_source_positions", "vocab_size"})
                          : needs({"hidden_size", "num_attention_heads", "num_hidden_layers", "vocab_size"});
    if (!complete) return complete;
    if (model_.at("head_dim") == 0) {
      if (hidden % heads != 0)
        return error(fmt::format("hidden_size {} is no multiple of the {} attention heads", hidden, heads),
                     "num_attention_heads", "give head_dim, or choose a number of heads that divides it");
      const Number* size = model_.find("hidden_size");
      model_.set({"head_dim", hidden / heads, size->line, true, std::string(kHead)});
    }
    if (model_.at("num_key_value_heads") == 0) {
      const auto one = json_.find("multi_query");
      const bool shared = one != json_.end() && one->is_boolean() && one->get<bool>();
      model_.set({"num_key_value_heads", shared ? 1 : heads, 0, false, {}});
    }
    if (a.kind != Kind::speech && model_.at("intermediate_size") == 0) {
      model_.set({"intermediate_size", 4 * hidden, 0, true, std::string(kWidth)});
      if (a.model_type != "gpt2" && a.model_type != "bloom" && a.model_type != "gptj")
        model_.notes.push_back("no intermediate_size: 4 x hidden_size assumed");
    }
    model_.max_sequence = model_.at("max_position_embeddings");
    // RoBERTa's positions begin behind the padding id.
    if (a.model_type == "roberta" || a.model_type == "xlm-roberta" || a.model_type == "camembert")
      model_.max_sequence = std::max<int64_t>(1, model_.max_sequence - 2);
    return experts(a);
  }

  int64_t whole_or(const char* key, int64_t otherwise) const {
    const auto found = json_.find(key);
    if (found == json_.end() || !found->is_number_integer()) return otherwise;
    const auto value = found->is_number_unsigned() && found->get<uint64_t>() > uint64_t{kMaxNumber}
                           ? kMaxNumber
                           : found->get<int64_t>();
    return std::clamp<int64_t>(value, 0, kMaxNumber);
  }

  Status experts(Architecture& a) {
    if (model_.at("num_experts") < 2) return Ok{};
    const int64_t layers = model_.at("num_hidden_layers");
    if (model_.at("num_experts_per_tok") == 0) model_.set({"num_experts_per_tok", 1, 0, false, {}});
    if (model_.at("num_experts_per_tok") > std::min(model_.at("num_experts"), kMaxExpertsPerToken))
      return error("num_experts_per_tok is larger than the number of experts", "num_experts_per_tok");
    if (model_.at("moe_intermediate_size") == 0) {
      Number width = *model_.find("intermediate_size");
      width.name = "moe_intermediate_size";
      model_.set(std::move(width));
    }
    const int64_t shared = whole_or("n_shared_experts", 0);
    if (shared > 0 && shared < 1024 && model_.at("shared_expert_intermediate_size") == 0)
      model_.set({"shared_expert_intermediate_size", shared * model_.at("moe_intermediate_size"), 0, true,
                  std::string(kWidth)});
    const int64_t step = std::max<int64_t>(1, whole_or("decoder_sparse_step", 1));
    const int64_t dense_first = std::min(layers, whole_or("first_k_dense_replace", 0));
    a.expert_layers = step > 1 ? layers / step : layers - dense_first;
    a.dense_layers = layers - a.expert_layers;
    if (a.dense_layers == 0)  // then no layer has this width
      for (Number& number : model_.numbers)
        if (number.name == "intermediate_size") number.adjustable = false;
    return Ok{};
  }

  void quantization() {
    const std::string type = text_at("torch_dtype").empty() ? text_at("dtype") : text_at("torch_dtype");
    if (const Result<Dtype> named = dtype_named(type); named) model_.dtype = *named;
    const auto found = json_.find("quantization_config");
    if (found == json_.end() || !found->is_object()) return;
    Quantization q;
    const auto whole = [&](const Json& value) {
      return value.is_number_integer() && value.get<int64_t>() > 0 && value.get<int64_t>() <= kMaxNumber
                 ? value.get<int64_t>()
                 : int64_t{0};
    };
    if (const auto method = found->find("quant_method"); method != found->end() && method->is_string())
      q.method = method->get<std::string>().substr(0, 40);
    if (const auto bits = found->find("bits"); bits != found->end()) q.bits = whole(*bits);
    if (const auto group = found->find("group_size"); group != found->end()) q.in = whole(*group);
    if (const auto block = found->find("weight_block_size");
        block != found->end() && block->is_array() && block->size() == 2) {
      q.out = whole((*block)[0]);
      q.in = whole((*block)[1]);
    }
    if (q.method.empty()) q.method = "quantization";
    model_.notes.push_back(fmt::format(
        "weights are quantized ({}): blocks are checked, times are those of products on unpacked weights",
        q.method));
    model_.quantization = q;
  }

  void title() {
    const Architecture& a = *model_.architecture;
    const std::string type = a.model_type.empty() ? "model" : a.model_type.substr(0, 60);
    if (a.kind == Kind::speech) {
      model_.title =
          fmt::format("{}: {} + {} layers, hidden {}, {} heads of {}, vocabulary {}", type,
                      model_.at("encoder_layers"), model_.at("decoder_layers"), model_.at("hidden_size"),
                      model_.at("num_attention_heads"), model_.at("head_dim"), model_.at("vocab_size"));
      return;
    }
    const int64_t heads = model_.at("num_attention_heads"), kv = model_.at("num_key_value_heads");
    model_.title =
        fmt::format("{}: {} layers, hidden {}, {} heads of {}{}, MLP {}{}, vocabulary {}", type,
                    model_.at("num_hidden_layers"), model_.at("hidden_size"), heads, model_.at("head_dim"),
                    kv != heads ? fmt::format(" ({} for keys)", kv) : "",
                    a.expert_layers > 0 ? model_.at("moe_intermediate_size") : model_.at("intermediate_size"),
                    a.expert_layers > 0 ? fmt::format(" x {} experts", model_.at("num_experts")) : "",
                    model_.at("vocab_size"));
  }

  const Json& json_;
  std::string_view text_;
  const std::string& file_;
  Model model_;
};

}  // namespace

Result<Model> read_config(std::string_view text, const std::string& file) {
  if (text.size() > kMaxConfigBytes)
    return Error{fmt::format("a config.json of {} bytes is not read", text.size()), file};
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) {
    uint32_t line = 0;
    try {
      [[maybe_unused]] const Json again = Json::parse(text);
    } catch (const Json::parse_error& failure) {
      const size_t at = std::min<size_t>(failure.byte, text.size());
      line = static_cast<uint32_t>(
          1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    }
    return Error{"not valid JSON", file, line, 0, "is the download complete?"};
  }
  if (!json.is_object()) return Error{"not a JSON object", file, 1};
  // Models of text and images keep the language model's numbers in an object of their own.
  if (const auto inner = json.find("text_config");
      inner != json.end() && inner->is_object() && !json.contains("hidden_size")) {
    Result<Model> model = ConfigReader(*inner, text, file).read();
    if (model)
      model->notes.push_back("only text_config is read: the language model, not the image or audio part");
    return model;
  }
  return ConfigReader(json, text, file).read();
}

}  // namespace fullwarp::shapes

// config.json of Hugging Face's transformers. A config that holds others (`text_config`, `vision_config`)
// becomes a model of several stacks; one stack is read by config_stack.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "shapes/config_stack.h"
#include "shapes/families.h"
#include "shapes/read.h"

namespace fullwarp::shapes {

namespace {

using Json = nlohmann::json;

class ConfigReader {
 public:
  ConfigReader(const Json& json, std::string_view text, const std::string& file) : json_(json), text_(text) {
    model_.file = file;
  }

  Result<Model> read() && {
    const Status status = stacks();
    if (!status) return status.error();
    quantization();
    title();
    return std::move(model_);
  }

 private:
  Status stack(const Json& json, const std::string& prefix, const std::string& otherwise) {
    const std::string type = config_text(json, "model_type");
    return read_stack(json, text_, prefix, type.empty() ? otherwise : type, model_);
  }

  const Json* nested(const char* key) const {
    const auto found = json_.find(key);
    return found != json_.end() && found->is_object() ? &*found : nullptr;
  }

  Status stacks() {
    const std::string type = config_text(json_, "model_type");
    const Json* const text = nested("text_config");
    const Json* const vision = nested("vision_config");
    if (text == nullptr || json_.contains("hidden_size")) {
      if (vision != nullptr) model_.notes.emplace_back("vision_config is left out");
      return stack(json_, "", type);
    }
    const bool pair = type == "clip" || type == "siglip";  // the two halves see separate inputs
    if (Status status = stack(*text, "text_config.", pair ? type + "_text_model" : type + "_text"); !status)
      return status;
    const Json& outer = json_;
    Architecture& language = model_.architectures.back();
    if (!pair)
      language.tied = outer.value("tie_word_embeddings", Json()).is_boolean()
                          ? outer["tie_word_embeddings"].get<bool>()
                          : language.tied;
    if (vision != nullptr) {
      std::string kind = config_text(*vision, "model_type");
      if (kind.empty() && pair) kind = type + "_vision_model";
      const Family* family = family_of(kind);
      if (family != nullptr && family->kind == Kind::vision) {
        if (Status status = stack(*vision, "vision_config.", kind); !status) return status;
        if (!pair) model_.notes.emplace_back("one image a sequence; what joins images and text is left out");
      } else {
        model_.notes.push_back(
            fmt::format("vision_config (`{}`) is not known and left out", kind.substr(0, 60)));
      }
    }
    for (const char* other : {"audio_config", "audio_encoder_config", "vq_config"})
      if (nested(other) != nullptr) model_.notes.push_back(fmt::format("{} is left out", other));
    return Ok{};
  }

  void quantization() {
    const auto type_of = [](const Json& json) {
      const std::string old = config_text(json, "torch_dtype");
      return old.empty() ? config_text(json, "dtype") : old;
    };
    std::string type = type_of(json_);
    if (type.empty() && nested("text_config") != nullptr) type = type_of(*nested("text_config"));
    if (const Result<Dtype> named = dtype_named(type); named) model_.dtype = *named;
    const Json* const found = nested("quantization_config");
    if (found == nullptr) return;
    Quantization q;
    const auto whole = [](const Json& value) {
      return value.is_number_integer() && value.get<int64_t>() > 0 && value.get<int64_t>() <= kMaxConfigNumber
                 ? value.get<int64_t>()
                 : int64_t{0};
    };
    q.method = config_text(*found, "quant_method").substr(0, 40);
    if (const auto bits = found->find("bits"); bits != found->end()) q.bits = whole(*bits);
    if (const auto group = found->find("group_size"); group != found->end()) q.in = whole(*group);
    if (const auto block = found->find("weight_block_size");
        block != found->end() && block->is_array() && block->size() == 2) {
      q.out = whole((*block)[0]);
      q.in = whole((*block)[1]);
      q.split_only = true;
    }
    if (q.method.empty()) q.method = "quantization";
    model_.notes.push_back(fmt::format(
        "weights are quantized ({}): blocks are checked, times are those of products on unpacked weights",
        q.method));
    model_.quantization = q;
  }

  void title() {
    std::string type = config_text(json_, "model_type").substr(0, 60);
    if (type.empty()) type = "model";
    for (const Architecture& a : model_.architectures)
      model_.title += (model_.title.empty() ? type + ": " : "; ") + title_of(a);
  }

  std::string title_of(const Architecture& a) const {
    const auto at = [&](const char* name) { return model_.at(a.prefix + name); };
    const int64_t heads = at("num_attention_heads"), kv = at("num_key_value_heads");
    if (a.kind == Kind::speech || a.kind == Kind::encoder_decoder)
      return fmt::format("{} + {} layers, hidden {}, {} heads of {}, vocabulary {}", at("encoder_layers"),
                         at("decoder_layers"), at("hidden_size"), heads, at("head_dim"), at("vocab_size"));
    const std::string layers =
        fmt::format("{} layers, hidden {}, {} heads of {}{}, MLP {}{}", at("num_hidden_layers"),
                    at("hidden_size"), heads, at("head_dim"),
                    a.latent_attention ? fmt::format(" (keys and values from {})", at("kv_lora_rank"))
                    : kv != heads      ? fmt::format(" ({} for keys)", kv)
                                       : "",
                    a.expert_layers > 0 ? at("moe_intermediate_size") : at("intermediate_size"),
                    a.expert_layers > 0 ? fmt::format(" x {} experts", at("num_experts")) : "");
    if (a.kind == Kind::vision)
      return fmt::format("{}, images of {} in patches of {}", layers, at("image_size"), at("patch_size"));
    return fmt::format("{}, vocabulary {}", layers, at("vocab_size"));
  }

  const Json& json_;
  std::string_view text_;
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
    } catch (const Json::exception&) {
      // A number beyond what a double holds; it names no place.
    }
    return Error{"not valid JSON", file, line, 0, "is the download complete?"};
  }
  if (!json.is_object()) return Error{"not a JSON object", file, 1};
  return ConfigReader(json, text, file).read();
}

}  // namespace fullwarp::shapes

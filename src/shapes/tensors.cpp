// What tensor names and shapes tell when no config is at hand: every matrix is a linear layer [out, in]
// (GPT-2's Conv1D is [in, out]), four dimensions are a convolution, an embedding is a table. Layers that
// differ only in their number are one weight with a count. Which side a layer is split on follows from what
// Megatron-LM, vLLM and others do with layers of this name.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "shapes/headed.h"
#include "shapes/read.h"

namespace fullwarp::shapes {

namespace {

bool has_word(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

// "model.layers.17.mlp.up_proj.weight" -> "model.layers.*.mlp.up_proj.weight"
std::string without_numbers(std::string_view name) {
  std::string result;
  for (size_t at = 0; at < name.size();) {
    const size_t dot = std::min(name.find('.', at), name.size());
    const std::string_view part = name.substr(at, dot - at);
    const bool number = !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    result += number ? "*" : part;
    if (dot < name.size()) result += '.';
    at = dot + 1;
  }
  return result;
}

bool is_head(std::string_view name) {
  return has_word(name, {"lm_head", "embed_out", "proj_out", "output.weight"});
}

bool is_embedding(std::string_view name) {
  return !is_head(name) &&
         has_word(name, {"embed_tokens", "wte.", "word_embeddings", "token_embd", "tok_embeddings",
                         "shared.weight", "embed_in", "embeddings.weight"});
}

// Looked up or added, never multiplied.
bool is_table(std::string_view name) {
  return has_word(name, {"wpe.", "position_embed", "embed_positions", "token_type", "relative_attention_bias",
                         "rotary", "inv_freq", "masked_bias", "attn.bias"});
}

Split split_of(std::string_view name) {
  if (has_word(name, {"o_proj", "out_proj", "down_proj", "c_proj", "fc2", "w2.", "wo.", "dense_4h_to_h",
                      "attention.output.dense", "attention.dense", "ffn_down", "attn_output"}))
    return Split::rows;
  if (name.find("attention") == std::string_view::npos && has_word(name, {"output.dense"}))
    return Split::rows;
  if (has_word(name, {"q_proj",  "k_proj",  "v_proj",   "qkv",           "query",
                      "key",     "value",   "c_attn",   "gate_proj",     "up_proj",
                      "gate_up", "c_fc",    "fc1",      "w1.",           "w3.",
                      "wq.",     "wk.",     "wv.",      "dense_h_to_4h", "intermediate.dense",
                      "in_proj", "lm_head", "embed_out"}))
    return Split::columns;
  return Split::none;
}

std::optional<Dtype> dtype_of(const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors)
    if (tensor.shape.size() == 2)
      if (const Result<Dtype> type = dtype_named(tensor.type); type) return *type;
  return std::nullopt;
}

// GPTQ and AWQ pack eight 4-bit weights into one int32, along the inputs or along the outputs.
constexpr int64_t kPacked = 8;

}  // namespace

Model model_of_tensors(const std::vector<Tensor>& tensors, const std::string& file, int64_t heads) {
  Model model;
  model.file = file;
  model.dtype = dtype_of(tensors);
  std::map<std::string_view, const Tensor*> by_name;
  for (const Tensor& tensor : tensors) by_name.emplace(tensor.name, &tensor);
  const bool gpt2 = std::any_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) {
    return tensor.name.find("attn.c_attn.weight") != std::string::npos;
  });

  std::map<std::tuple<std::string, int64_t, int64_t, int64_t, int64_t>, size_t> known;
  const auto add = [&](Weight weight) {
    if (weight.out < 1 || weight.in < 1) return;
    const auto key = std::make_tuple(weight.name, weight.out, weight.in, weight.kernel_h, weight.kernel_w);
    const auto [place, fresh] = known.emplace(key, model.weights.size());
    if (fresh) {
      model.weights.push_back(std::move(weight));
    } else {
      model.weights[place->second].count += 1;
    }
  };

  bool head = false, unknown_quantization = false, depthwise = false;
  const Tensor* embedding = nullptr;
  for (const Tensor& tensor : tensors) {
    Weight weight;
    weight.name = without_numbers(tensor.name);
    const std::string_view name = tensor.name;
    if (is_table(name)) continue;
    if (name.ends_with(".qweight") && tensor.shape.size() == 2) {
      const std::string scales = std::string(name.substr(0, name.size() - 7)) + "scales";
      const auto found = by_name.find(scales);
      if (found == by_name.end() || found->second->shape.size() != 2) {
        unknown_quantization = true;
        continue;
      }
      const std::vector<int64_t>& groups = found->second->shape;  // [groups, out]
      weight.out = groups[1];
      weight.in = tensor.shape[1] == weight.out ? tensor.shape[0] * kPacked : tensor.shape[0];
      weight.quantization =
          Quantization{"4-bit", 4, groups[0] > 0 ? (weight.in + groups[0] - 1) / groups[0] : 0, 0};
      weight.split = split_of(name);
      add(std::move(weight));
      continue;
    }
    if (tensor.shape.size() == 4 || tensor.shape.size() == 3) {
      if (!name.ends_with(".weight") ||
          !has_word(name, {"conv", "downsample", "patch_embed", "stem", "features"}))
        continue;
      weight.out = tensor.shape[0], weight.in = tensor.shape[1];
      weight.flat = tensor.shape.size() == 3;
      weight.kernel_h = tensor.shape[2], weight.kernel_w = weight.flat ? 1 : tensor.shape[3];
      if (weight.kernel_h < 1 || weight.kernel_w < 1 || weight.kernel_h > 1024 || weight.kernel_w > 1024)
        continue;
      if (weight.in == 1 && weight.out >= 8 && weight.kernel_h * weight.kernel_w > 1) {
        weight.groups = weight.out;
        depthwise = true;
      }
      add(std::move(weight));
      continue;
    }
    if (tensor.shape.size() != 2 || !(name.ends_with("weight") || name.ends_with("_proj"))) continue;
    weight.out = tensor.shape[0], weight.in = tensor.shape[1];
    if (is_embedding(name)) {
      weight.embedding = true;
      embedding = &tensor;
    } else {
      head = head || is_head(name);
      weight.transposed = gpt2 && has_word(name, {"c_attn.weight", "c_proj.weight", "c_fc.weight"});
      if (weight.transposed) std::swap(weight.out, weight.in);
      weight.split = split_of(name);
    }
    add(std::move(weight));
  }
  if (!head && embedding != nullptr) {
    Weight tied;
    tied.name = "output head (tied to " + embedding->name + ")";
    tied.out = embedding->shape[0], tied.in = embedding->shape[1];
    tied.split = Split::columns;
    add(std::move(tied));
    model.notes.emplace_back("no output head among the tensors: taken as tied to the embedding");
  }
  if (unknown_quantization)
    model.notes.emplace_back("packed weights without scales of their own are left out");
  double parameters = 0;
  for (const Tensor& tensor : tensors) {
    double elements = 1;
    for (int64_t size : tensor.shape) elements *= static_cast<double>(size);
    parameters += elements;
  }
  model.title = fmt::format("{} tensors, {:.4g} billion elements", tensors.size(), parameters / 1e9);
  if (depthwise)
    model.notes.emplace_back(
        "convolutions with one input channel are taken as depthwise, one group a channel");
  model.notes.emplace_back(
      "every matrix counts as one linear layer on all tokens, experts too: put config.json beside the file "
      "for the whole model");
  find_heads(model, tensors, heads);
  return model;
}

}  // namespace fullwarp::shapes

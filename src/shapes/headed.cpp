#include "shapes/headed.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace fullwarp::shapes {

namespace {

enum class Part : uint8_t { query, key, value, fused, output };

struct PartName {
  std::string_view last;  // component of the name before ".weight"
  Part part;
};
constexpr PartName kParts[] = {{"q_proj", Part::query},
                               {"query", Part::query},
                               {"q", Part::query},
                               {"wq", Part::query},
                               {"to_q", Part::query},
                               {"attn_q", Part::query},
                               {"q_lin", Part::query},
                               {"k_proj", Part::key},
                               {"key", Part::key},
                               {"k", Part::key},
                               {"wk", Part::key},
                               {"to_k", Part::key},
                               {"attn_k", Part::key},
                               {"k_lin", Part::key},
                               {"v_proj", Part::value},
                               {"value", Part::value},
                               {"v", Part::value},
                               {"wv", Part::value},
                               {"to_v", Part::value},
                               {"attn_v", Part::value},
                               {"v_lin", Part::value},
                               {"qkv", Part::fused},
                               {"qkv_proj", Part::fused},
                               {"c_attn", Part::fused},
                               {"Wqkv", Part::fused},
                               {"wqkv", Part::fused},
                               {"attn_qkv", Part::fused},
                               {"in_proj", Part::fused},
                               {"query_key_value", Part::fused}};

bool has(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

// "layers.*.self_attn.q_proj.weight": what stands before "q_proj", and which part that is.
struct Place {
  std::string parent;
  Part part;
};
std::optional<Place> place_of(std::string_view name) {
  if (name.ends_with(".weight")) name.remove_suffix(7);
  if (name.ends_with(".qweight")) name.remove_suffix(8);
  const size_t dot = name.rfind('.');
  const std::string_view last = dot == std::string_view::npos ? name : name.substr(dot + 1);
  for (const PartName& row : kParts)
    if (row.last == last) return Place{std::string(name.substr(0, name.size() - last.size())), row.part};
  return std::nullopt;
}

struct Group {
  const Weight* parts[4] = {};
};

// What tells a head's size or their number: a norm over one head's queries (Qwen3), the frequencies of rotary
// positions (half a head, in Llama and its relatives), a bias or sink for each head.
struct Evidence {
  int64_t head_size = 0, heads = 0;
};
Evidence evidence_of(const std::vector<Tensor>& tensors) {
  Evidence found;
  for (const Tensor& tensor : tensors) {
    const std::string_view name = tensor.name;
    if (tensor.shape.empty() || tensor.shape.back() < 1) continue;
    if (tensor.shape.size() == 1 && name.ends_with("self_attn.q_norm.weight") && found.head_size == 0)
      found.head_size = tensor.shape[0];
    if (tensor.shape.size() == 1 && name.ends_with("self_attn.rotary_emb.inv_freq"))
      found.head_size = 2 * tensor.shape[0];
    if (tensor.shape.size() == 1 && name.ends_with("self_attn.sinks")) found.heads = tensor.shape[0];
    if (tensor.shape.size() == 2 && name.ends_with("relative_attention_bias.weight"))
      found.heads = tensor.shape[1];
  }
  return found;
}

}  // namespace

void find_heads(Model& model, const std::vector<Tensor>& tensors, int64_t heads) {
  std::map<std::string, Group> groups;
  for (const Weight& weight : model.weights)
    if (const std::optional<Place> place = place_of(weight.name);
        place && weight.kernel_h == 0 && !weight.embedding)
      groups[place->parent].parts[static_cast<size_t>(place->part)] = &weight;
  const Evidence evidence = evidence_of(tensors);
  bool assumed = false, unknown = false;
  for (const auto& [parent, group] : groups) {
    const Weight* query = group.parts[0];
    const Weight* key = group.parts[1];
    const Weight* fused = group.parts[3];
    HeadedWeights found;
    if (query != nullptr && key != nullptr) {
      found.queries = query->out;
      found.keys = key->out;
      found.count = query->count;
    } else if (fused != nullptr && fused->out == 3 * fused->in) {  // as many keys as queries
      found.queries = found.keys = fused->in;
      found.count = fused->count;
    } else {
      unknown = unknown || query != nullptr || fused != nullptr;
      continue;
    }
    found.name = parent + "scores";
    if (heads > 0) {
      found.heads = heads;
    } else if (evidence.heads > 0) {
      found.heads = evidence.heads;
    } else if (evidence.head_size > 0 && found.queries % evidence.head_size == 0) {
      found.heads = found.queries / evidence.head_size;
    }
    if (found.heads < 1 || found.heads > found.queries || found.queries % found.heads != 0) {
      unknown = true;
      continue;
    }
    const bool cross = has(parent, {"encoder_attn", "crossattention", "EncDecAttention", "cross_attn"});
    const bool encoder = has(parent, {"encoder", "bert", "vision", "visual", "vit", "blocks"}) &&
                         !has(parent, {"decoder", "h."});
    found.causal = !cross && !encoder;
    found.cross = cross;
    assumed = true;
    model.headed.push_back(std::move(found));
  }
  if (assumed)
    model.notes.emplace_back(
        "attention is taken as fused, over --sequence tokens, causal unless the names say encoder");
  if (unknown && heads > 0)
    model.notes.push_back(
        fmt::format("--heads {} fits some attention projections not: attention is left out there", heads));
  if (unknown && heads == 0)
    model.notes.emplace_back(
        "the tensors do not tell how many heads attention has, so it is left out: give --heads N, or put "
        "config.json beside the file");
}

}  // namespace fullwarp::shapes

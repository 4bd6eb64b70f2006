// GGUF, versions 2 and 3: magic, version, counts of tensors and of key-value pairs, the pairs, the tensors'
// names and sizes. The keys hold the architecture ("llama.feed_forward_length"), so that no config is needed.
// Arrays such as the vocabulary are passed over by their lengths. Specification: ggml/docs/gguf.md.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "shapes/read.h"

namespace fullwarp::shapes {

namespace {

constexpr uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr uint64_t kMaxPairs = 1 << 20;
constexpr uint32_t kMaxDimensions = 8;
constexpr uint32_t kString = 8, kArray = 9;
constexpr int kMaxNesting = 4;

// Bytes of a value by its type; 0: string, array or unknown.
constexpr uint32_t kValueBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

struct Block {
  uint32_t type;
  std::string_view name;
  int64_t elements;  // of a row that share a block
};
constexpr Block kBlocks[] = {
    {0, "F32", 1},       {1, "F16", 1},        {2, "Q4_0", 32},    {3, "Q4_1", 32},    {6, "Q5_0", 32},
    {7, "Q5_1", 32},     {8, "Q8_0", 32},      {9, "Q8_1", 32},    {10, "Q2_K", 256},  {11, "Q3_K", 256},
    {12, "Q4_K", 256},   {13, "Q5_K", 256},    {14, "Q6_K", 256},  {15, "Q8_K", 256},  {16, "IQ2_XXS", 256},
    {17, "IQ2_XS", 256}, {18, "IQ3_XXS", 256}, {19, "IQ1_S", 256}, {20, "IQ4_NL", 32}, {21, "IQ3_S", 256},
    {22, "IQ2_S", 256},  {23, "IQ4_XS", 256},  {29, "IQ1_M", 256}, {30, "BF16", 1},    {34, "TQ1_0", 256},
    {35, "TQ2_0", 256},  {39, "MXFP4", 32}};

const Block* block_of(uint32_t type) {
  for (const Block& block : kBlocks)
    if (block.type == type) return &block;
  return nullptr;
}

class GgufReader {
 public:
  GgufReader(const ByteSource& source, const std::string& file, const RunOptions& run)
      : cursor_(source), file_(file), run_(run) {}

  Result<Model> read() && {
    if (cursor_.little_endian<uint32_t>() != kMagic) return error("not a GGUF file");
    const auto version = cursor_.little_endian<uint32_t>();
    if (version != 2 && version != 3)
      return error(fmt::format("GGUF version {} (2 and 3, little-endian, are read)",
                               version > 0xffff ? "of a big-endian file" : std::to_string(version)));
    const auto tensors = cursor_.little_endian<uint64_t>(), pairs = cursor_.little_endian<uint64_t>();
    if (tensors > kMaxTensors || pairs > kMaxPairs)
      return error(fmt::format("{} tensors and {} keys are more than a model has", tensors, pairs));
    for (uint64_t i = 0; i < pairs; ++i)
      if (!pair()) return truncated();
    for (uint64_t i = 0; i < tensors; ++i)
      if (Status status = tensor(); !status) return status.error();
    return model();
  }

 private:
  Error error(const std::string& message) const { return Error{message, file_}; }
  Error truncated() const {
    return Error{fmt::format("the header ends or is damaged near byte {}", cursor_.position()), file_, 0, 0,
                 "is the download complete?"};
  }

  std::string name() { return cursor_.text(cursor_.little_endian<uint64_t>(), kMaxNameBytes); }

  bool skip(uint32_t type, int nesting) {
    if (type == kString) {
      cursor_.skip(cursor_.little_endian<uint64_t>());
    } else if (type == kArray) {
      return array(nesting + 1) && !cursor_.failed();
    } else if (type < std::size(kValueBytes)) {
      cursor_.skip(kValueBytes[type]);
    } else {
      return false;
    }
    return !cursor_.failed();
  }

  bool array(int nesting) {
    const auto type = cursor_.little_endian<uint32_t>();
    const auto count = cursor_.little_endian<uint64_t>();
    last_length_ = count;
    if (nesting > kMaxNesting || type >= std::size(kValueBytes)) return false;
    if (kValueBytes[type] != 0) {
      if (count > cursor_.left() / kValueBytes[type]) return false;
      if (type == 4 || type == 5) {  // one number for each layer: the first stands for all
        last_value_ = count > 0 ? cursor_.little_endian<uint32_t>() : 0;
        cursor_.skip((count > 0 ? count - 1 : 0) * 4);
      } else {
        cursor_.skip(count * kValueBytes[type]);
      }
      return !cursor_.failed();
    }
    if (count > cursor_.left() / 8) return false;  // each has a length of 8 bytes at least
    for (uint64_t i = 0; i < count; ++i)
      if (!skip(type, nesting)) return false;
    last_length_ = count;
    return true;
  }

  bool pair() {
    const std::string key = name();
    const auto type = cursor_.little_endian<uint32_t>();
    if (cursor_.failed() || key.empty()) return false;
    if (type == kString) {
      const auto length = cursor_.little_endian<uint64_t>();
      if (key == "general.architecture" || key == "general.name") {
        texts_[key] = cursor_.text(length, kMaxNameBytes);
      } else {
        cursor_.skip(length);
      }
    } else if (type == kArray) {
      last_value_ = 0;
      if (!array(0)) return false;
      if (last_value_ > 0) numbers_[key] = static_cast<int64_t>(last_value_);
      if (key == "tokenizer.ggml.tokens") numbers_["tokens"] = static_cast<int64_t>(last_length_);
    } else if (type == 2 || type == 3) {
      numbers_[key] = cursor_.little_endian<uint16_t>();
    } else if (type == 4 || type == 5) {
      numbers_[key] = cursor_.little_endian<uint32_t>();
    } else if (type == 10 || type == 11) {
      const auto value = cursor_.little_endian<uint64_t>();
      numbers_[key] = value > uint64_t{kMaxSize} ? kMaxSize + 1 : static_cast<int64_t>(value);
    } else {
      return skip(type, 0);
    }
    return !cursor_.failed();
  }

  Status tensor() {
    Tensor t;
    t.name = name();
    const auto dimensions = cursor_.little_endian<uint32_t>();
    if (cursor_.failed()) return truncated();
    if (dimensions > kMaxDimensions) return error(fmt::format("a tensor of {} dimensions", dimensions));
    for (uint32_t i = 0; i < dimensions; ++i) {
      const auto size = cursor_.little_endian<uint64_t>();
      if (size > uint64_t{kMaxSize})
        return error(
            fmt::format("tensor `{}` has a size outside of 0 to {}", t.name.substr(0, 80), kMaxSize));
      t.shape.insert(t.shape.begin(), static_cast<int64_t>(size));  // the file has the innermost first
    }
    const auto type = cursor_.little_endian<uint32_t>();
    cursor_.skip(8);  // where the data begins
    if (cursor_.failed()) return truncated();
    const Block* block = block_of(type);
    t.type = block != nullptr ? std::string(block->name) : fmt::format("type {}", type);
    if (block != nullptr && !t.shape.empty() && t.shape.back() % block->elements != 0)
      return error(fmt::format("tensor `{}`: rows of {} elements are no multiple of the {} block of {}",
                               t.name.substr(0, 80), t.shape.back(), t.type, block->elements));
    if (block != nullptr && block->elements > 1 && t.shape.size() >= 2) {
      ++blocks_[block];
    }
    tensors_.push_back(std::move(t));
    return Ok{};
  }

  int64_t number(const std::string& key) const {
    const auto found = numbers_.find(key);
    return found == numbers_.end() ? 0 : found->second;
  }

  const Tensor* find(std::string_view name) const {
    for (const Tensor& t : tensors_)
      if (t.name == name) return &t;
    return nullptr;
  }

  Result<Model> model() {
    const auto architecture = texts_.find("general.architecture");
    const std::string prefix = (architecture == texts_.end() ? "" : architecture->second) + ".";
    const int64_t hidden = number(prefix + "embedding_length"), layers = number(prefix + "block_count");
    const int64_t heads = number(prefix + "attention.head_count");
    const bool recurrent = number(prefix + "ssm.conv_kernel") > 0 || number(prefix + "shortconv.l_cache") > 0;
    if (architecture == texts_.end() || hidden == 0 || layers == 0 || heads == 0 || heads > hidden ||
        recurrent) {
      if (tensors_.empty()) return error("neither an architecture nor tensors");
      return model_of_tensors(tensors_, file_, run_.heads);
    }
    const Tensor* embedding = find("token_embd.weight");
    Result<Model> model = read_config(config_of(prefix, architecture->second, embedding), file_);
    if (!model) return model;
    for (Number& n : model->numbers) n.line = 0;
    if (embedding != nullptr) {
      correct(model->architectures.front());
      for (std::string& note : model->notes)  // what the config's reader guessed, the tensors have told
        if (note.starts_with("model_type `") && note.find("is not known: read as") != std::string::npos)
          note = fmt::format(
              "architecture `{}` is not known: read as layers of its kind, as the tensors tell them",
              json_type(architecture->second));
    }
    if (number("split.count") > 1)
      model->notes.push_back(
          fmt::format("the first of {} files; its keys hold for all", number("split.count")));
    const Block* common = nullptr;
    for (const auto& [block, count] : blocks_)
      if (common == nullptr || count > blocks_[common]) common = block;
    if (common != nullptr) {
      model->quantization = Quantization{std::string(common->name), 0, common->elements, 0};
      model->notes.push_back(fmt::format(
          "weights are {}: blocks of {} are checked, times are those of products on unpacked weights",
          common->name, common->elements));
    }
    return model;
  }

  // The config's words, so that one reader knows the families.
  std::string config_of(const std::string& prefix, const std::string& architecture,
                        const Tensor* embedding) const {
    std::string config = fmt::format(R"({{"model_type": "{}")", json_type(architecture));
    const auto add = [&](const char* name, int64_t value) {
      if (value > 0) config += fmt::format(R"(, "{}": {})", name, value);
    };
    const bool table = embedding != nullptr && embedding->shape.size() == 2;
    add("vocab_size", table                   ? embedding->shape[0]
                      : number("tokens") != 0 ? number("tokens")
                                              : number(prefix + "vocab_size"));
    static constexpr std::pair<const char*, const char*> kKeys[] = {
        {"hidden_size", "embedding_length"},
        {"num_hidden_layers", "block_count"},
        {"num_decoder_layers", "decoder_block_count"},
        {"num_attention_heads", "attention.head_count"},
        {"num_key_value_heads", "attention.head_count_kv"},
        {"intermediate_size", "feed_forward_length"},
        {"num_local_experts", "expert_count"},
        {"num_experts_per_tok", "expert_used_count"},
        {"moe_intermediate_size", "expert_feed_forward_length"},
        {"shared_expert_intermediate_size", "expert_shared_feed_forward_length"},
        {"n_shared_experts", "expert_shared_count"},
        {"first_k_dense_replace", "leading_dense_block_count"},
        {"interleave_moe_layer_step", "interleave_moe_layer_step"},
        {"sliding_window", "attention.sliding_window"},
        {"q_lora_rank", "attention.q_lora_rank"},
        {"kv_lora_rank", "attention.kv_lora_rank"},
        {"max_position_embeddings", "context_length"}};
    for (const auto& [name, key] : kKeys) add(name, number(prefix + key));
    const auto either = [&](const char* key) {  // newer files keep the sizes of the projections apart
      const int64_t latent = number(prefix + key + "_mla");
      return latent > 0 ? latent : number(prefix + key);
    };
    const int64_t head = either("attention.key_length"), rope = number(prefix + "rope.dimension_count");
    if (number(prefix + "attention.kv_lora_rank") > 0) {
      add("qk_rope_head_dim", rope);
      add("qk_nope_head_dim", head - rope);
      add("v_head_dim", either("attention.value_length"));
    } else {
      add("head_dim", head);
    }
    return config + "}";
  }

  // The tensors know what the name of the architecture may not.
  void correct(Architecture& a) const {
    const auto any = [&](std::initializer_list<const char*> names) {
      return std::any_of(names.begin(), names.end(), [&](const char* name) { return find(name) != nullptr; });
    };
    a.transposed_weights = false;  // GGUF keeps every matrix as [out, in]
    a.fused_gate_up = false;
    // Fused gate and up are one tensor named ffn_up, twice as wide as ffn_down is long.
    const Tensor* up = find("blk.0.ffn_up.weight");
    const Tensor* down = find("blk.0.ffn_down.weight");
    if (up != nullptr && down != nullptr && up->shape.size() == 2 && down->shape.size() == 2 &&
        up->shape[0] == 2 * down->shape[1])
      a.gated_mlp = a.fused_gate_up = true;
    else
      a.gated_mlp = any({"blk.0.ffn_gate.weight", "blk.0.ffn_gate_exps.weight", "enc.blk.0.ffn_gate.weight"});
    a.fused_qkv = any({"blk.0.attn_qkv.weight"});
    a.tied = find("output.weight") == nullptr;
    if (a.kind == Kind::encoder) a.language_head = !a.tied;
  }

  // llama.cpp's names of architectures that config.json spells otherwise; only letters, digits and the like
  // pass.
  static std::string json_type(const std::string& architecture) {
    static const std::map<std::string, std::string> kNames = {
        {"gptneox", "gpt_neox"},      {"qwen2moe", "qwen2_moe"}, {"qwen3moe", "qwen3_moe"},
        {"starcoder", "gpt_bigcode"}, {"phi2", "phi"},           {"gemma3", "gemma3_text"},
        {"deepseek2", "deepseek_v2"}, {"command-r", "cohere"},   {"gpt-oss", "gpt_oss"},
        {"glm4moe", "glm4_moe"},      {"llama4", "llama4_text"}, {"modern-bert", "modernbert"}};
    if (const auto found = kNames.find(architecture); found != kNames.end()) return found->second;
    std::string safe;
    for (char c : architecture.substr(0, 60))
      if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-')
        safe += c;
    return safe;
  }

  Cursor cursor_;
  const std::string& file_;
  const RunOptions& run_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, int64_t> numbers_;
  std::map<const Block*, uint64_t> blocks_;
  std::vector<Tensor> tensors_;
  uint64_t last_length_ = 0, last_value_ = 0;
};

}  // namespace

Result<Model> read_gguf(const ByteSource& source, const std::string& file, const RunOptions& run) {
  return GgufReader(source, file, run).read();
}

}  // namespace fullwarp::shapes

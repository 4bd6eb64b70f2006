// The layers of the architectures that config.json and GGUF name: how many products of which sizes each has.
#include <fmt/format.h>

#include <algorithm>

#include "shapes/pass.h"

namespace fullwarp::shapes {

namespace {

class Layers {
 public:
  Layers(const Model& model, const Architecture& architecture, Pass& pass)
      : model_(model), a_(architecture), pass_(pass), run_(pass.run()) {
    if (model.architectures.size() > 1) name_ = architecture.kind == Kind::vision ? "vision " : "text ";
  }

  void add() {
    check_parallel();
    switch (a_.kind) {
      case Kind::speech:
      case Kind::encoder_decoder: encoder_and_decoder(); break;
      case Kind::vision: vision(); break;
      case Kind::decoder:
      case Kind::encoder: text(); break;
    }
  }

 private:
  // Of attention's two sides; those in the cache are keys only.
  struct Tokens {
    int64_t queries = 1, keys = 1;
  };

  int64_t at(const std::string& name) const { return model_.at(a_.prefix + name); }

  void linear(const std::string& name, int64_t rows, int64_t out, int64_t in, double count, Split split,
              const std::string& note = {}) {
    pass_.linear({.name = name_ + name,
                  .rows = rows,
                  .out = out,
                  .in = in,
                  .count = count,
                  .split = split,
                  .transposed = a_.transposed_weights,
                  .note = note,
                  .quantization = model_.quantization});
  }

  // ---- attention

  void scores(const std::string& name, Tokens tokens, bool causal, double count, int64_t heads,
              int64_t kv_heads, int64_t window = 0, const std::string& note = {}) {
    if (count <= 0) return;
    if (window >= tokens.keys) window = 0;
    pass_.attention(name_ + name,
                    {.causal = causal,
                     .batch = run_.batch,
                     .heads = pass_.part(heads),
                     .kv_heads = pass_.part(kv_heads),
                     .queries = tokens.queries,
                     .keys = tokens.keys,
                     .head_size = at("head_dim"),
                     .value_size = a_.latent_attention ? at("v_head_dim") : 0,
                     .window = window},
                    count, note);
  }

  void attention_block(const std::string& prefix, int64_t sequence, bool causal, double layers, int64_t heads,
                       int64_t kv_heads) {
    const int64_t rows = run_.batch * sequence, hidden = at("hidden_size"), head = at("head_dim");
    // A rank has whole heads: where they are left over, which is an error of its own, some have one more.
    const int64_t ranks = run_.tensor_parallel;
    heads = pass_.part(heads) * ranks;
    // More ranks than key heads: each rank keeps a copy of one.
    const int64_t kv = pass_.part(std::max(kv_heads, std::min(ranks, heads))) * ranks;
    if (a_.latent_attention) {
      latent_projections(prefix, rows, layers, heads);
    } else if (a_.fused_qkv) {
      linear(prefix + "qkv", rows, (heads + 2 * kv) * head, hidden, layers, Split::columns);
    } else if (kv == heads) {
      linear(prefix + "q, k, v", rows, heads * head, hidden, 3 * layers, Split::columns);
    } else {
      linear(prefix + "q", rows, heads * head, hidden, layers, Split::columns);
      linear(prefix + "k, v", rows, kv * head, hidden, 2 * layers, Split::columns);
    }
    const auto windows = static_cast<double>(a_.window_layers);
    const int64_t seen = a_.kind == Kind::encoder ? at("sliding_window") + 1 : at("sliding_window");
    const int64_t keys = sequence + (causal ? run_.cached : 0);
    const bool narrow = windows > 0 && seen < keys;
    scores(prefix + "scores", {sequence, keys}, causal, narrow ? layers - windows : layers, heads,
           a_.latent_attention ? heads : kv, 0,
           a_.latent_attention ? fmt::format("values have {} elements a head", at("v_head_dim")) : "");
    if (narrow)
      scores(prefix + "scores, sliding window", {sequence, keys}, causal, windows, heads, kv, seen,
             fmt::format("each token sees {}", seen));
    linear(prefix + "output", rows, hidden, heads * (a_.latent_attention ? at("v_head_dim") : head), layers,
           Split::rows);
  }

  // Queries, keys and values by way of a narrow vector (DeepSeek-V2, "multi-head latent attention"). The
  // first products are not split: every rank needs the whole vector.
  void latent_projections(const std::string& prefix, int64_t rows, double layers, int64_t heads) {
    const int64_t hidden = at("hidden_size"), queries = heads * at("head_dim");
    if (const int64_t rank = at("q_lora_rank"); rank > 0) {
      linear(prefix + "q down", rows, rank, hidden, layers, Split::none);
      linear(prefix + "q up", rows, queries, rank, layers, Split::columns);
    } else {
      linear(prefix + "q", rows, queries, hidden, layers, Split::columns);
    }
    linear(prefix + "k, v down", rows, at("kv_lora_rank") + at("qk_rope_head_dim"), hidden, layers,
           Split::none);
    linear(prefix + "k, v up", rows, heads * (at("qk_nope_head_dim") + at("v_head_dim")), at("kv_lora_rank"),
           layers, Split::columns);
  }

  // ---- MLP and experts

  void mlp(const std::string& prefix, int64_t rows, int64_t width, double count,
           const std::string& note = {}) {
    const int64_t hidden = at("hidden_size");
    if (a_.gated_mlp && a_.fused_gate_up) {
      linear(prefix + "gate and up", rows, 2 * width, hidden, count, Split::columns, note);
    } else {
      linear(prefix + (a_.gated_mlp ? "gate, up" : "up"), rows, width, hidden,
             a_.gated_mlp ? 2 * count : count, Split::columns, note);
    }
    linear(prefix + "down", rows, hidden, width, count, Split::rows, note);
  }

  void experts(int64_t tokens) {
    const auto layers = static_cast<double>(a_.expert_layers);
    const int64_t count = std::max<int64_t>(1, at("num_experts"));
    const int64_t rows = std::max<int64_t>(1, (tokens * at("num_experts_per_tok") + count - 1) / count);
    if (a_.dense_layers > 0)
      mlp("mlp ", tokens, at("intermediate_size"), static_cast<double>(a_.dense_layers));
    linear("router", tokens, count, at("hidden_size"), layers, Split::none);
    mlp("expert ", rows, at("moe_intermediate_size"), layers * static_cast<double>(count),
        "tokens spread evenly over the experts, one product each");
    if (at("shared_expert_intermediate_size") == 0) return;
    mlp("shared expert ", tokens, at("shared_expert_intermediate_size"), layers);
    if (a_.shared_expert_gate)
      linear("shared expert gate", tokens, 1, at("hidden_size"), layers, Split::none);
  }

  // ---- before and behind the layers

  int64_t embedding_size() const {
    return at("embedding_size") > 0 ? at("embedding_size") : at("hidden_size");
  }

  void embedding(const std::string& name, int64_t tokens) {
    pass_.gather(name_ + name, tokens, embedding_size(), pass_.part(at("vocab_size")));
  }

  void output_head(int64_t sequence) {
    const int64_t rows = run_.last_logits ? run_.batch : run_.batch * sequence;
    pass_.linear({.name = name_ + "output head",
                  .rows = rows,
                  .out = at("vocab_size"),
                  .in = embedding_size(),
                  .split = Split::columns,
                  .own_weights = !a_.tied,
                  .note = a_.tied ? "weights are the embedding's" : ""});
  }

  void heads(int64_t tokens) {
    for (const HeadLayer& layer : a_.heads)  // never quantized
      pass_.linear({.name = name_ + layer.name,
                    .rows = layer.per_token ? tokens : run_.batch,
                    .out = layer.number.empty() ? layer.out : model_.at(layer.number),
                    .in = at("hidden_size")});
  }

  // ---- stacks

  void text() {
    const int64_t tokens = run_.batch * run_.sequence, hidden = at("hidden_size");
    const auto layers = static_cast<double>(at("num_hidden_layers"));
    embedding("token embedding", tokens);
    if (embedding_size() != hidden)
      linear("embedding projection", tokens, hidden, embedding_size(), 1, Split::none);
    attention_block("attention ", run_.sequence, a_.causal, layers, at("num_attention_heads"),
                    at("num_key_value_heads"));
    if (a_.expert_layers == 0) {
      mlp("mlp ", tokens, at("intermediate_size"), layers);
    } else {
      experts(tokens);
    }
    heads(tokens);
    if (!a_.language_head) return;
    if (a_.kind == Kind::encoder || embedding_size() != hidden)
      linear("head transform", tokens, embedding_size(), hidden, 1, Split::none);
    output_head(run_.sequence);
  }

  void vision() {
    const int64_t side = at("image_size") / at("patch_size"), patches = side * side;
    const int64_t sequence = patches + a_.class_tokens, tokens = run_.batch * sequence;
    const Conv patch = {.dtype = run_.dtype,
                        .channels_last = false,
                        .batch = run_.batch,
                        .in = at("num_channels"),
                        .out = at("hidden_size"),
                        .height = at("image_size"),
                        .width = at("image_size"),
                        .kernel_h = at("patch_size"),
                        .kernel_w = at("patch_size"),
                        .stride_h = at("patch_size"),
                        .stride_w = at("patch_size"),
                        .out_height = side,
                        .out_width = side};
    pass_.convolution(name_ + "patch embedding", patch, 1, true);
    const auto layers = static_cast<double>(at("num_hidden_layers"));
    attention_block("attention ", sequence, false, layers, at("num_attention_heads"),
                    at("num_key_value_heads"));
    mlp("mlp ", tokens, at("intermediate_size"), layers);
    heads(tokens);
  }

  void encoder_and_decoder() {
    const bool speech = a_.kind == Kind::speech;
    const int64_t positions = speech ? at("max_source_positions") : run_.sequence + run_.cached;
    const int64_t heard = run_.batch * positions, tokens = run_.batch * run_.sequence;
    if (run_.cached > 0) {  // the encoder ran before, and its keys and values are kept
      decoder_layers(heard, tokens, positions);
      return;
    }
    if (speech) {
      convolution("encoder conv1", at("num_mel_bins"), 2 * positions, 1);
      convolution("encoder conv2", at("hidden_size"), 2 * positions, 2);
    } else {
      pass_.gather(name_ + "encoder token embedding", heard, embedding_size(), 0);  // the decoder's table
    }
    const auto encoder = static_cast<double>(at("encoder_layers"));
    const int64_t encoder_heads = at("encoder_attention_heads");
    attention_block("encoder attention ", positions, false, encoder, encoder_heads, encoder_heads);
    mlp("encoder mlp ", heard, width_of("encoder_ffn_dim"), encoder);
    decoder_layers(heard, tokens, positions);
  }

  int64_t width_of(const char* number) const { return at(number) > 0 ? at(number) : at("intermediate_size"); }

  void decoder_layers(int64_t heard, int64_t tokens, int64_t positions) {
    const int64_t heads = at("decoder_attention_heads");
    const auto decoder = static_cast<double>(at("decoder_layers"));
    embedding("token embedding", tokens);
    attention_block("decoder attention ", run_.sequence, true, decoder, heads, heads);
    const int64_t hidden = at("hidden_size"), width = heads * at("head_dim");
    linear("decoder cross attention q", tokens, width, hidden, decoder, Split::columns);
    if (run_.cached == 0)
      linear("decoder cross attention k, v", heard, width, hidden, 2 * decoder, Split::columns);
    scores("decoder cross attention scores", {run_.sequence, positions}, false, decoder, heads, heads);
    linear("decoder cross attention output", tokens, hidden, width, decoder, Split::rows);
    mlp("decoder mlp ", tokens, width_of("decoder_ffn_dim"), decoder);
    this->heads(tokens);
    if (a_.language_head) output_head(run_.sequence);
  }

  void convolution(const std::string& name, int64_t in, int64_t length, int64_t stride) {
    const Conv c = {.dtype = run_.dtype,
                    .channels_last = false,
                    .batch = run_.batch,
                    .in = in,
                    .out = at("hidden_size"),
                    .height = length,
                    .kernel_h = 3,
                    .stride_h = stride,
                    .out_height = (length - 1) / stride + 1};
    pass_.convolution(name_ + name, c, 1, stride == 1);
  }

  // ---- what cannot work

  void check_parallel() {
    if (run_.tensor_parallel == 1) return;
    for (const char* name : {"num_attention_heads", "encoder_attention_heads", "decoder_attention_heads",
                             "intermediate_size", "moe_intermediate_size", "shared_expert_intermediate_size",
                             "encoder_ffn_dim", "decoder_ffn_dim", "vocab_size"}) {
      const bool unused =
          a_.expert_layers > 0 && a_.dense_layers == 0 && std::string_view(name) == "intermediate_size";
      if (!unused) pass_.check_parallel(a_.prefix + name, at(name));
    }
    const int64_t kv = at("num_key_value_heads"), ranks = run_.tensor_parallel;
    const std::string number = a_.prefix + "num_key_value_heads";
    if (kv != 0 && kv != at("num_attention_heads") && kv % ranks != 0 && ranks % kv != 0)
      pass_.not_divisible(number, number, kv);
  }

  const Model& model_;
  const Architecture& a_;
  Pass& pass_;
  const RunOptions& run_;
  std::string name_;  // in front of the operations' names, where there are several stacks
};

}  // namespace

void derive_layers(const Model& model, const Architecture& architecture, Pass& pass) {
  Layers(model, architecture, pass).add();
}

}  // namespace fullwarp::shapes

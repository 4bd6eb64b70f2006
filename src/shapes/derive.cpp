// The products of a model's layers. A linear layer y = x W^T with W[out,in] multiplies [tokens,in] by
// [in,out]; its backward pass is two more products. On one of T tensor-parallel ranks, layers that widen are
// split by outputs and those that narrow by inputs, as Megatron-LM does, so that a pair needs one reduction.
#include <fmt/format.h>

#include <algorithm>

#include "shapes/model.h"

namespace fullwarp::shapes {

namespace {

int64_t part(int64_t size, int64_t ranks) { return std::max<int64_t>(1, (size + ranks - 1) / ranks); }

double elements(int64_t rows, int64_t columns) {
  return static_cast<double>(rows) * static_cast<double>(columns);
}

class Builder {
 public:
  Builder(const Model& model, const RunOptions& run) : model_(model), run_(run) {
    tokens_ = run.batch * run.sequence;
  }

  Derived build() && {
    if (model_.architecture) {
      check_parallel();
      if (model_.architecture->kind == Kind::speech) {
        speech();
      } else {
        transformer();
      }
    }
    for (const Weight& weight : model_.weights) from_weight(weight);
    for (const Operation& operation : model_.operations) result_.operations.push_back(operation);
    return std::move(result_);
  }

 private:
  int64_t at(const char* name) const { return model_.at(name); }

  void linear(const std::string& name, int64_t rows, int64_t out, int64_t in, double count, Split split,
              const std::string& note = {}, std::optional<Quantization> quantization = std::nullopt) {
    if (!quantization) quantization = model_.quantization;
    if (split == Split::columns) out = part(out, run_.tensor_parallel);
    if (split == Split::rows) in = part(in, run_.tensor_parallel);
    if (quantization && name != "output head") check_blocks(name, out, in, *quantization);
    const bool transposed =
        model_.architecture && model_.architecture->transposed_weights && name != "output head";
    linear_products(name, rows, out, in, count, transposed, note);
  }

  void linear_products(const std::string& name, int64_t rows, int64_t out, int64_t in, double count,
                       bool transposed, const std::string& note) {
    const Dtype type = run_.dtype;
    const auto add = [&](Step step, const Gemm& gemm, double weights) {
      result_.operations.push_back({name, step, count, gemm, weights, note});
    };
    add(Step::forward, dense_gemm(type, transposed ? Layout::nn : Layout::nt, rows, out, in),
        elements(out, in));
    if (!run_.backward) return;
    add(Step::input_gradient, dense_gemm(type, transposed ? Layout::nt : Layout::nn, rows, in, out), 0);
    add(Step::weight_gradient,
        transposed ? dense_gemm(type, Layout::tn, in, out, rows)
                   : dense_gemm(type, Layout::tn, out, in, rows),
        0);
  }

  void attention(const std::string& name, int64_t queries, int64_t keys, bool causal, double count,
                 int64_t heads, int64_t kv_heads) {
    const Attention work = {.dtype = run_.dtype,
                            .backward = run_.backward,
                            .causal = causal,
                            .batch = run_.batch,
                            .heads = part(heads, run_.tensor_parallel),
                            .kv_heads = part(kv_heads, run_.tensor_parallel),
                            .queries = queries,
                            .keys = keys,
                            .head_size = at("head_dim")};
    result_.operations.push_back(
        {name, Step::forward, count, work, 0, run_.backward ? "forward and backward together" : ""});
  }

  void gather(const std::string& name, int64_t rows, int64_t width, int64_t table_rows) {
    result_.operations.push_back(
        {name, Step::forward, 1, Gather{run_.dtype, rows, width}, elements(table_rows, width), {}});
  }

  void conv1d(const std::string& name, int64_t in, int64_t out, int64_t length, int64_t stride) {
    Conv c = {.dtype = run_.dtype,
              .channels_last = false,
              .batch = run_.batch,
              .in = in,
              .out = out,
              .height = length,
              .width = 1,
              .kernel_h = 3,
              .kernel_w = 1,
              .stride_h = stride};
    c.out_height = (length - 1) / stride + 1;
    result_.operations.push_back({name, Step::forward, 1, c, 3 * elements(in, out), {}});
    if (!run_.backward) return;
    for (Step step : {Step::input_gradient, Step::weight_gradient}) {
      c.step = step;
      result_.operations.push_back({name, step, 1, c, 0, {}});
    }
  }

  // ---- architectures

  void attention_block(const std::string& prefix, int64_t rows, int64_t sequence, bool causal, double layers,
                       int64_t heads, int64_t kv_heads) {
    const int64_t hidden = at("hidden_size"), head = at("head_dim");
    // More ranks than key heads: each rank keeps a copy of one.
    const int64_t kv = run_.tensor_parallel > kv_heads ? run_.tensor_parallel : kv_heads;
    if (model_.architecture->fused_qkv) {
      linear(prefix + "qkv", rows, (heads + 2 * kv) * head, hidden, layers, Split::columns);
    } else if (kv == heads) {
      linear(prefix + "q, k, v", rows, heads * head, hidden, 3 * layers, Split::columns);
    } else {
      linear(prefix + "q", rows, heads * head, hidden, layers, Split::columns);
      linear(prefix + "k, v", rows, kv * head, hidden, 2 * layers, Split::columns);
    }
    attention(prefix + "scores", sequence, sequence, causal, layers, heads, kv);
    linear(prefix + "output", rows, hidden, heads * head, layers, Split::rows);
  }

  void mlp(const std::string& prefix, int64_t rows, int64_t width, double count, bool gated,
           const std::string& note = {}) {
    const int64_t hidden = at("hidden_size");
    linear(prefix + (gated ? "gate, up" : "up"), rows, width, hidden, gated ? 2 * count : count,
           Split::columns, note);
    linear(prefix + "down", rows, hidden, width, count, Split::rows, note);
  }

  void head(int64_t sequence) {
    const int64_t rows = run_.last_logits ? run_.batch : run_.batch * sequence;
    const size_t first = result_.operations.size();
    linear("output head", rows, at("vocab_size"), at("hidden_size"), 1, Split::columns);
    if (model_.architecture->tied) {
      result_.operations[first].weight_elements = 0;  // counted with the embedding
      result_.operations[first].note = "weights are the embedding's";
    }
  }

  void transformer() {
    const Architecture& a = *model_.architecture;
    const int64_t hidden = at("hidden_size");
    gather("token embedding", tokens_, hidden, part(at("vocab_size"), run_.tensor_parallel));
    const double layers = static_cast<double>(at("num_hidden_layers"));
    attention_block("attention ", tokens_, run_.sequence, a.kind == Kind::decoder, layers,
                    at("num_attention_heads"), at("num_key_value_heads"));
    if (a.expert_layers == 0) {
      mlp("mlp ", tokens_, at("intermediate_size"), layers, a.gated_mlp);
    } else {
      experts(a);
    }
    if (a.kind == Kind::encoder) encoder_head(a);
    if (a.language_head) head(run_.sequence);
  }

  void experts(const Architecture& a) {
    const double layers = static_cast<double>(a.expert_layers);
    const int64_t count = std::max<int64_t>(1, at("num_experts"));
    const int64_t rows = part(tokens_ * at("num_experts_per_tok"), count);
    if (a.dense_layers > 0)
      mlp("mlp ", tokens_, at("intermediate_size"), static_cast<double>(a.dense_layers), a.gated_mlp);
    linear("router", tokens_, count, at("hidden_size"), layers, Split::none);
    mlp("expert ", rows, at("moe_intermediate_size"), layers * static_cast<double>(count), a.gated_mlp,
        "tokens spread evenly over the experts, one product each");
    if (at("shared_expert_intermediate_size") > 0)
      mlp("shared expert ", tokens_, at("shared_expert_intermediate_size"), layers, a.gated_mlp);
  }

  void encoder_head(const Architecture& a) {
    const int64_t hidden = at("hidden_size");
    if (a.language_head) linear("head transform", tokens_, hidden, hidden, 1, Split::none);
    if (a.labels > 0) {
      linear("pooler", run_.batch, hidden, hidden, 1, Split::none);
      linear("classifier", run_.batch, a.labels, hidden, 1, Split::none);
    }
  }

  void speech() {
    const int64_t hidden = at("hidden_size"), frames = 2 * at("max_source_positions");
    const int64_t positions = at("max_source_positions"), heard = run_.batch * positions;
    conv1d("encoder conv1", at("num_mel_bins"), hidden, frames, 1);
    conv1d("encoder conv2", hidden, hidden, frames, 2);
    const double encoder = static_cast<double>(at("encoder_layers"));
    const int64_t encoder_heads = at("encoder_attention_heads"), heads = at("decoder_attention_heads");
    attention_block("encoder attention ", heard, positions, false, encoder, encoder_heads, encoder_heads);
    mlp("encoder mlp ", heard, at("encoder_ffn_dim"), encoder, false);
    const double decoder = static_cast<double>(at("decoder_layers"));
    gather("token embedding", tokens_, hidden, part(at("vocab_size"), run_.tensor_parallel));
    attention_block("decoder attention ", tokens_, run_.sequence, true, decoder, heads, heads);
    const int64_t width = heads * at("head_dim");
    linear("decoder cross attention q", tokens_, width, hidden, decoder, Split::columns);
    linear("decoder cross attention k, v", heard, width, hidden, 2 * decoder, Split::columns);
    attention("decoder cross attention scores", run_.sequence, positions, false, decoder, heads, heads);
    linear("decoder cross attention output", tokens_, hidden, width, decoder, Split::rows);
    mlp("decoder mlp ", tokens_, at("decoder_ffn_dim"), decoder, false);
    head(run_.sequence);
  }

  // ---- weights without an architecture

  void from_weight(const Weight& w) {
    if (w.embedding) {
      gather(w.name, tokens_, w.in, w.out);
      return;
    }
    if (w.kernel_h > 0) {
      Conv c = {.dtype = run_.dtype,
                .batch = run_.batch,
                .in = w.in,
                .out = w.out,
                .height = 56,
                .width = 56,
                .kernel_h = w.kernel_h,
                .kernel_w = w.kernel_w};
      c.out_height = c.out_width = 56;
      result_.operations.push_back({w.name, Step::forward, w.count, c,
                                    elements(w.out, w.in) * elements(w.kernel_h, w.kernel_w),
                                    "image side not known, 56 assumed"});
      return;
    }
    const int64_t out = w.split == Split::columns ? part(w.out, run_.tensor_parallel) : w.out;
    const int64_t in = w.split == Split::rows ? part(w.in, run_.tensor_parallel) : w.in;
    if (w.split != Split::none && (w.split == Split::columns ? w.out : w.in) % run_.tensor_parallel != 0)
      not_divisible(fmt::format("{}", w.split == Split::columns ? w.out : w.in), w.name,
                    w.split == Split::columns ? w.out : w.in);
    if (w.quantization) check_blocks(w.name, out, in, *w.quantization);
    linear_products(w.name, tokens_, out, in, w.count, w.transposed, {});
  }

  // ---- what cannot work

  void not_divisible(const std::string& number, const std::string& what, int64_t value) {
    const int64_t ranks = run_.tensor_parallel;
    result_.problems.push_back({"shape-parallel", number,
                                fmt::format("{} {} cannot be split over {} ranks: {} are left over", what,
                                            value, ranks, value % ranks),
                                fmt::format("choose a parallel degree that divides {}, or pad it to {}",
                                            value, (value + ranks - 1) / ranks * ranks)});
  }

  void check_parallel() {
    const int64_t ranks = run_.tensor_parallel;
    if (ranks == 1) return;
    for (const char* name : {"num_attention_heads", "encoder_attention_heads", "decoder_attention_heads",
                             "intermediate_size", "moe_intermediate_size", "shared_expert_intermediate_size",
                             "encoder_ffn_dim", "decoder_ffn_dim", "vocab_size"}) {
      const int64_t value = at(name);
      const bool unused = model_.architecture->expert_layers > 0 && model_.architecture->dense_layers == 0 &&
                          std::string_view(name) == "intermediate_size";
      if (value != 0 && value % ranks != 0 && !unused) not_divisible(name, name, value);
    }
    const int64_t kv = at("num_key_value_heads");
    if (kv != 0 && kv % ranks != 0 && ranks % kv != 0)
      not_divisible("num_key_value_heads", "num_key_value_heads", kv);
  }

  void check_blocks(const std::string& name, int64_t out, int64_t in, const Quantization& q) {
    const auto report = [&](const char* side, int64_t size, int64_t block) {
      const std::string rank =
          run_.tensor_parallel > 1 ? fmt::format(" on each of {} ranks", run_.tensor_parallel) : "";
      result_.problems.push_back(
          {"shape-quantization-block", fmt::format("{}", size),
           fmt::format("{}: {} {}{} are no multiple of the {} block of {}", name, size, side, rank, q.method,
                       block),
           fmt::format("use a block that divides {}, pad to {}{}", size, (size + block - 1) / block * block,
                       run_.tensor_parallel > 1 ? ", or use fewer ranks" : "")});
    };
    if (q.in > 0 && in % q.in != 0) report("inputs", in, q.in);
    if (q.out > 0 && out % q.out != 0) report("outputs", out, q.out);
  }

  const Model& model_;
  const RunOptions& run_;
  int64_t tokens_ = 0;
  Derived result_;
};

}  // namespace

Derived derive(const Model& model, const RunOptions& run) { return Builder(model, run).build(); }

}  // namespace fullwarp::shapes

// Fused attention, as ONNX 23 has it and as ONNX Runtime's optimizer makes it. Shapes of operands:
// onnx.ai/onnx/operators/onnx__Attention.html and onnxruntime's docs/ContribOperators.md.
#include <algorithm>

#include "shapes/onnx_rules.h"

namespace fullwarp::shapes {

namespace {

int64_t divided(int64_t size, int64_t by) {
  return size == kUnknownSize || by < 1 || size % by != 0 ? kUnknownSize : size / by;
}

int64_t heads_of(const OnnxStep& step, const char* name) {
  const int64_t heads = whole(step.number(name, -1));
  return heads < 1 ? kUnknownSize : allowed(heads);
}

// Keys that a cache holds: dimension `axis` of an input of `rank` dimensions; 0 without that input.
int64_t cached_keys(OnnxStep& step, size_t input, size_t rank, size_t axis) {
  if (!step.has(input)) return 0;
  const OnnxShape* past = step.shape(input);
  return past != nullptr && past->size() == rank ? (*past)[axis] : kUnknownSize;
}

int64_t sum(int64_t a, int64_t b) {
  return a == kUnknownSize || b == kUnknownSize ? kUnknownSize : allowed(a + b);
}

bool known_sizes(const Attention& a) {
  for (int64_t size : {a.batch, a.heads, a.kv_heads, a.queries, a.keys, a.head_size, a.value_size})
    if (allowed(size) == kUnknownSize) return false;
  return a.kv_heads > 0 && a.heads % a.kv_heads == 0;
}

bool emit_attention(OnnxStep& step, const Attention& work) {
  if (!known_sizes(work)) return step.fail(0);
  return step.emit(work, 0);
}

// Q[batch, heads, queries, size] and K, V likewise, or three dimensions with the heads in attributes.
bool attention_of_onnx(OnnxStep& step) {
  const OnnxShape *q = step.shape(0), *k = step.shape(1), *v = step.shape(2);
  if (q == nullptr || k == nullptr || v == nullptr) return false;
  if (q->size() != k->size() || q->size() != v->size() || (q->size() != 4 && q->size() != 3))
    return step.refuse("its operands have neither three nor four dimensions");
  const bool apart = q->size() == 4;
  const size_t row = apart ? 2 : 1;
  const int64_t heads = apart ? (*q)[1] : heads_of(step, "q_num_heads");
  const int64_t kv_heads = apart ? (*k)[1] : heads_of(step, "kv_num_heads");
  const int64_t value_size = apart ? (*v)[3] : divided((*v)[2], kv_heads);
  OnnxShape result = *q;
  result.back() = apart ? value_size : heads == kUnknownSize ? kUnknownSize : times(heads, value_size);
  const Attention work = {.dtype = step.run().dtype,
                          .causal = step.number("is_causal", 0) != 0,
                          .batch = (*q)[0],
                          .heads = heads,
                          .kv_heads = kv_heads,
                          .queries = (*q)[row],
                          .keys = sum((*k)[row], cached_keys(step, 4, 4, 2)),
                          .head_size = apart ? (*q)[3] : divided((*q)[2], heads),
                          .value_size = value_size};
  const OnnxShape present_k = {work.batch, kv_heads, work.keys, work.head_size};
  step.give(0, std::move(result));
  step.give(1, present_k);
  step.give(2, {work.batch, kv_heads, work.keys, value_size});
  return emit_attention(step, work);
}

// ONNX Runtime's: X[batch, sequence, hidden] by the weights [hidden, q + k + v], then attention.
bool attention_with_weights(OnnxStep& step) {
  const OnnxShape *x = step.shape(0), *w = step.shape(1);
  if (x == nullptr || w == nullptr) return false;
  if (x->size() != 3 || w->size() != 2) return step.refuse("its operands are no activations and weights");
  const int64_t heads = heads_of(step, "num_heads");
  int64_t queries = divided((*w)[1], 3), values = queries;
  if (const std::vector<double>* sizes = step.list("qkv_hidden_sizes");
      sizes != nullptr && sizes->size() == 3) {
    queries = allowed(whole((*sizes)[0]));
    values = allowed(whole((*sizes)[2]));
  }
  OnnxShape result = *x;
  result.back() = values;
  const int64_t batch = (*x)[0], tokens = (*x)[1], hidden = (*w)[0], outputs = (*w)[1];
  step.give(0, std::move(result));
  const int64_t rows = times(batch, tokens);
  for (int64_t size : {rows, hidden, outputs})
    if (size == kUnknownSize) return step.fail(0);
  const size_t past = step.node().type == "QAttention" ? 8 : 4;
  if (!step.emit(dense_gemm(step.node().type == "QAttention" ? Dtype::int8 : step.run().dtype, Layout::nn,
                            std::max<int64_t>(1, rows), outputs, hidden),
                 static_cast<double>(outputs) * static_cast<double>(hidden), {}, 1, "projections"))
    return false;
  return emit_attention(step, {.dtype = step.run().dtype,
                               .causal = step.number("unidirectional", 0) != 0,
                               .batch = batch,
                               .heads = heads,
                               .kv_heads = heads,
                               .queries = tokens,
                               .keys = sum(tokens, cached_keys(step, past, 5, 3)),
                               .head_size = divided(queries, heads),
                               .value_size = divided(values, heads)});
}

bool attention(OnnxStep& step) {
  const bool contributed = step.node().domain == "com.microsoft" || step.node().type == "QAttention";
  return contributed ? attention_with_weights(step) : attention_of_onnx(step);
}

// MultiHeadAttention and GroupQueryAttention: Q[batch, queries, heads x size], K and V likewise.
bool attention_of_heads(OnnxStep& step) {
  const bool grouped = step.node().type == "GroupQueryAttention";
  const OnnxShape* q = step.shape(0);
  if (q == nullptr) return false;
  const int64_t heads = heads_of(step, "num_heads");
  const int64_t kv_heads = grouped ? heads_of(step, "kv_num_heads") : heads;
  if (q->size() != 3) return step.refuse("packed operands are not read");
  const bool packed = !step.has(1);
  if (packed && !grouped) return step.refuse("packed operands are not read");
  int64_t head_size = divided((*q)[2], heads), keys = (*q)[1], value_size = head_size;
  if (packed) {
    head_size = value_size =
        divided((*q)[2], heads == kUnknownSize ? -1 : heads + 2 * std::max<int64_t>(0, kv_heads));
  } else {
    const OnnxShape* k = step.shape(1);
    if (k == nullptr) return false;
    if (k->size() != 3 && k->size() != 4) return step.refuse("packed operands are not read");
    keys = (*k)[k->size() == 4 ? 2 : 1];
    const OnnxShape* v = step.has(2) ? step.shape(2) : nullptr;
    if (v != nullptr && v->size() == 3) value_size = divided((*v)[2], kv_heads);
    if (v != nullptr && v->size() == 4) value_size = (*v)[3];
  }
  const Attention work = {.dtype = step.run().dtype,
                          .causal = grouped || step.number("unidirectional", 0) != 0,
                          .batch = (*q)[0],
                          .heads = heads,
                          .kv_heads = kv_heads,
                          .queries = (*q)[1],
                          .keys = sum(keys, cached_keys(step, grouped ? 3 : 6, 4, 2)),
                          .head_size = head_size,
                          .value_size = value_size};
  step.give(0, {work.batch, work.queries, heads == kUnknownSize ? kUnknownSize : times(heads, value_size)});
  step.give(1, {work.batch, kv_heads, work.keys, head_size});
  step.give(2, {work.batch, kv_heads, work.keys, value_size});
  return emit_attention(step, work);
}

}  // namespace

std::span<const OnnxRuleEntry> onnx_attention_rules() {
  static constexpr OnnxRuleEntry kRules[] = {
      {"Attention", attention},
      {"QAttention", attention},
      {"MultiHeadAttention", attention_of_heads},
      {"GroupQueryAttention", attention_of_heads},
  };
  return kRules;
}

}  // namespace fullwarp::shapes

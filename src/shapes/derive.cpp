#include <fmt/format.h>

#include <algorithm>

#include "shapes/pass.h"

namespace fullwarp::shapes {

namespace {

double elements(int64_t rows, int64_t columns) {
  return static_cast<double>(rows) * static_cast<double>(columns);
}

// ---- weights without an architecture

void from_weight(const Weight& w, Pass& pass) {
  const int64_t tokens = pass.run().batch * pass.run().sequence;
  if (w.embedding) {
    pass.gather(w.name, tokens, w.in, w.out);
    return;
  }
  if (w.kernel_h > 0) {
    constexpr int64_t kSide = 56;
    const Conv c = {.dtype = pass.run().dtype,
                    .batch = pass.run().batch,
                    .in = w.in * w.groups,
                    .out = w.out,
                    .height = kSide,
                    .width = w.flat ? 1 : kSide,
                    .kernel_h = w.kernel_h,
                    .kernel_w = w.kernel_w,
                    .groups = w.groups,
                    .out_height = kSide,
                    .out_width = w.flat ? 1 : kSide};
    pass.convolution(w.name, c, w.count, false, "image side not known, 56 assumed");
    return;
  }
  const int64_t split = w.split == Split::columns ? w.out : w.in;
  if (w.split != Split::none && split % pass.run().tensor_parallel != 0)
    pass.not_divisible(fmt::format("{}", split), w.name, split);
  pass.linear({.name = w.name,
               .rows = tokens,
               .out = w.out,
               .in = w.in,
               .count = w.count,
               .split = w.split,
               .transposed = w.transposed,
               .quantization = w.quantization});
}

void from_heads(const HeadedWeights& w, Pass& pass) {
  const int64_t heads = w.heads, ranks = pass.run().tensor_parallel;
  if (heads < 1 || w.queries < heads) return;
  const int64_t head_size = w.queries / heads;
  const int64_t kv = std::max<int64_t>(1, w.keys / head_size);
  if (heads % ranks != 0) pass.not_divisible("heads", w.name + " heads", heads);
  pass.attention(w.name,
                 {.causal = w.causal,
                  .batch = pass.run().batch,
                  .heads = pass.part(heads),
                  .kv_heads = pass.part(std::max(kv, std::min(ranks, heads))),
                  .queries = pass.run().sequence,
                  .keys = pass.run().sequence + (w.causal || w.cross ? pass.run().cached : 0),
                  .head_size = head_size},
                 w.count);
}

}  // namespace

int64_t Pass::part(int64_t size) const {
  return std::max<int64_t>(1, (size + run_.tensor_parallel - 1) / run_.tensor_parallel);
}

void Pass::linear(const Linear& layer) {
  const int64_t out = layer.split == Split::columns ? part(layer.out) : layer.out;
  const int64_t in = layer.split == Split::rows ? part(layer.in) : layer.in;
  if (layer.quantization) check_blocks(layer, out, in);
  const Dtype type = run_.dtype;
  const auto product = [&](Step step, Layout layout, int64_t m, int64_t n, int64_t k, double weights) {
    add({layer.name, step, layer.count, dense_gemm(type, layout, m, n, k), weights, layer.note});
  };
  const bool transposed = layer.transposed;
  product(Step::forward, transposed ? Layout::nn : Layout::nt, layer.rows, out, in,
          layer.own_weights ? elements(out, in) : 0);
  if (!run_.backward) return;
  product(Step::input_gradient, transposed ? Layout::nt : Layout::nn, layer.rows, in, out, 0);
  if (transposed) {
    product(Step::weight_gradient, Layout::tn, in, out, layer.rows, 0);
  } else {
    product(Step::weight_gradient, Layout::tn, out, in, layer.rows, 0);
  }
}

void Pass::attention(const std::string& name, Attention work, double count, std::string note) {
  work.dtype = run_.dtype;
  work.backward = run_.backward;
  if (run_.backward)
    note += note.empty() ? "forward and backward together" : "; forward and backward together";
  add({name, Step::forward, count, work, 0, std::move(note)});
}

void Pass::gather(const std::string& name, int64_t rows, int64_t width, int64_t table_rows) {
  add({name, Step::forward, 1, Gather{run_.dtype, rows, width}, elements(table_rows, width), {}});
}

void Pass::convolution(const std::string& name, const Conv& work, double count, bool from_data,
                       std::string note) {
  operation(
      {name, Step::forward, count, work,
       elements(work.in / work.groups, work.out) * elements(work.kernel_h, work.kernel_w), std::move(note)},
      from_data);
}

void Pass::operation(const Operation& forward, bool from_data) {
  if (const Attention* a = std::get_if<Attention>(&forward.work)) {
    attention(forward.name, *a, forward.count, forward.note);
    return;
  }
  add(forward);
  if (!run_.backward) return;
  Operation gradient = forward;
  gradient.weight_elements = 0;
  if (const Conv* c = std::get_if<Conv>(&forward.work)) {
    Conv work = *c;
    for (const Step step : {Step::input_gradient, Step::weight_gradient}) {
      if (step == Step::input_gradient && from_data) continue;
      gradient.step = work.step = step;
      // The gradient of a gradient is the convolution itself.
      if (c->step == Step::input_gradient && step == Step::input_gradient) work.step = Step::forward;
      gradient.work = work;
      add(gradient);
    }
    return;
  }
  const Gemm* g = std::get_if<Gemm>(&forward.work);
  if (g == nullptr) return;
  // C = A B: A's gradient is C' B^T [m,k], B's is A^T C' [k,n], each in the order in which its operand is
  // stored.
  const bool a_turned = g->layout == Layout::tn || g->layout == Layout::tt;
  const bool b_turned = g->layout == Layout::nt || g->layout == Layout::tt;
  const auto product = [&](Step step, Layout layout, int64_t m, int64_t n, int64_t k) {
    Gemm work = dense_gemm(g->dtype, layout, m, n, k);
    work.batch = g->batch;
    gradient.step = step;
    gradient.work = work;
    add(gradient);
  };
  if (!from_data) {
    if (a_turned) {  // [k,m] = B C'^T
      product(Step::input_gradient, b_turned ? Layout::tt : Layout::nt, g->k, g->m, g->n);
    } else {
      product(Step::input_gradient, b_turned ? Layout::nn : Layout::nt, g->m, g->k, g->n);
    }
  }
  if (b_turned) {  // [n,k] = C'^T A
    product(Step::weight_gradient, a_turned ? Layout::tt : Layout::tn, g->n, g->k, g->m);
  } else {
    product(Step::weight_gradient, a_turned ? Layout::nn : Layout::tn, g->k, g->n, g->m);
  }
}

void Pass::check_parallel(const std::string& number, int64_t value) {
  if (value != 0 && value % run_.tensor_parallel != 0) not_divisible(number, number, value);
}

void Pass::not_divisible(const std::string& number, const std::string& what, int64_t value) {
  const int64_t ranks = run_.tensor_parallel;
  // Heads are counted one by one; each rank's part of a size is to be a multiple of 16 bytes too.
  const int64_t step = number.ends_with("heads") ? ranks : ranks * vector_elements(run_.dtype);
  result_.problems.push_back({"shape-parallel", number,
                              fmt::format("{} {} cannot be split over {} ranks: {} are left over", what,
                                          value, ranks, value % ranks),
                              fmt::format("choose a parallel degree that divides {}, or pad it to {}", value,
                                          (value + step - 1) / step * step)});
}

void Pass::check_blocks(const Linear& layer, int64_t out, int64_t in) {
  const Quantization& q = *layer.quantization;
  const auto report = [&](const char* side, int64_t size, int64_t block) {
    const std::string rank =
        run_.tensor_parallel > 1 ? fmt::format(" on each of {} ranks", run_.tensor_parallel) : "";
    result_.problems.push_back(
        {"shape-quantization-block", fmt::format("{}", size),
         fmt::format("{}: {} {}{} are no multiple of the {} block of {}", layer.name, size, side, rank,
                     q.method, block),
         fmt::format("use a block that divides {}, pad to {}{}", size, (size + block - 1) / block * block,
                     run_.tensor_parallel > 1 ? ", or use fewer ranks" : "")});
  };
  const bool split_out = layer.split == Split::columns && run_.tensor_parallel > 1;
  const bool split_in = layer.split == Split::rows && run_.tensor_parallel > 1;
  if (q.in > 0 && in % q.in != 0 && (split_in || !q.split_only)) report("inputs", in, q.in);
  if (q.out > 0 && out % q.out != 0 && (split_out || !q.split_only)) report("outputs", out, q.out);
}

Derived derive(const Model& model, const RunOptions& run) {
  Pass pass(run);
  for (const Architecture& architecture : model.architectures) derive_layers(model, architecture, pass);
  for (const Weight& weight : model.weights) from_weight(weight, pass);
  for (const HeadedWeights& weights : model.headed) from_heads(weights, pass);
  for (size_t i = 0; i < model.operations.size(); ++i) {
    if (model.graph) {
      pass.operation(model.operations[i], model.operations[i].from_data);
    } else {
      pass.as_it_ran(model.operations[i]);
    }
  }
  return std::move(pass).take();
}

}  // namespace fullwarp::shapes

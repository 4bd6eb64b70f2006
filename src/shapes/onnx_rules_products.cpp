// Matrix products: MatMul with NumPy's rules, Gemm, their quantized and fused kin, Einsum of two operands,
// and the layers of recurrent networks.
#include <algorithm>
#include <map>

#include "shapes/onnx_rules.h"

namespace fullwarp::shapes {

namespace {

double area(int64_t rows, int64_t columns) {
  return static_cast<double>(rows) * static_cast<double>(columns);
}

Layout layout_of(bool a_turned, bool b_turned) {
  return a_turned ? (b_turned ? Layout::tt : Layout::tn) : (b_turned ? Layout::nt : Layout::nn);
}

// One size that two operands share; false if they contradict each other.
bool agree(int64_t a, int64_t b, int64_t& size) {
  size = a == kUnknownSize ? b : a;
  return a == kUnknownSize || b == kUnknownSize || a == b;
}

struct Sizes {
  int64_t batch = 1, m = 1, n = 1, k = 1;
};

bool emit_product(OnnxStep& step, Dtype dtype, Layout layout, const Sizes& sizes, bool weight,
                  std::string note = {}, double count = 1, const std::string& detail = {}) {
  for (int64_t size : {sizes.batch, sizes.m, sizes.n, sizes.k})
    if (allowed(size) == kUnknownSize) return false;
  Gemm gemm = dense_gemm(dtype, layout, std::max<int64_t>(1, sizes.m), std::max<int64_t>(1, sizes.n),
                         std::max<int64_t>(1, sizes.k));
  gemm.batch = sizes.batch;
  gemm.m = sizes.m, gemm.n = sizes.n, gemm.k = sizes.k;
  return step.emit(gemm, weight ? area(sizes.n, sizes.k) * static_cast<double>(sizes.batch) : 0,
                   std::move(note), count, detail);
}

// Weights whose rows meet activations of unknown length: every token is taken.
bool with_rows_assumed(OnnxStep& step, Dtype dtype, Layout layout, int64_t n, int64_t k) {
  const int64_t rows = times(step.run().batch, step.run().sequence);
  if (!emit_product(step, dtype, layout, {1, rows, n, k}, true, "rows not known: batch x sequence assumed"))
    return false;
  step.assume_rows();
  return true;
}

struct Places {
  size_t a = 0, b = 1;
  bool quantized = false;
};

Places places_of(const std::string& type) {
  if (type == "QLinearMatMul") return {0, 3, true};
  if (type == "MatMulInteger" || type == "DynamicQuantizeMatMul" || type == "MatMulIntegerToFloat")
    return {0, 1, true};
  return {};
}

// C[..., m, n] = A[..., m, k] B[..., k, n]; dimensions before the last two are broadcast.
bool matmul(OnnxStep& step) {
  const Places places = places_of(step.node().type);
  const Dtype dtype = places.quantized ? Dtype::int8 : step.run().dtype;
  if (step.number("transBatchA", 0) != 0 || step.number("transBatchB", 0) != 0)
    return step.refuse("turned batches are not read");
  const bool ta = step.number("transA", 0) != 0, tb = step.number("transB", 0) != 0;
  const OnnxShape* right = step.shape(places.b);
  const OnnxShape* left = step.shape(places.a);
  if (right == nullptr || right->empty() || (left != nullptr && left->empty())) return false;
  const OnnxValue* b_value = step.in(places.b);
  const bool weight = b_value->weight;
  OnnxShape b = *right;
  const bool b_vector = b.size() == 1;
  if (b_vector) b.push_back(1);
  const int64_t n = b[b.size() - (tb ? 2 : 1)], b_k = b[b.size() - (tb ? 1 : 2)];
  if (left == nullptr) {
    if (!weight || b.size() != 2) return step.fail(places.a);
    return with_rows_assumed(step, dtype, layout_of(false, tb), n, b_k);
  }
  OnnxShape a = *left;
  const bool a_vector = a.size() == 1;
  if (a_vector) a.insert(a.begin(), 1);
  Sizes sizes = {.m = a[a.size() - (ta ? 1 : 2)], .n = n};
  if (!agree(a[a.size() - (ta ? 2 : 1)], b_k, sizes.k)) return step.refuse("its inputs' sizes do not fit");

  const OnnxShape a_batch(a.begin(), a.end() - 2), b_batch(b.begin(), b.end() - 2);
  OnnxShape result;
  if (!broadcast(a_batch, b_batch, result)) return step.refuse("its inputs' sizes do not fit");
  const bool folded = b.size() == 2 && !ta;  // every row meets the same B
  sizes.batch = folded ? 1 : elements_of(result);
  if (folded) sizes.m = times(elements_of(a_batch), sizes.m);
  if (!a_vector) result.push_back(a[a.size() - (ta ? 1 : 2)]);
  if (!b_vector) result.push_back(n);
  step.give(0, std::move(result));
  if (weight && step.in(places.a)->weight) return true;  // of constants: computed before the model runs
  if (emit_product(step, dtype, layout_of(ta, tb), sizes, weight)) return true;
  const bool rows_only = folded && weight && sizes.m == kUnknownSize;
  if (rows_only && with_rows_assumed(step, dtype, layout_of(false, tb), n, sizes.k)) return true;
  return step.fail(a == *left && elements_of(a) == kUnknownSize ? places.a : places.b);
}

bool gemm(OnnxStep& step) {
  const bool ta = step.number("transA", 0) != 0, tb = step.number("transB", 0) != 0;
  const size_t second = step.node().type == "QGemm" ? 3 : 1;
  const Dtype dtype = second == 3 ? Dtype::int8 : step.run().dtype;
  const OnnxShape* b = step.shape(second);
  const OnnxShape* a = step.shape(0);
  if (b == nullptr || b->size() != 2) return false;
  const int64_t n = (*b)[tb ? 0 : 1];
  const bool weight = step.in(second)->weight;
  Sizes sizes = {.m = kUnknownSize, .n = n, .k = (*b)[tb ? 1 : 0]};
  if (a != nullptr) {
    if (a->size() != 2) return step.refuse("its first input is no matrix");
    sizes.m = (*a)[ta ? 1 : 0];
    if (!agree((*a)[ta ? 0 : 1], sizes.k, sizes.k)) return step.refuse("its inputs' sizes do not fit");
  }
  step.give(0, {sizes.m, n});
  if (weight && step.has(0) && step.in(0)->weight) return true;
  if (emit_product(step, dtype, layout_of(ta, tb), sizes, weight)) return true;
  if (weight && !ta && sizes.m == kUnknownSize)
    return with_rows_assumed(step, dtype, layout_of(false, tb), n, sizes.k);
  return step.fail(0);
}

// Weights of 4 bits and the like, [N, blocks, bytes]: N and K stand in attributes.
bool packed(OnnxStep& step) {
  const int64_t n = allowed(whole(step.number("N", -1))), k = allowed(whole(step.number("K", -1)));
  if (n < 1 || k < 1) return step.refuse("its attributes N and K are no sizes");
  const OnnxShape* a = step.shape(0);
  if (a == nullptr || a->empty()) return with_rows_assumed(step, step.run().dtype, Layout::nt, n, k);
  OnnxShape result = *a;
  result.back() = n;
  const int64_t rows = elements_of(std::span<const int64_t>(*a).first(a->size() - 1));
  step.give(0, std::move(result));
  if (emit_product(step, step.run().dtype, Layout::nt, {1, rows, n, k}, true)) return true;
  return with_rows_assumed(step, step.run().dtype, Layout::nt, n, k);
}

// "bhqd,bhkd->bhqk": letters of both operands and the result are a batch, of both operands alone K.
bool einsum(OnnxStep& step) {
  std::string equation = step.word("equation");
  std::erase(equation, ' ');
  const size_t arrow = equation.find("->");
  if (arrow == std::string::npos || equation.find('.') != std::string::npos)
    return step.refuse("equations with `...` or without `->` are not read");
  const std::string result_letters = equation.substr(arrow + 2), left = equation.substr(0, arrow);
  const size_t comma = std::min(left.find(','), left.size());
  const std::string letters[2] = {left.substr(0, comma), comma < left.size() ? left.substr(comma + 1) : ""};
  const size_t operands = comma < left.size() ? 2 : 1;
  if (step.inputs() != operands || letters[1].find(',') != std::string::npos)
    return step.refuse("equations of more than two operands are not read");
  std::map<char, int64_t> size_of;
  for (size_t i = 0; i < operands; ++i) {
    const OnnxShape* shape = step.shape(i);
    if (shape == nullptr) return false;
    if (shape->size() != letters[i].size()) return step.refuse("its equation does not fit its inputs");
    for (size_t d = 0; d < shape->size(); ++d) {
      const auto [known, added] = size_of.emplace(letters[i][d], (*shape)[d]);
      if (!added && !agree(known->second, (*shape)[d], known->second))
        return step.refuse("its inputs' sizes do not fit");
    }
  }
  OnnxShape result;
  for (char letter : result_letters) {
    if (!size_of.contains(letter)) return step.refuse("its equation does not fit its inputs");
    result.push_back(size_of.at(letter));
  }
  step.give(0, std::move(result));
  if (operands == 1) return true;
  Sizes sizes;
  bool sums = false;
  for (const auto& [letter, size] : size_of) {
    const bool in_a = letters[0].find(letter) != std::string::npos,
               in_b = letters[1].find(letter) != std::string::npos,
               in_c = result_letters.find(letter) != std::string::npos;
    if (!in_c && !(in_a && in_b)) return step.refuse("a sum over one operand is not read");
    int64_t& part = !in_c ? sizes.k : !in_b ? sizes.m : !in_a ? sizes.n : sizes.batch;
    part = times(part, size);
    sums = sums || !in_c;
  }
  if (!sums) return true;  // an outer product, or element by element
  const auto last_is_k = [&](const std::string& word) {
    return !word.empty() && result_letters.find(word.back()) == std::string::npos;
  };
  const bool weight = step.in(1)->weight;
  return emit_product(step, step.run().dtype, layout_of(!last_is_k(letters[0]), last_is_k(letters[1])), sizes,
                      weight);
}

// X[steps, batch, in], W[directions, gates x hidden, in], R[directions, gates x hidden, hidden].
bool recurrent(OnnxStep& step) {
  const OnnxShape* x = step.shape(0);
  const OnnxShape* w = step.shape(1);
  const OnnxShape* r = step.shape(2);
  if (x == nullptr || w == nullptr || r == nullptr || x->size() != 3 || w->size() != 3 || r->size() != 3)
    return false;
  const bool batch_first = step.number("layout", 0) != 0;
  const int64_t steps = (*x)[batch_first ? 1 : 0], batch = (*x)[batch_first ? 0 : 1];
  const int64_t directions = (*w)[0], gates = (*w)[1], hidden = (*r)[2];
  if (batch_first) {
    step.give(0, {batch, steps, directions, hidden});
    for (size_t state : {1, 2}) step.give(state, {batch, directions, hidden});
  } else {
    step.give(0, {steps, directions, batch, hidden});
    for (size_t state : {1, 2}) step.give(state, {directions, batch, hidden});
  }
  if (steps == kUnknownSize || directions == kUnknownSize) return step.fail(steps == kUnknownSize ? 0 : 1);
  const Dtype dtype = step.run().dtype;
  if (steps == 0 || directions == 0) return true;
  // The first product is that of all steps at once; the second waits for the step before.
  return emit_product(step, dtype, Layout::nt, {1, times(steps, batch), gates, (*w)[2]}, true, {},
                      static_cast<double>(directions), "inputs") &&
         emit_product(step, dtype, Layout::nt, {1, batch, gates, hidden}, false, "one for each step",
                      static_cast<double>(directions) * static_cast<double>(steps), "states");
}

}  // namespace

std::span<const OnnxRuleEntry> onnx_product_rules() {
  static constexpr OnnxRuleEntry kRules[] = {
      {"MatMul", matmul},
      {"FusedMatMul", matmul},
      {"TransposeMatMul", matmul},
      {"MatMulInteger", matmul},
      {"DynamicQuantizeMatMul", matmul},
      {"MatMulIntegerToFloat", matmul},
      {"QLinearMatMul", matmul},
      {"Gemm", gemm},
      {"FusedGemm", gemm},
      {"QGemm", gemm},
      {"MatMulNBits", packed},
      {"Einsum", einsum},
      {"LSTM", recurrent},
      {"GRU", recurrent},
      {"RNN", recurrent},
  };
  return kRules;
}

}  // namespace fullwarp::shapes

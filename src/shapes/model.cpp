#include "shapes/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace fullwarp::shapes {

namespace {

void replace(int64_t& size, int64_t from, int64_t to) {
  if (size == from) size = to;
}

double product(std::initializer_list<int64_t> factors) {
  double result = 1;
  for (int64_t factor : factors) result *= static_cast<double>(factor);
  return result;
}

// A depthwise convolution keeps one channel a group.
void replace_in(Conv& c, int64_t from, int64_t to) {
  const bool depthwise = c.groups > 1 && c.groups == c.in;
  replace(c.in, from, to);
  replace(c.out, from, to);
  if (depthwise) c.groups = c.in;
}

void replace_in(Gemm& g, int64_t from, int64_t to) {
  for (int64_t* size : {&g.m, &g.n, &g.k, &g.lda, &g.ldb, &g.ldc}) replace(*size, from, to);
}

void collect(std::set<int64_t>& sizes, const Operation& operation) {
  if (const Gemm* g = std::get_if<Gemm>(&operation.work)) {
    for (int64_t extent : contiguous_extents(*g)) sizes.insert(extent);
  } else if (const Conv* c = std::get_if<Conv>(&operation.work)) {
    sizes.insert({c->in, c->out});
  } else if (const Attention* a = std::get_if<Attention>(&operation.work)) {
    sizes.insert(a->head_size);
  }
}

}  // namespace

const Number* Model::find(const std::string& name) const {
  for (const Number& number : numbers)
    if (number.name == name) return &number;
  return nullptr;
}

int64_t Model::at(const std::string& name) const {
  const Number* number = find(name);
  return number == nullptr ? 0 : number->value;
}

void Model::set(Number number) {
  for (Number& old : numbers) {
    if (old.name != number.name) continue;
    old = std::move(number);
    return;
  }
  numbers.push_back(std::move(number));
}

std::vector<Number> adjustable_numbers(const Model& model) {
  std::vector<Number> result;
  if (!model.architectures.empty()) {
    for (const Number& number : model.numbers)
      if (number.adjustable) result.push_back(number);
    return result;
  }
  std::set<int64_t> sizes;
  for (const Weight& weight : model.weights) sizes.insert({weight.out, weight.in});
  for (const Operation& operation : model.operations) collect(sizes, operation);
  for (int64_t size : sizes)
    if (size > 1)
      result.push_back({fmt::format("{}", size), size, 0, true, "pad the tensors of this size with zeros"});
  return result;
}

Model with_number(const Model& model, const Number& number, int64_t value) {
  Model changed = model;
  if (!changed.architectures.empty()) {
    Number moved = number;
    moved.value = value;
    changed.set(std::move(moved));
    return changed;
  }
  for (Weight& weight : changed.weights) {
    const bool depthwise = weight.groups > 1 && weight.groups == weight.out;
    replace(weight.out, number.value, value);
    replace(weight.in, number.value, value);
    if (depthwise) weight.groups = weight.out;
  }
  for (HeadedWeights& weights : changed.headed) {
    replace(weights.queries, number.value, value);
    replace(weights.keys, number.value, value);
  }
  for (Operation& operation : changed.operations) {
    const bool weights = operation.weight_elements > 0;
    if (Gemm* g = std::get_if<Gemm>(&operation.work)) {
      replace_in(*g, number.value, value);
      if (weights) operation.weight_elements = product({g->n, g->k});
    } else if (Conv* c = std::get_if<Conv>(&operation.work)) {
      replace_in(*c, number.value, value);
      if (weights)
        operation.weight_elements =
            product({c->in, c->out, c->kernel_d, c->kernel_h, c->kernel_w}) / static_cast<double>(c->groups);
    } else if (Attention* a = std::get_if<Attention>(&operation.work)) {
      replace(a->head_size, number.value, value);
    }
  }
  return changed;
}

}  // namespace fullwarp::shapes

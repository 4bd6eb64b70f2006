#include "shapes/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace fullwarp::shapes {

namespace {

void replace(int64_t& size, int64_t from, int64_t to) {
  if (size == from) size = to;
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
  if (model.architecture) {
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
  if (changed.architecture) {
    Number moved = number;
    moved.value = value;
    changed.set(std::move(moved));
    return changed;
  }
  for (Weight& weight : changed.weights) {
    replace(weight.out, number.value, value);
    replace(weight.in, number.value, value);
  }
  for (Operation& operation : changed.operations) {
    if (Gemm* g = std::get_if<Gemm>(&operation.work)) {
      replace_in(*g, number.value, value);
    } else if (Conv* c = std::get_if<Conv>(&operation.work)) {
      replace(c->in, number.value, value);
      replace(c->out, number.value, value);
    } else if (Attention* a = std::get_if<Attention>(&operation.work)) {
      replace(a->head_size, number.value, value);
    }
  }
  return changed;
}

}  // namespace fullwarp::shapes

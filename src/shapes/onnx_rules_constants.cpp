// Operations that make tensors of sizes and of constants: Shape, Constant, Range.
#include <algorithm>
#include <cmath>

#include "shapes/onnx_rules.h"

namespace fullwarp::shapes {

namespace {

constexpr auto kMost = static_cast<int64_t>(kMaxOnnxElements);

bool constant(OnnxStep& step) {
  for (const OnnxAttribute& own : step.node().attributes) {
    if (!own.name.starts_with("value")) continue;
    const OnnxAttribute* given = step.attribute(own.name);  // of the call, where this is in a function
    if (given == nullptr) return false;
    const OnnxAttribute& attribute = *given;
    OnnxShape shape;
    if (attribute.tensor) {
      shape = attribute.shape;
    } else if (own.name.ends_with("s")) {
      shape = {static_cast<int64_t>(attribute.numbers.size())};
    }
    step.give_real(attribute.tensor ? attribute.real : own.name.starts_with("value_float"));
    std::vector<double> numbers = attribute.numbers;
    if (numbers.size() == 1 && std::isnan(numbers[0]) && !attribute.tensor && !shape.empty()) return false;
    if (elements_of(shape) == static_cast<int64_t>(numbers.size()) && !numbers.empty()) {
      step.give_numbers(0, std::move(shape), std::move(numbers));
    } else {
      step.give(0, std::move(shape));
    }
    return true;
  }
  return false;
}

bool shape(OnnxStep& step) {
  step.give_real(false);
  const OnnxShape* shape = step.shape(0);
  if (shape == nullptr) return false;
  const auto rank = static_cast<int64_t>(shape->size());
  const auto bound = [&](const char* name, int64_t otherwise) {
    const int64_t place = whole(step.number(name, static_cast<double>(otherwise)));
    return std::clamp<int64_t>(place < 0 ? place + rank : place, 0, rank);
  };
  const int64_t start = bound("start", 0), end = std::max(start, bound("end", rank));
  std::vector<double> numbers;
  for (int64_t i = start; i < end; ++i) {
    const int64_t size = (*shape)[static_cast<size_t>(i)];
    numbers.push_back(size == kUnknownSize ? kNotKnown : static_cast<double>(size));
  }
  step.give_numbers(0, {end - start}, std::move(numbers));
  return true;
}

bool size(OnnxStep& step) {
  step.give_real(false);
  const OnnxShape* shape = step.shape(0);
  if (shape == nullptr) return false;
  const int64_t count = elements_of(*shape);
  step.give_numbers(0, {}, {count == kUnknownSize ? kNotKnown : static_cast<double>(count)});
  return true;
}

// The target shape of ConstantOfShape, Expand and random tensors.
bool target(const std::vector<double>& numbers, OnnxShape& shape) {
  if (numbers.size() > kMaxOnnxRank) return false;
  for (double number : numbers) shape.push_back(std::isnan(number) ? kUnknownSize : allowed(whole(number)));
  return true;
}

bool constant_of_shape(OnnxStep& step) {
  const OnnxAttribute* value = step.attribute("value");
  step.give_real(value == nullptr || value->real);
  OnnxShape shape;
  if (step.has(0) && step.in(0)->ranked && step.in(0)->shape == OnnxShape{0}) {
    step.give_numbers(0, {}, {step.number("value", 0)});
    return true;
  }
  const std::vector<double>* numbers = step.numbers(0);
  if (numbers == nullptr || !target(*numbers, shape)) return false;
  const int64_t count = elements_of(shape);
  if (count >= 0 && count <= kMost) {
    std::vector<double> filled(static_cast<size_t>(count), step.number("value", 0));
    step.give_numbers(0, std::move(shape), std::move(filled));
  } else {
    step.give(0, std::move(shape));
  }
  return true;
}

bool shape_attribute(OnnxStep& step) {
  const std::vector<double>* numbers = step.list("shape");
  OnnxShape shape;
  if (numbers == nullptr || !target(*numbers, shape)) return false;
  step.give(0, std::move(shape));
  return true;
}

bool range(OnnxStep& step) {
  double bounds[3] = {};
  for (size_t i = 0; i < 3; ++i) {
    const std::vector<double>* numbers = step.numbers(i);
    bounds[i] = numbers != nullptr && numbers->size() == 1 ? (*numbers)[0] : kNotKnown;
  }
  const double steps = bounds[2] == 0 ? kNotKnown : std::ceil((bounds[1] - bounds[0]) / bounds[2]);
  const int64_t count = std::isnan(steps) ? kUnknownSize : allowed(std::max<int64_t>(0, whole(steps)));
  if (count < 1 || count > kMost) {
    step.give(0, {count});
    return true;
  }
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(bounds[0] + static_cast<double>(i) * bounds[2]);
  step.give_numbers(0, {count}, std::move(numbers));
  return true;
}

}  // namespace

std::span<const OnnxRuleEntry> onnx_constant_rules() {
  static constexpr OnnxRuleEntry kRules[] = {
      {"Constant", constant},
      {"Shape", shape},
      {"Size", size},
      {"ConstantOfShape", constant_of_shape},
      {"RandomNormal", shape_attribute},
      {"RandomUniform", shape_attribute},
      {"Range", range},
  };
  return kRules;
}

}  // namespace fullwarp::shapes

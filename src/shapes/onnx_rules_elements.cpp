// Operations whose result has its inputs' shape, broadcast or reduced. The elements of small tensors are
// computed along.
#include <algorithm>
#include <cmath>

#include "shapes/onnx_rules.h"

namespace fullwarp::shapes {

namespace {

constexpr auto kMost = static_cast<int64_t>(kMaxOnnxElements);

// ---- element by element

using Unary = double (*)(double, bool real);
using Binary = double (*)(double, double, bool real);
template <class Function>
struct Named {
  std::string_view type;
  Function compute;
};

double same(double a, bool) { return a; }

constexpr Named<Unary> kUnary[] = {
    {"Abs", [](double a, bool) { return std::fabs(a); }},
    {"Ceil", [](double a, bool) { return std::ceil(a); }},
    {"Floor", [](double a, bool) { return std::floor(a); }},
    {"Identity", same},
    {"Neg", [](double a, bool) { return -a; }},
    {"Not", [](double a, bool) { return std::isnan(a) ? a
                                        : a == 0      ? 1.0
                                                      : 0.0; }},
    {"Reciprocal", [](double a, bool) { return 1 / a; }},
    {"Round", [](double a, bool) { return std::nearbyint(a); }},
    {"Sqrt", [](double a, bool) { return std::sqrt(a); }},
};

double truth(double a, double b, bool holds) { return std::isnan(a) || std::isnan(b) ? kNotKnown : holds; }

constexpr Named<Binary> kBinary[] = {
    {"Add", [](double a, double b, bool) { return a + b; }},
    {"And", [](double a, double b, bool) { return truth(a, b, a != 0 && b != 0); }},
    {"Div",
     [](double a, double b, bool real) { return b == 0 ? kNotKnown
                                                : real ? a / b
                                                       : std::trunc(a / b); }},
    {"Equal", [](double a, double b, bool) { return truth(a, b, a == b); }},
    {"Greater", [](double a, double b, bool) { return truth(a, b, a > b); }},
    {"GreaterOrEqual", [](double a, double b, bool) { return truth(a, b, a >= b); }},
    {"Less", [](double a, double b, bool) { return truth(a, b, a < b); }},
    {"LessOrEqual", [](double a, double b, bool) { return truth(a, b, a <= b); }},
    {"Max",
     [](double a, double b, bool) { return std::isnan(a) || std::isnan(b) ? kNotKnown : std::max(a, b); }},
    {"Min",
     [](double a, double b, bool) { return std::isnan(a) || std::isnan(b) ? kNotKnown : std::min(a, b); }},
    {"Mod",  // the sign of the divisor, as NumPy has it
     [](double a, double b, bool) { return b == 0 ? kNotKnown : a - std::floor(a / b) * b; }},
    {"Mul", [](double a, double b, bool) { return a * b; }},
    {"Or", [](double a, double b, bool) { return truth(a, b, a != 0 || b != 0); }},
    {"Pow", [](double a, double b, bool) { return std::pow(a, b); }},
    {"Sub", [](double a, double b, bool) { return a - b; }},
    {"Sum", [](double a, double b, bool) { return a + b; }},
};

template <class Function, size_t N>
Function find(const Named<Function> (&table)[N], std::string_view type) {
  for (const Named<Function>& entry : table)
    if (entry.type == type) return entry.compute;
  return nullptr;
}

bool shape_of_first(OnnxStep& step) {
  const OnnxShape* shape = step.shape(0);
  if (shape == nullptr) return false;
  const Unary compute = find(kUnary, step.node().type);
  const OnnxShape result = *shape;
  if (compute != nullptr && step.in(0)->numbered) {
    std::vector<double> numbers = step.in(0)->numbers;
    for (double& number : numbers) number = compute(number, step.in(0)->real);
    step.give_numbers(0, result, std::move(numbers));
  } else {
    step.give(0, result);
  }
  return true;
}

// Masks beside the result: Dropout's second output.
bool shape_of_first_twice(OnnxStep& step) {
  if (!shape_of_first(step)) return false;
  step.give(1, *step.shape(0));
  return true;
}

// Eight-bit values, their scale and zero point.
bool quantize(OnnxStep& step) {
  if (!shape_of_first(step)) return false;
  step.give_real(false);
  step.give(1, {});
  step.give(2, {});
  return true;
}

bool cast(OnnxStep& step) {
  const OnnxShape* shape = step.shape(0);
  if (shape == nullptr) return false;
  const int64_t type = whole(step.number("to", 0));
  const bool real = type == 1 || type == 10 || type == 11 || type == 16 || (type >= 17 && type <= 20);
  step.give_real(real);
  const OnnxShape result = *shape;
  if (!step.in(0)->numbered) {
    step.give(0, result);
    return true;
  }
  std::vector<double> numbers = step.in(0)->numbers;
  for (double& number : numbers) {
    if (type == 9 && !std::isnan(number)) number = number != 0 ? 1 : 0;
    if (!real) number = std::trunc(number);
  }
  step.give_numbers(0, result, std::move(numbers));
  return true;
}

// The element of an input that stands where `index` of the broadcast result is.
double element(const OnnxValue& value, const std::vector<int64_t>& index) {
  int64_t at = 0;
  const size_t skip = index.size() - value.shape.size();
  for (size_t axis = 0; axis < value.shape.size(); ++axis)
    at = at * value.shape[axis] + (value.shape[axis] == 1 ? 0 : index[skip + axis]);
  return at < static_cast<int64_t>(value.numbers.size()) ? value.numbers[static_cast<size_t>(at)] : kNotKnown;
}

bool joint_shape(OnnxStep& step, OnnxShape& result, bool& numbered) {
  if (step.inputs() == 0) return false;
  numbered = true;
  for (size_t i = 0; i < step.inputs(); ++i) {
    if (!step.has(i)) continue;
    const OnnxShape* shape = step.shape(i);
    if (shape == nullptr) return false;
    numbered = numbered && step.in(i)->numbered;
    if (!broadcast(result, *shape, result)) return step.refuse("its inputs' sizes do not fit");
  }
  const int64_t count = elements_of(result);
  numbered = numbered && count >= 0 && count <= kMost;
  return true;
}

bool elementwise(OnnxStep& step) {
  OnnxShape result;
  bool numbered = false;
  if (!joint_shape(step, result, numbered)) return false;
  bool real = false;
  for (size_t i = 0; i < step.inputs(); ++i) real = real || (step.has(i) && step.in(i)->real);
  const Binary compute = find(kBinary, step.node().type);
  const bool comparison = step.node().type == "Equal" || step.node().type.starts_with("Greater") ||
                          step.node().type.starts_with("Less");
  step.give_real(real && !comparison);
  if (!numbered || compute == nullptr) {
    step.give(0, result);
    return true;
  }
  std::vector<double> numbers;
  for_each_index(result, [&](const std::vector<int64_t>& index) {
    double number = kNotKnown;
    bool first = true;
    for (size_t i = 0; i < step.inputs(); ++i) {
      if (!step.has(i)) continue;
      const double next = element(*step.in(i), index);
      number = first ? next : compute(number, next, real);
      first = false;
    }
    numbers.push_back(number);
  });
  step.give_numbers(0, result, std::move(numbers));
  return true;
}

bool where(OnnxStep& step) {
  OnnxShape result;
  bool numbered = false;
  if (step.inputs() != 3 || !joint_shape(step, result, numbered)) return false;
  if (step.has(1)) step.give_real(step.in(1)->real);
  if (!numbered || !step.has(0) || !step.has(1) || !step.has(2)) {
    step.give(0, result);
    return true;
  }
  std::vector<double> numbers;
  for_each_index(result, [&](const std::vector<int64_t>& index) {
    const double chosen = element(*step.in(0), index), yes = element(*step.in(1), index),
                 no = element(*step.in(2), index);
    numbers.push_back(yes == no ? yes : std::isnan(chosen) ? kNotKnown : chosen != 0 ? yes : no);
  });
  step.give_numbers(0, result, std::move(numbers));
  return true;
}

// ---- fewer elements

bool reduce(OnnxStep& step) {
  const OnnxShape* shape = step.shape(0);
  if (shape == nullptr) return false;
  bool bad = false;
  const std::vector<double>* axes = list_or_input(step, "axes", 1, bad);
  if (bad) return false;
  const bool keep = step.number("keepdims", 1) != 0;
  if ((axes == nullptr || axes->empty()) && step.number("noop_with_empty_axes", 0) != 0) {
    step.give(0, OnnxShape(*shape));
    return true;
  }
  std::vector<bool> gone(shape->size(), axes == nullptr || axes->empty());
  if (axes != nullptr)
    for (double axis : *axes) {
      const std::optional<size_t> place = axis_of(axis, shape->size());
      if (!place) return step.fail(1);
      gone[*place] = true;
    }
  OnnxShape result;
  for (size_t i = 0; i < shape->size(); ++i) {
    if (!gone[i]) result.push_back((*shape)[i]);
    if (gone[i] && keep) result.push_back(1);
  }
  const OnnxValue& data = *step.in(0);
  const std::string& type = step.node().type;
  if (!data.numbered || elements_of(result) != 1 || data.numbers.empty()) {
    step.give(0, std::move(result));
    return true;
  }
  double number = type == "ReduceProd" ? 1 : type == "ReduceSum" ? 0 : data.numbers[0];
  for (double next : data.numbers) {
    if (type == "ReduceProd") number *= next;
    if (type == "ReduceSum") number += next;
    if (type == "ReduceMax") number = std::isnan(next) || next > number ? next : number;
    if (type == "ReduceMin") number = std::isnan(next) || next < number ? next : number;
  }
  if (type != "ReduceProd" && type != "ReduceSum" && type != "ReduceMax" && type != "ReduceMin")
    step.give(0, std::move(result));
  else
    step.give_numbers(0, std::move(result), {number});
  return true;
}

bool extreme(OnnxStep& step) {  // ArgMax, ArgMin
  step.give_real(false);
  const OnnxShape* shape = step.shape(0);
  if (shape == nullptr) return false;
  const std::optional<size_t> axis = axis_of(step.number("axis", 0), shape->size());
  if (!axis) return false;
  OnnxShape result = *shape;
  if (step.number("keepdims", 1) != 0) {
    result[*axis] = 1;
  } else {
    result.erase(result.begin() + static_cast<std::ptrdiff_t>(*axis));
  }
  step.give(0, std::move(result));
  return true;
}

bool top(OnnxStep& step) {
  const OnnxShape* shape = step.shape(0);
  if (shape == nullptr) return false;
  const std::optional<size_t> axis = axis_of(step.number("axis", -1), shape->size());
  bool bad = false;
  const std::vector<double>* k = list_or_input(step, "k", 1, bad);
  if (!axis) return false;
  OnnxShape result = *shape;
  result[*axis] =
      k != nullptr && k->size() == 1 && !std::isnan((*k)[0]) ? allowed(whole((*k)[0])) : kUnknownSize;
  step.give(1, result);
  step.give(0, std::move(result));
  return true;
}

bool one_hot(OnnxStep& step) {
  const OnnxShape* shape = step.shape(0);
  const std::vector<double>* depth = step.numbers(1);
  if (shape == nullptr || depth == nullptr || depth->size() != 1) return false;
  const std::optional<size_t> axis = axis_of(step.number("axis", -1), shape->size() + 1);
  if (!axis) return false;
  OnnxShape result = *shape;
  result.insert(result.begin() + static_cast<std::ptrdiff_t>(*axis),
                std::isnan((*depth)[0]) ? kUnknownSize : allowed(whole((*depth)[0])));
  step.give(0, std::move(result));
  return true;
}

bool nonzero(OnnxStep& step) {
  step.give_real(false);
  const OnnxShape* shape = step.shape(0);
  if (shape == nullptr) return false;
  step.give(0, {static_cast<int64_t>(shape->size()), kUnknownSize});
  return true;
}

constexpr std::string_view kShapeOfFirst[] = {"Abs",
                                              "Acos",
                                              "Acosh",
                                              "Asin",
                                              "Asinh",
                                              "Atan",
                                              "Atanh",
                                              "BatchNormalization",
                                              "Bernoulli",
                                              "BiasGelu",
                                              "BitwiseNot",
                                              "Ceil",
                                              "Celu",
                                              "Clip",
                                              "Cos",
                                              "Cosh",
                                              "CumSum",
                                              "Elu",
                                              "Erf",
                                              "Exp",
                                              "EyeLike",
                                              "FakeQuant",
                                              "FastGelu",
                                              "Floor",
                                              "Gelu",
                                              "GroupNorm",
                                              "GroupNormalization",
                                              "HardSigmoid",
                                              "HardSwish",
                                              "Hardmax",
                                              "Identity",
                                              "InstanceNormalization",
                                              "IsInf",
                                              "IsNaN",
                                              "LRN",
                                              "LayerNormalization",
                                              "LeakyRelu",
                                              "Log",
                                              "LogSoftmax",
                                              "LpNormalization",
                                              "MeanVarianceNormalization",
                                              "Mish",
                                              "Neg",
                                              "Not",
                                              "PRelu",
                                              "QuantizeLinear",
                                              "DequantizeLinear",
                                              "QuickGelu",
                                              "RMSNormalization",
                                              "RandomNormalLike",
                                              "RandomUniformLike",
                                              "Reciprocal",
                                              "Relu",
                                              "ReverseSequence",
                                              "RotaryEmbedding",
                                              "Round",
                                              "Scatter",
                                              "ScatterElements",
                                              "ScatterND",
                                              "Selu",
                                              "Shrink",
                                              "Sigmoid",
                                              "Sign",
                                              "SimplifiedLayerNormalization",
                                              "Sin",
                                              "Sinh",
                                              "SkipLayerNormalization",
                                              "SkipSimplifiedLayerNormalization",
                                              "Softmax",
                                              "Softplus",
                                              "Softsign",
                                              "Sqrt",
                                              "Swish",
                                              "Tan",
                                              "Tanh",
                                              "TensorScatter",
                                              "ThresholdedRelu",
                                              "Trilu"};

constexpr std::string_view kElementwise[] = {
    "Add",        "And",         "BitShift", "BitwiseAnd", "BitwiseOr",
    "BitwiseXor", "Div",         "Equal",    "Greater",    "GreaterOrEqual",
    "Less",       "LessOrEqual", "Max",      "Mean",       "Min",
    "Mod",        "Mul",         "Or",       "Pow",        "Sub",
    "Sum",        "Xor"};

constexpr std::string_view kReductions[] = {"ReduceL1",  "ReduceL2",       "ReduceLogSum", "ReduceLogSumExp",
                                            "ReduceMax", "ReduceMean",     "ReduceMin",    "ReduceProd",
                                            "ReduceSum", "ReduceSumSquare"};

}  // namespace

std::span<const OnnxRuleEntry> onnx_element_rules() {
  static const std::vector<OnnxRuleEntry> kRules = [] {
    std::vector<OnnxRuleEntry> all = {{"Dropout", shape_of_first_twice},
                                      {"DynamicQuantizeLinear", quantize},
                                      {"Cast", cast},
                                      {"CastLike", shape_of_first},
                                      {"Where", where},
                                      {"ArgMax", extreme},
                                      {"ArgMin", extreme},
                                      {"TopK", top},
                                      {"OneHot", one_hot},
                                      {"NonZero", nonzero}};
    for (std::string_view type : kShapeOfFirst) all.push_back({type, shape_of_first});
    for (std::string_view type : kElementwise) all.push_back({type, elementwise});
    for (std::string_view type : kReductions) all.push_back({type, reduce});
    return all;
  }();
  return kRules;
}

}  // namespace fullwarp::shapes

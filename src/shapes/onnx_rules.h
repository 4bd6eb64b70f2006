// The rules of onnx_infer.h: what an operation makes of its inputs' sizes and, where they are few, elements.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "shapes/onnx_infer.h"

namespace fullwarp::shapes {

// False: the outputs that it did not give are unknown.
using OnnxRule = bool (*)(OnnxStep&);
struct OnnxRuleEntry {
  std::string_view type;
  OnnxRule rule;
};

std::span<const OnnxRuleEntry> onnx_constant_rules();   // constants, sizes as elements
std::span<const OnnxRuleEntry> onnx_element_rules();    // element by element, reductions
std::span<const OnnxRuleEntry> onnx_movement_rules();   // Reshape, Transpose, Gather, ...
std::span<const OnnxRuleEntry> onnx_window_rules();     // Conv, pooling, resizing
std::span<const OnnxRuleEntry> onnx_product_rules();    // MatMul, Gemm, Einsum, recurrent layers
std::span<const OnnxRuleEntry> onnx_attention_rules();  // fused attention

// ---- what rules share

inline constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
inline constexpr int64_t kNotWhole = std::numeric_limits<int64_t>::min();

int64_t whole(double number);  // towards zero, within +-2^40; kNotWhole if not known
// Unknown if a size is, or beyond kMaxSize.
int64_t elements_of(std::span<const int64_t> shape);
int64_t times(int64_t a, int64_t b);                      // of sizes; unknown beyond kMaxSize
int64_t allowed(int64_t size);                            // unknown outside of 0 to kMaxSize
std::optional<size_t> axis_of(double axis, size_t rank);  // negative ones count from the end
// NumPy's rule; false if the sizes do not fit.
bool broadcast(const OnnxShape& a, const OnnxShape& b, OnnxShape& result);
// An axes list that is an attribute in old models and an input in new ones; null: given nowhere, or `bad`.
const std::vector<double>* list_or_input(OnnxStep& step, std::string_view attribute, size_t input, bool& bad);

// Walks over the indices of a shape of few elements.
template <class Visit>
void for_each_index(const OnnxShape& shape, Visit visit) {
  const int64_t count = elements_of(shape);
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    visit(index);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}
int64_t flat_index(const OnnxShape& shape, std::span<const int64_t> index);

// Gives output 0 (or `output`) the shape and, if input 0 has its elements known, those that `from` picks by
// the output's index: a flat index into input 0, or -1 for an unknown one.
template <class From>
bool move_elements(OnnxStep& step, size_t output, const OnnxShape& shape, From from) {
  const OnnxValue* data = step.in(0);
  const int64_t count = elements_of(shape);
  if (data == nullptr || !data->numbered || count < 0 || count > static_cast<int64_t>(kMaxOnnxElements)) {
    step.give(output, shape);
    return true;
  }
  std::vector<double> numbers;
  for_each_index(shape, [&](const std::vector<int64_t>& index) {
    const int64_t at = from(index);
    const bool inside = at >= 0 && at < static_cast<int64_t>(data->numbers.size());
    numbers.push_back(inside ? data->numbers[static_cast<size_t>(at)] : kNotKnown);
  });
  step.give_numbers(output, shape, std::move(numbers));
  return true;
}

}  // namespace fullwarp::shapes

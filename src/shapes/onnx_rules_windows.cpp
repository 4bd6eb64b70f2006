// Convolutions, pooling and resizing: windows over the dimensions behind batch and channels.
#include <algorithm>
#include <cmath>

#include "shapes/onnx_rules.h"

namespace fullwarp::shapes {

namespace {

constexpr int64_t kLargest = 1 << 20;  // kernel, stride, dilation and padding

struct Windows {
  std::vector<int64_t> kernel, stride, dilation, before, after;
  bool known = true;  // every one is a number within bounds
  bool same = false;  // auto_pad: as many results as strides
};

// The attributes of a node over `axes` dimensions; `kernel` where no kernel_shape says otherwise.
Windows windows_of(const OnnxStep& step, size_t axes, std::span<const int64_t> kernel) {
  Windows w;
  const auto read = [&](const char* name, size_t at, int64_t otherwise, int64_t least) {
    const std::vector<double>* list = step.list(name);
    const int64_t value = list == nullptr ? otherwise : at < list->size() ? whole((*list)[at]) : kNotWhole;
    w.known = w.known && value >= least && value <= kLargest;
    return value;
  };
  for (size_t i = 0; i < axes; ++i) {
    w.kernel.push_back(read("kernel_shape", i, i < kernel.size() ? kernel[i] : kNotWhole, 1));
    w.stride.push_back(read("strides", i, 1, 1));
    w.dilation.push_back(read("dilations", i, 1, 1));
    const std::string automatic = step.word("auto_pad");
    const bool padded = automatic.empty() || automatic == "NOTSET";
    w.before.push_back(padded ? read("pads", i, 0, 0) : 0);
    w.after.push_back(padded ? read("pads", i + axes, 0, 0) : 0);
    w.same = automatic.starts_with("SAME");
  }
  return w;
}

// Where windows stand over `size` pixels.
int64_t places(const Windows& w, size_t axis, int64_t size, bool ceil) {
  if (size < 0 || !w.known) return kUnknownSize;
  const int64_t stride = w.stride[axis];
  if (w.same) return (size + stride - 1) / stride;
  const int64_t reach = size + w.before[axis] + w.after[axis] - w.dilation[axis] * (w.kernel[axis] - 1) - 1;
  if (reach < 0) return kUnknownSize;
  int64_t count = (ceil ? reach + stride - 1 : reach) / stride + 1;
  if (ceil && (count - 1) * stride >= size + w.before[axis]) --count;  // one that would see padding only
  return count;
}

struct Operands {
  size_t input = 0, weight = 1;
  Dtype dtype = Dtype::bf16;
};

Operands operands_of(const OnnxStep& step) {
  const std::string& type = step.node().type;
  if (type == "QLinearConv") return {0, 3, Dtype::int8};
  if (type == "ConvInteger") return {0, 1, Dtype::int8};
  return {0, 1, step.run().dtype};
}

// Weights [out, in / groups, kernel...]; of a transposed convolution [in, out / groups, kernel...].
bool convolution(OnnxStep& step) {
  const Operands operands = operands_of(step);
  const bool transposed = step.node().type == "ConvTranspose";
  const OnnxShape* weight = step.shape(operands.weight);
  if (weight == nullptr) return false;
  if (weight->size() < 3 || weight->size() > 5) return step.refuse("its weights are no kernels");
  const size_t axes = weight->size() - 2;
  const int64_t groups = whole(step.number("group", 1));
  if (groups < 1 || groups > kMaxSize) return step.refuse("its groups are no number");
  const std::span<const int64_t> kernel = std::span<const int64_t>(*weight).subspan(2);
  const Windows w = windows_of(step, axes, kernel);
  const int64_t first = (*weight)[0], second = times((*weight)[1], groups);
  const int64_t in = transposed ? first : second, out = transposed ? second : first;
  const OnnxShape* input = step.shape(operands.input);
  if (input != nullptr && input->size() != weight->size())
    return step.refuse("its input has other dimensions than its weights");
  if (input != nullptr && (*input)[1] != kUnknownSize && in != kUnknownSize && (*input)[1] != in)
    return step.refuse("its input has other channels than its weights");

  OnnxShape result = {input == nullptr ? kUnknownSize : (*input)[0], out};
  const std::vector<double>* fixed = transposed ? step.list("output_shape") : nullptr;
  for (size_t i = 0; i < axes; ++i) {
    const int64_t size = input == nullptr ? kUnknownSize : (*input)[i + 2];
    if (!transposed) {
      result.push_back(places(w, i, size, false));
    } else if (fixed != nullptr && fixed->size() >= axes) {
      const int64_t given = whole((*fixed)[fixed->size() - axes + i]);
      result.push_back(given == kNotWhole ? kUnknownSize : allowed(given));
    } else if (size < 1 || !w.known) {
      result.push_back(kUnknownSize);
    } else if (w.same) {
      result.push_back(times(size, w.stride[i]));
    } else {
      const std::vector<double>* more = step.list("output_padding");
      const int64_t extra = more == nullptr ? 0 : i < more->size() ? whole((*more)[i]) : kNotWhole;
      const bool known = extra >= 0 && extra <= kLargest;
      result.push_back(known ? allowed(w.stride[i] * (size - 1) + extra + (w.kernel[i] - 1) * w.dilation[i] +
                                       1 - w.before[i] - w.after[i])
                             : kUnknownSize);
    }
  }
  step.give(0, result);
  if (input == nullptr) return false;
  // Height and width are the first two dimensions, or the last two of three.
  const size_t h = axes == 3 ? 1 : 0, v = h + 1;
  const auto side = [&](const OnnxShape& shape, size_t i) { return i < axes ? shape[i + 2] : 1; };
  const auto of = [&](std::span<const int64_t> sizes, size_t i) { return i < axes ? sizes[i] : 1; };
  const bool deep = axes == 3;
  Conv c = {.dtype = operands.dtype,
            .channels_last = false,
            .batch = (*input)[0],
            .in = in,
            .out = out,
            .height = side(*input, h),
            .width = side(*input, v),
            .kernel_h = of(kernel, h),
            .kernel_w = of(kernel, v),
            .stride_h = of(w.stride, h),
            .stride_w = of(w.stride, v),
            .groups = groups,
            .out_height = side(result, h),
            .out_width = side(result, v),
            .depth = deep ? side(*input, 0) : 1,
            .kernel_d = deep ? kernel[0] : 1,
            .stride_d = deep ? w.stride[0] : 1,
            .out_depth = deep ? side(result, 0) : 1};
  if (std::max({c.kernel_h, c.kernel_w, c.kernel_d}) > kLargest)
    return step.refuse("its kernel is too large");
  if (transposed) {  // the gradient, by its input, of a convolution from `out` to `in` channels
    c.step = Step::input_gradient;
    std::swap(c.in, c.out);
    std::swap(c.height, c.out_height);
    std::swap(c.width, c.out_width);
    std::swap(c.depth, c.out_depth);
  }
  double weights = 1;
  for (int64_t size : *weight) weights *= static_cast<double>(size);
  return step.emit(c, step.in(operands.weight)->weight ? weights : 0);
}

bool pool(OnnxStep& step) {
  const OnnxShape* shape = step.shape(0);
  if (shape == nullptr || shape->size() < 3) return false;
  const size_t axes = shape->size() - 2;
  const Windows w = windows_of(step, axes, {});
  const bool ceil = step.number("ceil_mode", 0) != 0;
  OnnxShape result = {(*shape)[0], (*shape)[1]};
  for (size_t i = 0; i < axes; ++i) result.push_back(places(w, i, (*shape)[i + 2], ceil));
  step.give(1, result);  // the places of the largest
  step.give(0, std::move(result));
  return true;
}

bool pool_all(OnnxStep& step) {
  const OnnxShape* shape = step.shape(0);
  if (shape == nullptr || shape->size() < 2) return false;
  OnnxShape result = {(*shape)[0], (*shape)[1]};
  result.resize(shape->size(), 1);
  step.give(0, std::move(result));
  return true;
}

// Sizes, or factors, in the places that the versions of the operation have them.
bool resize(OnnxStep& step) {
  const OnnxShape* shape = step.shape(0);
  if (shape == nullptr) return false;
  const auto filled = [&](size_t index) {
    return step.has(index) && !(step.in(index)->ranked && step.in(index)->shape == OnnxShape{0});
  };
  const bool sized = filled(3);
  const std::vector<double>* numbers = nullptr;
  if (step.node().type == "Upsample" || step.inputs() == 2) {
    bool bad = false;
    numbers = list_or_input(step, "scales", 1, bad);
  } else {
    numbers = step.numbers(sized ? 3 : 2);
  }
  OnnxShape result(shape->size(), kUnknownSize);
  if (numbers == nullptr) {
    step.give(0, std::move(result));  // sizes stay open, but not how many
    return true;
  }
  const std::vector<double>* axes = step.list("axes");
  if (axes != nullptr) result = *shape;
  const size_t count = axes == nullptr ? result.size() : axes->size();
  if (numbers->size() != count) return false;
  for (size_t i = 0; i < count; ++i) {
    const std::optional<size_t> axis =
        axis_of(axes == nullptr ? static_cast<double>(i) : (*axes)[i], result.size());
    if (!axis) return false;
    const double number = (*numbers)[i];
    const int64_t size = (*shape)[*axis];
    if (std::isnan(number) || (!sized && size == kUnknownSize)) {
      result[*axis] = kUnknownSize;
    } else {
      result[*axis] = allowed(whole(sized ? number : std::floor(static_cast<double>(size) * number)));
    }
  }
  step.give(0, std::move(result));
  return true;
}

}  // namespace

std::span<const OnnxRuleEntry> onnx_window_rules() {
  static constexpr OnnxRuleEntry kRules[] = {
      {"Conv", convolution},
      {"FusedConv", convolution},
      {"ConvInteger", convolution},
      {"QLinearConv", convolution},
      {"ConvTranspose", convolution},
      {"MaxPool", pool},
      {"AveragePool", pool},
      {"LpPool", pool},
      {"QLinearAveragePool", pool},
      {"GlobalAveragePool", pool_all},
      {"GlobalMaxPool", pool_all},
      {"GlobalLpPool", pool_all},
      {"QLinearGlobalAveragePool", pool_all},
      {"Resize", resize},
      {"Upsample", resize},
  };
  return kRules;
}

}  // namespace fullwarp::shapes

// Operations that only move elements: reshaping, transposing, cutting, joining, looking up. The elements of
// small tensors are moved along.
#include <algorithm>
#include <cmath>

#include "shapes/onnx_rules.h"

namespace fullwarp::shapes {

namespace {

constexpr auto kMost = static_cast<int64_t>(kMaxOnnxElements);

bool keep_elements(OnnxStep& step, const OnnxShape& result) {
  return move_elements(step, 0, result,
                       [&](const std::vector<int64_t>& index) { return flat_index(result, index); });
}

bool reshape(OnnxStep& step) {
  bool bad = false;
  const std::vector<double>* target = list_or_input(step, "shape", 1, bad);
  if (target == nullptr || target->size() > kMaxOnnxRank) return step.fail(1);
  const OnnxShape* shape = step.shape(0);
  const bool zero_copies = step.number("allowzero", 0) == 0;
  OnnxShape result;
  std::optional<size_t> rest;
  for (size_t i = 0; i < target->size(); ++i) {
    const int64_t size = whole((*target)[i]);
    if (size == -1) rest = i;
    if (size == 0 && zero_copies) {
      result.push_back(shape != nullptr && i < shape->size() ? (*shape)[i] : kUnknownSize);
    } else {
      result.push_back(size < 0 ? kUnknownSize : allowed(size));
    }
  }
  // One size that is not known follows from the others.
  const int64_t total = shape == nullptr ? kUnknownSize : elements_of(*shape);
  const auto unknown = std::count(result.begin(), result.end(), kUnknownSize);
  if (total > 0 && unknown == 1) {
    int64_t others = 1;
    size_t place = 0;
    for (size_t i = 0; i < result.size(); ++i) {
      if (result[i] == kUnknownSize)
        place = i;
      else
        others = times(others, result[i]);
    }
    if (others > 0 && total % others == 0) result[place] = total / others;
  } else if (total == 0 && unknown == 1 && rest) {
    result[*rest] = 0;
  }
  const int64_t count = elements_of(result);
  if (total >= 0 && count >= 0 && total != count)
    return step.refuse("its target has another number of elements");
  return keep_elements(step, result);
}

bool flatten(OnnxStep& step) {
  const OnnxShape* shape = step.shape(0);
  if (shape == nullptr) return false;
  const auto rank = static_cast<int64_t>(shape->size());
  int64_t axis = whole(step.number("axis", 1));
  if (axis < 0 && axis != kNotWhole) axis += rank;
  if (axis < 0 || axis > rank) return false;
  const std::span<const int64_t> all = *shape;
  return keep_elements(step, {elements_of(all.first(static_cast<size_t>(axis))),
                              elements_of(all.subspan(static_cast<size_t>(axis)))});
}

bool squeeze(OnnxStep& step) {
  const OnnxShape* shape = step.shape(0);
  if (shape == nullptr) return false;
  bool bad = false;
  const std::vector<double>* axes = list_or_input(step, "axes", 1, bad);
  if (bad) return false;
  std::vector<bool> gone(shape->size(), false);
  if (axes == nullptr) {
    for (size_t i = 0; i < shape->size(); ++i) {
      if ((*shape)[i] == kUnknownSize) return step.fail(0);
      gone[i] = (*shape)[i] == 1;
    }
  } else {
    for (double axis : *axes) {
      const std::optional<size_t> place = axis_of(axis, shape->size());
      if (!place) return false;
      gone[*place] = true;
    }
  }
  OnnxShape result;
  for (size_t i = 0; i < shape->size(); ++i)
    if (!gone[i]) result.push_back((*shape)[i]);
  return keep_elements(step, result);
}

bool unsqueeze(OnnxStep& step) {
  const OnnxShape* shape = step.shape(0);
  bool bad = false;
  const std::vector<double>* axes = list_or_input(step, "axes", 1, bad);
  if (shape == nullptr || axes == nullptr || shape->size() + axes->size() > kMaxOnnxRank) return false;
  std::vector<bool> added(shape->size() + axes->size(), false);
  for (double axis : *axes) {
    const std::optional<size_t> place = axis_of(axis, added.size());
    if (!place || added[*place]) return false;
    added[*place] = true;
  }
  OnnxShape result;
  size_t next = 0;
  for (bool one : added) result.push_back(one ? 1 : (*shape)[next++]);
  return keep_elements(step, result);
}

bool transpose(OnnxStep& step) {
  const OnnxShape* given = step.shape(0);
  if (given == nullptr) return false;
  const OnnxShape shape = *given;
  std::vector<size_t> order;
  if (const std::vector<double>* list = step.list("perm")) {
    std::vector<bool> seen(shape.size(), false);
    for (double axis : *list) {
      const std::optional<size_t> place = axis_of(axis, shape.size());
      if (!place || seen[*place]) return false;
      seen[*place] = true;
      order.push_back(*place);
    }
    if (order.size() != shape.size()) return false;
  } else {
    for (size_t i = shape.size(); i-- > 0;) order.push_back(i);
  }
  OnnxShape result;
  for (size_t axis : order) result.push_back(shape[axis]);
  return move_elements(step, 0, result, [&](const std::vector<int64_t>& index) {
    std::vector<int64_t> from(shape.size());
    for (size_t i = 0; i < order.size(); ++i) from[order[i]] = index[i];
    return flat_index(shape, from);
  });
}

bool concat(OnnxStep& step) {
  OnnxShape result;
  std::optional<size_t> axis;
  bool numbered = true;
  for (size_t i = 0; i < step.inputs(); ++i) {
    const OnnxShape* shape = step.shape(i);
    if (shape == nullptr) return false;
    numbered = numbered && step.in(i)->numbered;
    if (i == 0) {
      result = *shape;
      axis = axis_of(step.number("axis", 1), result.size());
      if (!axis) return false;
      continue;
    }
    if (shape->size() != result.size()) return step.refuse("its inputs' sizes do not fit");
    for (size_t d = 0; d < result.size(); ++d) {
      const int64_t next = (*shape)[d];
      if (d == *axis) {
        result[d] =
            result[d] == kUnknownSize || next == kUnknownSize ? kUnknownSize : allowed(result[d] + next);
      } else if (result[d] == kUnknownSize) {
        result[d] = next;
      } else if (next != kUnknownSize && next != result[d]) {
        return step.refuse("its inputs' sizes do not fit");
      }
    }
  }
  if (!axis) return false;
  const int64_t count = elements_of(result);
  if (!numbered || count < 0 || count > kMost) {
    step.give(0, std::move(result));
    return true;
  }
  std::vector<double> numbers;
  for_each_index(result, [&](std::vector<int64_t> index) {
    for (size_t i = 0; i < step.inputs(); ++i) {
      const OnnxValue& part = *step.in(i);
      if (index[*axis] >= part.shape[*axis]) {
        index[*axis] -= part.shape[*axis];
        continue;
      }
      numbers.push_back(part.numbers[static_cast<size_t>(flat_index(part.shape, index))]);
      return;
    }
  });
  step.give_numbers(0, std::move(result), std::move(numbers));
  return true;
}

bool split(OnnxStep& step) {
  const OnnxShape* given = step.shape(0);
  if (given == nullptr) return false;
  const OnnxShape shape = *given;
  const std::optional<size_t> axis = axis_of(step.number("axis", 0), shape.size());
  bool bad = false;
  const std::vector<double>* sizes = list_or_input(step, "split", 1, bad);
  if (!axis || step.outputs() == 0) return false;
  int64_t begin = 0;
  const int64_t length = shape[*axis], parts = static_cast<int64_t>(step.outputs());
  for (size_t output = 0; output < step.outputs(); ++output) {
    int64_t size = kUnknownSize;
    if (sizes != nullptr) {
      const double part = output < sizes->size() ? (*sizes)[output] : kNotKnown;
      size = std::isnan(part) ? kUnknownSize : allowed(whole(part));
    } else if (!bad && length != kUnknownSize) {  // equal parts; the last may be smaller
      size = std::clamp<int64_t>(length - begin, 0, (length + parts - 1) / parts);
    }
    OnnxShape result = shape;
    result[*axis] = size;
    move_elements(step, output, result, [&](std::vector<int64_t> index) {
      index[*axis] += begin;
      return index[*axis] < length ? flat_index(shape, index) : -1;
    });
    if (size == kUnknownSize) begin = int64_t{1} << 40;  // beyond every part
    begin += std::max<int64_t>(0, size);
  }
  return true;
}

bool slice(OnnxStep& step) {
  const OnnxShape* given = step.shape(0);
  if (given == nullptr) return false;
  const OnnxShape shape = *given;
  bool bad = false;
  const std::vector<double>* starts = list_or_input(step, "starts", 1, bad);
  const std::vector<double>* ends = list_or_input(step, "ends", 2, bad);
  OnnxShape result = shape;
  if (starts == nullptr || ends == nullptr || starts->size() != ends->size()) return false;
  const std::vector<double>* axes = list_or_input(step, "axes", 3, bad);
  if (bad) return false;
  const std::vector<double>* steps = step.has(4) ? step.numbers(4) : nullptr;
  if (step.has(4) && steps == nullptr) return false;
  std::vector<int64_t> first(shape.size(), 0), stride(shape.size(), 1);
  for (size_t i = 0; i < starts->size(); ++i) {
    const double named = axes == nullptr ? static_cast<double>(i) : i < axes->size() ? (*axes)[i] : kNotKnown;
    const std::optional<size_t> axis = axis_of(named, shape.size());
    if (!axis) return false;
    const int64_t by = steps == nullptr ? 1 : i < steps->size() ? whole((*steps)[i]) : kNotWhole;
    const int64_t length = shape[*axis];
    int64_t start = whole((*starts)[i]), end = whole((*ends)[i]);
    if (by == 0) return false;
    result[*axis] = kUnknownSize;
    stride[*axis] = by;
    first[*axis] = kNotWhole;
    if (by == kNotWhole || start == kNotWhole || end == kNotWhole || length == kUnknownSize) continue;
    if (start < 0) start += length;
    if (end < 0) end += length;
    if (length == 0) {
      result[*axis] = 0;
      continue;
    }
    start = std::clamp<int64_t>(start, 0, by > 0 ? length : length - 1);
    end = std::clamp<int64_t>(end, by > 0 ? 0 : -1, length);
    const int64_t reach = by > 0 ? end - start : start - end, each = by > 0 ? by : -by;
    result[*axis] = reach <= 0 ? 0 : (reach + each - 1) / each;
    first[*axis] = start;
  }
  return move_elements(step, 0, result, [&](std::vector<int64_t> index) -> int64_t {
    for (size_t axis = 0; axis < index.size(); ++axis) {
      if (first[axis] == kNotWhole) return -1;
      index[axis] = first[axis] + index[axis] * stride[axis];
    }
    return flat_index(shape, index);
  });
}

// Also a table of embeddings: rows of a weight, picked by what the model is given.
bool gather(OnnxStep& step) {
  const OnnxShape* given = step.shape(0);
  const OnnxShape* picked = step.shape(1);
  if (given == nullptr || picked == nullptr) return false;
  const OnnxShape shape = *given, indices = *picked;
  const std::optional<size_t> axis = axis_of(step.number("axis", 0), shape.size());
  if (!axis || shape.size() - 1 + indices.size() > kMaxOnnxRank) return false;
  const auto split = static_cast<std::ptrdiff_t>(*axis);
  OnnxShape result(shape.begin(), shape.begin() + split);
  result.insert(result.end(), indices.begin(), indices.end());
  result.insert(result.end(), shape.begin() + split + 1, shape.end());
  const OnnxValue &data = *step.in(0), &places = *step.in(1);
  if (data.weight && data.real && shape.size() == 2 && *axis == 0 && !places.weight &&
      elements_of(indices) > 0)
    (void)step.emit(Gather{step.run().dtype, elements_of(indices), shape[1]},
                    static_cast<double>(shape[0]) * static_cast<double>(shape[1]));
  if (!data.numbered || !places.numbered) {
    step.give(0, std::move(result));
    return true;
  }
  return move_elements(step, 0, result, [&](const std::vector<int64_t>& index) -> int64_t {
    const std::span<const int64_t> all = index;
    const int64_t which = flat_index(indices, all.subspan(*axis, indices.size()));
    int64_t place = whole(places.numbers[static_cast<size_t>(which)]);
    if (place == kNotWhole) return -1;
    if (place < 0) place += shape[*axis];
    if (place < 0 || place >= shape[*axis]) return -1;
    std::vector<int64_t> from(index.begin(), index.begin() + split);
    from.push_back(place);
    from.insert(from.end(), index.begin() + split + static_cast<std::ptrdiff_t>(indices.size()), index.end());
    return flat_index(shape, from);
  });
}

bool gather_elements(OnnxStep& step) {
  const OnnxShape* indices = step.shape(1);
  if (indices == nullptr) return false;
  step.give(0, OnnxShape(*indices));
  return true;
}

bool gather_nd(OnnxStep& step) {
  const OnnxShape* shape = step.shape(0);
  const OnnxShape* indices = step.shape(1);
  if (shape == nullptr || indices == nullptr || indices->empty() || indices->back() == kUnknownSize)
    return step.fail(1);
  const int64_t batch = whole(step.number("batch_dims", 0));
  const auto rank = static_cast<int64_t>(shape->size());
  if (batch < 0 || batch >= rank || indices->back() > rank - batch) return false;
  OnnxShape result(indices->begin(), indices->end() - 1);
  result.insert(result.end(), shape->begin() + batch + indices->back(), shape->end());
  step.give(0, std::move(result));
  return true;
}

bool expand(OnnxStep& step) {
  const OnnxShape* given = step.shape(0);
  const std::vector<double>* numbers = step.numbers(1);
  if (given == nullptr || numbers == nullptr || numbers->size() > kMaxOnnxRank) return false;
  const OnnxShape shape = *given;
  OnnxShape target, result;
  for (double number : *numbers) target.push_back(std::isnan(number) ? kUnknownSize : allowed(whole(number)));
  if (!broadcast(shape, target, result)) return step.refuse("its target does not fit");
  return move_elements(step, 0, result, [&](const std::vector<int64_t>& index) {
    std::vector<int64_t> from(index.end() - static_cast<std::ptrdiff_t>(shape.size()), index.end());
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (shape[axis] == 1) from[axis] = 0;
    return flat_index(shape, from);
  });
}

bool tile(OnnxStep& step) {
  const OnnxShape* given = step.shape(0);
  const std::vector<double>* repeats = step.numbers(1);
  if (given == nullptr || repeats == nullptr || repeats->size() != given->size()) return false;
  const OnnxShape shape = *given;
  OnnxShape result;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t count = whole((*repeats)[i]);
    result.push_back(count == kNotWhole ? kUnknownSize : times(shape[i], allowed(count)));
  }
  return move_elements(step, 0, result, [&](std::vector<int64_t> index) {
    for (size_t axis = 0; axis < shape.size(); ++axis) index[axis] %= shape[axis];
    return flat_index(shape, index);
  });
}

bool pad(OnnxStep& step) {
  const OnnxShape* given = step.shape(0);
  if (given == nullptr) return false;
  bool bad = false;
  const std::vector<double>* pads = list_or_input(step, "pads", 1, bad);
  if (pads == nullptr) pads = list_or_input(step, "paddings", 1, bad);
  if (pads == nullptr) return false;
  OnnxShape result = *given;
  const std::vector<double>* axes = step.has(3) ? step.numbers(3) : nullptr;
  if (step.has(3) && axes == nullptr) return false;
  const size_t count = axes == nullptr ? result.size() : axes->size();
  if (pads->size() != 2 * count) return step.fail(1);
  for (size_t i = 0; i < count; ++i) {
    const std::optional<size_t> axis =
        axis_of(axes == nullptr ? static_cast<double>(i) : (*axes)[i], result.size());
    if (!axis) return false;
    const int64_t before = whole((*pads)[i]), after = whole((*pads)[i + count]);
    const bool known = before != kNotWhole && after != kNotWhole && result[*axis] != kUnknownSize;
    result[*axis] = known ? allowed(result[*axis] + before + after) : kUnknownSize;
  }
  step.give(0, std::move(result));
  return true;
}

// Blocks of a picture's pixels become channels, or the other way round.
bool blocks(OnnxStep& step) {
  const OnnxShape* shape = step.shape(0);
  const int64_t side = whole(step.number("blocksize", 0));
  if (shape == nullptr || shape->size() != 4 || side < 1 || side > 1024) return false;
  OnnxShape result = *shape;
  const bool to_depth = step.node().type == "SpaceToDepth";
  const auto over = [](int64_t size, int64_t by) { return size % by == 0 ? size / by : kUnknownSize; };
  result[1] = to_depth ? times(result[1], side * side) : over(result[1], side * side);
  for (size_t axis : {2, 3}) result[axis] = to_depth ? over(result[axis], side) : times(result[axis], side);
  step.give(0, std::move(result));
  return true;
}

}  // namespace

std::span<const OnnxRuleEntry> onnx_movement_rules() {
  static constexpr OnnxRuleEntry kRules[] = {
      {"Reshape", reshape},     {"Flatten", flatten},
      {"Squeeze", squeeze},     {"Unsqueeze", unsqueeze},
      {"Transpose", transpose}, {"Concat", concat},
      {"Split", split},         {"Slice", slice},
      {"Gather", gather},       {"GatherElements", gather_elements},
      {"GatherND", gather_nd},  {"Expand", expand},
      {"Tile", tile},           {"Pad", pad},
      {"DepthToSpace", blocks}, {"SpaceToDepth", blocks},
  };
  return kRules;
}

}  // namespace fullwarp::shapes

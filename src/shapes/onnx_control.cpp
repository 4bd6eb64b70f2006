// Nodes that decide or repeat others. Of an If the branch that costs more is counted, since either may run; a
// Loop's or Scan's body counts once an iteration, with its states at the sizes that all iterations share (a
// state that grows has an unknown size, and what needs it is left out); a function of the model is followed
// with the sizes of each call. Repetition within repetition is bounded by a number of visits, so that a small
// file cannot ask for endless work.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shapes/onnx_rules.h"
#include "shapes/onnx_walk.h"

namespace fullwarp::shapes {

namespace {

constexpr size_t kMaxVisits = 2 * kMaxOnnxNodes;
constexpr size_t kMaxPrefix = 120;  // of names of operations in functions
constexpr int kRounds = 3;          // to find the sizes that all iterations share

const OnnxBody* body_named(const OnnxNode& node, std::string_view name) {
  for (const OnnxBody& body : node.bodies)
    if (body.name == name) return &body;
  return nullptr;
}

// The only element of a known scalar; NaN else.
double scalar_of(const OnnxValue* value) {
  return value != nullptr && value->numbered && value->numbers.size() == 1 ? value->numbers[0] : kNotKnown;
}

OnnxSizes sizes_of(const OnnxValue* value) {
  if (value == nullptr) return {};
  return {value->ranked, value->shape, value->real};
}

// Sizes that hold for both.
OnnxSizes common(const OnnxSizes& a, const OnnxSizes& b) {
  if (!a.ranked || !b.ranked || a.shape.size() != b.shape.size()) return {.real = a.real};
  OnnxSizes result = a;
  for (size_t i = 0; i < a.shape.size(); ++i)
    if (a.shape[i] != b.shape[i]) result.shape[i] = kUnknownSize;
  return result;
}

double cost_of(std::span<const Operation> operations) {
  double cost = 0;
  for (const Operation& operation : operations)
    cost += operation.count * (flops(operation) + bytes(operation));
  return cost;
}

}  // namespace

bool OnnxWalk::control(const OnnxNode& node, const OnnxFrame& frame) {
  const auto own = graph_.functions.empty()
                       ? graph_.functions.end()
                       : graph_.functions.find(onnx_function_key(node.domain, node.type));
  const bool function = own != graph_.functions.end();
  if (!function && node.bodies.empty()) return false;
  for (size_t i = 0; i < node.outputs.size(); ++i) give(node, frame, i, {});
  const OnnxStep step(graph_, node, frame, run_, result_);
  if (function) {
    call(node, own->second, frame);
  } else if (node.type == "If") {
    branch(node, frame, step);
  } else if (node.type == "Loop") {
    loop(node, frame, step);
  } else if (node.type == "Scan") {
    scan(node, frame, step);
  } else {
    leave_out(frame.prefix + onnx_node_name(node), 1,
              "operations with bodies of this kind are not known here");
  }
  return true;
}

bool OnnxWalk::spend(size_t visits, const OnnxNode& node, const OnnxFrame& frame) {
  visits_ = std::min(visits_ + visits, kMaxVisits + 1);
  if (visits_ <= kMaxVisits) return true;
  leave_out(frame.prefix + onnx_node_name(node), 1, "the model repeats bodies and functions too often");
  return false;
}

void OnnxWalk::give(const OnnxNode& node, const OnnxFrame& frame, size_t output, const OnnxSizes& sizes) {
  if (output >= node.outputs.size() || node.outputs[output] == kNoValue) return;
  if (sizes.ranked) OnnxStep(graph_, node, frame, run_, result_).give(output, sizes.shape);
  OnnxValue& value = at(node.outputs[output], frame);
  value.real = sizes.real;
  value.root = complete(value) ? kNoValue : node.outputs[output] + frame.base;
}

// ---- bodies

bool OnnxWalk::run_body(const OnnxNode& node, const OnnxBody& body, const OnnxFrame& frame) {
  if (body.too_deep) {
    leave_out(frame.prefix + onnx_node_name(node), 1,
              fmt::format("bodies are nested more than {} deep", kMaxOnnxDepth));
    return false;
  }
  if (!spend(body.nodes.size() + body.last - body.first, node, frame)) return false;
  for (const OnnxNode& inner : body.nodes) visit(inner, frame);
  return true;
}

void OnnxWalk::branch(const OnnxNode& node, const OnnxFrame& frame, const OnnxStep& step) {
  const OnnxBody *then_body = body_named(node, "then_branch"), *else_body = body_named(node, "else_branch");
  if (then_body == nullptr || else_body == nullptr)
    return leave_out(frame.prefix + onnx_node_name(node), 1, "an If has no two branches");
  const auto results = [&](const OnnxBody& body) {
    std::vector<OnnxSizes> sizes;
    for (uint32_t output : body.outputs)
      sizes.push_back(output == kNoValue ? OnnxSizes{} : sizes_of(&at(output, frame)));
    sizes.resize(node.outputs.size());
    return sizes;
  };
  if (const double condition = scalar_of(step.in(0)); !std::isnan(condition)) {
    const OnnxBody& taken = condition != 0 ? *then_body : *else_body;
    if (!run_body(node, taken, frame)) return;
    const std::vector<OnnxSizes> sizes = results(taken);
    for (size_t i = 0; i < sizes.size(); ++i) give(node, frame, i, sizes[i]);
    return;
  }
  std::vector<Operation>& all = result_.operations;
  const size_t first = all.size();
  if (!run_body(node, *then_body, frame)) return;
  const size_t second = all.size();
  if (!run_body(node, *else_body, frame)) return;
  const std::span<const Operation> seen = all;
  const bool then_costs = cost_of(seen.subspan(first, second - first)) >= cost_of(seen.subspan(second));
  const auto place = [&](size_t index) { return all.begin() + static_cast<std::ptrdiff_t>(index); };
  if (all.size() > first && silent_ == 0)
    result_.branches.add(frame.prefix + onnx_node_name(node),
                         then_costs ? second - first : all.size() - second);
  all.erase(place(then_costs ? second : first), then_costs ? all.end() : place(second));
  const std::vector<OnnxSizes> a = results(*then_body), b = results(*else_body);
  for (size_t i = 0; i < a.size(); ++i) give(node, frame, i, common(a[i], b[i]));
}

// What a body has of its own is as the file declares it.
void OnnxWalk::forget(const OnnxBody& body, const OnnxFrame& frame) {
  for (uint32_t i = body.first; i < body.last; ++i) {
    OnnxValue& value = at(i, frame);
    if (value.weight) continue;
    declared(value);
    value.root = value.producer == nullptr && !complete(value) ? i + frame.base : kNoValue;
  }
}

void OnnxWalk::set_input(const OnnxBody& body, size_t input, const OnnxFrame& frame, const OnnxSizes& sizes) {
  if (input >= body.inputs.size() || body.inputs[input] == kNoValue) return;
  OnnxValue& value = at(body.inputs[input], frame);
  if (value.weight || value.input) return;
  value.real = value.real || sizes.real;
  if (sizes.ranked) {
    value.ranked = true;
    value.shape = sizes.shape;
  }
  value.root = complete(value) ? kNoValue : body.inputs[input] + frame.base;
}

bool OnnxWalk::repeat(const OnnxNode& node, const OnnxBody& body, const OnnxFrame& frame,
                      const OnnxRepetition& how, std::vector<OnnxSizes>& states) {
  const auto begin = [&] {
    forget(body, frame);
    for (size_t i = 0; i < how.others.size(); ++i)
      set_input(body, how.others[i].first, frame, how.others[i].second);
    for (size_t i = 0; i < states.size(); ++i) set_input(body, how.first_in + i, frame, states[i]);
  };
  for (int round = 0; round < kRounds && !states.empty(); ++round) {
    const size_t operations = result_.operations.size();
    const OnnxNames assumed = result_.assumed;
    begin();
    ++silent_;
    const bool good = run_body(node, body, frame);
    --silent_;
    result_.operations.erase(result_.operations.begin() + static_cast<std::ptrdiff_t>(operations),
                             result_.operations.end());
    result_.assumed = assumed;
    if (!good) return spend(0, node, frame);
    bool same = true;
    for (size_t i = 0; i < states.size(); ++i) {
      const size_t output = how.first_out + i;
      const bool there = output < body.outputs.size() && body.outputs[output] != kNoValue;
      OnnxSizes kept = common(states[i], there ? sizes_of(&at(body.outputs[output], frame)) : OnnxSizes{});
      same = same && kept.ranked == states[i].ranked && kept.shape == states[i].shape;
      if (round + 1 == kRounds && !same) kept = {.real = kept.real};
      states[i] = std::move(kept);
    }
    if (same) break;
  }
  begin();
  return run_body(node, body, frame);
}

// Inputs: trip count, condition, states. Of the body: iteration, condition, states; it gives the condition,
// the states, and what is gathered over the iterations.
void OnnxWalk::loop(const OnnxNode& node, const OnnxFrame& frame, const OnnxStep& step) {
  const OnnxBody& body = node.bodies.front();
  const int64_t trips = whole(scalar_of(step.in(0)));
  const bool counted = trips != kNotWhole && allowed(trips) != kUnknownSize;
  std::vector<OnnxSizes> states;
  for (size_t i = 2; i < node.inputs.size(); ++i) states.push_back(sizes_of(step.in(i)));
  const OnnxSizes scalar = {.ranked = true};
  iterate(node, body, frame, {.first_in = 2, .first_out = 1, .others = {{0, scalar}, {1, scalar}}},
          counted ? trips : kUnknownSize, states);
  for (size_t i = states.size(); i < node.outputs.size(); ++i)
    give_gathered(node, body, frame, i, i + 1, counted ? trips : kUnknownSize, 0);
}

// Inputs: states, then what is cut into one part an iteration; the body has the same without the axis of the
// cut, and gives the states and the parts that are gathered.
void OnnxWalk::scan(const OnnxNode& node, const OnnxFrame& frame, const OnnxStep& step) {
  const OnnxBody& body = node.bodies.front();
  const int64_t cut = whole(step.number("num_scan_inputs", 1));
  const auto inputs = static_cast<int64_t>(node.inputs.size());
  if (cut < 1 || cut > inputs || node.inputs.size() != body.inputs.size())
    return leave_out(frame.prefix + onnx_node_name(node), 1, "a Scan's inputs are not those of its body");
  const auto kept = static_cast<size_t>(inputs - cut);
  const std::vector<double>* axes = step.list("scan_input_axes");
  OnnxRepetition how;
  int64_t trips = kUnknownSize;
  for (size_t i = kept; i < node.inputs.size(); ++i) {
    OnnxSizes part = sizes_of(step.in(i));
    const double axis = axes != nullptr && i - kept < axes->size() ? (*axes)[i - kept] : 0;
    const std::optional<size_t> at = part.ranked ? axis_of(axis, part.shape.size()) : std::nullopt;
    if (at) {
      if (trips == kUnknownSize) trips = part.shape[*at];
      part.shape.erase(part.shape.begin() + static_cast<std::ptrdiff_t>(*at));
    } else {
      part.ranked = false;
    }
    how.others.emplace_back(i, std::move(part));
  }
  std::vector<OnnxSizes> states;
  for (size_t i = 0; i < kept; ++i) states.push_back(sizes_of(step.in(i)));
  iterate(node, body, frame, how, trips, states);
  const std::vector<double>* out_axes = step.list("scan_output_axes");
  for (size_t i = kept; i < node.outputs.size(); ++i)
    give_gathered(node, body, frame, i, i, trips,
                  out_axes != nullptr && i - kept < out_axes->size() ? (*out_axes)[i - kept] : 0);
}

void OnnxWalk::iterate(const OnnxNode& node, const OnnxBody& body, const OnnxFrame& frame,
                       const OnnxRepetition& how, int64_t trips, std::vector<OnnxSizes>& states) {
  OnnxFrame inner = frame;
  if (trips != kUnknownSize) inner.times *= static_cast<double>(trips);
  const size_t first = result_.operations.size();
  (void)repeat(node, body, inner, how, states);
  if (trips == 0)
    result_.operations.erase(result_.operations.begin() + static_cast<std::ptrdiff_t>(first),
                             result_.operations.end());
  const size_t products = result_.operations.size() - first;
  if (trips == kUnknownSize && products > 0 && silent_ == 0)
    result_.once.add(frame.prefix + onnx_node_name(node), products);
  for (size_t i = 0; i < states.size(); ++i) give(node, frame, i, states[i]);
}

// A result of the body of every iteration, stacked.
void OnnxWalk::give_gathered(const OnnxNode& node, const OnnxBody& body, const OnnxFrame& frame,
                             size_t output, size_t of_body, int64_t trips, double axis) {
  if (of_body >= body.outputs.size() || body.outputs[of_body] == kNoValue) return;
  OnnxSizes sizes = sizes_of(&at(body.outputs[of_body], frame));
  const std::optional<size_t> place = axis_of(axis, sizes.shape.size() + 1);
  if (sizes.ranked && place) {
    sizes.shape.insert(sizes.shape.begin() + static_cast<std::ptrdiff_t>(*place), trips);
  } else {
    sizes.ranked = false;
  }
  give(node, frame, output, sizes);
}

// ---- functions

void OnnxWalk::call(const OnnxNode& node, const OnnxFunction& function, const OnnxFrame& frame) {
  if (frame.depth == kMaxOnnxDepth)
    return leave_out(frame.prefix + onnx_node_name(node), 1,
                     fmt::format("functions call each other more than {} deep", kMaxOnnxDepth));
  if (!spend(function.nodes.size() + function.values.size(), node, frame)) return;
  const auto base = static_cast<uint32_t>(graph_.values.size());
  OnnxFrame inner = {.base = base,
                     .times = frame.times,
                     .prefix = (frame.prefix + onnx_node_name(node)).substr(0, kMaxPrefix) + "/",
                     .depth = frame.depth + 1,
                     .call = &node,
                     .function = &function,
                     .outer = &frame};
  graph_.values.insert(graph_.values.end(), function.values.begin(), function.values.end());
  for (uint32_t i = 1; i < function.values.size(); ++i)
    if (graph_.values[base + i].root != kNoValue) graph_.values[base + i].root = base + i;
  for (size_t i = 0; i < function.inputs.size() && i < node.inputs.size(); ++i)
    if (node.inputs[i] != kNoValue && function.inputs[i] != kNoValue)
      at(function.inputs[i], inner) = at(node.inputs[i], frame);
  for (const OnnxNode& own : function.nodes) visit(own, inner);
  for (size_t i = 0; i < function.outputs.size() && i < node.outputs.size(); ++i) {
    if (function.outputs[i] == kNoValue || node.outputs[i] == kNoValue) continue;
    const OnnxValue result = at(function.outputs[i], inner);
    OnnxStep step(graph_, node, frame, run_, result_);
    if (result.numbered) {
      step.give_numbers(i, result.shape, result.numbers);
    } else if (result.ranked) {
      step.give(i, result.shape);
    }
    OnnxValue& value = at(node.outputs[i], frame);
    value.real = result.real;
    value.weight = value.weight || result.weight;
    value.root = complete(value) ? kNoValue : node.outputs[i] + frame.base;
  }
  graph_.values.resize(base);
}

}  // namespace fullwarp::shapes

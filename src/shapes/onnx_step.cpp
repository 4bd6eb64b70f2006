// One node of an ONNX graph as its rule sees it.
#include <fmt/format.h>

#include "shapes/onnx_rules.h"
#include "shapes/read.h"

namespace fullwarp::shapes {

namespace {

// An attribute that stands for one of the call's has that one's value, or the function's default.
const OnnxAttribute* attribute_of(const OnnxNode& node, const OnnxFrame* frame, std::string_view name) {
  const OnnxAttribute* found = nullptr;
  for (const OnnxAttribute& attribute : node.attributes)
    if (found == nullptr && attribute.name == name) found = &attribute;
  if (found == nullptr || found->reference.empty()) return found;
  if (frame->call == nullptr) return nullptr;
  if (const OnnxAttribute* given = attribute_of(*frame->call, frame->outer, found->reference)) return given;
  for (const OnnxAttribute& attribute : frame->function->defaults)
    if (attribute.name == found->reference) return &attribute;
  return nullptr;
}

}  // namespace

uint32_t OnnxStep::input(size_t index) const {
  const bool there = index < node_.inputs.size() && node_.inputs[index] != kNoValue;
  return there ? node_.inputs[index] + frame_.base : kNoValue;
}

const OnnxValue* OnnxStep::in(size_t index) const {
  const uint32_t value = input(index);
  return value == kNoValue ? nullptr : &graph_.values[value];
}

const OnnxShape* OnnxStep::shape(size_t index) {
  const OnnxValue* value = in(index);
  if (value != nullptr && value->ranked) return &value->shape;
  (void)fail(index);
  return nullptr;
}

const std::vector<double>* OnnxStep::numbers(size_t index) {
  const OnnxValue* value = in(index);
  if (value != nullptr && value->numbered) return &value->numbers;
  (void)fail(index);
  return nullptr;
}

const OnnxAttribute* OnnxStep::attribute(std::string_view name) const {
  return attribute_of(node_, &frame_, name);
}

double OnnxStep::number(std::string_view name, double otherwise) const {
  const OnnxAttribute* found = attribute(name);
  return found == nullptr || found->numbers.empty() ? otherwise : found->numbers[0];
}

const std::vector<double>* OnnxStep::list(std::string_view name) const {
  const OnnxAttribute* found = attribute(name);
  return found == nullptr ? nullptr : &found->numbers;
}

std::string OnnxStep::word(std::string_view name) const {
  const OnnxAttribute* found = attribute(name);
  return found == nullptr ? std::string() : found->word;
}

bool OnnxStep::fail(size_t index) {
  if (blamed_ != kNoValue || !has(index)) return false;
  const uint32_t value = input(index);
  blamed_ = graph_.values[value].root == kNoValue ? value : graph_.values[value].root;
  return false;
}

bool OnnxStep::refuse(std::string reason) {
  reason_ = std::move(reason);
  return false;
}

OnnxValue* OnnxStep::out(size_t index) {
  if (index >= node_.outputs.size() || node_.outputs[index] == kNoValue) return nullptr;
  OnnxValue& value = graph_.values[node_.outputs[index] + frame_.base];
  return value.weight || value.input ? nullptr : &value;
}

// Where the rule leaves a size open that the file declares, the file's word counts.
void OnnxStep::give(size_t output, OnnxShape shape) {
  OnnxValue* value = out(output);
  if (value == nullptr || shape.size() > kMaxOnnxRank) return;
  for (int64_t& size : shape) size = allowed(size);
  if (value->ranked && value->shape.size() == shape.size())
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i] == kUnknownSize) shape[i] = value->shape[i];
  value->ranked = true;
  value->shape = std::move(shape);
  value->numbered = false;
}

void OnnxStep::give_numbers(size_t output, OnnxShape shape, std::vector<double> numbers) {
  const int64_t count = elements_of(shape);
  give(output, std::move(shape));
  OnnxValue* value = out(output);
  if (value == nullptr || count != static_cast<int64_t>(numbers.size()) || numbers.size() > kMaxOnnxElements)
    return;
  value->numbered = true;
  value->numbers = std::move(numbers);
}

bool OnnxStep::emit(std::variant<Gemm, Conv, Attention, Gather> work, double weights, std::string note,
                    double count, const std::string& detail) {
  const auto sizes = [&]() -> std::vector<int64_t> {
    if (const Gemm* g = std::get_if<Gemm>(&work)) return {g->batch, g->m, g->n, g->k};
    if (const Conv* c = std::get_if<Conv>(&work))
      return {c->batch,    c->in,       c->out,      c->height,   c->width,      c->kernel_h,
              c->kernel_w, c->groups,   c->stride_h, c->stride_w, c->out_height, c->out_width,
              c->depth,    c->kernel_d, c->stride_d, c->out_depth};
    if (const Attention* a = std::get_if<Attention>(&work))
      return {a->batch, a->heads, a->kv_heads, a->queries, a->keys, a->head_size};
    const Gather& gather = std::get<Gather>(work);
    return {gather.rows, gather.width};
  }();
  bool empty = false;
  for (int64_t size : sizes) {
    if (size < 0 || size > kMaxSize) return false;
    empty = empty || size == 0;
  }
  if (empty) return true;  // over no tokens of a cache: nothing to compute
  if (result_.operations.size() == kMaxProducts) return true;
  std::string name = frame_.prefix + onnx_node_name(node_) + (detail.empty() ? "" : " " + detail);
  result_.operations.push_back({std::move(name), Step::forward, count * frame_.times, work, weights,
                                std::move(note), has(0) && in(0)->input});
  return true;
}

void OnnxStep::assume_rows() { result_.assumed.add(frame_.prefix + onnx_node_name(node_), 1); }

}  // namespace fullwarp::shapes

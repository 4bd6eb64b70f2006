#include "shapes/onnx_infer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "shapes/onnx_rules.h"
#include "shapes/onnx_walk.h"

namespace fullwarp::shapes {

namespace {

constexpr size_t kNamed = 5;     // nodes, and inputs, that a note names
constexpr size_t kReasons = 16;  // that are kept apart

const std::map<std::string_view, OnnxRule>& rules() {
  static const std::map<std::string_view, OnnxRule> kRules = [] {
    std::map<std::string_view, OnnxRule> all;
    for (const std::span<const OnnxRuleEntry> table :
         {onnx_constant_rules(), onnx_element_rules(), onnx_movement_rules(), onnx_window_rules(),
          onnx_product_rules(), onnx_attention_rules()})
      for (const OnnxRuleEntry& entry : table) all.emplace(entry.type, entry.rule);
    return all;
  }();
  return kRules;
}

std::string cut(std::string text, size_t most = 80) {
  if (text.size() > most) text = text.substr(0, most - 3) + "...";
  return text;
}

// One word of an axis: "past_seq_len", "4".
int64_t size_of_word(std::string word, const RunOptions& run) {
  if (const auto set = run.axes.find(word); set != run.axes.end()) return set->second;
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto has = [&](std::string_view part) { return word.find(part) != std::string::npos; };
  if (!word.empty() && word.size() < 10 &&
      std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; }))
    return allowed(std::stoll(word));
  if (has("batch") || word == "n" || word == "b" || word == "bs" || word == "bsz") return run.batch;
  const bool length = has("seq") || has("len") || has("token");
  if (has("total") && length) return run.cached + run.sequence;
  if ((has("past") || has("cache")) && (length || has("kv"))) return run.cached;
  if (word == "past" || word == "cache") return run.cached;
  if (length || word == "s" || word == "t") return run.sequence;
  return kUnknownSize;
}

// The name by which `run.axes` sets an axis of an input, whatever word it has in the file.
std::string place_of(const OnnxValue& value, size_t axis) { return fmt::format("{}:{}", value.name, axis); }

void bind(OnnxValue& value, const RunOptions& run) {
  value.shape.clear();
  for (size_t i = 0; i < value.axes.size(); ++i) {
    const OnnxAxis& axis = value.axes[i];
    int64_t size = axis.size != kUnknownSize ? axis.size : size_of_axis(axis.word, run);
    const auto set = value.input && !run.axes.empty() ? run.axes.find(place_of(value, i)) : run.axes.end();
    value.shape.push_back(set != run.axes.end() ? set->second : size);
  }
}

}  // namespace

void OnnxNames::add(std::string name, size_t products) {
  all += products;
  if (first.size() == kNamed) return;
  named += products;
  first.push_back(std::move(name));
}

std::string OnnxNames::text() const {
  std::string text = fmt::format("{}", fmt::join(first, ", "));
  if (all > named) text += fmt::format(" and {} more", all - named);
  return text;
}

int64_t size_of_axis(const std::string& word, const RunOptions& run) {
  if (const auto set = run.axes.find(word); set != run.axes.end()) return set->second;
  int64_t sum = 0;
  for (size_t begin = 0; begin <= word.size();) {
    const size_t end = std::min(word.find('+', begin), word.size());
    std::string part = word.substr(begin, end - begin);
    while (!part.empty() && (part.front() == ' ' || part.front() == '(')) part.erase(0, 1);
    while (!part.empty() && (part.back() == ' ' || part.back() == ')')) part.pop_back();
    if (part.find_first_of("*/-%, (") != std::string::npos) return kUnknownSize;
    const int64_t size = size_of_word(part, run);
    if (size == kUnknownSize) return kUnknownSize;
    sum = allowed(sum + size);
    if (sum == kUnknownSize) return kUnknownSize;
    begin = end + 1;
  }
  return sum;
}

std::string onnx_node_name(const OnnxNode& node) {
  return cut(node.type + (node.name.empty() ? "" : " " + node.name), 120);
}

bool complete(const OnnxValue& value) {
  if (!value.ranked) return false;
  if (std::find(value.shape.begin(), value.shape.end(), kUnknownSize) != value.shape.end()) return false;
  return !value.numbered ||
         std::none_of(value.numbers.begin(), value.numbers.end(), [](double n) { return std::isnan(n); });
}

OnnxOperations infer_onnx(OnnxGraph graph, const RunOptions& run) {
  return OnnxWalk(std::move(graph), run).take();
}

// ---- the walk

OnnxOperations OnnxWalk::take() && {
  note_unused_axes();
  bind_first_axes();
  begin(graph_.values, graph_.nodes);
  for (auto& [name, function] : graph_.functions) begin(function.values, function.nodes);
  const OnnxFrame frame;
  for (const OnnxNode& node : graph_.nodes) visit(node, frame);
  return std::move(result_);
}

void OnnxWalk::declared(OnnxValue& value) const {
  value.ranked = !value.axes.empty();
  value.shape.clear();
  value.numbered = false;
  if (value.ranked) bind(value, run_);
}

// Sizes that the file declares, and who computes what.
void OnnxWalk::begin(std::vector<OnnxValue>& values, const std::vector<OnnxNode>& nodes) {
  const auto mark = [&](const auto& again, const std::vector<OnnxNode>& these) -> void {
    for (const OnnxNode& node : these) {
      for (uint32_t output : node.outputs) values[output].producer = &node;
      for (const OnnxBody& body : node.bodies) again(again, body.nodes);
    }
  };
  mark(mark, nodes);
  for (size_t i = 1; i < values.size(); ++i) {
    OnnxValue& value = values[i];
    if (!value.axes.empty() && !value.weight) bind(value, run_);
    result_.open =
        result_.open || (value.input && !value.weight &&
                         std::any_of(value.axes.begin(), value.axes.end(),
                                     [](const OnnxAxis& axis) { return axis.size == kUnknownSize; }));
    if (value.producer == nullptr && !complete(value)) value.root = static_cast<uint32_t>(i);
  }
}

// The first axis of an input is its batch, if nothing says otherwise; its word means that everywhere.
void OnnxWalk::bind_first_axes() {
  for (uint32_t input : graph_.inputs) {
    const OnnxValue& value = graph_.values[input];
    if (value.weight || value.axes.size() < 2) continue;
    const OnnxAxis& axis = value.axes[0];
    const std::string place = place_of(value, 0);
    if (axis.size != kUnknownSize || size_of_axis(axis.word, run_) != kUnknownSize ||
        run_.axes.contains(place))
      continue;
    const bool named = !axis.word.empty() && axis.word != "?";
    const std::string key = named ? axis.word : place;
    run_.axes[key] = run_.batch;
    if (result_.notes.size() < kNamed)
      result_.notes.push_back(fmt::format(
          "the first axis of input `{}` {}: it is taken as the batch; --axis {}=N sets it", cut(value.name),
          named ? fmt::format("is `{}`", cut(axis.word)) : "has no name", cut(key)));
  }
}

void OnnxWalk::note_unused_axes() {
  if (run_.axes.empty()) return;
  std::set<std::string> seen;
  for (const OnnxValue& value : graph_.values)
    for (size_t i = 0; i < value.axes.size(); ++i) {
      if (value.input) seen.insert(place_of(value, i));
      const std::string& word = value.axes[i].word;
      for (const auto& [name, size] : run_.axes)
        if (word.find(name) != std::string::npos) seen.insert(name);
    }
  for (const auto& [name, size] : run_.axes)
    if (!seen.contains(name) && result_.notes.size() < kNamed)
      result_.notes.push_back(
          fmt::format("--axis {}={}: the graph has no axis of this name", cut(name), size));
}

void OnnxWalk::visit(const OnnxNode& node, const OnnxFrame& frame) {
  if (!control(node, frame)) apply_rule(node, frame);
}

void OnnxWalk::apply_rule(const OnnxNode& node, const OnnxFrame& frame) {
  OnnxStep step(graph_, node, frame, run_, result_);
  const auto found = rules().find(node.type);
  const bool known = found != rules().end();
  const bool cyclic = std::any_of(node.outputs.begin(), node.outputs.end(), [&](uint32_t output) {
    return output != kNoValue &&
           std::find(node.inputs.begin(), node.inputs.end(), output) != node.inputs.end();
  });
  if (!known) (void)step.refuse("this operation is not known here");
  if (cyclic) (void)step.refuse("it reads its own result");
  const bool good = known && !cyclic && found->second(step);
  settle(node, frame, step);
  const bool product = is_onnx_product(node.type);
  // An operation from elsewhere may be products too.
  if (!known && !node.domain.empty() && node.domain != "ai.onnx" && !product && silent_ == 0)
    result_.unknown.add(frame.prefix + onnx_node_name(node), 1);
  if (product && !good) {
    std::string name = frame.prefix + onnx_node_name(node);
    const std::string reason = reason_of(node, step, name);
    leave_out(std::move(name), 1, reason);
  }
}

// What the rule did not give comes from the file's own word, if it has one; what is still not known has a
// root.
void OnnxWalk::settle(const OnnxNode& node, const OnnxFrame& frame, const OnnxStep& step) {
  bool any = false, weights = node.bodies.empty();
  uint32_t root = step.blamed();
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const OnnxValue* value = step.in(i);
    if (value == nullptr) continue;
    any = true;
    weights = weights && value->weight;
    if (root == kNoValue) root = value->root;
  }
  for (uint32_t output : node.outputs) {
    if (output == kNoValue) continue;
    OnnxValue& value = at(output, frame);
    if (any ? weights : node.type == "Constant") value.weight = true;
    if (step.real() || !node.inputs.empty())
      value.real = step.real().value_or(step.has(0) && step.in(0)->real);
    value.root = complete(value) ? kNoValue : root == kNoValue ? output + frame.base : root;
  }
}

// Appends to the name which input is to blame.
std::string OnnxWalk::reason_of(const OnnxNode& node, const OnnxStep& step, std::string& name) const {
  if (!step.reason().empty()) return step.reason();
  uint32_t root = step.blamed();
  for (size_t i = 0; i < node.inputs.size() && root == kNoValue; ++i)
    root = graph_.values[step.input(i)].root;
  if (root == kNoValue) return "their sizes do not follow from their inputs";
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const uint32_t input = step.input(i);
    if (input != root && graph_.values[input].root != root) continue;
    name += fmt::format(" (input {})", i + 1);
    break;
  }
  return origin(graph_.values[root]);
}

std::string OnnxWalk::origin(const OnnxValue& value) const {
  const std::string name = cut(value.name);
  if (value.producer != nullptr)
    return fmt::format("the size of `{}` is not known behind {}", name, onnx_node_name(*value.producer));
  if (value.input && !value.ranked) return fmt::format("the graph's input `{}` has no sizes", name);
  if (value.input) {
    for (size_t i = 0; i < value.shape.size(); ++i) {
      if (value.shape[i] != kUnknownSize) continue;
      const std::string& word = value.axes[i].word;
      return fmt::format("axis {} of the graph's input `{}` {}: set it with --axis {}=N", i, name,
                         word.empty() ? "has no size" : fmt::format("is `{}`", cut(word)),
                         word.empty() || word == "?" ? place_of(value, i) : cut(word));
    }
  }
  if (value.weight) return fmt::format("tensor `{}` has more than {} dimensions", name, kMaxOnnxRank);
  return fmt::format("`{}` is no input, tensor or result of a node before", name);
}

void OnnxWalk::leave_out(std::string name, size_t products, const std::string& reason) {
  if (silent_ > 0) return;
  const bool room = result_.left_out.size() < kReasons || result_.left_out.contains(reason);
  (room ? result_.left_out[reason] : result_.other_left_out).add(std::move(name), products);
}

}  // namespace fullwarp::shapes

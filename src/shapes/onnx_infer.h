// Sizes of every value of an ONNX graph, carried from its inputs and tensors through its nodes, and the
// products, convolutions and look-ups that follow. Exported models compute the targets of their Reshapes with
// nodes too (Shape, Gather, Concat), so small tensors are carried with their elements. One rule an operation,
// in onnx_rules.h's table; what no rule can tell is unknown, and every product that needs it is named with
// the place where the size was lost. No rule looks at more than the node's inputs, and no value keeps more
// than 8 sizes and 64 elements, so a graph takes time and memory in proportion to its bytes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "shapes/model.h"
#include "shapes/onnx_graph.h"

namespace fullwarp::shapes {

// Some nodes by name, and how many products they are.
struct OnnxNames {
  std::vector<std::string> first;
  size_t named = 0, all = 0;  // products

  void add(std::string name, size_t products);
  std::string text() const;  // "MatMul a, MatMul b and 7 more"
};

struct OnnxOperations {
  std::vector<Operation> operations;
  std::map<std::string, OnnxNames> left_out;  // products whose sizes are not known, by the reason
  OnnxNames other_left_out;                   // those for more reasons than are kept
  OnnxNames unknown;                          // nodes from outside of ONNX that no rule is for
  OnnxNames assumed;                          // products that got batch x sequence rows
  OnnxNames once;                             // ... in loops whose trip count is not known: counted once
  OnnxNames branches;  // ... of the branch that costs more, where the file leaves it open
  bool open = false;   // the graph's inputs have dynamic axes
  std::vector<std::string> notes;
};

// What a dynamic axis stands for: "batch_size", "past_sequence_length + sequence_length"; kUnknownSize if
// that is none of batch, sequence, cached tokens and those that `run.axes` sets.
int64_t size_of_axis(const std::string& word, const RunOptions& run);

OnnxOperations infer_onnx(OnnxGraph graph, const RunOptions& run);

std::string onnx_node_name(const OnnxNode& node);  // "MatMul layer.0/mul", cut where it is long
// Every size and element is known.
bool complete(const OnnxValue& value);

// Where nodes stand: in the graph, in the body of loops, in a call of one of the model's functions.
struct OnnxFrame {
  uint32_t base = 0;               // added to the numbers of the nodes' values
  double times = 1;                // how often the nodes run
  std::string prefix;              // of their names: "Block layer.1/"
  int depth = 0;                   // of calls
  const OnnxNode* call = nullptr;  // in a function: what its attributes stand for
  const OnnxFunction* function = nullptr;
  const OnnxFrame* outer = nullptr;  // of the call
};

// One node whose inputs are known as far as they ever will be.
class OnnxStep {
 public:
  OnnxStep(OnnxGraph& graph, const OnnxNode& node, const OnnxFrame& frame, const RunOptions& run,
           OnnxOperations& result)
      : graph_(graph), node_(node), frame_(frame), run_(run), result_(result) {}

  const OnnxNode& node() const { return node_; }
  const RunOptions& run() const { return run_; }
  size_t inputs() const { return node_.inputs.size(); }
  size_t outputs() const { return node_.outputs.size(); }
  uint32_t input(size_t index) const;       // its value's number; kNoValue where the node leaves it out
  const OnnxValue* in(size_t index) const;  // null likewise
  bool has(size_t index) const { return in(index) != nullptr; }
  // Null, and the input to blame, if it is absent or not known.
  const OnnxShape* shape(size_t index);
  const std::vector<double>* numbers(size_t index);

  const OnnxAttribute* attribute(std::string_view name) const;
  double number(std::string_view name, double otherwise) const;
  const std::vector<double>* list(std::string_view name) const;  // null if absent
  std::string word(std::string_view name) const;

  // The rule cannot go on: because of an input, or for a reason of its own.
  bool fail(size_t input);
  bool refuse(std::string reason);

  void give(size_t output, OnnxShape shape);
  void give_numbers(size_t output, OnnxShape shape, std::vector<double> numbers);
  void give_real(bool real) { real_ = real; }  // outputs are floating point; default: as input 0

  // An operation of this node; `detail` tells several apart. False if a size is not known or out of bounds.
  bool emit(std::variant<Gemm, Conv, Attention, Gather> work, double weights, std::string note = {},
            double count = 1, const std::string& detail = {});
  void assume_rows();  // notes that the rows of this product are batch x sequence

  const std::string& reason() const { return reason_; }
  uint32_t blamed() const { return blamed_; }
  std::optional<bool> real() const { return real_; }

 private:
  OnnxGraph& graph_;
  OnnxValue* out(size_t index);  // null where the node has none, or its name is taken

  const OnnxNode& node_;
  const OnnxFrame& frame_;
  const RunOptions& run_;
  OnnxOperations& result_;
  std::string reason_;
  uint32_t blamed_ = kNoValue;
  std::optional<bool> real_;
};

}  // namespace fullwarp::shapes

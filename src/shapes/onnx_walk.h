// The walk behind infer_onnx(): node after node, into the graphs within nodes and the model's functions.
// onnx_infer.cpp has the nodes, onnx_control.cpp what decides or repeats others.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "shapes/onnx_infer.h"

namespace fullwarp::shapes {

struct OnnxSizes {
  bool ranked = false;
  OnnxShape shape = {};
  bool real = false;
};

// How a body's states are placed among its inputs and outputs, and what its other inputs are.
struct OnnxRepetition {
  size_t first_in = 0, first_out = 0;
  std::vector<std::pair<size_t, OnnxSizes>> others = {};
};

class OnnxWalk {
 public:
  OnnxWalk(OnnxGraph graph, const RunOptions& run) : graph_(std::move(graph)), run_(run) {}

  OnnxOperations take() &&;

 private:
  void bind_first_axes();
  void note_unused_axes();
  void begin(std::vector<OnnxValue>& values, const std::vector<OnnxNode>& nodes);

  void visit(const OnnxNode& node, const OnnxFrame& frame);
  void apply_rule(const OnnxNode& node, const OnnxFrame& frame);
  void settle(const OnnxNode& node, const OnnxFrame& frame, const OnnxStep& step);
  std::string reason_of(const OnnxNode& node, const OnnxStep& step, std::string& name) const;
  std::string origin(const OnnxValue& value) const;
  void leave_out(std::string name, size_t products, const std::string& reason);

  void declared(OnnxValue& value) const;  // its sizes as the file has them, else none
  OnnxValue& at(uint32_t value, const OnnxFrame& frame) { return graph_.values[value + frame.base]; }

  // ---- onnx_control.cpp
  bool control(const OnnxNode& node, const OnnxFrame& frame);               // false: an operation like others
  bool spend(size_t visits, const OnnxNode& node, const OnnxFrame& frame);  // false: too many
  void give(const OnnxNode& node, const OnnxFrame& frame, size_t output, const OnnxSizes& sizes);
  bool run_body(const OnnxNode& node, const OnnxBody& body, const OnnxFrame& frame);
  void branch(const OnnxNode& node, const OnnxFrame& frame, const OnnxStep& step);
  void loop(const OnnxNode& node, const OnnxFrame& frame, const OnnxStep& step);
  void scan(const OnnxNode& node, const OnnxFrame& frame, const OnnxStep& step);
  void iterate(const OnnxNode& node, const OnnxBody& body, const OnnxFrame& frame, const OnnxRepetition& how,
               int64_t trips, std::vector<OnnxSizes>& states);
  // Runs the body with states of the sizes that all iterations share.
  bool repeat(const OnnxNode& node, const OnnxBody& body, const OnnxFrame& frame, const OnnxRepetition& how,
              std::vector<OnnxSizes>& states);
  void give_gathered(const OnnxNode& node, const OnnxBody& body, const OnnxFrame& frame, size_t output,
                     size_t of_body, int64_t trips, double axis);
  void forget(const OnnxBody& body, const OnnxFrame& frame);
  void set_input(const OnnxBody& body, size_t input, const OnnxFrame& frame, const OnnxSizes& sizes);
  void call(const OnnxNode& node, const OnnxFunction& function, const OnnxFrame& frame);

  OnnxGraph graph_;
  RunOptions run_;
  OnnxOperations result_;
  size_t visits_ = 0;  // of nodes besides the first one of each in the graph
  int silent_ = 0;     // sizes are tried out: nothing is noted
};

}  // namespace fullwarp::shapes

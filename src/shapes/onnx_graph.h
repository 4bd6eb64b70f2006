// An ONNX graph as far as sizes need it: nodes, the attributes that decide sizes, the shapes of tensors and
// inputs, and the elements of small tensors (the targets of a Reshape, the bounds of a Slice); graphs within
// nodes (If, Loop, Scan) and the functions that the model defines likewise. Weights are passed over.
// onnx_graph.cpp reads it, onnx_infer.h carries sizes through it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "shapes/bytes.h"

namespace fullwarp::shapes {

inline constexpr size_t kMaxOnnxRank = 8;       // a tensor with more dimensions has no known shape
inline constexpr size_t kMaxOnnxElements = 64;  // of a tensor whose elements are kept
inline constexpr int64_t kUnknownSize = -1;
inline constexpr uint32_t kNoValue = 0;  // the value without a name: an input that a node leaves out
inline constexpr size_t kMaxOnnxNodes = 300'000;
inline constexpr int kMaxOnnxDepth = 8;  // of graphs in graphs, and of functions that call functions

struct OnnxNode;

using OnnxShape = std::vector<int64_t>;  // outermost first; kUnknownSize where nothing tells

// A dimension of an input, output or value_info.
struct OnnxAxis {
  int64_t size = kUnknownSize;
  std::string word;  // the name of a dynamic axis; empty: none
};

struct OnnxValue {
  std::string name;
  bool ranked = false;  // `shape` says something
  OnnxShape shape;
  bool numbered = false;               // the elements are known, NaN for those that are not
  std::vector<double> numbers;         // row-major
  bool real = false;                   // floating point
  bool weight = false;                 // a tensor of the file, or one that only such decide
  bool input = false;                  // of the graph
  const OnnxNode* producer = nullptr;  // computes it
  uint32_t root = kNoValue;            // the value at which sizes were lost, if they are not known in full
  std::vector<OnnxAxis> axes;          // as the file declares them
};

struct OnnxAttribute {
  std::string name;
  std::string reference;        // in a function: the attribute of the call that it stands for
  std::vector<double> numbers;  // of a number, a list of numbers or a small tensor
  std::string word;
  bool tensor = false;
  OnnxShape shape;  // of a tensor
  bool real = false;
};

// A graph within a node: a branch of an If, what a Loop or Scan repeats. It sees the values around it; its
// own are those from `first` to before `last` (and those of the graphs within it).
struct OnnxBody {
  std::string name;  // of the attribute: "then_branch"
  std::vector<OnnxNode> nodes;
  std::vector<uint32_t> inputs, outputs;
  uint32_t first = 0, last = 0;
  bool too_deep = false;  // nested beyond kMaxOnnxDepth, and not read
};

struct OnnxNode {
  std::string type, name, domain;
  std::vector<uint32_t> inputs, outputs;  // values
  std::vector<OnnxAttribute> attributes;
  std::vector<OnnxBody> bodies;
};

// An operation that the model defines by others.
struct OnnxFunction {
  std::vector<uint32_t> inputs, outputs;
  std::vector<OnnxNode> nodes;
  std::vector<OnnxValue> values;  // its own numbering; values[kNoValue] is none
  std::vector<OnnxAttribute> defaults;
};

struct OnnxGraph {
  std::vector<OnnxNode> nodes;
  std::vector<OnnxValue> values;  // values[kNoValue] is none
  std::vector<uint32_t> inputs;
  std::map<std::string, OnnxFunction> functions;                      // by "domain:name"
  double half_elements = 0, brain_elements = 0, single_elements = 0;  // of weights: fp16, bf16, fp32
};

// Operations that compute with matrices or convolve: none of them is left out without saying so.
bool is_onnx_product(std::string_view type);

std::string onnx_function_key(const std::string& domain, const std::string& name);

Result<OnnxGraph> read_onnx_graph(const ByteSource& source, const std::string& file);

}  // namespace fullwarp::shapes

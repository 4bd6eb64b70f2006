// One pass over a model in the making: layers become operations, split over ranks, with their backward steps.
// A linear layer y = x W^T with W[out,in] multiplies [tokens,in] by [in,out]; its backward pass is two more
// products. On one of T tensor-parallel ranks, layers that widen are split by outputs and those that narrow
// by inputs, as Megatron-LM does, so that a pair needs one reduction.
#pragma once

#include <optional>
#include <string>

#include "shapes/model.h"

namespace fullwarp::shapes {

struct Linear {
  std::string name;
  int64_t rows = 1, out = 1, in = 1;
  double count = 1;
  Split split = Split::none;
  bool transposed = false;  // weights stored as [in, out]
  bool own_weights = true;  // false: those of another layer
  std::string note = {};
  std::optional<Quantization> quantization = {};
};

class Pass {
 public:
  explicit Pass(const RunOptions& run) : run_(run) {}

  const RunOptions& run() const { return run_; }
  int64_t part(int64_t size) const;  // of one rank, at least 1

  void linear(const Linear& layer);
  void attention(const std::string& name, Attention work, double count, std::string note = {});
  void gather(const std::string& name, int64_t rows, int64_t width, int64_t table_rows);
  // `from_data`: nothing before it learns, so that it has no gradient by its input.
  void convolution(const std::string& name, const Conv& work, double count, bool from_data,
                   std::string note = {});
  // A product or convolution of a graph as it stands; with --backward its gradients too.
  void operation(const Operation& operation, bool from_data);
  void as_it_ran(const Operation& operation) { result_.operations.push_back(operation); }

  // `value` does not divide among the ranks.
  void check_parallel(const std::string& number, int64_t value);
  void not_divisible(const std::string& number, const std::string& what, int64_t value);

  Derived take() && { return std::move(result_); }

 private:
  void check_blocks(const Linear& layer, int64_t out, int64_t in);
  void add(Operation operation) { result_.operations.push_back(std::move(operation)); }

  const RunOptions& run_;
  Derived result_;
};

// The layers of one stack (derive_layers.cpp).
void derive_layers(const Model& model, const Architecture& architecture, Pass& pass);

}  // namespace fullwarp::shapes

// What can be written behind `fullwarp shapes`.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/cli.h"

namespace fullwarp::cli {

struct ShapesArguments {
  std::vector<std::string> files;
  int64_t batch = 8, sequence = 0, tensor_parallel = 1;  // sequence 0: 1024, or the model's most
  int64_t cached = 0;                                    // tokens in the KV cache
  int64_t heads = 0;              // of attention, where the file does not say; 0: unknown
  std::vector<std::string> axes;  // NAME=N: of ONNX graphs
  bool backward = false, last_logits = false;
  std::string dtype;  // empty: the file's 16-bit type, else bf16
  std::string gpu = "h200";
  std::string format = "text", output, picture, number;
  std::string fail_on = "warning", colour = "auto";
  int64_t rows = 30;
};

void define_shapes(CLI::App& app, ShapesArguments& arguments);
int run_shapes(const ShapesArguments& arguments, const Streams& streams);

}  // namespace fullwarp::cli

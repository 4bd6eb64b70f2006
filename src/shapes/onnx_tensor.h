// TensorProto of ONNX: name, type and sizes, and the elements where they are few. Data of weights is passed
// over.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shapes/onnx_graph.h"
#include "shapes/onnx_message.h"

namespace fullwarp::shapes {

// TensorProto.DataType of the types that weights are counted by.
inline constexpr int64_t kOnnxFloat = 1, kOnnxHalf = 10, kOnnxBrain = 16;

struct OnnxTensor {
  std::string name;
  OnnxShape shape;
  int64_t type = 0;
  std::string raw;               // little-endian elements, if they are few
  std::vector<int64_t> whole;    // int32_data, int64_data
  std::vector<double> fraction;  // float_data, double_data
};

bool onnx_is_real(int64_t type);  // floating point
double onnx_single(Cursor& cursor);
// A repeated float, packed or one at a time; only as many as attributes keep. False if damaged.
bool onnx_singles(Cursor& cursor, const OnnxField& field, std::vector<double>& numbers);
bool read_onnx_tensor(Cursor& cursor, uint64_t length, OnnxTensor& tensor);  // false if damaged

// Of a small tensor; none if there are many, or of a type that sizes are not written in.
std::vector<double> onnx_elements(const OnnxTensor& tensor);

}  // namespace fullwarp::shapes

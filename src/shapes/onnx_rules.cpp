#include "shapes/onnx_rules.h"

#include <algorithm>
#include <cmath>

namespace fullwarp::shapes {

bool is_onnx_product(std::string_view type) {
  static constexpr std::string_view kTypes[] = {"Attention",
                                                "Conv",
                                                "ConvInteger",
                                                "ConvTranspose",
                                                "Einsum",
                                                "FusedConv",
                                                "FusedGemm",
                                                "FusedMatMul",
                                                "GRU",
                                                "Gemm",
                                                "GemmFloat8",
                                                "LSTM",
                                                "DynamicQuantizeMatMul",
                                                "MatMul",
                                                "MatMulInteger",
                                                "MatMulNBits",
                                                "DeformConv",
                                                "MatMulIntegerToFloat",
                                                "MoE",
                                                "MultiHeadAttention",
                                                "PackedAttention",
                                                "QAttention",
                                                "QGemm",
                                                "QLinearConv",
                                                "QLinearMatMul",
                                                "RNN",
                                                "QMoE",
                                                "GroupQueryAttention",
                                                "NhwcConv",
                                                "PackedMultiHeadAttention",
                                                "SparseAttention",
                                                "PagedAttention",
                                                "DecoderMaskedMultiHeadAttention",
                                                "DynamicQuantizeLSTM",
                                                "QOrderedMatMul",
                                                "TransposeMatMul",
                                                "LongformerAttention"};
  return std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes);
}

int64_t whole(double number) {
  constexpr double kMost = 1099511627776.0;  // 2^40: far beyond sizes, and sums of them fit
  if (std::isnan(number)) return kNotWhole;
  return static_cast<int64_t>(std::clamp(number, -kMost, kMost));
}

int64_t allowed(int64_t size) { return size >= 0 && size <= kMaxSize ? size : kUnknownSize; }

int64_t times(int64_t a, int64_t b) {
  if (allowed(a) == kUnknownSize || allowed(b) == kUnknownSize) return kUnknownSize;
  return allowed(a * b);  // 2^31 * 2^31 fits
}

int64_t elements_of(std::span<const int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape) count = times(count, size);
  return count;
}

std::optional<size_t> axis_of(double axis, size_t rank) {
  const int64_t place = whole(axis);
  const auto dimensions = static_cast<int64_t>(rank);
  if (place == kNotWhole || place < -dimensions || place >= dimensions) return std::nullopt;
  return static_cast<size_t>(place < 0 ? place + dimensions : place);
}

bool broadcast(const OnnxShape& a, const OnnxShape& b, OnnxShape& result) {
  const size_t rank = std::max(a.size(), b.size());
  OnnxShape joined(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    int64_t& size = joined[rank - 1 - i];
    if (x == y || y == 1) {
      size = x;
    } else if (x == 1) {
      size = y;
    } else if (x == kUnknownSize || y == kUnknownSize) {
      size = std::max(x, y);  // the known one is no 1, so it decides
    } else {
      return false;
    }
  }
  result = std::move(joined);
  return true;
}

const std::vector<double>* list_or_input(OnnxStep& step, std::string_view attribute, size_t input,
                                         bool& bad) {
  bad = false;
  if (const std::vector<double>* list = step.list(attribute)) return list;
  if (!step.has(input)) return nullptr;
  const std::vector<double>* numbers = step.numbers(input);
  bad = numbers == nullptr;
  return numbers;
}

int64_t flat_index(const OnnxShape& shape, std::span<const int64_t> index) {
  int64_t at = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) at = at * shape[axis] + index[axis];
  return at;
}

}  // namespace fullwarp::shapes

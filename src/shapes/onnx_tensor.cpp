#include "shapes/onnx_tensor.h"

#include <array>
#include <cstring>

#include "shapes/read.h"

namespace fullwarp::shapes {

namespace {

// TensorProto.DataType
enum : int64_t { kInt32 = 6, kInt64 = 7, kBool = 9, kDouble = 11 };

float single(Cursor& cursor) {
  const auto bits = cursor.little_endian<uint32_t>();
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
double element(const std::string& raw, size_t index) {
  T value = {};
  std::memcpy(&value, raw.data() + index * sizeof(T), sizeof(T));  // hosts and ONNX are little-endian
  return static_cast<double>(value);
}

}  // namespace

bool onnx_is_real(int64_t type) {
  return type == kOnnxFloat || type == kOnnxHalf || type == kDouble || type == kOnnxBrain ||
         (type >= 17 && type <= 20);
}

double onnx_single(Cursor& cursor) { return single(cursor); }

bool onnx_singles(Cursor& cursor, const OnnxField& f, std::vector<double>& numbers) {
  if (f.value % 4 != 0) return false;
  for (uint64_t i = 0; i < f.value && !cursor.failed(); i += 4) {
    const double value = single(cursor);
    if (numbers.size() <= kMaxOnnxElements) numbers.push_back(value);
  }
  return !cursor.failed();
}

bool read_onnx_tensor(Cursor& cursor, uint64_t length, OnnxTensor& tensor) {
  OnnxMessage message(cursor, length);
  for (OnnxField f; message.next(f);) {
    if (f.number == 1 && (f.wire == 0 || f.wire == 2)) {
      if (!onnx_numbers(cursor, f, kMaxOnnxRank + 1, tensor.shape)) return false;
    } else if (f.wire == 0 && f.number == 2) {
      tensor.type = static_cast<int64_t>(f.value);
    } else if (f.number == 4 && (f.wire == 2 || f.wire == 5) && f.value <= 4 * kMaxOnnxElements) {
      if (!onnx_singles(cursor, f, tensor.fraction)) return false;
    } else if ((f.number == 5 || f.number == 7) && (f.wire == 0 || f.value <= 10 * kMaxOnnxElements)) {
      if (!onnx_numbers(cursor, f, kMaxOnnxElements + 1, tensor.whole)) return false;
    } else if (f.wire == 2 && f.number == 8) {
      tensor.name = cursor.text(f.value, kMaxNameBytes);
    } else if (f.wire == 2 && f.number == 9 && f.value <= 8 * kMaxOnnxElements) {
      tensor.raw = cursor.text(f.value, kMaxNameBytes);
    } else {
      message.skip(f);  // the data
    }
  }
  return !message.bad();
}

std::vector<double> onnx_elements(const OnnxTensor& tensor) {
  int64_t count = 1;
  for (int64_t size : tensor.shape) {
    count = size == 0 ? 0 : count > static_cast<int64_t>(kMaxOnnxElements) ? count : count * size;
  }
  if (count < 1 || count > static_cast<int64_t>(kMaxOnnxElements)) return {};
  const auto many = static_cast<size_t>(count);
  if (tensor.whole.size() == many) return {tensor.whole.begin(), tensor.whole.end()};
  if (tensor.fraction.size() == many) return tensor.fraction;
  using Reader = double (*)(const std::string&, size_t);
  struct Type {
    int64_t type;
    size_t bytes;
    Reader read;
  };
  static const std::array<Type, 5> kTypes = {{{kOnnxFloat, 4, element<float>},
                                              {kInt32, 4, element<int32_t>},
                                              {kInt64, 8, element<int64_t>},
                                              {kBool, 1, element<uint8_t>},
                                              {kDouble, 8, element<double>}}};
  std::vector<double> numbers;
  for (const Type& type : kTypes)
    if (type.type == tensor.type && tensor.raw.size() == many * type.bytes)
      for (size_t i = 0; i < many; ++i) numbers.push_back(type.read(tensor.raw, i));
  return numbers;
}

}  // namespace fullwarp::shapes

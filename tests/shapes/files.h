// Small model files of our own making, as bytes.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fullwarp::shapes::test {

template <class T>
std::string little_endian(T value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>(static_cast<uint64_t>(value) >> (8 * i));
  return bytes;
}

inline std::string safetensors(const std::string& header) {
  return little_endian<uint64_t>(header.size()) + header;
}

// ---- GGUF

inline std::string gguf_text(const std::string& text) { return little_endian<uint64_t>(text.size()) + text; }
inline std::string gguf_number(const std::string& key, uint32_t value) {
  return gguf_text(key) + little_endian<uint32_t>(4) + little_endian<uint32_t>(value);
}
inline std::string gguf_string(const std::string& key, const std::string& value) {
  return gguf_text(key) + little_endian<uint32_t>(8) + gguf_text(value);
}
inline std::string gguf_strings(const std::string& key, const std::vector<std::string>& values) {
  std::string bytes = gguf_text(key) + little_endian<uint32_t>(9) + little_endian<uint32_t>(8) +
                      little_endian<uint64_t>(values.size());
  for (const std::string& value : values) bytes += gguf_text(value);
  return bytes;
}
// `sizes` with the innermost first, as the format has them.
inline std::string gguf_tensor(const std::string& name, const std::vector<uint64_t>& sizes, uint32_t type) {
  std::string bytes = gguf_text(name) + little_endian<uint32_t>(static_cast<uint32_t>(sizes.size()));
  for (uint64_t size : sizes) bytes += little_endian<uint64_t>(size);
  return bytes + little_endian<uint32_t>(type) + little_endian<uint64_t>(0);
}
inline std::string gguf(uint32_t version, const std::vector<std::string>& pairs,
                        const std::vector<std::string>& tensors) {
  std::string bytes = "GGUF" + little_endian<uint32_t>(version) + little_endian<uint64_t>(tensors.size()) +
                      little_endian<uint64_t>(pairs.size());
  for (const std::string& pair : pairs) bytes += pair;
  for (const std::string& tensor : tensors) bytes += tensor;
  return bytes;
}

// ---- Protocol Buffers, and ONNX's messages

inline std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
inline std::string number_field(uint32_t field, uint64_t value) { return varint(field << 3) + varint(value); }
inline std::string bytes_field(uint32_t field, const std::string& bytes) {
  return varint(field << 3 | 2) + varint(bytes.size()) + bytes;
}

// `type` as TensorProto has them: 1 float32, 7 int64, 10 float16.
inline std::string onnx_tensor(const std::string& name, const std::vector<uint64_t>& sizes,
                               size_t data_bytes = 0, uint64_t type = 1) {
  std::string bytes;
  for (uint64_t size : sizes) bytes += number_field(1, size);
  bytes += number_field(2, type) + bytes_field(8, name);
  return data_bytes == 0 ? bytes : bytes + bytes_field(9, std::string(data_bytes, 'x'));
}
inline std::string onnx_numbers_tensor(const std::string& name, const std::vector<uint64_t>& sizes,
                                       const std::vector<int64_t>& elements) {
  std::string bytes, data;
  for (uint64_t size : sizes) bytes += number_field(1, size);
  for (int64_t element : elements) data += little_endian<int64_t>(element);
  return bytes + number_field(2, 7) + bytes_field(8, name) + bytes_field(9, data);
}
inline std::string onnx_floats_tensor(const std::string& name, const std::vector<float>& elements) {
  std::string data;
  for (float element : elements) data += little_endian<uint32_t>(std::bit_cast<uint32_t>(element));
  return number_field(1, elements.size()) + number_field(2, 1) + bytes_field(8, name) + bytes_field(9, data);
}
inline std::string onnx_value(const std::string& name,
                              const std::vector<std::pair<uint64_t, std::string>>& sizes) {
  std::string dims;
  for (const auto& [size, word] : sizes)
    dims += bytes_field(1, word.empty() ? number_field(1, size) : bytes_field(2, word));
  return bytes_field(1, name) + bytes_field(2, bytes_field(1, number_field(1, 1) + bytes_field(2, dims)));
}
inline std::string onnx_ints(const std::string& name, const std::vector<uint64_t>& values) {
  std::string bytes = bytes_field(1, name);
  for (uint64_t value : values) bytes += number_field(8, value);
  return bytes;
}
inline std::string onnx_int(const std::string& name, uint64_t value) {
  return bytes_field(1, name) + number_field(3, value);
}
inline std::string onnx_text(const std::string& name, const std::string& value) {
  return bytes_field(1, name) + bytes_field(4, value);
}
// A small tensor as an attribute: the value of a Constant.
inline std::string onnx_numbers(const std::string& name, const std::vector<uint64_t>& sizes,
                                const std::vector<int64_t>& elements) {
  return bytes_field(1, name) + bytes_field(5, onnx_numbers_tensor("", sizes, elements));
}
inline std::string onnx_nodes(const std::string& type, const std::vector<std::string>& inputs,
                              const std::vector<std::string>& outputs,
                              const std::vector<std::string>& attributes = {}) {
  std::string bytes;
  for (const std::string& input : inputs) bytes += bytes_field(1, input);
  for (const std::string& output : outputs) bytes += bytes_field(2, output);
  bytes += bytes_field(3, "node of " + outputs.front()) + bytes_field(4, type);
  for (const std::string& attribute : attributes) bytes += bytes_field(5, attribute);
  return bytes;
}
inline std::string onnx_node(const std::string& type, const std::vector<std::string>& inputs,
                             const std::string& output, const std::vector<std::string>& attributes = {}) {
  return onnx_nodes(type, inputs, {output}, attributes);
}
struct OnnxFile {
  std::vector<std::string> nodes = {}, tensors = {}, inputs = {};
  std::string model() const {
    std::string graph;
    for (const std::string& node : nodes) graph += bytes_field(1, node);
    graph += bytes_field(2, "graph");
    for (const std::string& tensor : tensors) graph += bytes_field(5, tensor);
    for (const std::string& input : inputs) graph += bytes_field(11, input);
    return number_field(1, 8) + bytes_field(2, "tests") + bytes_field(7, graph);
  }
};

}  // namespace fullwarp::shapes::test

// Readers: one function per format, each from bytes that a stranger may have written to a Model. All of them
// check before they believe: lengths against the file, sizes against kMaxSize, counts against the limits
// here. None unpickles, runs or loads anything but names and sizes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shapes/bytes.h"
#include "shapes/model.h"

namespace fullwarp::shapes {

inline constexpr uint64_t kMaxConfigBytes = 16 << 20;
inline constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // as the safetensors format has it
inline constexpr uint64_t kMaxTensors = 1'000'000;
inline constexpr uint64_t kMaxNameBytes = 4096;
inline constexpr uint64_t kMaxShards = 10'000;
inline constexpr uint64_t kMaxLogBytes = uint64_t{1} << 32;
inline constexpr uint64_t kMaxLineBytes = 1 << 20;
inline constexpr size_t kMaxProducts = 200'000;  // different ones in a log or list

// The format is told by the content, and by the name where content does not tell. A folder stands for the
// config.json, index or single model file in it. `run` fills in what files leave open: sizes of a
// graph (ONNX), heads.
Result<Model> read_model(const std::string& path, const RunOptions& run);

// A tensor as safetensors, GGUF and the index know it.
struct Tensor {
  std::string name;
  std::string type;            // "BF16", "Q4_K"
  std::vector<int64_t> shape;  // outermost first
};

Result<Model> read_config(std::string_view text, const std::string& file);
Result<std::vector<Tensor>> read_safetensors_header(const ByteSource& source, const std::string& file);
Result<std::vector<std::string>> read_safetensors_index(std::string_view text, const std::string& file);
Result<Model> read_gguf(const ByteSource& source, const std::string& file, const RunOptions& run = {});
Result<Model> read_onnx(const ByteSource& source, const std::string& file, const RunOptions& run);
Result<Model> read_cublas_log(const ByteSource& source, const std::string& file);
Result<Model> read_list(const ByteSource& source, const std::string& file);

// Weights of the tensors, equal layers folded into one; the rest of the model is told by names alone. `heads`
// of every attention, or 0 where only the tensors may tell.
Model model_of_tensors(const std::vector<Tensor>& tensors, const std::string& file, int64_t heads = 0);

// Lines of a source, one at a time, without holding the file.
class Lines {
 public:
  explicit Lines(const ByteSource& source) : source_(source) {}
  bool next(std::string& line);                // false at the end; a line longer than kMaxLineBytes is cut
  uint32_t number() const { return number_; }  // of the line that `next` gave, from 1

 private:
  const ByteSource& source_;
  uint64_t offset_ = 0;  // of what follows the block in the source
  std::string block_;
  size_t at_ = 0;  // in the block
  uint32_t number_ = 0;
};

}  // namespace fullwarp::shapes

// Which reader a path needs, and what stands beside a file: shards by their index, a config for safetensors.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "shapes/read.h"

namespace fullwarp::shapes {

namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

Result<std::string> text_of(const std::string& path, uint64_t most) {
  Result<std::unique_ptr<ByteSource>> source = open_file(path);
  if (!source) return source.error();
  return read_all(**source, most, path);
}

Result<std::vector<Tensor>> sharded_tensors(const std::string& index) {
  const Result<std::string> text = text_of(index, kMaxHeaderBytes);
  if (!text) return text.error();
  const Result<std::vector<std::string>> files = read_safetensors_index(*text, index);
  if (!files) return files.error();
  std::vector<Tensor> all;
  for (const std::string& file : *files) {
    const std::string path = (fs::path(index).parent_path() / file).string();
    Result<std::unique_ptr<ByteSource>> source = open_file(path);
    if (!source) return source.error();
    Result<std::vector<Tensor>> tensors = read_safetensors_header(**source, path);
    if (!tensors) return tensors.error();
    if (all.size() + tensors->size() > kMaxTensors) return Error{"more than a million tensors", index};
    std::move(tensors->begin(), tensors->end(), std::back_inserter(all));
  }
  return all;
}

// The vocabulary that the weights really have: embeddings are resized without touching the config.
void correct_vocabulary(Model& model, const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) {
    if (tensor.shape.size() != 2 || model.find("vocab_size") == nullptr) continue;
    const bool embedding = tensor.name.ends_with("embed_tokens.weight") ||
                           tensor.name.ends_with("wte.weight") ||
                           tensor.name.ends_with("word_embeddings.weight");
    if (!embedding || tensor.shape[0] == model.at("vocab_size") || tensor.shape[0] < 1) continue;
    Number number = *model.find("vocab_size");
    model.notes.push_back(fmt::format("vocab_size is {} in the config and {} in tensor {}: the tensor counts",
                                      number.value, tensor.shape[0], tensor.name));
    number.value = tensor.shape[0];
    model.set(std::move(number));
    return;
  }
}

Result<Model> safetensors_model(const std::string& path, const Result<std::vector<Tensor>>& tensors,
                                const RunOptions& run) {
  if (!tensors) return tensors.error();
  const fs::path config = fs::path(path).parent_path() / "config.json";
  std::string unused;
  if (is_file(config)) {
    const Result<std::string> text = text_of(config.string(), kMaxConfigBytes);
    if (text) {
      Result<Model> model = read_config(*text, config.string());
      if (model) {
        if (const Model from_tensors = model_of_tensors(*tensors, path); from_tensors.dtype)
          model->dtype = from_tensors.dtype;
        correct_vocabulary(*model, *tensors);
        model->notes.push_back(fmt::format("{} tensors in {}; the layers' numbers are those of config.json",
                                           tensors->size(), fs::path(path).filename().string()));
        return model;
      }
      unused = fmt::format("config.json is not used: {}", model.error().message);
    }
  }
  Model model = model_of_tensors(*tensors, path, run.heads);
  if (!unused.empty()) model.notes.push_back(unused);
  if (model.weights.empty())
    return Error{fmt::format("no matrix among the {} tensors", tensors->size()), path};
  return model;
}

Result<std::string> file_of_folder(const std::string& folder) {
  for (const char* name : {"model.safetensors.index.json", "model.safetensors", "config.json"})
    if (is_file(fs::path(folder) / name)) return (fs::path(folder) / name).string();
  return Error{"a folder without model.safetensors.index.json, model.safetensors or config.json", folder, 0,
               0, "name the model's file"};
}

bool looks_like_log(std::string_view start) {
  return start.find("[cublasLt]") != std::string_view::npos ||
         start.find("I! cuBLAS") != std::string_view::npos ||
         start.find("cublasLt") != std::string_view::npos;
}

// The first bytes of pickles: PyTorch's zip files and protocol 2 and above.
bool looks_like_pickle(std::string_view start, const std::string& name) {
  return start.starts_with("PK\x03\x04") || start.starts_with("\x80\x02") || start.starts_with("\x80\x03") ||
         start.starts_with("\x80\x04") || name.ends_with(".pt") || name.ends_with(".pth") ||
         name.ends_with(".ckpt");
}

}  // namespace

bool Lines::next(std::string& line) {
  constexpr uint64_t kBlockBytes = 64 * 1024;
  line.clear();
  bool any = false;
  for (;;) {
    if (at_ == block_.size()) {
      block_.resize(std::min(kBlockBytes, source_.size() - offset_));
      at_ = 0;
      if (block_.empty() || !source_.read(offset_, block_)) {
        block_.clear();
        number_ += any ? 1 : 0;
        return any;
      }
      offset_ += block_.size();
    }
    any = true;
    const size_t end = std::min(block_.find('\n', at_), block_.size());
    line.append(block_, at_,
                std::min(end - at_, kMaxLineBytes - std::min<size_t>(kMaxLineBytes, line.size())));
    const bool found = end < block_.size();
    at_ = found ? end + 1 : end;
    if (found) {
      ++number_;
      return true;
    }
  }
}

Result<Model> read_model(const std::string& given, const RunOptions& run) {
  std::string path = given;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    Result<std::string> file = file_of_folder(path);
    if (!file) return file.error();
    path = *file;
  }
  Result<std::unique_ptr<ByteSource>> opened = open_file(path);
  if (!opened) return opened.error();
  const ByteSource& source = **opened;
  std::string start(std::min<uint64_t>(source.size(), 4096), '\0');
  if (start.empty() || !source.read(0, start)) return Error{"the file is empty", path};

  if (start.starts_with("version https://git-lfs"))
    return Error{"a pointer of Git LFS stands where the file should be", path, 0, 0,
                 "get the file itself: git lfs pull"};
  if (start.starts_with("GGUF")) return read_gguf(source, path, run);
  if (path.ends_with(".index.json")) return safetensors_model(path, sharded_tensors(path), run);
  if (path.ends_with(".safetensors") || (start.size() > 9 && start[8] == '{' && start[7] == '\0'))
    return safetensors_model(path, read_safetensors_header(source, path), run);
  if (path.ends_with(".onnx")) return read_onnx(source, path, run);
  if (looks_like_pickle(start, path))
    return Error{"a pickle can run any code when it is opened, so it is not read", path, 0, 0,
                 "save the model as safetensors, or give its config.json"};
  const size_t first = start.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first != std::string::npos && start[first] == '{') {
    const Result<std::string> text = read_all(source, kMaxConfigBytes, path);
    if (!text) return text.error();
    return read_config(*text, path);
  }
  if (looks_like_log(start)) return read_cublas_log(source, path);
  if (start.find('\0') != std::string::npos)
    return Error{
        "not a file that is known", path, 0, 0,
        "safetensors, GGUF, ONNX (named .onnx), config.json, logs of cuBLAS and lists M,N,K,dtype are read"};
  return read_list(source, path);
}

}  // namespace fullwarp::shapes

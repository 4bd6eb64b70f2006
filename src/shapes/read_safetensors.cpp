// safetensors: 8 bytes of length, then a JSON object {"name": {"dtype", "shape", "data_offsets"}, ...}, then
// the data, which is never read. Headers and the index of a sharded model are taken in through events (SAX),
// so that memory holds the names and shapes and nothing else.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "shapes/read.h"

namespace fullwarp::shapes {

namespace {

constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxDimensions = 8;

using Json = nlohmann::json;

// Common to both files: objects are counted by depth, anything unexpected is passed over, errors stop.
class Events : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return value_seen(); }
  bool boolean(bool) override { return value_seen(); }
  bool number_integer(number_integer_t value) override { return number(value); }
  bool number_unsigned(number_unsigned_t value) override {
    return number(value > static_cast<uint64_t>(INT64_MAX) ? INT64_MAX : static_cast<int64_t>(value));
  }
  bool number_float(number_float_t, const string_t&) override { return number(-1); }
  bool string(string_t& value) override { return text(value); }
  bool binary(binary_t&) override { return value_seen(); }
  bool start_object(size_t) override { return deeper(); }
  bool end_object() override { return shallower(); }
  bool start_array(size_t) override { return deeper(); }
  bool end_array() override { return shallower(); }
  bool key(string_t& name) override {
    if (depth_ <= kKeys) keys_[depth_] = name;
    return true;
  }
  bool parse_error(size_t at, const std::string&, const nlohmann::detail::exception&) override {
    return fail(fmt::format("the header is no valid JSON near its byte {}", at));
  }

  const std::string& message() const { return message_; }

 protected:
  static constexpr size_t kKeys = 2;
  virtual bool number(int64_t) { return true; }
  virtual bool text(const std::string&) { return true; }
  virtual bool leave() { return true; }  // after an object or array, at the depth around it
  bool value_seen() { return true; }
  bool fail(std::string message) {
    if (message_.empty()) message_ = std::move(message);
    return false;
  }

  size_t depth_ = 0;
  std::string keys_[kKeys + 1];

 private:
  bool deeper() {
    if (++depth_ > kMaxDepth) return fail("the header is nested too deeply");
    if (depth_ <= kKeys) keys_[depth_].clear();
    return true;
  }
  bool shallower() {
    --depth_;
    return leave();
  }

  std::string message_;
};

class HeaderEvents : public Events {
 public:
  std::vector<Tensor> tensors;

 protected:
  // Depth 1 is inside the file's object, 2 inside a tensor's, 3 inside its shape.
  bool number(int64_t value) override {
    if (depth_ != 3 || keys_[2] != "shape") return true;
    if (value < 0 || value > kMaxSize)
      return fail(fmt::format("tensor `{}` has a size outside of 0 to {}", keys_[1].substr(0, 80), kMaxSize));
    if (shape_.size() == kMaxDimensions) return fail("a tensor has more than 8 dimensions");
    shape_.push_back(value);
    return true;
  }
  bool text(const std::string& value) override {
    if (depth_ == 2 && keys_[2] == "dtype") type_ = value.substr(0, 20);
    return true;
  }
  bool leave() override {
    if (depth_ != 1) return true;
    if (keys_[1] != "__metadata__") {
      if (keys_[1].size() > kMaxNameBytes) return fail("a tensor's name is longer than 4096 bytes");
      if (tensors.size() == kMaxTensors) return fail("more than a million tensors");
      tensors.push_back({keys_[1], type_, shape_});
    }
    shape_.clear();
    type_.clear();
    return true;
  }

 private:
  std::string type_;
  std::vector<int64_t> shape_;
};

class IndexEvents : public Events {
 public:
  std::set<std::string> files;

 protected:
  bool text(const std::string& value) override {
    if (depth_ != 2 || keys_[1] != "weight_map") return true;
    // Only files that stand beside the index.
    if (value.empty() || value.size() > 255 || value.find('/') != std::string::npos || value[0] == '.' ||
        value.find('\0') != std::string::npos)
      return fail(fmt::format("`{}` is no name of a file beside the index", value.substr(0, 80)));
    files.insert(value);
    return files.size() <= kMaxShards || fail("more than 10 000 shards");
  }
};

}  // namespace

Result<std::vector<Tensor>> read_safetensors_header(const ByteSource& source, const std::string& file) {
  Cursor cursor(source);
  const auto length = cursor.little_endian<uint64_t>();
  if (cursor.failed() || length < 2)
    return Error{"too short for a safetensors file", file, 0, 0, "is the download complete?"};
  if (length > kMaxHeaderBytes)
    return Error{fmt::format("a header of {} bytes; the format allows {}", length, kMaxHeaderBytes), file};
  if (length > cursor.left())
    return Error{fmt::format("the header should have {} bytes, the file has {}", length, cursor.left()), file,
                 0, 0, "is the download complete?"};
  const std::string header = cursor.text(length, kMaxHeaderBytes);
  HeaderEvents events;
  if (cursor.failed() || !Json::sax_parse(header, &events))
    return Error{events.message().empty() ? "the header cannot be read" : events.message(), file};
  return std::move(events.tensors);
}

Result<std::vector<std::string>> read_safetensors_index(std::string_view text, const std::string& file) {
  IndexEvents events;
  if (!Json::sax_parse(text, &events))
    return Error{events.message().empty() ? "the index cannot be read" : events.message(), file};
  if (events.files.empty()) return Error{"the index has no weight_map", file};
  return std::vector<std::string>(events.files.begin(), events.files.end());
}

}  // namespace fullwarp::shapes

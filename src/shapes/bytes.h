// Bytes of a file or of memory, read piece by piece: a header is read, 400 GB of weights behind it are not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fullwarp::shapes {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual uint64_t size() const = 0;
  // Fills `out` from `offset`; false if that is beyond the end or cannot be read.
  virtual bool read(uint64_t offset, std::span<char> out) const = 0;
};

Result<std::unique_ptr<ByteSource>> open_file(const std::string& path);
std::unique_ptr<ByteSource> bytes_of(std::string_view text);  // which must outlive it

// The whole text, if it is no longer than `most` bytes.
Result<std::string> read_all(const ByteSource& source, uint64_t most, const std::string& file);

// Walks over a source through a window of 64 KB. After the first failed read every read fails and gives 0.
class Cursor {
 public:
  explicit Cursor(const ByteSource& source, uint64_t begin = 0, uint64_t end = UINT64_MAX)
      : source_(source), at_(begin), end_(std::min(end, source.size())) {}

  bool failed() const { return failed_; }
  uint64_t position() const { return at_; }
  uint64_t left() const { return failed_ || at_ > end_ ? 0 : end_ - at_; }
  void skip(uint64_t count);
  void rewind(uint64_t position) { at_ = std::min(at_, position); }
  void bytes(std::span<char> out);
  std::string text(uint64_t length, uint64_t most);  // fails if longer than `most`
  template <class T>
  T little_endian() {
    char raw[sizeof(T)] = {};
    bytes(raw);
    uint64_t value = 0;
    for (size_t i = 0; i < sizeof(T); ++i) value |= uint64_t{static_cast<unsigned char>(raw[i])} << (8 * i);
    return static_cast<T>(value);
  }
  uint64_t varint();  // of Protocol Buffers

 private:
  const ByteSource& source_;
  uint64_t at_, end_;
  std::vector<char> window_;
  uint64_t window_begin_ = 0;
  bool failed_ = false;
};

}  // namespace fullwarp::shapes

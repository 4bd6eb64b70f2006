// Reading little-endian numbers from bytes that a stranger wrote: every read is checked, a read beyond the
// end gives 0 and marks the reader as failed, so that callers may check once at the end of a record.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace fullwarp::cubin {

class Bytes {
 public:
  explicit Bytes(std::string_view data, uint64_t at = 0) : data_(data), at_(at) {}

  template <class T>
  T read() {
    T value = {};
    if (at_ > data_.size() || data_.size() - at_ < sizeof(T)) {
      failed_ = true;
      at_ = data_.size();
      return value;
    }
    std::memcpy(&value, data_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  uint64_t uleb128() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint8_t byte = read<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      if (!(byte & 0x80)) return value;
    }
  }

  int64_t sleb128() {
    uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const uint8_t byte = read<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if (byte & 0x80) continue;
      if ((byte & 0x40) && shift < 64) value |= ~uint64_t{0} << shift;
      return static_cast<int64_t>(value);
    }
  }

  // Up to and without the next NUL, which is skipped.
  std::string_view text() {
    const std::string_view rest = data_.substr(at_ < data_.size() ? at_ : data_.size());
    const size_t end = rest.find('\0');
    if (end == std::string_view::npos) {
      failed_ = true;
      at_ = data_.size();
      return rest;
    }
    at_ += end + 1;
    return rest.substr(0, end);
  }

  void skip(uint64_t count) {
    failed_ |= count > left();
    at_ = count > left() ? data_.size() : at_ + count;
  }

  uint64_t at() const { return at_; }
  uint64_t left() const { return at_ < data_.size() ? data_.size() - at_ : 0; }
  bool failed() const { return failed_; }

 private:
  std::string_view data_;
  uint64_t at_ = 0;
  bool failed_ = false;
};

}  // namespace fullwarp::cubin

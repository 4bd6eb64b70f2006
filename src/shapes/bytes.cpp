#include "shapes/bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fullwarp::shapes {

namespace {

constexpr uint64_t kWindowBytes = 64 * 1024;

class FileSource : public ByteSource {
 public:
  FileSource(int descriptor, uint64_t size) : descriptor_(descriptor), size_(size) {}
  ~FileSource() override { close(descriptor_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  uint64_t size() const override { return size_; }
  bool read(uint64_t offset, std::span<char> out) const override {
    if (offset > size_ || out.size() > size_ - offset) return false;
    while (!out.empty()) {
      const ssize_t got = pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      out = out.subspan(static_cast<size_t>(got));
      offset += static_cast<uint64_t>(got);
    }
    return true;
  }

 private:
  int descriptor_;
  uint64_t size_;
};

class TextSource : public ByteSource {
 public:
  explicit TextSource(std::string_view text) : text_(text) {}
  uint64_t size() const override { return text_.size(); }
  bool read(uint64_t offset, std::span<char> out) const override {
    if (offset > text_.size() || out.size() > text_.size() - offset) return false;
    if (!out.empty()) std::memcpy(out.data(), text_.data() + offset, out.size());
    return true;
  }

 private:
  std::string_view text_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_file(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return Error{.message = fmt::format("cannot open: {}", std::strerror(errno)), .file = path};
  struct stat status = {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(descriptor);
    return Error{.message = "not a regular file", .file = path};
  }
  return std::unique_ptr<ByteSource>(new FileSource(descriptor, static_cast<uint64_t>(status.st_size)));
}

std::unique_ptr<ByteSource> bytes_of(std::string_view text) { return std::make_unique<TextSource>(text); }

Result<std::string> read_all(const ByteSource& source, uint64_t most, const std::string& file) {
  if (source.size() > most)
    return Error{.message = fmt::format("{} bytes are more than the {} that such a file may have",
                                        source.size(), most),
                 .file = file};
  std::string text(source.size(), '\0');
  if (!source.read(0, text)) return Error{.message = "cannot read", .file = file};
  return text;
}

void Cursor::skip(uint64_t count) {
  if (count > left()) {
    failed_ = true;
  } else {
    at_ += count;
  }
}

void Cursor::bytes(std::span<char> out) {
  if (out.size() > left()) {
    failed_ = true;
    return;
  }
  while (!out.empty()) {
    if (at_ < window_begin_ || at_ >= window_begin_ + window_.size()) {
      window_.resize(std::min(kWindowBytes, end_ - at_));
      window_begin_ = at_;
      if (!source_.read(at_, window_)) {
        failed_ = true;
        return;
      }
    }
    const uint64_t from = at_ - window_begin_;
    const uint64_t count = std::min<uint64_t>(out.size(), window_.size() - from);
    std::memcpy(out.data(), window_.data() + from, count);
    out = out.subspan(count);
    at_ += count;
  }
}

std::string Cursor::text(uint64_t length, uint64_t most) {
  if (length > most || length > left()) {
    failed_ = true;
    return {};
  }
  std::string result(length, '\0');
  bytes(result);
  return result;
}

uint64_t Cursor::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const auto byte = little_endian<uint8_t>();
    if (failed_) return 0;
    value |= uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80) == 0) return value;
  }
  failed_ = true;
  return 0;
}

}  // namespace fullwarp::shapes

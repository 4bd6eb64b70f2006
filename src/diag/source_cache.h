// Source lines for rules and reports. Files are read when a line of them is first asked for, and once only; a
// file that is not there, too large or not a regular file has no lines. Not for use by two threads at once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fullwarp::diag {

class SourceCache {
 public:
  static constexpr uint64_t kMaxBytes = uint64_t{64} << 20;

  // Relative names are looked up in these folders, in order; the working directory comes first.
  explicit SourceCache(std::vector<std::string> folders = {}) : folders_(std::move(folders)) {}

  // Gives a file's text instead of reading it (a source that only exists in memory, or a test).
  void add(std::string file, std::string text);

  // Line `line` (from 1) without its end; empty if there is none. Views stay valid as long as the cache.
  std::string_view line(const std::string& file, uint32_t line);
  uint32_t line_count(const std::string& file);  // 0 if the file cannot be read
  std::string_view text(const std::string& file);

 private:
  struct File {
    std::string text;
    std::vector<size_t> starts;  // of each line in `text`
  };
  const File& file(const std::string& name);

  std::vector<std::string> folders_;
  std::map<std::string, File> files_;
};

}  // namespace fullwarp::diag

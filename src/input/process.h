// Running compilers: no shell, output captured, temporary files in a folder that goes away.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fullwarp::input {

struct ProcessResult {
  int exit_code = 0;  // 128 + signal for a process that was killed
  std::string out, err;
};

// Runs argv[0], a path, with the caller's environment and an empty standard input, and waits for it. An
// output longer than 16 MiB is cut.
Result<ProcessResult> run_process(const std::vector<std::string>& argv);

// The path of an executable in $PATH, or empty.
std::string find_program(std::string_view name);

class TemporaryDirectory {
 public:
  static Result<TemporaryDirectory> create();
  TemporaryDirectory(TemporaryDirectory&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  TemporaryDirectory& operator=(TemporaryDirectory&& other) noexcept;
  ~TemporaryDirectory();

  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// A whole file of at most `max_bytes`, or why it cannot be read.
Result<std::string> read_file(const std::string& path, uint64_t max_bytes);

Status write_file(const std::string& path, std::string_view text);

}  // namespace fullwarp::input

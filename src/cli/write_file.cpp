#include "cli/write_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace fullwarp::cli {

Status write_file(const std::string& path, const std::string& text) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  std::ofstream file(temporary, std::ios::binary);
  file << text;
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(temporary, path, error);
  if (file && !error) return Ok{};
  std::filesystem::remove(temporary, error);
  return Error{"cannot write the report", path};
}

}  // namespace fullwarp::cli

#include "diag/source_cache.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

namespace fullwarp::diag {
namespace {

std::optional<std::string> read_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  const uint64_t bytes = std::filesystem::file_size(path, error);
  if (error || bytes > SourceCache::kMaxBytes) return {};
  std::ifstream stream(path, std::ios::binary);
  std::string text(bytes, '\0');
  if (!stream.read(text.data(), static_cast<std::streamsize>(bytes))) return {};
  return text;
}

std::vector<size_t> line_starts(std::string_view text) {
  std::vector<size_t> starts;
  for (size_t at = 0; at < text.size();) {
    starts.push_back(at);
    const size_t end = text.find('\n', at);
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  return starts;
}

}  // namespace

void SourceCache::add(std::string file, std::string text) {
  File& entry = files_[std::move(file)];
  entry.text = std::move(text);
  entry.starts = line_starts(entry.text);
}

const SourceCache::File& SourceCache::file(const std::string& name) {
  if (const auto found = files_.find(name); found != files_.end()) return found->second;
  File& entry = files_[name];
  if (name.empty()) return entry;
  std::optional<std::string> text = read_file(name);
  if (!text && std::filesystem::path(name).is_relative()) {
    for (const std::string& folder : folders_) {
      text = read_file(std::filesystem::path(folder) / name);
      if (text) break;
    }
  }
  if (text) {
    entry.text = std::move(*text);
    entry.starts = line_starts(entry.text);
  }
  return entry;
}

std::string_view SourceCache::line(const std::string& name, uint32_t line) {
  const File& entry = file(name);
  if (line == 0 || line > entry.starts.size()) return {};
  const size_t begin = entry.starts[line - 1];
  const size_t end = line < entry.starts.size() ? entry.starts[line] : entry.text.size();
  std::string_view text = std::string_view(entry.text).substr(begin, end - begin);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

uint32_t SourceCache::line_count(const std::string& name) {
  return static_cast<uint32_t>(file(name).starts.size());
}

std::string_view SourceCache::text(const std::string& name) { return file(name).text; }

}  // namespace fullwarp::diag

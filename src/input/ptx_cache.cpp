// The file of an entry, so that damage is seen and not used:
//
//   fullwarp-cache 1
//   dep SIZE TIME_NS PATH          (one line each)
//   note BYTES
//   result BYTES
//   <the note's bytes><the result's bytes>
#include "input/ptx_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "input/process.h"

namespace fullwarp::input {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kMagic = "fullwarp-cache 1\n";
constexpr uint64_t kMaxEntryBytes = uint64_t{512} << 20;

struct FileState {
  int64_t size = -1, time_ns = -1;
};
FileState state_of(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return {};
  return {info.st_size, int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec};
}

// Takes `word `, `NUMBER` or a rest of line from the front of `text`; false if it is not there.
bool take(std::string_view* text, std::string_view word) {
  if (!text->starts_with(word)) return false;
  text->remove_prefix(word.size());
  return true;
}
template <class Integer>
bool take_number(std::string_view* text, Integer* value, char end) {
  const auto [rest, code] = std::from_chars(text->data(), text->data() + text->size(), *value);
  if (code != std::errc() || rest == text->data() + text->size() || *rest != end) return false;
  text->remove_prefix(static_cast<size_t>(rest - text->data()) + 1);
  return true;
}

}  // namespace

void CacheKey::add(std::string_view part) {
  const auto mix = [](uint64_t hash, uint64_t value, uint64_t prime) {
    hash = (hash ^ value) * prime;
    return hash ^ (hash >> 29);
  };
  for (const char c : part) {
    low_ = mix(low_, static_cast<unsigned char>(c), 0x100000001b3u);
    high_ = mix(high_, static_cast<unsigned char>(c), 0x9e3779b97f4a7c15u);
  }
  low_ = mix(low_, part.size(), 0xff51afd7ed558ccdu);  // "ab" + "c" differs from "a" + "bc"
  high_ = mix(high_, part.size(), 0xc4ceb9fe1a85ec53u);
}

std::string CacheKey::text() const {
  char name[33];
  std::snprintf(name, sizeof name, "%016llx%016llx", static_cast<unsigned long long>(low_),
                static_cast<unsigned long long>(high_));
  return name;
}

// By the clock that file times are taken from: it lags behind the precise one by up to a tick of the kernel,
// so that a file changed right after the precise time would seem older than it.
int64_t PtxCache::now_ns() {
  timespec now{};
#ifdef CLOCK_REALTIME_COARSE
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
#else
  clock_gettime(CLOCK_REALTIME, &now);
#endif
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

PtxCache PtxCache::open() {
  const auto set = [](const char* variable) {
    const char* value = std::getenv(variable);
    return std::string(value == nullptr ? "" : value);
  };
  std::string folder = set("FULLWARP_CACHE_DIR");
  if (folder.empty() && set("XDG_CACHE_HOME").starts_with("/")) folder = set("XDG_CACHE_HOME") + "/fullwarp";
  if (folder.empty() && set("HOME").starts_with("/")) folder = set("HOME") + "/.cache/fullwarp";
  return PtxCache(folder);
}

std::optional<CacheEntry> PtxCache::find(const CacheKey& key) const {
  if (folder_.empty()) return std::nullopt;
  const std::string path = folder_ + "/" + key.text();
  Result<std::string> file = read_file(path, kMaxEntryBytes);
  if (!file) return std::nullopt;
  std::string_view rest = *file;
  if (!take(&rest, kMagic)) return std::nullopt;
  CacheEntry entry;
  while (take(&rest, "dep ")) {
    FileState then;
    const bool good = take_number(&rest, &then.size, ' ') && take_number(&rest, &then.time_ns, ' ');
    const size_t end = rest.find('\n');
    if (!good || end == std::string_view::npos) return std::nullopt;
    entry.dependencies.emplace_back(rest.substr(0, end));
    const FileState now = state_of(entry.dependencies.back());
    if (now.size != then.size || now.time_ns != then.time_ns) return std::nullopt;
    rest.remove_prefix(end + 1);
  }
  uint64_t note_bytes = 0, result_bytes = 0;
  if (!take(&rest, "note ") || !take_number(&rest, &note_bytes, '\n') || !take(&rest, "result ") ||
      !take_number(&rest, &result_bytes, '\n') || note_bytes > rest.size() ||
      result_bytes != rest.size() - note_bytes) {
    return std::nullopt;
  }
  entry.note = rest.substr(0, note_bytes);
  entry.result = rest.substr(note_bytes);
  std::error_code code;
  fs::last_write_time(path, fs::file_time_type::clock::now(), code);  // used: among the last to go
  return entry;
}

void PtxCache::store(const CacheKey& key, const CacheEntry& entry, int64_t started_ns) const {
  if (folder_.empty()) return;
  std::string text(kMagic);
  for (const std::string& dependency : entry.dependencies) {
    const FileState state = state_of(dependency);
    if (state.size < 0 || state.time_ns >= started_ns || dependency.find('\n') != std::string::npos) return;
    text +=
        "dep " + std::to_string(state.size) + " " + std::to_string(state.time_ns) + " " + dependency + "\n";
  }
  text +=
      "note " + std::to_string(entry.note.size()) + "\nresult " + std::to_string(entry.result.size()) + "\n";
  text += entry.note;
  text += entry.result;
  if (text.size() > max_bytes_ / 4) return;  // it would push out everything else
  std::error_code code;
  fs::create_directories(folder_, code);
  static std::atomic<unsigned> counter = 0;
  const std::string name = folder_ + "/" + key.text();
  const std::string part = name + ".part" + std::to_string(::getpid()) + "." + std::to_string(counter++);
  std::FILE* file = std::fopen(part.c_str(), "wb");
  if (file == nullptr) return;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) == 0 && written) fs::rename(part, name, code);
  if (!written || code) fs::remove(part, code);
  trim();
}

void PtxCache::trim() const {
  struct Item {
    fs::file_time_type time;
    uint64_t bytes;
    fs::path path;
  };
  std::vector<Item> items;
  uint64_t total = 0;
  std::error_code code;
  for (fs::directory_iterator it(folder_, code), end; !code && it != end; it.increment(code)) {
    std::error_code ignored;
    if (!it->is_regular_file(ignored)) continue;
    const uint64_t bytes = it->file_size(ignored);
    if (ignored) continue;
    items.push_back({it->last_write_time(ignored), bytes, it->path()});
    total += bytes;
  }
  if (total <= max_bytes_) return;
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.time < b.time; });
  for (const Item& item : items) {
    if (total <= max_bytes_ * 3 / 4) break;
    fs::remove(item.path, code);
    total -= item.bytes;
  }
}

}  // namespace fullwarp::input

// Results of compilers on disk, so that a second check of an unchanged file costs no compile.
//
// An entry is one file, named by a hash of everything that is known before compiling (source text and path,
// flags, compiler). It lists the files that the compiler read, each with size and time: if one of them has
// changed, the entry is void. Entries are written under another name and renamed, so that a reader never sees
// half of one; the oldest go when the folder grows beyond its limit. A cache that cannot be used is no error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fullwarp::input {

class CacheKey {  // two different hashes of the same parts, 128 bits together
 public:
  void add(std::string_view part);
  std::string text() const;

 private:
  uint64_t low_ = 0xcbf29ce484222325u, high_ = 0x9ae16a3b2f90404fu;
};

struct CacheEntry {
  std::vector<std::string> dependencies;  // absolute paths
  std::string note;                       // a short text beside the result: the compiler's warnings
  std::string result;
};

class PtxCache {
 public:
  static constexpr uint64_t kMaxBytes = uint64_t{256} << 20;

  // $FULLWARP_CACHE_DIR, $XDG_CACHE_HOME/fullwarp or ~/.cache/fullwarp; none of them: a cache that is empty.
  static PtxCache open();
  explicit PtxCache(std::string folder, uint64_t max_bytes = kMaxBytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}

  std::optional<CacheEntry> find(const CacheKey& key) const;
  // Not stored if a dependency is newer than `started_ns` (it may have changed after the compiler read it).
  void store(const CacheKey& key, const CacheEntry& entry, int64_t started_ns) const;
  static int64_t now_ns();

 private:
  void trim() const;

  std::string folder_;
  uint64_t max_bytes_;
};

}  // namespace fullwarp::input

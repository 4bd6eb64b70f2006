// What nvcc takes and clang refuses, and what a change of a few characters in the text mends: the changed
// text is laid over the file while clang runs, so that the file stays as it is and messages and `.loc` name
// it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "input/process.h"

namespace fullwarp::input {

class SourceRepairs {
 public:
  explicit SourceRepairs(const TemporaryDirectory& folder) : folder_(folder) {}

  // Tries the files that a compiler's errors point at (`path:line:column: error: ...`). True if one was
  // changed that was not before: compiling once more is worth it.
  bool repair(std::string_view messages);

  // What clang needs to see the changed files; empty if there are none.
  std::vector<std::string> flags() const;

 private:
  struct Changed {
    std::string original, replacement;  // absolute paths
  };
  bool write_overlay() const;

  const TemporaryDirectory& folder_;
  std::set<std::string> looked_at_;
  std::vector<Changed> changed_;
};

}  // namespace fullwarp::input

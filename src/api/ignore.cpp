#include "api/ignore.h"

namespace fullwarp::api {

bool ignores(std::string_view line, std::string_view rule) {
  constexpr std::string_view kMark = "fullwarp-ignore:";
  const size_t comment = line.find("//");
  if (comment == std::string_view::npos) return false;
  line.remove_prefix(comment);
  for (size_t at = line.find(kMark); at != std::string_view::npos; at = line.find(kMark)) {
    line.remove_prefix(at + kMark.size());
    const size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return false;
    line.remove_prefix(begin);
    if (line.substr(0, line.find_first_of(" \t,;:")) == rule) return true;
  }
  return false;
}

bool is_ignored(const diag::Finding& finding, diag::SourceCache& sources) {
  const diag::Place& place = finding.place;
  if (place.line == 0) return false;
  if (ignores(sources.line(place.file, place.line), finding.rule)) return true;
  // A comment behind code of a line above speaks of that line.
  for (uint32_t line = place.line - 1; line > 0; --line) {
    const std::string_view above = sources.line(place.file, line);
    const size_t first = above.find_first_not_of(" \t");
    if (first == std::string_view::npos || !above.substr(first).starts_with("//") ||
        above.find("fullwarp-ignore:") == std::string_view::npos)
      return false;
    if (ignores(above, finding.rule)) return true;
  }
  return false;
}

}  // namespace fullwarp::api

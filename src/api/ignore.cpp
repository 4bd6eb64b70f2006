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
  if (place.line == 1) return false;
  // A comment behind code of the line above speaks of that line.
  const std::string_view above = sources.line(place.file, place.line - 1);
  const size_t first = above.find_first_not_of(" \t");
  return first != std::string_view::npos && above.substr(first).starts_with("//") &&
         ignores(above, finding.rule);
}

}  // namespace fullwarp::api

// Finds launch statements in the comments of a CUDA source:
//
//     // fullwarp: in = f32[1024] : uniform(7)
//     // fullwarp: copy<<<4, 256>>>(in,
//     // fullwarp:                  f32[1024])
//     /* fullwarp: out = f32[64]
//        copy<<<1, 64>>>(in, out) */
//
// Everything else is blanked, character for character, so that the launch parser sees a text of the same
// lines and columns and its messages point into the source. `fullwarp:` must open the comment; comment
// markers inside strings do not count.
#include <algorithm>

#include "input/launch.h"
#include "input/launch_lexer.h"

namespace fullwarp::input {
namespace {

class CommentScanner {
 public:
  explicit CommentScanner(std::string_view source) : source_(source), blanked_(source.size(), ' ') {
    for (size_t i = 0; i < source.size(); ++i) {
      if (source[i] == '\n') blanked_[i] = '\n';
    }
  }

  std::string scan() {
    size_t at = 0;
    while (at < source_.size()) {
      const std::string_view rest = source_.substr(at);
      if (rest.starts_with("//")) {
        const size_t end = std::min(source_.find('\n', at), source_.size());
        keep(at + 2, end);
        at = end;
      } else if (rest.starts_with("/*")) {
        const size_t close = source_.find("*/", at + 2);
        const size_t end = std::min(close, source_.size());
        keep(at + 2, end);
        at = close == std::string_view::npos ? end : close + 2;
      } else if (rest.starts_with("R\"") && (at == 0 || !detail::is_name_char(source_[at - 1]))) {
        at = after_raw_string(at);
      } else if (rest[0] == '"' || (rest[0] == '\'' && (at == 0 || !detail::is_name_char(source_[at - 1])))) {
        at = after_literal(at);  // a quote inside a number (1'000) is not one
      } else {
        ++at;
      }
    }
    return blanked_;
  }

 private:
  static constexpr std::string_view kMarker = "fullwarp:";

  void keep(size_t begin, size_t end) {
    while (begin < end && (source_[begin] == ' ' || source_[begin] == '\t' || source_[begin] == '\n'))
      ++begin;
    if (!source_.substr(begin, end - begin).starts_with(kMarker)) return;
    begin += kMarker.size();
    source_.copy(blanked_.data() + begin, end - begin, begin);
  }

  size_t after_literal(size_t at) const {
    const char quote = source_[at];
    for (++at; at < source_.size() && source_[at] != quote && source_[at] != '\n'; ++at) {
      if (source_[at] == '\\') ++at;
    }
    return at + 1;
  }

  size_t after_raw_string(size_t at) const {
    const size_t open = source_.find_first_of("(\n", at);
    if (open == std::string_view::npos || source_[open] == '\n') return at + 2;
    std::string close(1, ')');
    close.append(source_.substr(at + 2, open - at - 2));
    close += '"';
    const size_t end = source_.find(close, open);
    return end == std::string_view::npos ? source_.size() : end + close.size();
  }

  std::string_view source_;
  std::string blanked_;
};

}  // namespace

Result<Script> launches_in_source(std::string_view source, std::string_view file) {
  return parse_launches(CommentScanner(source).scan(), file);
}

}  // namespace fullwarp::input

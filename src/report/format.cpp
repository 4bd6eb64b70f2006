#include "report/format.h"

#include <fmt/format.h>

namespace fullwarp::report {

std::string grouped(uint64_t value) {
  std::string text = std::to_string(value);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, 1, ' ');
  return text;
}

std::string to_text(const MetricValue& value) {
  if (const auto* count = std::get_if<uint64_t>(&value)) return std::to_string(*count);
  return fmt::format("{}", std::get<double>(value));
}

std::string to_text(const diag::Value& value) {
  if (const auto* integer = std::get_if<int64_t>(&value))
    return *integer < 0 ? grouped(0 - static_cast<uint64_t>(*integer)).insert(0, 1, '-') : grouped(*integer);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{:.4g}", *real);
  return std::get<std::string>(value);
}

std::string dims(const Dim3& d) {
  if (d.z != 1) return fmt::format("({},{},{})", d.x, d.y, d.z);
  if (d.y != 1) return fmt::format("({},{})", d.x, d.y);
  return fmt::format("({})", d.x);
}

std::string hash_text(uint64_t hash) { return fmt::format("{:016x}", hash); }

std::string_view line_of(std::string_view text, uint32_t line) {
  if (line == 0) return {};
  for (; line > 1; --line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

std::string printable(std::string_view text, bool keep_newlines) {
  std::string result(text);
  for (size_t i = 0; i < result.size(); ++i) {
    const auto byte = static_cast<unsigned char>(result[i]);
    const bool kept = result[i] == '\t' || (keep_newlines && result[i] == '\n');
    if ((byte < 0x20 && !kept) || byte == 0x7f) result[i] = '?';
    // U+0080 to U+009F, the other control characters, are C2 80 to C2 9F in UTF-8.
    if (byte == 0xc2 && i + 1 < result.size() && (static_cast<unsigned char>(result[i + 1]) & 0xe0) == 0x80)
      result[i] = result[i + 1] = '?';
  }
  return result;
}

}  // namespace fullwarp::report

// Where the PTX came from: .file, .loc and the debug sections. Of the sections only .debug_str is read,
// because the names of inlined functions stand there; the others are skipped, however large.
#include <utility>

#include "ptx/parser_impl.h"

namespace fullwarp::ptx {

std::string unescaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      result.push_back(text[i]);
      continue;
    }
    char c = text[++i];
    if (c >= '0' && c <= '7') {
      unsigned value = 0;
      size_t end = i + 3;
      for (; i < end && i < text.size() && text[i] >= '0' && text[i] <= '7'; ++i)
        value = value * 8 + static_cast<unsigned>(text[i] - '0');
      --i;
      result.push_back(static_cast<char>(value));
      continue;
    }
    constexpr std::string_view from = "ntrabfv", to = "\n\t\r\a\b\f\v";
    size_t known = from.find(c);
    result.push_back(known == std::string_view::npos ? c : to[known]);
  }
  return result;
}

size_t Parser::LocationHash::operator()(const LocationKey& key) const {
  uint64_t h = key.file;
  for (uint64_t part : {uint64_t{key.line}, uint64_t{key.column}, uint64_t(uint32_t(key.inlined_at)),
                        reinterpret_cast<uint64_t>(key.label), uint64_t{key.offset}}) {
    h = (h ^ part) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 32;
  }
  return static_cast<size_t>(h);
}

// .file 1 "path", time, size
bool Parser::file_directive() {
  c_.skip_space();
  const char* where = c_.position();
  uint64_t index = 0;
  bool numbered = is(c_.peek(), kDigitChar);
  if (numbered && !integer(index, "the number of the file")) return false;
  std::string_view path;
  c_.skip_space();
  if (!string_literal(path)) return false;
  while (c_.accept(',')) {
    uint64_t ignored;
    if (!integer(ignored, "a time or size")) return false;
  }
  c_.accept(';');
  if (!numbered) return true;
  // Numbers are dense, so one beyond the size of the text is not meant seriously.
  if (index > m_.text->size())
    return fail_at(where, "the file number " + std::to_string(index) + " is too large");
  if (path.find('\\') != std::string_view::npos) {
    m_.owned_text.push_back(unescaped(path));
    path = m_.owned_text.back();
  }
  if (index >= m_.files.size()) m_.files.resize(index + 1);
  m_.files[index].name = path;
  return true;
}

// .loc 1 20 5, function_name label+offset, inlined_at 1 45 3
bool Parser::loc_directive() {
  auto place = [&](SourceLocation& location) {
    uint64_t file, line, column;
    auto integer = [&](uint64_t& value, std::string_view what) {
      c_.skip_space();
      return plain_number(value, kSpaceChar | kEndChar) || this->integer(value, what);
    };
    if (!integer(file, "a file number") || !integer(line, "a line") || !integer(column, "a column"))
      return false;
    location.file = static_cast<uint32_t>(file);
    location.line = static_cast<uint32_t>(line);
    location.column = static_cast<uint32_t>(column);
    return true;
  };
  SourceLocation here;
  std::string_view label;
  uint64_t offset = 0;
  const char* where = c_.position();
  if (!place(here)) return false;
  while (c_.accept(',')) {
    std::string_view word;
    if (!name(word)) return false;
    if (word == "function_name") {
      if (!name(label)) return false;
      if (c_.accept('+') && !integer(offset, "an offset")) return false;
    } else if (word == "inlined_at") {
      SourceLocation call;
      if (!place(call)) return false;
      auto known = last_at_.find({call.file, call.line, call.column});
      here.inlined_at = known != last_at_.end() ? known->second : location(call, {}, 0);
    } else {
      return fail_at(where, quoted(word) + " is not known in .loc");
    }
  }
  c_.accept(';');
  location_ = location(here, label, static_cast<uint32_t>(offset));
  return true;
}

// The index of a location; equal ones are one.
int32_t Parser::location(const SourceLocation& place, std::string_view label, uint32_t offset) {
  // Labels are compared by where they stand in the text, so equal labels of different .loc count as different
  // unless they are made one first.
  if (!label.empty()) label = *label_texts_.insert(label).first;
  LocationKey key{place.file, place.line, place.column, place.inlined_at, label.data(), offset};
  auto [entry, added] = locations_.try_emplace(key, static_cast<int32_t>(m_.locations.size()));
  if (added) {
    m_.locations.push_back(place);
    if (!label.empty()) location_labels_.push_back({entry->second, label, offset});
  }
  last_at_[{place.file, place.line, place.column}] = entry->second;
  return entry->second;
}

bool Parser::section() {
  c_.skip_space();
  if (c_.peek() == '.') c_.advance();
  std::string_view word;
  if (!name(word)) return false;
  c_.skip_space();
  if (c_.peek() != '{') return fail_expected("'{'");
  return word == "debug_str" ? debug_strings() : skip_section();
}

bool Parser::skip_section() {
  const char* where = c_.position();
  int depth = 0;
  do {
    char c = c_.peek();
    if (c == '{') {
      ++depth;
    } else if (c == '}') {
      --depth;
    } else if (c == '/') {
      const char* before = c_.position();
      c_.skip_space();
      if (c_.position() != before) continue;
    } else if (c_.at_end()) {
      return fail_at(where, "the section has no end", "a '}' is missing");
    }
    c_.step();
  } while (depth > 0);
  return true;
}

// { label: .b8 95,90 ... }
bool Parser::debug_strings() {
  const char* where = c_.position();
  c_.advance();
  while (true) {
    c_.skip_space();
    if (c_.at_end()) return fail_at(where, "the section has no end", "a '}' is missing");
    if (c_.accept('}')) return true;
    if (c_.peek() == '.') {
      c_.advance();
      std::string_view type = c_.word();
      unsigned bytes = type == "b8" ? 1 : type == "b16" ? 2 : type == "b32" ? 4 : type == "b64" ? 8 : 0;
      if (bytes == 0) return fail("expected .b8, .b16, .b32 or .b64 in a section");
      do {
        uint64_t value = 0;
        c_.skip_space();
        if (is(c_.peek(), kDigitChar) || c_.peek() == '-') {
          Constant constant_value;
          if (!constant(constant_value)) return false;
          value = constant_value.bits;
        } else if (c_.peek() == '"') {
          std::string_view text;
          if (!string_literal(text)) return false;
          debug_text_ += unescaped(text);
          continue;
        } else {
          std::string_view label;
          if (!name(label)) return false;
        }
        for (unsigned i = 0; i < bytes; ++i) debug_text_.push_back(static_cast<char>(value >> (8 * i)));
      } while (c_.accept(','));
      c_.accept(';');
    } else {
      std::string_view label;
      if (!name(label) || !expect(':')) return false;
      debug_labels_.emplace(label, debug_text_.size());
    }
  }
}

void Parser::resolve_location_names() {
  if (location_labels_.empty() || debug_text_.empty()) return;
  m_.owned_text.push_back(std::move(debug_text_));
  std::string_view text = m_.owned_text.back();
  for (const LocationLabel& entry : location_labels_) {
    auto label = debug_labels_.find(entry.label);
    if (label == debug_labels_.end()) continue;
    uint64_t start = label->second + uint64_t{entry.offset};
    if (start >= text.size()) continue;
    std::string_view rest = text.substr(start);
    m_.locations[static_cast<size_t>(entry.location)].function = rest.substr(0, rest.find('\0'));
  }
}

}  // namespace fullwarp::ptx

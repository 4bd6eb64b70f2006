// Walks over the text of a PTX file: space, comments, words. Everything it gives is a view into the text,
// which must end with a NUL character (std::string does), so that no step needs a bounds check of its own.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace fullwarp::ptx {

enum CharClass : uint8_t {
  kWordChar = 1,    // letters, digits, _ $ %: names
  kOpcodeChar = 2,  // letters, digits, _ and the dot: `ld.global.f32`; `::` is looked at separately
  kDigitChar = 4,
  kSpaceChar = 8,
  kEndChar = 16,  // ends an operand: , ; ] } )
};

constexpr std::array<uint8_t, 256> make_char_classes() {
  std::array<uint8_t, 256> classes = {};
  for (int c = '0'; c <= '9'; ++c) classes[c] = kWordChar | kOpcodeChar | kDigitChar;
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = classes[c - 'a' + 'A'] = kWordChar | kOpcodeChar;
  classes['_'] = kWordChar | kOpcodeChar;
  classes['$'] = classes['%'] = kWordChar;
  classes['.'] = kOpcodeChar;
  for (unsigned char c : {' ', '\t', '\r', '\n', '\v', '\f'}) classes[c] = kSpaceChar;
  for (unsigned char c : {',', ';', ']', '}', ')'}) classes[c] = kEndChar;
  return classes;
}
inline constexpr std::array<uint8_t, 256> kCharClasses = make_char_classes();
inline bool is(char c, unsigned what) { return (kCharClasses[static_cast<unsigned char>(c)] & what) != 0; }

// A 32-bit hash of a name. Not for sale to an adversary, but well mixed over short, similar names.
inline uint32_t hash_of(std::string_view text) {
  constexpr uint64_t k = 0x9e3779b97f4a7c15ull;
  const char* p = text.data();
  size_t n = text.size();
  uint64_t h = n * k;
  auto mix = [&](uint64_t word) {
    h = (h ^ word) * k;
    h ^= h >> 29;
  };
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    mix(word);
  }
  if (n >= 4) {
    uint32_t low, high;
    std::memcpy(&low, p, 4);
    std::memcpy(&high, p + n - 4, 4);
    mix(low | uint64_t{high} << 32);
  } else if (n != 0) {
    mix(static_cast<unsigned char>(p[0]) | static_cast<unsigned>(static_cast<unsigned char>(p[n / 2])) << 8 |
        static_cast<unsigned>(static_cast<unsigned char>(p[n - 1])) << 16);
  }
  h *= k;
  return static_cast<uint32_t>(h >> 32);
}

class Scanner {
 public:
  explicit Scanner(std::string_view text)
      : p_(text.data()), end_(text.data() + text.size()), line_start_(text.data()) {}

  const char* position() const { return p_; }
  const char* end() const { return end_; }
  uint32_t line() const { return line_; }
  uint32_t column() const { return static_cast<uint32_t>(p_ - line_start_) + 1; }
  bool at_end() const { return p_ >= end_; }
  char peek() const { return *p_; }
  char peek_after() const { return *p_ == '\0' ? '\0' : p_[1]; }
  void advance(size_t n = 1) { p_ += n; }
  void back_to(const char* earlier_in_line) { p_ = earlier_in_line; }

  void skip_space() {
    while (true) {
      char c = *p_;
      if (c == ' ' || c == '\t') {
        ++p_;
      } else if (c == '\n') {
        new_line();
      } else if (c == '/') {
        if (p_[1] == '/') {
          skip_line();
        } else if (p_[1] == '*') {
          skip_block_comment();
        } else {
          return;
        }
      } else if (c == '\r' || c == '\v' || c == '\f') {
        ++p_;
      } else {
        return;
      }
    }
  }

  // Skips space, then takes `c` if it comes next.
  bool accept(char c) {
    skip_space();
    if (*p_ != c) return false;
    ++p_;
    return true;
  }

  // A name: letters, digits, _ $ %. Empty if none comes next.
  std::string_view word() { return run(kWordChar); }

  // An instruction with its components: letters, digits, `_`, `.` and `::`.
  std::string_view opcode() {
    const char* start = p_;
    while (true) {
      while (is(*p_, kOpcodeChar)) ++p_;
      if (*p_ == ':' && p_[1] == ':') {
        p_ += 2;
      } else {
        return {start, static_cast<size_t>(p_ - start)};
      }
    }
  }

  // To the end of the line, newline not included.
  void skip_line() {
    const void* newline = std::memchr(p_, '\n', static_cast<size_t>(end_ - p_));
    p_ = newline != nullptr ? static_cast<const char*>(newline) : end_;
  }

  // Over one character of a skipped region, counting lines.
  void step() {
    if (*p_ == '\n') {
      new_line();
    } else if (p_ < end_) {
      ++p_;
    }
  }

 private:
  void new_line() {
    ++p_;
    ++line_;
    line_start_ = p_;
  }

  void skip_block_comment() {
    p_ += 2;
    while (p_ < end_ && !(p_[0] == '*' && p_[1] == '/')) step();
    if (p_ < end_) p_ += 2;
  }

  std::string_view run(CharClass what) {
    const char* start = p_;
    while (is(*p_, what)) ++p_;
    return {start, static_cast<size_t>(p_ - start)};
  }

  const char* p_;
  const char* end_;
  const char* line_start_;
  uint32_t line_ = 1;
};

}  // namespace fullwarp::ptx

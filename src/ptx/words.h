// Eight characters at a time in one 64-bit word, for the three things that a PTX file consists of: names of
// instructions, numbered registers and short decimal numbers. Loops over single characters mispredict a
// branch at the end of each word; these have none. Every function reads at most kReadAhead characters: the
// caller makes sure that the text goes on that far.
//
//   `%rd12, %r5`   as a word: bytes '%' 'r' 'd' '1' '2' ',' ' ' '%', the first in the lowest eight bits
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fullwarp::ptx {

inline constexpr size_t kReadAhead = 40;

static_assert(std::endian::native == std::endian::little, "the first character is the lowest byte of a word");

inline constexpr uint64_t kEachByte = 0x0101010101010101ull;
inline constexpr uint64_t kHighBits = 0x80 * kEachByte;

inline uint64_t load_word(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, 8);
  return word;
}

// The high bit of each byte that is at least `least` (1 to 128).
inline uint64_t bytes_from(uint64_t word, uint64_t least) {
  return (((word & ~kHighBits) + (0x80 - least) * kEachByte) | word) & kHighBits;
}

// The high bit of each byte that is no decimal digit.
inline uint64_t not_digits(uint64_t word) { return bytes_from(word ^ ('0' * kEachByte), 10); }

// How many bytes stand before the first marked one; 8 if none is marked.
inline unsigned bytes_before(uint64_t marks) { return static_cast<unsigned>(std::countr_zero(marks)) / 8; }

// The lowest `count` bytes of a word; `count` from 0 to 7.
inline uint64_t low_bytes(uint64_t word, unsigned count) { return word & ((uint64_t{1} << 8 * count) - 1); }

// The value of the first `count` characters, all of them digits; `count` from 1 to 8.
inline uint32_t decimal(uint64_t word, unsigned count) {
  uint64_t digits = (word ^ ('0' * kEachByte)) << (64 - 8 * count);  // the last digit in the highest byte
  digits = (digits * 10 + (digits >> 8)) & 0x00ff00ff00ff00ffull;
  digits = (digits * 100 + (digits >> 16)) & 0x0000ffff0000ffffull;
  return static_cast<uint32_t>(digits * 10000 + (digits >> 32));
}

// Up to 31 characters: the words are zero behind the end.
struct ShortText {
  uint64_t words[4] = {};
  unsigned length = 0;
  bool operator==(const ShortText& other) const {
    return ((words[0] ^ other.words[0]) | (words[1] ^ other.words[1]) | (words[2] ^ other.words[2]) |
            (words[3] ^ other.words[3])) == 0;
  }
  uint32_t hash() const {
    uint64_t h = words[0] * 0x9e3779b97f4a7c15ull;
    h = (h ^ (h >> 32) ^ words[1]) * 0xc2b2ae3d27d4eb4full;
    h = (h ^ (h >> 29) ^ words[2] ^ (words[3] << 7 | words[3] >> 57)) * 0x165667b19e3779f9ull;
    return static_cast<uint32_t>(h >> 32);
  }
};

// What stands before the next space, `%`, `$`, comma or other character below the dot. Length 32 if that is
// too long.
inline ShortText short_text(const char* p) {
  ShortText result;
  for (unsigned i = 0; i < 4; ++i) {
    uint64_t word = load_word(p + 8 * i);
    uint64_t ends = ~bytes_from(word, '.') & kHighBits;
    if (ends != 0) {
      unsigned rest = bytes_before(ends);
      result.words[i] = low_bytes(word, rest);
      result.length = 8 * i + rest;
      return result;
    }
    result.words[i] = word;
  }
  result.length = 32;
  return result;
}

}  // namespace fullwarp::ptx

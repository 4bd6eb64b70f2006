// The operands that every test of a family runs over: each type's edge values, and random ones.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <vector>

namespace fullwarp::exec::sem::test {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {  // splitmix64
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  // Uniform bits, cut to a random length so that small numbers come up as well.
  template <class T>
  T integer() {
    const uint64_t length = next() % (sizeof(T) * 8 + 1);
    const uint64_t mask = length == 64 ? ~uint64_t{0} : (uint64_t{1} << length) - 1;
    const uint64_t value = next() & mask;
    return static_cast<T>(next() % 2 == 0 ? value : ~value);
  }
  float f32() { return std::bit_cast<float>(static_cast<uint32_t>(next())); }
  double f64() { return std::bit_cast<double>(next()); }
  // Near 1, so that sums cancel and bits overlap.
  float f32_near_one() {
    const uint32_t exponent = 127 - 26 + static_cast<uint32_t>(next() % 53);
    return std::bit_cast<float>((static_cast<uint32_t>(next()) & 0x807fffffu) | exponent << 23);
  }
  double f64_near_one() {
    const uint64_t exponent = 1023 - 56 + next() % 113;
    return std::bit_cast<double>((next() & 0x800fffffffffffffu) | exponent << 52);
  }

 private:
  uint64_t state_;
};

// 0, 1, -1, both limits and their neighbours, powers of two and theirs, patterns.
template <class T>
std::vector<T> integer_values() {
  using U = std::make_unsigned_t<T>;
  std::vector<T> values;
  const unsigned width = sizeof(T) * 8;
  for (unsigned bit : {0u, 1u, 7u, 8u, width / 2 - 1, width / 2, width - 2, width - 1}) {
    const U power = static_cast<U>(U{1} << bit);
    for (U u : {power, static_cast<U>(power - 1), static_cast<U>(power + 1), static_cast<U>(U{0} - power)})
      values.push_back(static_cast<T>(u));
  }
  values.push_back(std::numeric_limits<T>::min());
  values.push_back(std::numeric_limits<T>::max());
  values.push_back(static_cast<T>(0xaaaaaaaaaaaaaaaau));
  values.push_back(static_cast<T>(0x123456789abcdef0u));
  return values;
}

// Shift amounts, positions and lengths: around 8, 16, 32, 64 and 256, and huge.
inline std::vector<uint32_t> amounts() {
  return {0,  1,  2,  7,  8,  9,  15,  16,  17,  23,  30,  31,  32,         33,         47,
          48, 62, 63, 64, 65, 95, 127, 128, 255, 256, 257, 288, 0x80000000, 0xffffffff, 0x0000ff1f};
}

inline std::vector<float> f32_values() {
  std::vector<float> values;
  for (uint32_t b :
       {0x00000000u, 0x00000001u, 0x00000002u, 0x00400000u, 0x007fffffu, 0x00800000u, 0x00800001u,
        0x00ffffffu, 0x01000000u, 0x33800000u, 0x337fffffu, 0x33800001u, 0x3effffffu, 0x3f000000u,
        0x3f7fffffu, 0x3f800000u, 0x3f800001u, 0x3fc00000u, 0x40000000u, 0x40400000u, 0x4b7fffffu,
        0x4b800000u, 0x4effffffu, 0x4f000000u, 0x4f800000u, 0x5f000000u, 0x7e800000u, 0x7effffffu,
        0x7f000000u, 0x7f7ffffeu, 0x7f7fffffu, 0x7f800000u, 0x7f800001u, 0x7fc00000u, 0x7fffffffu}) {
    values.push_back(std::bit_cast<float>(b));
    values.push_back(std::bit_cast<float>(b | 0x80000000u));
  }
  return values;
}

inline std::vector<double> f64_values() {
  std::vector<double> values;
  for (uint64_t b : std::initializer_list<uint64_t>{
           0x0000000000000000u, 0x0000000000000001u, 0x0008000000000000u, 0x000fffffffffffffu,
           0x0010000000000000u, 0x0010000000000001u, 0x3690000000000000u, 0x36a0000000000001u,
           0x380fffffffffffffu, 0x3810000000000000u, 0x3e70000000000000u, 0x3fe0000000000000u,
           0x3fefffffffffffffu, 0x3ff0000000000000u, 0x3ff0000000000001u, 0x3ff0000010000000u,
           0x3ff0000010000001u, 0x3ff8000000000000u, 0x4000000000000000u, 0x4008000000000000u,
           0x41dfffffffc00000u, 0x41e0000000000000u, 0x41f0000000000000u, 0x433fffffffffffffu,
           0x43e0000000000000u, 0x43f0000000000000u, 0x47efffffe0000000u, 0x47efffffefffffffu,
           0x47effffff0000000u, 0x47f0000000000000u, 0x7fe0000000000000u, 0x7fefffffffffffffu,
           0x7ff0000000000000u, 0x7ff0000000000001u, 0x7ff8000000000000u, 0x7fffffffffffffffu}) {
    values.push_back(std::bit_cast<double>(b));
    values.push_back(std::bit_cast<double>(b | 0x8000000000000000u));
  }
  return values;
}

inline std::vector<uint16_t> f16_values() {
  std::vector<uint16_t> values;
  for (uint16_t b : {0x0000, 0x0001, 0x0002, 0x0200, 0x03ff, 0x0400, 0x0401, 0x07ff, 0x0800, 0x1400,
                     0x2e66, 0x37ff, 0x3800, 0x3bff, 0x3c00, 0x3c01, 0x3e00, 0x4000, 0x4248, 0x5bff,
                     0x6400, 0x77ff, 0x7800, 0x7bfe, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7fff}) {
    values.push_back(b);
    values.push_back(static_cast<uint16_t>(b | 0x8000));
  }
  return values;
}

inline std::vector<uint16_t> bf16_values() {
  std::vector<uint16_t> values;
  for (uint16_t b : {0x0000, 0x0001, 0x0002, 0x0040, 0x007f, 0x0080, 0x0081, 0x00ff, 0x1f80, 0x2000,
                     0x3380, 0x3f00, 0x3f7f, 0x3f80, 0x3f81, 0x3fc0, 0x4000, 0x4049, 0x4b80, 0x5f80,
                     0x6000, 0x7f00, 0x7f7e, 0x7f7f, 0x7f80, 0x7f81, 0x7fc0, 0x7fff}) {
    values.push_back(b);
    values.push_back(static_cast<uint16_t>(b | 0x8000));
  }
  return values;
}

}  // namespace fullwarp::exec::sem::test

// The video instructions (PTX ISA 9.0, 9.7.18): vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr, vset, vmad, and
// the forms on two halves (vadd2 ...) and four bytes (vadd4 ...).
//
// They run in stages: pick a part of each operand and extend it, compute without overflow, clamp, then
// combine with c or merge into it. Modern hardware has few of them; ptxas emulates the rest. So they are one
// function with its modifiers as data, not a template each.
#pragma once

#include <array>
#include <cstdint>

#include "exec/semantics/compare.h"
#include "exec/semantics/integer.h"

namespace fullwarp::exec::sem {

enum class VideoOp : uint8_t { add, sub, absdiff, min, max, shl, shr, avrg, set };
enum class Part : uint8_t { word, b0, b1, b2, b3, h0, h1 };
enum class SecondOp : uint8_t { none, add, min, max };

namespace detail {

inline constexpr int64_t extend(uint32_t value, unsigned width, bool is_signed) {
  if (width == 32) return is_signed ? int64_t{static_cast<int32_t>(value)} : int64_t{value};
  const int64_t low = value & ((1u << width) - 1);
  return is_signed && (low >> (width - 1)) != 0 ? low - (int64_t{1} << width) : low;
}

inline constexpr unsigned part_width(Part part) {
  return part == Part::word ? 32 : (part < Part::h0 ? 8 : 16);
}
inline constexpr unsigned part_shift(Part part) {
  if (part == Part::word) return 0;
  return part < Part::h0 ? (static_cast<unsigned>(part) - 1) * 8 : (part == Part::h1 ? 16 : 0);
}
inline constexpr int64_t part_of(uint32_t value, Part part, bool is_signed) {
  return extend(value >> part_shift(part), part_width(part), is_signed);
}

inline constexpr int128 clamp_to(int128 x, unsigned width, bool is_signed) {
  const int128 low = is_signed ? -(int128{1} << (width - 1)) : 0;
  const int128 high = (int128{1} << (width - (is_signed ? 1 : 0))) - 1;
  return x < low ? low : (x > high ? high : x);
}

inline constexpr bool video_compare(Cmp cmp, int64_t a, int64_t b) {
  switch (cmp) {
    case Cmp::eq: return a == b;
    case Cmp::ne: return a != b;
    case Cmp::lt: return a < b;
    case Cmp::le: return a <= b;
    case Cmp::gt: return a > b;
    default: return a >= b;
  }
}

// The primary operation; shifts take a count of 0 .. 32.
inline constexpr int128 video_primary(VideoOp op, Cmp cmp, int64_t a, int64_t b) {
  const int64_t sum = a + b;
  switch (op) {
    case VideoOp::add: return sum;
    case VideoOp::sub: return a - b;
    case VideoOp::absdiff: return a < b ? b - a : a - b;
    case VideoOp::min: return a < b ? a : b;
    case VideoOp::max: return a < b ? b : a;
    case VideoOp::shl: return int128{a} * (int128{1} << b);
    case VideoOp::shr: return a >> b;
    case VideoOp::avrg: return (sum >= 0 ? sum + 1 : sum) >> 1;
    default: return video_compare(cmp, a, b) ? 1 : 0;
  }
}

}  // namespace detail

// ---- scalar ----

struct Video {
  VideoOp op = VideoOp::add;
  Cmp cmp = Cmp::eq;                                          // set
  bool d_signed = false, a_signed = false, b_signed = false;  // set: d is unsigned; shifts: b is
  bool sat = false;
  bool wrap = false;  // shifts: count modulo 32 instead of clamped to 32
  Part d = Part::word, a = Part::word, b = Part::word;
  SecondOp second = SecondOp::none;
};

inline constexpr uint32_t video(const Video& v, uint32_t a, uint32_t b, uint32_t c) {
  const int64_t x = detail::part_of(a, v.a, v.a_signed);
  int64_t y = detail::part_of(b, v.b, v.b_signed);
  if (v.op == VideoOp::shl || v.op == VideoOp::shr) y = v.wrap ? y & 31 : (y > 32 ? 32 : y);
  int128 result = detail::video_primary(v.op, v.cmp, x, y);
  if (v.sat) result = detail::clamp_to(result, detail::part_width(v.d), v.d_signed);
  const int128 third = detail::extend(c, 32, v.d_signed);
  switch (v.second) {
    case SecondOp::add: result += third; break;
    case SecondOp::min: result = result < third ? result : third; break;
    case SecondOp::max: result = result > third ? result : third; break;
    default: break;
  }
  if (v.d == Part::word) return static_cast<uint32_t>(result);
  const uint32_t mask = ((1u << detail::part_width(v.d)) - 1) << detail::part_shift(v.d);
  return (static_cast<uint32_t>(result) << detail::part_shift(v.d) & mask) | (c & ~mask);
}

struct VideoMad {
  bool a_signed = false, b_signed = false;
  Part a = Part::word, b = Part::word;
  bool negate_product = false, negate_c = false, plus_one = false;  // at most one of them
  bool sat = false;
  uint8_t scale = 0;  // right shift: 0, 7 or 15
};

inline constexpr uint32_t video_mad(const VideoMad& v, uint32_t a, uint32_t b, uint32_t c) {
  const bool is_signed = v.a_signed || v.b_signed || v.negate_product || v.negate_c;
  const int128 product = int128{detail::part_of(a, v.a, v.a_signed)} * detail::part_of(b, v.b, v.b_signed);
  // The manual inverts the 32 bits of c before extending them: -c for all but the least integer.
  const int128 addend = detail::extend(v.negate_c ? ~c : c, 32, is_signed);
  const bool carry = v.plus_one || v.negate_c;
  int128 result = (v.negate_product ? -product : product) + addend + (carry ? 1 : 0);
  result >>= v.scale;
  if (v.sat) result = detail::clamp_to(result, 32, is_signed);
  return static_cast<uint32_t>(result);
}

// ---- two halves or four bytes at once ----

struct VideoSimd {
  VideoOp op = VideoOp::add;  // not the shifts
  Cmp cmp = Cmp::eq;
  bool d_signed = false, a_signed = false, b_signed = false;
  bool sat = false;
  bool accumulate = false;  // .add: c plus the selected results; else they are merged into c
  uint8_t lanes = 4;        // 2 or 4
  uint8_t mask = 0xf;       // bit i: result i counts
  // Which part of b:a each lane takes, counted from a's lowest.
  std::array<uint8_t, 4> a = {0, 1, 2, 3}, b = {4, 5, 6, 7};  // for two lanes {0, 1} and {2, 3}
};

inline constexpr uint32_t video_simd(const VideoSimd& v, uint32_t a, uint32_t b, uint32_t c) {
  const unsigned width = 32u / v.lanes;
  const uint64_t pair = uint64_t{b} << 32 | a;
  uint32_t result = c;
  for (unsigned i = 0; i < v.lanes; ++i) {
    if ((v.mask >> i & 1) == 0) continue;
    const int64_t x = detail::extend(static_cast<uint32_t>(pair >> v.a[i] * width), width, v.a_signed);
    const int64_t y = detail::extend(static_cast<uint32_t>(pair >> v.b[i] * width), width, v.b_signed);
    int128 t = detail::video_primary(v.op, v.cmp, x, y);
    if (v.sat) t = detail::clamp_to(t, width, v.d_signed);
    if (v.accumulate) {
      result += static_cast<uint32_t>(t);
    } else {
      const uint32_t lane_mask = ((1u << width) - 1) << i * width;
      result = (result & ~lane_mask) | (static_cast<uint32_t>(t) << i * width & lane_mask);
    }
  }
  return result;
}

}  // namespace fullwarp::exec::sem

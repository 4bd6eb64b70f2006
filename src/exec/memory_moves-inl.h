// The lanes' data between memory and rows, for accesses that fit a pattern (site.h): as vectors where lanes
// are contiguous or share one value, four words a lane by 4 x 4 transposition, else word by word.
#if defined(FULLWARP_EXEC_MEMORY_MOVES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FULLWARP_EXEC_MEMORY_MOVES_INL_H_
#undef FULLWARP_EXEC_MEMORY_MOVES_INL_H_
#else
#define FULLWARP_EXEC_MEMORY_MOVES_INL_H_
#endif

#include <cstring>
#include <type_traits>

#include "exec/access.h"
#include "exec/lanes-inl.h"
#include "exec/site.h"

HWY_BEFORE_NAMESPACE();
namespace fullwarp::exec {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

enum class Extend : uint8_t { zero, sign32, sign16 };

template <unsigned kBytes>
struct RawOf;
template <>
struct RawOf<1> {
  using type = uint8_t;
};
template <>
struct RawOf<2> {
  using type = uint16_t;
};
template <>
struct RawOf<4> {
  using type = uint32_t;
};
template <>
struct RawOf<8> {
  using type = uint64_t;
};
template <unsigned kBytes>
using Raw = typename RawOf<kBytes>::type;
template <unsigned kBytes>
using Wide = std::conditional_t<kBytes == 8, uint64_t, uint32_t>;

template <unsigned kBytes, Extend kExtend>
HWY_INLINE Wide<kBytes> extend(Raw<kBytes> raw) {
  if constexpr (kExtend == Extend::zero || kBytes >= 4)
    return raw;
  else if constexpr (kExtend == Extend::sign32)
    return static_cast<uint32_t>(static_cast<int32_t>(static_cast<std::make_signed_t<Raw<kBytes>>>(raw)));
  else
    return static_cast<uint16_t>(static_cast<int16_t>(static_cast<std::make_signed_t<Raw<kBytes>>>(raw)));
}

HWY_INLINE unsigned vector_of(const MicroOp* op) { return (op->flags >> kVectorShift) & kVectorMask; }
HWY_INLINE uint32_t element_row(const MicroOp* op, unsigned j) {
  return j == 0 ? op->dst : j == 1 ? op->b : j == 2 ? op->c : op->d;
}

using WordTag = hn::ScalableTag<uint32_t>;

// Four vectors of four words, rows turned into columns.
using Quad = hn::FixedTag<uint32_t, 4>;
struct Quads {
  hn::Vec<Quad> v0, v1, v2, v3;
};
HWY_INLINE Quads transposed(const Quads& q) {
  const Quad d;
  const auto low02 = hn::InterleaveLower(d, q.v0, q.v2), low13 = hn::InterleaveLower(d, q.v1, q.v3);
  const auto high02 = hn::InterleaveUpper(d, q.v0, q.v2), high13 = hn::InterleaveUpper(d, q.v1, q.v3);
  return {hn::InterleaveLower(d, low02, low13), hn::InterleaveUpper(d, low02, low13),
          hn::InterleaveLower(d, high02, high13), hn::InterleaveUpper(d, high02, high13)};
}

// Four words a lane, all lanes: to and from four rows.
HWY_INLINE void fetch_quads(Warp& w, const MicroOp* op, const Site& s, const std::byte* p) {
  const Quad d;
  uint32_t* const row[4] = {w.row<uint32_t>(op->dst), w.row<uint32_t>(op->b), w.row<uint32_t>(op->c),
                            w.row<uint32_t>(op->d)};
  for (unsigned first = 0; first < kWarpSize; first += kGroupLanes) {
    const int32_t* const delta = s.delta32 + first;
    const auto quad = [&](unsigned i)
                          HWY_ATTR { return hn::LoadU(d, reinterpret_cast<const uint32_t*>(p + delta[i])); };
    if (s.group[first / kGroupLanes] == Pattern::uniform) {
      const auto v = quad(0);
      const hn::Vec<Quad> each[4] = {hn::Broadcast<0>(v), hn::Broadcast<1>(v), hn::Broadcast<2>(v),
                                     hn::Broadcast<3>(v)};
      for (unsigned j = 0; j < 4; ++j) {
        hn::StoreU(each[j], d, row[j] + first);
        hn::StoreU(each[j], d, row[j] + first + 4);
      }
      continue;
    }
    for (unsigned i = 0; i < kGroupLanes; i += 4) {
      const Quads rows = transposed({quad(i), quad(i + 1), quad(i + 2), quad(i + 3)});
      hn::StoreU(rows.v0, d, row[0] + first + i);
      hn::StoreU(rows.v1, d, row[1] + first + i);
      hn::StoreU(rows.v2, d, row[2] + first + i);
      hn::StoreU(rows.v3, d, row[3] + first + i);
    }
  }
}

HWY_INLINE void put_quads(Warp& w, const MicroOp* op, const Site& s, std::byte* p) {
  const Quad d;
  const uint32_t* const row[4] = {w.row<uint32_t>(op->dst), w.row<uint32_t>(op->b), w.row<uint32_t>(op->c),
                                  w.row<uint32_t>(op->d)};
  for (unsigned i = 0; i < kWarpSize; i += 4) {
    const Quads lanes = transposed({hn::LoadU(d, row[0] + i), hn::LoadU(d, row[1] + i),
                                    hn::LoadU(d, row[2] + i), hn::LoadU(d, row[3] + i)});
    const auto to = [&](unsigned k) HWY_ATTR { return reinterpret_cast<uint32_t*>(p + s.delta32[i + k]); };
    hn::StoreU(lanes.v0, d, to(0));
    hn::StoreU(lanes.v1, d, to(1));
    hn::StoreU(lanes.v2, d, to(2));
    hn::StoreU(lanes.v3, d, to(3));
  }
}

// Reads the rows of a load from memory that the pattern describes; `p` is the first active lane's byte.
template <unsigned kBytes, Extend kExtend>
HWY_INLINE void fetch(Warp& w, const MicroOp* op, const Site& s, const std::byte* p, LaneMask mask) {
  using E = Raw<kBytes>;
  using R = Wide<kBytes>;
  const unsigned vector = vector_of(op);
  const bool masked = (w.live & ~mask) != 0;
  alignas(64) R temp[kWarpSize];
  if constexpr (kBytes == 4) {
    if (vector == 4 && mask == kFullMask) {
      fetch_quads(w, op, s, p);
      return;
    }
  }
  for (unsigned j = 0; j < vector; ++j) {
    R* d = masked ? temp : w.row<R>(element_row(op, j));
    const std::byte* from = p + j * kBytes;
    if (s.pattern == Pattern::uniform) {
      E raw;
      std::memcpy(&raw, from, kBytes);
      const R value = extend<kBytes, kExtend>(raw);
      FULLWARP_LANE_LOOP
      for (unsigned i = 0; i < kWarpSize; ++i) d[i] = value;
    } else if (s.pattern == Pattern::contiguous && vector == 1) {
      const E* HWY_RESTRICT raw = reinterpret_cast<const E*>(from);
      FULLWARP_LANE_LOOP
      for (unsigned i = 0; i < kWarpSize; ++i) d[i] = extend<kBytes, kExtend>(raw[i]);
    } else {
      for (unsigned g = 0; g < kGroups; ++g) {
        const unsigned first = g * kGroupLanes;
        const std::byte* at = from + s.delta32[first];
        if (s.group[g] == Pattern::uniform) {
          E raw;
          std::memcpy(&raw, at, kBytes);
          const R value = extend<kBytes, kExtend>(raw);
          FULLWARP_LANE_LOOP
          for (unsigned i = 0; i < kGroupLanes; ++i) d[first + i] = value;
        } else if (s.group[g] == Pattern::contiguous && vector == 1) {
          const E* HWY_RESTRICT raw = reinterpret_cast<const E*>(at);
          FULLWARP_LANE_LOOP
          for (unsigned i = 0; i < kGroupLanes; ++i) d[first + i] = extend<kBytes, kExtend>(raw[i]);
        } else {
          for (unsigned i = first; i < first + kGroupLanes; ++i) {
            E raw;
            std::memcpy(&raw, from + s.delta32[i], kBytes);
            d[i] = extend<kBytes, kExtend>(raw);
          }
        }
      }
    }
    if (masked) blend(w.row<R>(element_row(op, j)), temp, mask);
  }
}

template <unsigned kBytes>
HWY_INLINE void put(Warp& w, const MicroOp* op, const Site& s, std::byte* p, LaneMask mask) {
  using E = Raw<kBytes>;
  using R = Wide<kBytes>;
  const unsigned vector = vector_of(op);
  if constexpr (kBytes == 4) {
    if (vector == 4 && mask == kFullMask) {
      put_quads(w, op, s, p);
      return;
    }
  }
  if (s.pattern == Pattern::contiguous && vector == 1) {
    const R* HWY_RESTRICT from = w.row<R>(op->dst);
    E* HWY_RESTRICT to = reinterpret_cast<E*>(p);
    FULLWARP_LANE_LOOP
    for (unsigned i = 0; i < kWarpSize; ++i) to[i] = static_cast<E>(from[i]);
    return;
  }
  for (unsigned j = 0; j < vector; ++j) {
    const R* from = w.row<R>(element_row(op, j));
    if (mask == kFullMask) {
      for (unsigned g = 0; g < kGroups; ++g) {
        const unsigned first = g * kGroupLanes;
        std::byte* to = p + j * kBytes;
        if (s.group[g] == Pattern::contiguous && vector == 1) {
          E* HWY_RESTRICT raw = reinterpret_cast<E*>(to + s.delta32[first]);
          FULLWARP_LANE_LOOP
          for (unsigned i = 0; i < kGroupLanes; ++i) raw[i] = static_cast<E>(from[first + i]);
        } else {
          for (unsigned i = first; i < first + kGroupLanes; ++i) {
            const E raw = static_cast<E>(from[i]);
            std::memcpy(to + s.delta32[i], &raw, kBytes);
          }
        }
      }
    } else {
      for (LaneMask left = mask; left; left &= left - 1) {
        const unsigned i = static_cast<unsigned>(std::countr_zero(left));
        const E raw = static_cast<E>(from[i]);
        std::memcpy(p + j * kBytes + s.delta[i], &raw, kBytes);
      }
    }
  }
}

HWY_INLINE void copy_words(uint32_t* HWY_RESTRICT to, const uint32_t* HWY_RESTRICT from, unsigned words) {
  const hn::CappedTag<uint32_t, kGroupLanes> small;
  const WordTag d;
  if (words == kWarpSize)
    for (unsigned i = 0; i < kWarpSize; i += static_cast<unsigned>(hn::Lanes(d)))
      hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  else
    for (unsigned i = 0; i < kGroupLanes; i += static_cast<unsigned>(hn::Lanes(small)))
      hn::StoreU(hn::LoadU(small, from + i), small, to + i);
}

HWY_INLINE void splat_words(uint32_t* HWY_RESTRICT to, uint32_t value, unsigned words) {
  const hn::CappedTag<uint32_t, kGroupLanes> d;
  for (unsigned i = 0; i < words; i += static_cast<unsigned>(hn::Lanes(d)))
    hn::StoreU(hn::Set(d, value), d, to + i);
}

HWY_INLINE uint32_t word_at(const std::byte* p) {
  uint32_t value;
  std::memcpy(&value, p, 4);
  return value;
}

// Lanes' words between memory (`p`: the first lane's) and a row.
template <bool kStore>
HWY_INLINE void move_words(const Site& s, std::byte* p, uint32_t* row) {
  if (s.pattern == Pattern::contiguous) {
    if constexpr (kStore)
      copy_words(reinterpret_cast<uint32_t*>(p), row, kWarpSize);
    else
      copy_words(row, reinterpret_cast<const uint32_t*>(p), kWarpSize);
    return;
  }
  if (!kStore && s.pattern == Pattern::uniform) {
    splat_words(row, word_at(p), kWarpSize);
    return;
  }
  for (unsigned g = 0; g < kGroups; ++g) {
    const int32_t* delta = s.delta32 + g * kGroupLanes;
    uint32_t* lanes = row + g * kGroupLanes;
    if (s.group[g] == Pattern::contiguous) {
      if constexpr (kStore)
        copy_words(reinterpret_cast<uint32_t*>(p + delta[0]), lanes, kGroupLanes);
      else
        copy_words(lanes, reinterpret_cast<const uint32_t*>(p + delta[0]), kGroupLanes);
    } else if (!kStore && s.group[g] == Pattern::uniform) {
      splat_words(lanes, word_at(p + delta[0]), kGroupLanes);
    } else {
      for (unsigned i = 0; i < kGroupLanes; ++i) {
        if constexpr (kStore)
          std::memcpy(p + delta[i], lanes + i, 4);
        else
          lanes[i] = word_at(p + delta[i]);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fullwarp::exec
HWY_AFTER_NAMESPACE();

#endif

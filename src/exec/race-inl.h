// The race detector's fast paths, for accesses that fit a pattern (race.h has the shadows, race.cpp the full checks,
// which these fall back to before they have reported anything: recording an access twice is the same as once).
#if defined(FULLWARP_EXEC_RACE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FULLWARP_EXEC_RACE_INL_H_
#undef FULLWARP_EXEC_RACE_INL_H_
#else
#define FULLWARP_EXEC_RACE_INL_H_
#endif

#include <algorithm>

#include "exec/access.h"
#include "exec/lanes-inl.h"
#include "exec/race.h"

HWY_BEFORE_NAMESPACE();
namespace fullwarp::exec {
namespace HWY_NAMESPACE {

// Two words are compared as signed numbers, which AVX2 can do: both are shifted by the sign bit.
HWY_INLINE bool newer(uint32_t entry, uint32_t limit) {
  return static_cast<int32_t>(entry ^ 0x80000000u) >= static_cast<int32_t>(limit ^ 0x80000000u);
}

template <bool kStore>
HWY_NOINLINE void check_shared_slowly(Warp& w, const MicroOp* op, const Site& s, uint32_t base, unsigned width,
                                      LaneMask mask) {
  alignas(64) uint32_t offset[kWarpSize];
  for (unsigned i = 0; i < kWarpSize; ++i) offset[i] = base + static_cast<uint32_t>(s.delta32[i]);
  const bool one_element = ((op->flags >> kVectorShift) & kVectorMask) == 1;
  const void* values = kStore && one_element ? w.row<std::byte>(op->dst) : nullptr;
  const uint32_t site = static_cast<uint32_t>(&s - w.sites);
  check_shared(w, op, site, offset, mask, width, !kStore, kStore, op->flags & kStrong ? Order::strong : Order::weak, values);
}

// One access of the warp at hand, against the words of the shadow. `first` is the granule that the pointers are at.
struct SharedRow {
  SharedShadow& shadow;
  size_t first;
  uint32_t* HWY_RESTRICT writer;
  uint32_t* HWY_RESTRICT reader;
  uint16_t* HWY_RESTRICT writer_site;
  uint16_t* HWY_RESTRICT reader_site;
  uint32_t limit, warp_limit;  // entries below are ordered: all; those of this warp
  uint32_t stamp, first_thread, warp;
  uint16_t site;

  SharedRow(const Warp& w, const Site& s, SharedShadow& from, size_t at)
      : shadow(from), first(at), writer(from.writer.data() + at), reader(from.reader.data() + at),
        writer_site(from.writer_site.data() + at), reader_site(from.reader_site.data() + at),
        limit(from.barrier_stamp << kWhoBits), warp_limit(from.warp_stamp[w.index] << kWhoBits),
        stamp(from.clock << kWhoBits), first_thread(w.first_thread), warp(w.index),
        site(static_cast<uint16_t>(std::min<ptrdiff_t>(&s - w.sites, kNoSite))) {}

  uint32_t several() const { return kManyLanes + warp; }
  bool own(uint32_t by) const { return (by < kManyLanes && by / kWarpSize == warp) || by == several(); }
};

// A pattern of the form `dense`. False: the full check has to look at it.
template <bool kStore>
HWY_INLINE bool check_dense(const SharedRow& row, const Granules& g) {
  SharedShadow& shadow = row.shadow;
  const unsigned span = g.span, padded = (span + 7) / 8 * 8, words = (span + 31) / 32, shift = row.first % 32;
  SharedLine* const lines = shadow.lines.data() + row.first / 32;
  const unsigned line_count = (shift + span + 31) / 32;
  const auto bits = [&](unsigned k) HWY_ATTR {
    const uint64_t here = k < words ? g.touched[k] : 0, before = k > 0 ? g.touched[k - 1] : 0;
    return static_cast<uint32_t>((here << 32 | before) << shift >> 32);
  };
  uint32_t bad = 0, need = 0, again = 0;
  for (unsigned k = 0; k < line_count; ++k) {
    SharedLine& line = lines[k];
    shadow.renew(line);
    const uint32_t m = bits(k);
    if constexpr (kStore) {
      bad |= m & (line.written | line.read);
    } else {
      bad |= m & (~line.valid | line.written);
      need |= m & ~line.many;
      again |= m & line.read;
    }
  }
  if (!kStore && !(bad | need)) return true;
  if (kStore && !g.alone) return false;
  const uint8_t* const HWY_RESTRICT lanes_of = g.lane;
  uint32_t* const HWY_RESTRICT writer = row.writer;
  uint32_t* const HWY_RESTRICT reader = row.reader;
  const uint32_t limit = row.limit, first_thread = row.first_thread, stamp = row.stamp, several = row.several();
  const uint16_t site = row.site;
  if (HWY_UNLIKELY(bad != 0)) {
    if (!kStore)
      for (unsigned k = 0; k < line_count; ++k)
        if (bits(k) & ~lines[k].valid) return false;
    uint32_t met = 0;
    FULLWARP_LANE_LOOP
    for (unsigned i = 0; i < padded; ++i) {
      const uint32_t lane = lanes_of[i], mine = first_thread + lane;
      const uint32_t e = writer[i];
      uint32_t race = newer(e, limit) & ((lane == Granules::kSeveralLanes) | ((e & kWhoMask) != mine));
      if constexpr (kStore) {
        const uint32_t r = reader[i];
        race |= newer(r, limit) & ((r & kWhoMask) != mine);
      }
      met |= race & (lane != Granules::kNoLane);
    }
    if (met) return false;
  }
  if constexpr (kStore) {
    uint16_t* const HWY_RESTRICT sites = row.writer_site;
    FULLWARP_LANE_LOOP
    for (unsigned i = 0; i < padded; ++i) {
      const uint32_t lane = lanes_of[i];
      writer[i] = lane != Granules::kNoLane ? stamp | (first_thread + lane) : writer[i];
    }
    FULLWARP_LANE_LOOP
    for (unsigned i = 0; i < padded; ++i) sites[i] = lanes_of[i] != Granules::kNoLane ? site : sites[i];
    for (unsigned k = 0; k < line_count; ++k) {
      const uint32_t m = bits(k);
      lines[k].valid |= m & ~lines[k].pending;
      lines[k].written |= m;
      lines[k].many &= ~m;
    }
    return true;
  }
  uint16_t* const HWY_RESTRICT sites = row.reader_site;
  FULLWARP_LANE_LOOP
  for (unsigned i = 0; i < padded; ++i) sites[i] = lanes_of[i] != Granules::kNoLane ? site : sites[i];
  for (unsigned k = 0; k < line_count; ++k) lines[k].read |= bits(k);
  if (again == 0) {
    FULLWARP_LANE_LOOP
    for (unsigned i = 0; i < padded; ++i) {
      const uint32_t lane = lanes_of[i];
      const uint32_t mine = stamp | (lane == Granules::kSeveralLanes ? several : first_thread + lane);
      reader[i] = lane != Granules::kNoLane ? mine : reader[i];
    }
    return true;
  }
  const uint32_t many = stamp | kManyWarps, warp = row.warp, warp_limit = row.warp_limit;
  FULLWARP_LANE_LOOP
  for (unsigned i = 0; i < padded; ++i) {
    const uint32_t lane = lanes_of[i], r = reader[i], by = r & kWhoMask;
    const uint32_t mine = lane == Granules::kSeveralLanes ? several : first_thread + lane;
    const bool own = (by / kWarpSize == warp) | (by == several);
    const bool first_time = !newer(r, limit) | (by == mine) | (own & !newer(r, warp_limit));
    const uint32_t next = first_time ? stamp | mine : own ? stamp | several : many;
    reader[i] = lane != Granules::kNoLane ? next : r;
  }
  const hwy::HWY_NAMESPACE::ScalableTag<uint32_t> d;
  const unsigned step = static_cast<unsigned>(hwy::HWY_NAMESPACE::Lanes(d));
  for (unsigned k = 0; k < words; ++k) {
    uint32_t settled = 0;
    for (unsigned i = 0; i < 32 && 32 * k + i < span; i += step) {
      uint8_t part[8] = {};
      hwy::HWY_NAMESPACE::StoreMaskBits(
          d, hwy::HWY_NAMESPACE::Eq(hwy::HWY_NAMESPACE::LoadU(d, reader + 32 * k + i), hwy::HWY_NAMESPACE::Set(d, many)),
          part);
      uint32_t word;
      std::memcpy(&word, part, 4);
      settled |= word << i;
    }
    const uint64_t placed = uint64_t{settled & g.touched[k]} << shift;
    lines[k].many |= static_cast<uint32_t>(placed) & lines[k].valid & ~lines[k].written;
    if (placed >> 32) lines[k + 1].many |= static_cast<uint32_t>(placed >> 32) & lines[k + 1].valid & ~lines[k + 1].written;
  }
  return true;
}

// One granule, `at` from the row's first one. False: the full check has to look at it.
template <bool kStore>
HWY_INLINE bool check_granule(const SharedRow& row, int64_t at, uint8_t lane) {
  SharedLine& line = row.shadow.lines[(row.first + static_cast<size_t>(at)) / 32];
  const uint32_t bit = 1u << ((row.first + static_cast<size_t>(at)) % 32);
  row.shadow.renew(line);
  const uint32_t mine = lane == Granules::kSeveralLanes ? row.several() : row.first_thread + lane;
  if constexpr (kStore) {
    if (HWY_UNLIKELY((line.written | line.read) & bit)) {
      const uint32_t e = row.writer[at], r = row.reader[at];
      if ((e >= row.limit && (e & kWhoMask) != mine) || (r >= row.limit && (r & kWhoMask) != mine)) return false;
    }
    row.writer[at] = row.stamp | mine;
    row.writer_site[at] = row.site;
    line.valid |= bit & ~line.pending;
    line.written |= bit;
    line.many &= ~bit;
    return true;
  } else {
    if (line.many & bit) return true;
    if (HWY_UNLIKELY((~line.valid | line.written) & bit)) {
      const uint32_t e = row.writer[at];
      if (!(line.valid & bit) || (e >= row.limit && (lane == Granules::kSeveralLanes || (e & kWhoMask) != mine))) return false;
    }
    uint32_t who = mine;
    if (line.read & bit) {
      const uint32_t r = row.reader[at], by = r & kWhoMask;
      if (r >= row.limit && by != mine && !(row.own(by) && r < row.warp_limit)) who = row.own(by) ? row.several() : kManyWarps;
      if (who == kManyWarps) line.many |= bit & ~line.written;
    }
    row.reader[at] = row.stamp | who;
    row.reader_site[at] = row.site;
    line.read |= bit;
    return true;
  }
}

template <bool kStore>
HWY_NOINLINE void check_shared_closely(Warp& w, const MicroOp* op, Site& s, uint32_t base, unsigned width, LaneMask mask) {
  SharedShadow& shadow = w.block->shadow;
  Granules& g = s.granules;
  bool good = !(op->flags & kStrong) && int64_t{base} + s.end <= int64_t{shadow.watched_bytes};
  if (HWY_LIKELY(good)) {
    if (HWY_UNLIKELY(g.form == Granules::Form::unknown)) g.make(base, s.delta, mask, width, shadow.granule_shift);
    const int64_t first = int64_t{base >> shadow.granule_shift} + (g.form == Granules::Form::dense ? g.lowest : 0);
    const SharedRow row(w, s, shadow, static_cast<size_t>(first));
    if (kStore && !g.alone) good = false;
    else if (g.form == Granules::Form::dense) good = check_dense<kStore>(row, g);
    else if (g.form == Granules::Form::list)
      for (unsigned k = 0; k < g.count && good; ++k) good = check_granule<kStore>(row, g.delta[k], g.lane[k]);
    else good = false;
  }
  if (HWY_UNLIKELY(!good)) check_shared_slowly<kStore>(w, op, s, base, width, mask);
}

// Most accesses end here: one granule for all lanes, or granules that several warps have read since the barrier.
template <bool kStore>
HWY_INLINE void check_shared_pattern(Warp& w, const MicroOp* op, Site& s, uint32_t base, unsigned width,
                                     LaneMask mask) {
  const Granules& g = s.granules;
  if (!kStore && g.form == Granules::Form::dense && g.span <= 32 && !(op->flags & kStrong)) {
    SharedShadow& shadow = w.block->shadow;
    const size_t first = static_cast<size_t>(int64_t{base >> shadow.granule_shift} + g.lowest);
    SharedLine* const line = shadow.lines.data() + first / 32;
    const uint64_t m = uint64_t{g.touched[0]} << (first % 32);
    const uint32_t low = static_cast<uint32_t>(m), high = static_cast<uint32_t>(m >> 32), stamp = shadow.barrier_stamp;
    if (line[0].stamp == stamp && !(low & ~line[0].many) &&
        (high == 0 || (line[1].stamp == stamp && !(high & ~line[1].many))))
      return;
    if (g.span == 1 && int64_t{base} + s.end <= int64_t{shadow.watched_bytes} &&
        check_granule<false>(SharedRow(w, s, shadow, first), 0, g.lane[0]))
      return;
  }
  check_shared_closely<kStore>(w, op, s, base, width, mask);
}

HWY_NOINLINE void check_global_slowly(Warp& w, const MicroOp* op, const Site& s, size_t buffer, uint64_t offset,
                                      unsigned width, LaneMask mask, bool store) {
  LaneTarget target[kWarpSize];
  for (unsigned i = 0; i < kWarpSize; ++i) {
    target[i].offset = offset + static_cast<uint64_t>(s.delta[i]);
    target[i].buffer = static_cast<int64_t>(buffer);
    target[i].data = w.worker->views[buffer].data + target[i].offset;
  }
  check_global_lanes(w, op, target, mask, width, !store, store, false);
}

// Eight bits as eight bytes, 0 or 0xff.
HWY_INLINE uint64_t bytes_of(uint32_t bits) {
  const uint64_t spread = (uint64_t{bits} * 0x0101010101010101u) & 0x8040201008040201u;
  return ((((spread & 0x7f7f7f7f7f7f7f7fu) + 0x7f7f7f7f7f7f7f7fu) | spread) >> 7 & 0x0101010101010101u) * 0xff;
}

// Granules first to first + count - 1 of a buffer, in one run. False: the full check has to look at it.
template <bool kStore>
HWY_INLINE bool visit_run(GlobalCell* HWY_RESTRICT cells, uint32_t me, uint32_t stamp, uint32_t warp, uint16_t site,
                          uint64_t first, uint64_t count) {
  const uint64_t ones = 0x0101010101010101u;
  const uint64_t written = ones * (kWrittenBy | warp), read = ones * (kReadBy | warp);
  const uint64_t end = first + count;
  for (uint64_t c = first / 8; c <= (end - 1) / 8; ++c) {
    GlobalCell& cell = cells[c];
    const uint64_t from = std::max(first, 8 * c) - 8 * c, to = std::min(end, 8 * c + 8) - 8 * c;
    const uint32_t bits = (0xffu << from) & (0xffu >> (8 - to));
    const uint64_t m = bits == 0xff ? ~uint64_t{0} : bytes_of(bits);
    if (HWY_LIKELY(cell.block == 0)) {
      cell.block = me;
      cell.stamp = stamp;
      cell.last = m & (kStore ? written : read);
      (kStore ? cell.written : cell.read) = static_cast<uint8_t>(bits);
      (kStore ? cell.writer_site : cell.reader_site) = site;
      continue;
    }
    if (cell.block != me || cell.detail != 0) return false;
    const uint64_t last = cell.stamp == stamp ? cell.last : 0, here = last & m;
    if (kStore) {
      if (here != 0 && here != (m & written) && here != (m & read)) return false;
      cell.last = (last & ~m) | (m & written);
      cell.writer_site = cell.written == 0 || cell.writer_site == site ? site : kNoSite;
      cell.written |= static_cast<uint8_t>(bits);
    } else {
      if (here == 0 || here == (m & read)) cell.last = last | (m & read);
      else if (here == (m & written)) cell.last = last;
      else return false;
      cell.reader_site = cell.read == 0 || cell.reader_site == site ? site : kNoSite;
      cell.read |= static_cast<uint8_t>(bits);
    }
    cell.stamp = stamp;
  }
  return true;
}

// Have these bytes all a value? A store gives them one.
template <bool kStore>
HWY_INLINE bool run_has_values(uint64_t* words, uint64_t offset, uint64_t bytes, bool concurrent) {
  bool all = true;
  for (uint64_t at = offset, end = offset + bytes; at < end;) {
    const uint64_t shift = at % 64, n = std::min<uint64_t>(64 - shift, end - at);
    all &= mark_values(words[at / 64], (n == 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1) << shift, kStore, concurrent);
    at += n;
  }
  return all;
}

template <bool kStore>
HWY_INLINE void check_global_pattern(Warp& w, const MicroOp* op, Site& s, const BufferView& view, size_t buffer,
                                     uint64_t offset, unsigned width, LaneMask mask) {
  const bool concurrent = w.worker->atomic_memory;
  const SharedShadow& order = w.block->shadow;
  GlobalShadow* const shadow = op->flags & kStrong ? nullptr : view.shadow;
  const uint32_t warp = order.tells_warps_apart() ? w.index : 0;
  bool good = true;
  const unsigned shift = shadow ? shadow->granule_shift : 0;
  const uint32_t me = static_cast<uint32_t>(w.block->linear) + 1;
  const uint16_t site = static_cast<uint16_t>(std::min<uint32_t>(op->site, kNoSite));
  const auto run = [&](uint64_t start, uint64_t bytes) HWY_ATTR {
    if (view.written && !run_has_values<kStore>(view.written, start, bytes, concurrent) && !kStore) return false;
    if (!shadow) return true;
    const uint64_t first = start >> shift;
    return visit_run<kStore>(shadow->cells.get(), me, order.barrier_stamp, warp, site, first,
                             ((start + bytes - 1) >> shift) - first + 1);
  };
  if (s.pattern == Pattern::contiguous) {
    good = run(offset, uint64_t{width} * kWarpSize);
  } else {
    if (s.run_count < 0) list_runs(s, width);
    for (int r = 0; r < s.run_count && good; ++r)
      good = run(offset + static_cast<uint64_t>(int64_t{s.run_start[r]}), s.run_bytes[r]);
  }
  if (HWY_UNLIKELY(!good)) check_global_slowly(w, op, s, buffer, offset, width, mask, kStore);
}

}  // namespace HWY_NAMESPACE
}  // namespace fullwarp::exec
HWY_AFTER_NAMESPACE();

#endif

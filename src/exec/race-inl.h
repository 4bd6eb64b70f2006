// The race detector's fast paths, for accesses that fit a pattern (race.h has the shadows, race*.cpp the full
// checks, which these fall back to before they have reported anything: recording an access twice is the same
// as once).
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

template <bool kStore>
HWY_NOINLINE void check_shared_slowly(Warp& w, const MicroOp* op, const Site& s, uint32_t base,
                                      unsigned width, LaneMask mask) {
  alignas(64) uint32_t offset[kWarpSize];
  for (unsigned i = 0; i < kWarpSize; ++i) offset[i] = base + static_cast<uint32_t>(s.delta32[i]);
  const StoredValues values = stored_values(w, op, kStore, width);
  const uint32_t site = static_cast<uint32_t>(&s - w.sites);
  check_shared(w, op, site, offset, mask, width, !kStore, kStore,
               op->flags & kStrong ? Order::strong : Order::weak, &values);
}

// One access of the warp at hand, against the words of the shadow. `first` is the granule that the pointers
// are at.
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
      : shadow(from),
        first(at),
        writer(from.writer.data() + at),
        reader(from.reader.data() + at),
        writer_site(from.writer_site.data() + at),
        reader_site(from.reader_site.data() + at),
        limit(from.barrier_stamp << kWhoBits),
        warp_limit(from.warp_stamp[w.index] << kWhoBits),
        stamp(from.clock << kWhoBits),
        first_thread(w.first_thread),
        warp(w.index),
        site(static_cast<uint16_t>(std::min<ptrdiff_t>(&s - w.sites, kNoSite))) {}

  uint32_t several() const { return kManyLanes + warp; }
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
  // Vectors of granules: who touches them in this access, and what the shadow has.
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::CappedTag<uint32_t, 8> d;  // `padded` is a multiple of 8
  const hn::Rebind<uint16_t, decltype(d)> d16;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const unsigned step = static_cast<unsigned>(hn::Lanes(d));
  const auto no_lane = hn::Set(d, Granules::kNoLane), several_lanes = hn::Set(d, Granules::kSeveralLanes);
  const auto who_bits = hn::Set(d, kWhoMask), first_thread = hn::Set(d, row.first_thread);
  const auto limit = hn::Set(d, row.limit);
  uint32_t* const writer = row.writer;
  uint32_t* const reader = row.reader;
  const auto lanes_at = [&](unsigned at) HWY_ATTR { return hn::PromoteTo(d, hn::LoadU(d8, g.lane + at)); };
  if (HWY_UNLIKELY(bad != 0)) {
    if (!kStore)
      for (unsigned k = 0; k < line_count; ++k)
        if (bits(k) & ~lines[k].valid) return false;
    auto met = hn::Zero(d);
    for (unsigned at = 0; at < padded; at += step) {
      const auto lane = lanes_at(at), mine = hn::Add(first_thread, lane), e = hn::LoadU(d, writer + at);
      auto race = hn::And(hn::Not(hn::Lt(e, limit)),
                          hn::Or(hn::Ne(hn::And(e, who_bits), mine), hn::Eq(lane, several_lanes)));
      if constexpr (kStore) {
        const auto r = hn::LoadU(d, reader + at);
        race = hn::Or(race, hn::And(hn::Not(hn::Lt(r, limit)), hn::Ne(hn::And(r, who_bits), mine)));
      }
      met = hn::Or(met, hn::VecFromMask(d, hn::And(race, hn::Ne(lane, no_lane))));
    }
    if (!hn::AllTrue(d, hn::Eq(met, hn::Zero(d)))) return false;
  }
  uint16_t* const sites = kStore ? row.writer_site : row.reader_site;
  const auto site = hn::Set(d16, row.site), no_lane16 = hn::Set(d16, Granules::kNoLane);
  for (unsigned at = 0; at < padded; at += step) {
    const auto lane = hn::PromoteTo(d16, hn::LoadU(d8, g.lane + at));
    hn::StoreU(hn::IfThenElse(hn::Eq(lane, no_lane16), hn::LoadU(d16, sites + at), site), d16, sites + at);
  }
  const auto stamp = hn::Set(d, row.stamp), several = hn::Set(d, row.stamp | row.several());
  if (kStore || again == 0) {
    uint32_t* const to = kStore ? writer : reader;
    for (unsigned at = 0; at < padded; at += step) {
      const auto lane = lanes_at(at);
      auto mine = hn::Or(stamp, hn::Add(first_thread, lane));
      if constexpr (!kStore) mine = hn::IfThenElse(hn::Eq(lane, several_lanes), several, mine);
      hn::StoreU(hn::IfThenElse(hn::Eq(lane, no_lane), hn::LoadU(d, to + at), mine), d, to + at);
    }
    for (unsigned k = 0; k < line_count; ++k) {
      const uint32_t m = bits(k);
      if constexpr (kStore) {
        lines[k].valid |= m & ~lines[k].pending;
        lines[k].written |= m;
        lines[k].many &= ~m;
      } else {
        lines[k].read |= m;
      }
    }
    return true;
  }
  const auto many = hn::Set(d, row.stamp | kManyWarps), warp = hn::Set(d, row.warp);
  const auto warp_limit = hn::Set(d, row.warp_limit), only_several = hn::Set(d, row.several());
  for (unsigned k = 0; k < words; ++k) {
    uint32_t settled = 0;
    for (unsigned i = 0; i < 32 && 32 * k + i < padded; i += step) {
      const unsigned at = 32 * k + i;
      const auto lane = lanes_at(at), r = hn::LoadU(d, reader + at), by = hn::And(r, who_bits);
      const auto mine =
          hn::IfThenElse(hn::Eq(lane, several_lanes), only_several, hn::Add(first_thread, lane));
      const auto own = hn::Or(hn::Eq(hn::ShiftRight<5>(by), warp), hn::Eq(by, only_several));
      const auto first_time =
          hn::Or(hn::Or(hn::Lt(r, limit), hn::Eq(by, mine)), hn::And(own, hn::Lt(r, warp_limit)));
      const auto next = hn::IfThenElse(first_time, hn::Or(stamp, mine), hn::IfThenElse(own, several, many));
      const auto kept = hn::IfThenElse(hn::Eq(lane, no_lane), r, next);
      hn::StoreU(kept, d, reader + at);
      uint8_t part[8] = {};
      hn::StoreMaskBits(d, hn::Eq(kept, many), part);
      settled |= uint32_t{part[0]} << i;
    }
    const uint64_t placed = uint64_t{settled & g.touched[k]} << shift;
    lines[k].many |= static_cast<uint32_t>(placed) & lines[k].valid & ~lines[k].written;
    if (placed >> 32)
      lines[k + 1].many |= static_cast<uint32_t>(placed >> 32) & lines[k + 1].valid & ~lines[k + 1].written;
  }
  for (unsigned k = 0; k < line_count; ++k) lines[k].read |= bits(k);
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
      if ((e >= row.limit && (e & kWhoMask) != mine) || (r >= row.limit && (r & kWhoMask) != mine))
        return false;
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
      if (!(line.valid & bit) ||
          (e >= row.limit && (lane == Granules::kSeveralLanes || (e & kWhoMask) != mine)))
        return false;
    }
    row.shadow.mark_read(row.first + static_cast<size_t>(at), mine, row.warp, row.site);
    return true;
  }
}

// A pattern of the form `list`: each granule on its own, most of them the first since the barrier.
template <bool kStore>
HWY_INLINE bool check_list(const SharedRow& row, const Granules& g) {
  SharedLine* const lines = row.shadow.lines.data();
  uint32_t* const HWY_RESTRICT entry = kStore ? row.writer : row.reader;
  uint16_t* const HWY_RESTRICT site = kStore ? row.writer_site : row.reader_site;
  const uint32_t barrier = row.shadow.barrier_stamp, mine = row.stamp | row.first_thread;
  const uint16_t this_site = row.site;
  const unsigned count = g.count;
  for (unsigned k = 0; k < count; ++k) {
    const int64_t at = g.delta[k];
    const size_t granule = row.first + static_cast<size_t>(at);
    SharedLine& line = lines[granule / 32];
    const uint32_t bit = 1u << (granule % 32);
    const uint32_t in_the_way =
        kStore ? line.written | line.read | line.many | line.pending : ~line.valid | line.written | line.read;
    if (HWY_LIKELY(line.stamp == barrier && !(in_the_way & bit) && g.lane[k] != Granules::kSeveralLanes)) {
      entry[at] = mine + g.lane[k];
      site[at] = this_site;
      if (kStore) {
        line.valid |= bit;
        line.written |= bit;
      } else {
        line.read |= bit;
      }
    } else if (!check_granule<kStore>(row, at, g.lane[k])) {
      return false;
    }
  }
  return true;
}

// A read of a pattern of the form `list`, put off. False: it has to be looked at now.
HWY_INLINE bool read_later(const SharedRow& row, const Granules& g) {
  SharedShadow& shadow = row.shadow;
  if (!shadow.reads_wait) return false;
  if (shadow.late.size() == SharedShadow::kMostLate) shadow.mark_late_reads();
  const unsigned count = g.count;
  uint32_t closed = 0;
  for (unsigned k = 0; k < count; ++k) {
    const size_t granule = row.first + static_cast<size_t>(int64_t{g.delta[k]});
    SharedLine& line = shadow.lines[granule / 32];
    shadow.renew(line);
    closed |= (~line.valid | line.written) >> (granule % 32);
  }
  if (closed & 1) return false;
  shadow.late.push_back({&g, row.first, row.warp, row.site});
  return true;
}

template <bool kStore>
HWY_NOINLINE void check_shared_closely(Warp& w, const MicroOp* op, Site& s, uint32_t base, unsigned width,
                                       LaneMask mask) {
  SharedShadow& shadow = w.block->shadow;
  Granules& g = s.granules;
  bool good = !(op->flags & kStrong) && int64_t{base} + s.end <= int64_t{shadow.watched_bytes};
  if (HWY_LIKELY(good)) {
    if (kStore) shadow.settle();
    if (HWY_UNLIKELY(g.form == Granules::Form::unknown)) {
      shadow.mark_late_reads();  // some may be of the pattern that this site had
      g.make(base, s.delta, mask, width, shadow.granule_shift);
    }
    const int64_t first =
        int64_t{base >> shadow.granule_shift} + (g.form == Granules::Form::dense ? g.lowest : 0);
    const SharedRow row(w, s, shadow, static_cast<size_t>(first));
    if (kStore && !g.alone)
      good = false;
    else if (g.form == Granules::Form::dense)
      good = check_dense<kStore>(row, g);
    else if (g.form == Granules::Form::list)
      good = (!kStore && read_later(row, g)) || check_list<kStore>(row, g);
    else
      good = false;
  }
  if (HWY_UNLIKELY(!good)) check_shared_slowly<kStore>(w, op, s, base, width, mask);
}

// Most accesses end here: one granule for all lanes, or granules that several warps have read since the
// barrier.
template <bool kStore>
HWY_INLINE void check_shared_pattern(Warp& w, const MicroOp* op, Site& s, uint32_t base, unsigned width,
                                     LaneMask mask) {
  const Granules& g = s.granules;
  if (!kStore && g.form == Granules::Form::dense && g.span <= 32 && !(op->flags & kStrong)) {
    SharedShadow& shadow = w.block->shadow;
    const size_t first = static_cast<size_t>(int64_t{base >> shadow.granule_shift} + g.lowest);
    SharedLine* const line = shadow.lines.data() + first / 32;
    const uint64_t m = uint64_t{g.touched[0]} << (first % 32);
    const uint32_t low = static_cast<uint32_t>(m), high = static_cast<uint32_t>(m >> 32),
                   stamp = shadow.barrier_stamp;
    if (line[0].stamp == stamp && !(low & ~line[0].many) &&
        (high == 0 || (line[1].stamp == stamp && !(high & ~line[1].many))))
      return;
    if (g.span == 1 && int64_t{base} + s.end <= int64_t{shadow.watched_bytes} &&
        check_granule<false>(SharedRow(w, s, shadow, first), 0, g.lane[0]))
      return;
  }
  check_shared_closely<kStore>(w, op, s, base, width, mask);
}

HWY_NOINLINE void check_global_slowly(Warp& w, const MicroOp* op, const Site& s, size_t buffer,
                                      uint64_t offset, unsigned width, LaneMask mask, bool store) {
  LaneTarget target[kWarpSize];
  for (unsigned i = 0; i < kWarpSize; ++i) {
    target[i].offset = offset + static_cast<uint64_t>(s.delta[i]);
    target[i].buffer = static_cast<int64_t>(buffer);
    target[i].data = w.worker->views[buffer].data + target[i].offset;
  }
  const StoredValues values = stored_values(w, op, store, width);
  check_global_lanes(w, op, target, mask, width, !store, store, false, &values);
}

// Eight bits as eight bytes, 0 or 0xff.
HWY_INLINE uint64_t bytes_of(uint32_t bits) {
  const uint64_t spread = (uint64_t{bits} * 0x0101010101010101u) & 0x8040201008040201u;
  return ((((spread & 0x7f7f7f7f7f7f7f7fu) + 0x7f7f7f7f7f7f7f7fu) | spread) >> 7 & 0x0101010101010101u) *
         0xff;
}

struct GlobalVisitor {
  uint32_t block, stamp, warp;
  uint16_t site;
};

// A cell of a line that has cells, by its granules `bits`. False: the full check has to look at it.
template <bool kStore>
HWY_INLINE bool visit_cell(GlobalCell& cell, const GlobalVisitor& v, uint32_t bits) {
  const uint64_t ones = 0x0101010101010101u;
  const uint64_t written = ones * (kWrittenBy | v.warp), read = ones * (kReadBy | v.warp);
  const uint64_t m = bits == 0xff ? ~uint64_t{0} : bytes_of(bits);
  if (cell.block == 0) {
    cell.block = v.block;
    cell.stamp = v.stamp;
    cell.last = m & (kStore ? written : read);
    (kStore ? cell.written : cell.read) = static_cast<uint8_t>(bits);
    (kStore ? cell.writer_site : cell.reader_site) = v.site;
    return true;
  }
  if (cell.block != v.block || cell.detail != 0) return false;
  const uint64_t last = cell.stamp == v.stamp ? cell.last : 0, here = last & m;
  if (kStore) {
    if (here != 0 && here != (m & written) && here != (m & read)) return false;
    cell.last = (last & ~m) | (m & written);
    cell.writer_site = cell.written == 0 || cell.writer_site == v.site ? v.site : kNoSite;
    cell.written |= static_cast<uint8_t>(bits);
  } else {
    if (here == 0 || here == (m & read))
      cell.last = last | (m & read);
    else if (here == (m & written))
      cell.last = last;
    else
      return false;
    cell.reader_site = cell.read == 0 || cell.reader_site == v.site ? v.site : kNoSite;
    cell.read |= static_cast<uint8_t>(bits);
  }
  cell.stamp = v.stamp;
  return true;
}

// Granules first to first + count - 1 of a buffer, in one run. False: the full check has to look at it.
template <bool kStore>
HWY_INLINE bool visit_run(GlobalShadow& shadow, const GlobalVisitor& v, uint64_t first, uint64_t count) {
  const uint64_t end = first + count;
  const uint32_t who = v.stamp << kWhoBits | v.warp;
  for (uint64_t l = first / 32; l <= (end - 1) / 32; ++l) {
    GlobalLine& line = shadow.lines[l];
    const uint64_t from = std::max(first, 32 * l) - 32 * l, to = std::min(end, 32 * l + 32) - 32 * l;
    const uint32_t bits = (~0u << from) & (~0u >> (32 - to));
    uint32_t& mask = kStore ? line.written : line.read;
    uint16_t& site = kStore ? line.writer_site : line.reader_site;
    if (HWY_LIKELY(line.block == 0 || (line.cells == 0 && line.block == v.block && line.who == who &&
                                       (mask == 0 || site == v.site)))) {
      line.block = v.block;
      line.who = who;
      mask |= bits;
      site = v.site;
      continue;
    }
    if (shadow.keeps_times) return false;
    GlobalCell* const cells = shadow.cells_of(l);
    for (unsigned c = 0; c < 4; ++c)
      if (const uint32_t part = bits >> 8 * c & 0xff; part && !visit_cell<kStore>(cells[c], v, part))
        return false;
  }
  return true;
}

// Have these bytes all a value? A store gives them one.
template <bool kStore>
HWY_INLINE bool run_has_values(uint64_t* words, uint64_t offset, uint64_t bytes, bool concurrent) {
  bool all = true;
  for (uint64_t at = offset, end = offset + bytes; at < end;) {
    const uint64_t shift = at % 64, n = std::min<uint64_t>(64 - shift, end - at);
    all &= mark_values(words[at / 64], (n == 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1) << shift, kStore,
                       concurrent);
    at += n;
  }
  return all;
}

template <bool kStore>
HWY_INLINE void check_global_pattern(Warp& w, const MicroOp* op, Site& s, const BufferView& view,
                                     size_t buffer, uint64_t offset, unsigned width, LaneMask mask) {
  const bool concurrent = w.worker->atomic_memory;
  const SharedShadow& order = w.block->shadow;
  GlobalShadow* const shadow = op->flags & kStrong ? nullptr : view.shadow;
  const uint32_t warp = order.tells_warps_apart() ? w.index : 0;
  bool good = true;
  const unsigned shift = shadow ? shadow->granule_shift : 0;
  const GlobalVisitor visitor{static_cast<uint32_t>(w.block->linear) + 1, order.barrier_stamp, warp,
                              static_cast<uint16_t>(std::min<uint32_t>(op->site, kNoSite))};
  const auto run = [&](uint64_t start, uint64_t bytes) HWY_ATTR {
    if (view.written && !run_has_values<kStore>(view.written, start, bytes, concurrent) && !kStore)
      return false;
    if (!shadow) return true;
    const uint64_t first = start >> shift;
    return visit_run<kStore>(*shadow, visitor, first, ((start + bytes - 1) >> shift) - first + 1);
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

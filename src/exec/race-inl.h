// The race detector's fast paths, for accesses that fit a pattern (see race.h for the shadow words).
#if defined(FULLWARP_EXEC_RACE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FULLWARP_EXEC_RACE_INL_H_
#undef FULLWARP_EXEC_RACE_INL_H_
#else
#define FULLWARP_EXEC_RACE_INL_H_
#endif

#include "exec/access.h"
#include "exec/lanes-inl.h"
#include "exec/race.h"

HWY_BEFORE_NAMESPACE();
namespace fullwarp::exec {
namespace HWY_NAMESPACE {

HWY_INLINE bool newer(uint32_t entry, uint32_t limit) {
  return static_cast<int32_t>(entry ^ 0x80000000u) >= static_cast<int32_t>(limit ^ 0x80000000u);
}

template <bool kStore>
HWY_INLINE void check_shared_slowly(Warp& w, const MicroOp* op, const Site& s, uint32_t base, unsigned width,
                                    LaneMask mask) {
  alignas(64) uint32_t offset[kWarpSize];
  for (unsigned i = 0; i < kWarpSize; ++i) offset[i] = base + static_cast<uint32_t>(s.delta32[i]);
  const bool one_element = ((op->flags >> kVectorShift) & kVectorMask) == 1;
  const void* values = kStore && one_element ? w.row<std::byte>(op->dst) : nullptr;
  check_shared(w, op, offset, mask, width, !kStore, kStore, (op->flags & kStrong) != 0, values);
}

template <bool kStore>
HWY_INLINE void check_shared_pattern(Warp& w, const MicroOp* op, Site& s, uint32_t base, unsigned width,
                                     LaneMask mask) {
  SharedShadow& shadow = w.block->shadow;
  const unsigned shift = shadow.granule_shift;
  const uint32_t limit = shadow.barrier_stamp << kWhoBits;  // entries below are ordered before this access
  const uint32_t warp_limit = shadow.warp_stamp[w.index] << kWhoBits;  // ... if they are this warp's
  const uint32_t me = (shadow.clock << kWhoBits) | w.first_thread;
  if (op->flags & kStrong) {
    check_shared_slowly<kStore>(w, op, s, base, width, mask);
    return;
  }
  uint32_t* writer = shadow.writer.data() + (base >> shift);
  uint32_t* reader = shadow.reader.data() + (base >> shift);
  const int64_t first_line = (int64_t{base} + s.lowest) / 128, last_line = (int64_t{base} + s.end - 1) / 128;
  if constexpr (kStore) {
    for (int64_t line = first_line; line <= last_line; ++line) shadow.line_settled[static_cast<size_t>(line)] = 0;
  } else {
    bool settled = true;
    for (int64_t line = first_line; line <= last_line; ++line)
      settled &= shadow.line_settled[static_cast<size_t>(line)] == shadow.barrier_stamp;
    if (settled) return;
  }
  if (s.pattern == Pattern::contiguous && width == (1u << shift)) {
    // Two words are compared for "newer than the last barrier" as signed numbers, which AVX2 can do: both are
    // shifted by the sign bit.
    uint32_t bad = 0;
    FULLWARP_LANE_LOOP
    for (unsigned i = 0; i < kWarpSize; ++i) {
      const uint32_t e = writer[i], mine = w.first_thread + i;
      const uint32_t write_met = newer(e, limit) & ((e & kWhoMask) != mine);
      if constexpr (kStore) {
        const uint32_t r = reader[i];
        bad |= write_met | (newer(r, limit) & ((r & kWhoMask) != mine));
      } else {
        bad |= write_met | (e == 0);
      }
    }
    if (HWY_UNLIKELY(bad != 0)) {
      check_shared_slowly<kStore>(w, op, s, base, width, mask);
      return;
    }
    if constexpr (kStore) {
      FULLWARP_LANE_LOOP
      for (unsigned i = 0; i < kWarpSize; ++i) writer[i] = me + i;
    } else {
      const uint32_t many = (shadow.clock << kWhoBits) | kManyWarps;
      const uint32_t several = (shadow.clock << kWhoBits) | (kManyLanes + w.index);
      uint32_t other = 0;
      FULLWARP_LANE_LOOP
      for (unsigned i = 0; i < kWarpSize; ++i) {
        const uint32_t r = reader[i], who = r & kWhoMask;
        const bool own = (who / kWarpSize == w.index) | (who == kManyLanes + w.index);
        const bool first = !newer(r, limit) | (who == w.first_thread + i) | (own & !newer(r, warp_limit));
        const uint32_t next = first ? me + i : own ? several : many;
        other |= next ^ many;
        reader[i] = next;
      }
      // Written entries are older than the barrier: their threads' own newer writes would have been `bad` to others,
      // but not to themselves, so ask again before the line is settled.
      if (other == 0 && width == 4 && first_line == last_line) {
        uint32_t recent = 0;
        FULLWARP_LANE_LOOP
        for (unsigned i = 0; i < kWarpSize; ++i) recent |= newer(writer[i], limit);
        if (recent == 0) shadow.line_settled[static_cast<size_t>(first_line)] = shadow.barrier_stamp;
      }
    }
    return;
  }
  if (s.granule_count == -1) list_granules(s, base, width, shift);
  if (s.granule_count < 0) {
    check_shared_slowly<kStore>(w, op, s, base, width, mask);
    return;
  }
  const uint32_t several = (shadow.clock << kWhoBits) | (kManyLanes + w.index);
  for (int k = 0; k < s.granule_count; ++k) {
    const int32_t at = s.granule_delta[k];
    const uint32_t e = writer[at], r = reader[at];
    const bool alone = s.granule_lane[k] != Site::kSeveralLanes;
    const uint32_t mine = alone ? me + s.granule_lane[k] : several;
    const bool write_ok = e < limit || (alone && (e & kWhoMask) == (mine & kWhoMask));
    if constexpr (kStore) {
      const bool read_ok = r < limit || (alone && (r & kWhoMask) == (mine & kWhoMask));
      if (HWY_UNLIKELY(!write_ok || !read_ok || !alone)) {
        check_shared_slowly<kStore>(w, op, s, base, width, mask);
        return;
      }
      writer[at] = mine;
    } else {
      if (HWY_UNLIKELY(!write_ok || e == 0)) {
        check_shared_slowly<kStore>(w, op, s, base, width, mask);
        return;
      }
      const uint32_t who = r & kWhoMask;
      const uint32_t warp = who < kManyLanes ? who / kWarpSize : who - kManyLanes;
      if (r < limit || who == (mine & kWhoMask) || (warp == w.index && r < warp_limit)) {
        reader[at] = mine;
      } else {  // another reader since the last barrier
        reader[at] = warp == w.index && who != kManyWarps ? several : (shadow.clock << kWhoBits) | kManyWarps;
      }
    }
  }
}

inline void check_global_slowly(Warp& w, const MicroOp* op, const Site& s, size_t buffer, uint64_t offset,
                                unsigned width, LaneMask mask, bool store) {
  LaneTarget target[kWarpSize];
  for (unsigned i = 0; i < kWarpSize; ++i) {
    target[i].offset = offset + static_cast<uint64_t>(s.delta[i]);
    target[i].buffer = static_cast<int64_t>(buffer);
    target[i].data = w.worker->views[buffer].data + target[i].offset;
  }
  check_global_lanes(w, op, target, mask, width, !store, store, false);
}

// Granules first..last of a buffer, in one run.
template <bool kStore>
HWY_INLINE bool blocks_meet(GlobalShadow& shadow, uint32_t me, uint64_t first, uint64_t count) {
  uint32_t* HWY_RESTRICT writer = shadow.writer.get() + first;
  uint32_t* HWY_RESTRICT reader = shadow.reader.get() + first;
  uint32_t bad = 0;
  FULLWARP_LANE_LOOP
  for (uint64_t i = 0; i < count; ++i) {
    bad |= (writer[i] != 0) & (writer[i] != me);
    if (kStore) bad |= (reader[i] != 0) & (reader[i] != me);
  }
  if (bad) return true;
  FULLWARP_LANE_LOOP
  for (uint64_t i = 0; i < count; ++i) {
    if constexpr (kStore) {
      writer[i] = me;
    } else {
      const uint32_t r = reader[i];
      reader[i] = (r == 0) | (r == me) ? me : kManyBlocks;
    }
  }
  return false;
}

template <bool kStore>
HWY_INLINE void check_global_pattern(Warp& w, const MicroOp* op, Site& s, const BufferView& view, size_t buffer,
                                     uint64_t offset, unsigned width, LaneMask mask) {
  if (view.written || !view.shadow || (op->flags & kStrong)) {
    check_global_slowly(w, op, s, buffer, offset, width, mask, kStore);
    return;
  }
  GlobalShadow& shadow = *view.shadow;
  const unsigned shift = shadow.granule_shift;
  const uint32_t me = static_cast<uint32_t>(w.block->linear) + 1;
  bool meet = false;
  if (s.pattern == Pattern::contiguous) {
    meet = blocks_meet<kStore>(shadow, me, offset >> shift, (uint64_t{width} * kWarpSize) >> shift);
  } else {
    if (s.run_count < 0) list_runs(s, width);
    for (int r = 0; r < s.run_count && !meet; ++r) {
      const uint64_t start = offset + static_cast<uint64_t>(int64_t{s.run_start[r]});
      const uint64_t first = start >> shift;
      meet = blocks_meet<kStore>(shadow, me, first, ((start + s.run_bytes[r] - 1) >> shift) - first + 1);
    }
  }
  if (HWY_UNLIKELY(meet)) check_global_slowly(w, op, s, buffer, offset, width, mask, kStore);
}

}  // namespace HWY_NAMESPACE
}  // namespace fullwarp::exec
HWY_AFTER_NAMESPACE();

#endif

// What an access that fits a pattern touches, marked beside its sectors (coverage.h).
#if defined(FULLWARP_EXEC_COVERAGE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FULLWARP_EXEC_COVERAGE_INL_H_
#undef FULLWARP_EXEC_COVERAGE_INL_H_
#else
#define FULLWARP_EXEC_COVERAGE_INL_H_
#endif

#include "exec/lanes-inl.h"
#include "exec/site.h"
#include "exec/worker.h"

HWY_BEFORE_NAMESPACE();
namespace fullwarp::exec {
namespace HWY_NAMESPACE {

// Marks a run of bytes as touched, and for loads, its sectors as loaded by this block.
template <bool kStore>
HWY_INLINE void cover_run(const BufferView& view, Site& s, uint32_t me, uint64_t offset, uint64_t bytes,
                          uint64_t& last_sector) {
  view.coverage->touch(offset, bytes);
  mark_run<kStore>(view.sectors, offset, bytes, [&](uint64_t sector, SectorUse& use) {
    if (kStore || sector == last_sector) return;
    s.counters.extra_copies += view.coverage->load_sector(use, me);
    last_sector = sector;
  });
}

// The same for 128 bytes from a sector's start on.
template <bool kStore>
HWY_INLINE void cover_line(const BufferView& view, Site& s, uint32_t me, uint64_t offset) {
  view.coverage->touch(offset, 128);
  SectorUse* HWY_RESTRICT const use = view.sectors + offset / 32;
  if constexpr (kStore) {
    for (unsigned k = 0; k < 4; ++k) use[k].stored = ~uint32_t{0};
  } else {
    unsigned before = 0;
    for (unsigned k = 0; k < 4; ++k) {
      before += use[k].loader == me;
      use[k].loader = me;
      use[k].loaded = ~uint32_t{0};
    }
    s.counters.extra_copies += before;
    if (before != 4) view.coverage->load_sectors_of_blocks += 4 - before;
  }
}

// The same for aligned bytes within a sector.
template <bool kStore>
HWY_INLINE void cover_word(const BufferView& view, Site& s, uint32_t me, uint64_t offset, unsigned width) {
  view.coverage->touch(offset, width);
  SectorUse& use = view.sectors[offset / 32];
  const uint32_t bits = sector_bits(0, width - 1) << (offset % 32);
  uint32_t& word = kStore ? use.stored : use.loaded;
  if (HWY_UNLIKELY((word & bits) != bits)) word |= bits;
  if (!kStore) s.counters.extra_copies += view.coverage->load_sector(use, me);
}

template <bool kStore>
HWY_INLINE void cover_pattern(const BufferView& view, Site& s, uint32_t me, uint64_t offset, unsigned width) {
  if constexpr (kStore)
    view.coverage->stored_asked += uint64_t{width} * s.lanes;
  else
    view.coverage->ask_load(me, uint64_t{width} * s.lanes);
  uint64_t last_sector = ~uint64_t{0};
  if (s.pattern == Pattern::contiguous) {
    if (HWY_LIKELY(width == 4 && offset % 32 == 0))
      cover_line<kStore>(view, s, me, offset);
    else
      cover_run<kStore>(view, s, me, offset, uint64_t{width} * kWarpSize, last_sector);
  } else if (s.pattern == Pattern::uniform) {
    cover_word<kStore>(view, s, me, offset, width);
  } else {
    if (s.run_count < 0) list_runs(s, width);
    for (int r = 0; r < s.run_count; ++r)
      cover_run<kStore>(view, s, me, offset + static_cast<uint64_t>(int64_t{s.run_start[r]}), s.run_bytes[r],
                        last_sector);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fullwarp::exec
HWY_AFTER_NAMESPACE();

#endif

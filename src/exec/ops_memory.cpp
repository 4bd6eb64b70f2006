// Loads and stores. Each handler tries the site's pattern first (site.h): one vector comparison, one bounds
// check, and data that is contiguous or one value for all lanes moves as vectors. What does not fit goes lane
// by lane through access.h. memory_moves-inl.h moves the data, coverage-inl.h marks what is touched.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/ops_memory.cpp"
#include "exec/targets.h"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "exec/access.h"
#include "exec/coverage-inl.h"
#include "exec/gather.h"
#include "exec/handlers.h"
#include "exec/lanes-inl.h"
#include "exec/memory_moves-inl.h"
#include "exec/memory_ops.h"
#include "exec/race-inl.h"
#include "exec/scattered-inl.h"
#include "hwy/cache_control.h"

HWY_BEFORE_NAMESPACE();
namespace fullwarp::exec {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using mem::AccessKind;
using mem::AccessSpace;

// Do the lanes of `mask` lie as in the site's pattern?
template <class Address>
HWY_INLINE bool fits(const Site& s, const Address* HWY_RESTRICT address, LaneMask mask) {
  if (mask != s.mask || s.pattern == Pattern::none) return false;
  const Address base = address[std::countr_zero(mask)];
  using Delta = std::conditional_t<sizeof(Address) == 4, int32_t, int64_t>;
  const Delta* HWY_RESTRICT delta;
  if constexpr (sizeof(Address) == 4)
    delta = s.delta32;
  else
    delta = s.delta;
  Address difference = 0;
  if (mask == kFullMask) {
    FULLWARP_LANE_LOOP
    for (unsigned i = 0; i < kWarpSize; ++i)
      difference |= (address[i] - base) ^ static_cast<Address>(delta[i]);
  } else {
    FULLWARP_LANE_LOOP
    for (unsigned i = 0; i < kWarpSize; ++i)
      difference |= (mask >> i) & 1 ? (address[i] - base) ^ static_cast<Address>(delta[i]) : 0;
  }
  return difference == 0;
}

// The same, without looking at the lanes where their distances are known to be what they were.
template <class Address>
HWY_INLINE bool fits(Warp& w, const MicroOp* op, const Site& s, const Address* HWY_RESTRICT address,
                     LaneMask mask) {
  if (!op->steady.tag || mask != kFullMask) return fits(s, address, mask);
  const uint64_t tag = *w.row<uint64_t>(op->steady.tag);
  Seen& seen = *w.row<Seen>(op->steady.seen);
  if (seen.tag == tag && seen.version == s.version) return s.mask == kFullMask && s.pattern != Pattern::none;
  if (!fits(s, address, mask)) return false;
  seen = {tag, s.version};
  return true;
}

// Lane by lane: faulting lanes read 0 and store nothing.
template <unsigned kBytes, Extend kExtend, bool kStore>
HWY_NOINLINE void slowly(Warp& w, const MicroOp* op, Addressing addressing, uint32_t site,
                         const uint64_t* address, LaneMask mask) {
  using E = Raw<kBytes>;
  using R = Wide<kBytes>;
  LaneTarget target[kWarpSize];
  const unsigned vector = vector_of(op);
  const LaneMask ok = access_lanes(w, op, addressing, site, address, mask, kBytes * vector,
                                   kStore ? AccessKind::store : AccessKind::load, target);
  for (unsigned j = 0; j < vector; ++j) {
    R* row = w.row<R>(element_row(op, j));
    for (LaneMask left = mask; left; left &= left - 1) {
      const unsigned i = static_cast<unsigned>(std::countr_zero(left));
      LaneTarget t = target[i];
      const bool good = (ok >> i) & 1;
      if (good) {
        t.offset += j * kBytes;
        if (t.data) t.data += j * kBytes;
      }
      E raw = 0;
      if constexpr (kStore) {
        raw = static_cast<E>(row[i]);
        if (good) write_target(w, i, t, &raw, kBytes);
      } else {
        if (good) read_target(w, i, t, &raw, kBytes);
        row[i] = extend<kBytes, kExtend>(raw);
      }
    }
  }
}

HWY_INLINE void count_hit(const Warp& w, Site& s, uint64_t base) {
  const unsigned k = (base >> 2) & 31;
  if (HWY_UNLIKELY(s.hits[k]++ == 0)) s.first_hit[k] = {base, occurrence(w)};
  ++s.pending;
}

// Data between rows and wherever the lanes are: `bytes(i)`, which is a place for lanes outside the mask too.
template <unsigned kBytes, Extend kExtend, bool kStore, class Bytes>
HWY_INLINE void move_lanes(Warp& w, const MicroOp* op, LaneMask mask, Bytes bytes) {
  using E = Raw<kBytes>;
  using R = Wide<kBytes>;
  for (unsigned j = 0; j < vector_of(op); ++j) {
    R* row = w.row<R>(element_row(op, j));
    if constexpr (kStore) {
      for (LaneMask left = mask; left; left &= left - 1) {
        const unsigned i = static_cast<unsigned>(std::countr_zero(left));
        const E raw = static_cast<E>(row[i]);
        std::memcpy(bytes(i) + j * kBytes, &raw, kBytes);
      }
    } else {
      alignas(64) R temp[kWarpSize];
      for (unsigned i = 0; i < kWarpSize; ++i) {
        E raw;
        std::memcpy(&raw, bytes(i) + j * kBytes, kBytes);
        temp[i] = extend<kBytes, kExtend>(raw);
      }
      blend(row, temp, mask);
    }
  }
}

// A global access that fits no pattern: all lanes in a few buffers, else lane by lane.
template <unsigned kBytes, Extend kExtend, bool kStore>
HWY_NOINLINE void anywhere(Warp& w, const MicroOp* op, Addressing addressing, uint32_t site,
                           const uint64_t* address, LaneMask mask) {
  Worker& k = *w.worker;
  Site& s = k.sites[site];
  const unsigned width = kBytes * vector_of(op);
#if FULLWARP_HAS_DISTINCT
  Scattered lanes;
  if (count_scattered<kStore>(w, op, s, k.program->sites[site], address, mask, width, lanes)) {
    if constexpr (kBytes == 4 && !kStore) {
      if (vector_of(op) == 1) {
        fetch_scattered(lanes, mask, w.row<uint32_t>(op->dst));
        return;
      }
    }
    move_lanes<kBytes, kExtend, kStore>(w, op, mask, [&](unsigned i) { return lanes.bytes(i); });
    return;
  }
#endif
  alignas(64) uint64_t exact[kWarpSize];
  for (unsigned i = 0; i < kWarpSize; ++i) exact[i] = address[i] + static_cast<uint64_t>(op->imm);
  Gather g;
  if (!find_lanes(w, exact, mask, width, kStore, g)) {
    drop_pattern(s, k.program->sites[site], *k.program);
    slowly<kBytes, kExtend, kStore>(w, op, addressing, addressing == Addressing::generic ? op->site : site,
                                    exact, mask);
    return;
  }
  if (!(op->flags & kNotCounted))
    count_gather(w, s, k.program->sites[site], g, mask, width, kStore ? AccessKind::store : AccessKind::load);
  if (k.options->check_races) check_gather(w, op, g, mask, width, kStore);
  if constexpr (kStore) {
    for (unsigned n = 0; w.watch_stores && n < g.groups; ++n)
      if (!g.group[n].view->shadow) unexpected_store(w, g.group[n].buffer);
  }
  move_lanes<kBytes, kExtend, kStore>(w, op, mask, [&](unsigned i) { return g.bytes(i); });
}

template <unsigned kBytes, Extend kExtend, bool kStore>
HWY_INLINE void access_global(Warp& w, const MicroOp* op, Addressing addressing, uint32_t site,
                              const uint64_t* address, LaneMask mask) {
  Worker& k = *w.worker;
  Site& s = k.sites[site];
  const unsigned width = kBytes * vector_of(op);
  const uint64_t base = address[std::countr_zero(mask)] + static_cast<uint64_t>(op->imm);
  bool good = fits(w, op, s, address, mask);
  if (!good) {
    if (pattern_pays(s)) {
      good = set_pattern(s, k.program->sites[site], AccessSpace::global, address, mask, width, w);
    } else if (s.mask != 0 && s.pending <= 1) {  // of no use: nothing is compared with it any more
      drop_pattern(s, k.program->sites[site], *k.program);
    }
  }
  const uint64_t window = window_of(base) - kFirstBufferWindow;
  const int64_t offset = static_cast<int64_t>(offset_of(base));
  if (HWY_LIKELY(good && window < k.views.size() && s.aligned && (base & (width - 1)) == 0)) {
    const BufferView& view = k.views[window];
    if (HWY_LIKELY(offset + s.lowest >= 0 && static_cast<uint64_t>(offset + s.end) <= view.bytes &&
                   !(kStore && view.read_only) && (kBytes >= 4 || (base & 3) == s.low_bits))) {
      if (!(op->flags & kNotCounted)) {
        if (kBytes < 4) s.first.base = (s.first.base & ~uint64_t{3}) | (base & 3);
        count_hit(w, s, base);
        cover_pattern<kStore>(view, s, w.block_number, static_cast<uint64_t>(offset), width);
      }
      if (k.options->check_races && (view.written || view.shadow))
        check_global_pattern<kStore>(w, op, s, view, window, static_cast<uint64_t>(offset), width, mask);
      if (kStore && w.watch_stores && !view.shadow) unexpected_store(w, window);
      std::byte* p = view.data + offset;
      if constexpr (kStore)
        put<kBytes>(w, op, s, p, mask);
      else
        fetch<kBytes, kExtend>(w, op, s, p, mask);
      return;
    }
  }
  anywhere<kBytes, kExtend, kStore>(w, op, addressing, site, address, mask);
}

template <unsigned kBytes, Extend kExtend, bool kStore>
HWY_INLINE void access_shared(Warp& w, const MicroOp* op, uint32_t site, const uint32_t* address,
                              LaneMask mask, uint32_t imm) {
  Worker& k = *w.worker;
  Site& s = k.sites[site];
  const unsigned width = kBytes * vector_of(op);
  const uint32_t base = address[std::countr_zero(mask)] + imm;
  bool good = fits(w, op, s, address, mask) && (kBytes >= 4 || s.low_bits == (base & 3));
  if (!good) {
    good = set_pattern(s, k.program->sites[site], AccessSpace::shared, address, mask, width, w);
    s.low_bits = base & 3;
    s.first.base = base;
  }
  const int64_t offset = base;
  if (HWY_LIKELY(good && s.aligned && (base & (width - 1)) == 0 && offset + s.lowest >= 0 &&
                 offset + s.end <= w.shared_bytes)) {
    ++s.pending;
    if (k.options->check_races) check_shared_pattern<kStore>(w, op, s, base, width, mask);
    std::byte* p = w.shared + base;
    if constexpr (kStore)
      put<kBytes>(w, op, s, p, mask);
    else
      fetch<kBytes, kExtend>(w, op, s, p, mask);
    return;
  }
  alignas(64) uint64_t exact[kWarpSize];
  for (unsigned i = 0; i < kWarpSize; ++i) exact[i] = static_cast<uint32_t>(address[i] + imm);
  drop_pattern(s, k.program->sites[site], *k.program);
  slowly<kBytes, kExtend, kStore>(w, op, Addressing::shared, site, exact, mask);
}

// Local memory is interleaved, so that lanes with one offset touch one run of words.
template <unsigned kBytes, Extend kExtend, bool kStore>
HWY_INLINE void access_local(Warp& w, const MicroOp* op, Addressing addressing, uint32_t site,
                             const uint64_t* address, LaneMask mask) {
  Worker& k = *w.worker;
  Site& s = k.sites[site];
  const unsigned width = kBytes * vector_of(op);
  bool good = fits(s, address, mask);
  if (!good) good = set_pattern(s, k.program->sites[site], AccessSpace::local, address, mask, width, w);
  const uint64_t offset = offset_of(address[std::countr_zero(mask)] + static_cast<uint64_t>(op->imm));
  if (good && s.pattern == Pattern::uniform && (kBytes == 4 || kBytes == 8) && offset % width == 0 &&
      offset + width <= w.frame->local_top) {
    ++s.pending;
    s.first.base = offset;
    for (unsigned j = 0; j < vector_of(op); ++j) {
      uint32_t* words = reinterpret_cast<uint32_t*>(local_byte(w, offset + j * kBytes, 0));
      Wide<kBytes>* row = w.row<Wide<kBytes>>(element_row(op, j));
      FULLWARP_LANE_LOOP
      for (unsigned i = 0; i < kWarpSize; ++i) {
        const bool on = (mask >> i) & 1;
        if constexpr (kStore) {
          words[i] = on ? static_cast<uint32_t>(row[i]) : words[i];
          if constexpr (kBytes == 8) words[i + 32] = on ? static_cast<uint32_t>(row[i] >> 32) : words[i + 32];
        } else {
          Wide<kBytes> value = words[i];
          if constexpr (kBytes == 8) value |= static_cast<uint64_t>(words[i + 32]) << 32;
          row[i] = on ? value : row[i];
        }
      }
    }
    return;
  }
  alignas(64) uint64_t exact[kWarpSize];
  for (unsigned i = 0; i < kWarpSize; ++i) exact[i] = address[i] + static_cast<uint64_t>(op->imm);
  drop_pattern(s, k.program->sites[site], *k.program);
  slowly<kBytes, kExtend, kStore>(w, op, addressing, addressing == Addressing::generic ? op->site : site,
                                  exact, mask);
}

template <Addressing kAddressing, unsigned kBytes, Extend kExtend, bool kStore>
HWY_NOINLINE const MicroOp* access(Warp& w, const MicroOp* op) {
  const LaneMask mask = w.exec;
  if constexpr (kAddressing == Addressing::shared) {
    access_shared<kBytes, kExtend, kStore>(w, op, op->site, w.row<uint32_t>(op->a), mask,
                                           static_cast<uint32_t>(op->imm));
  } else if constexpr (kAddressing == Addressing::global) {
    access_global<kBytes, kExtend, kStore>(w, op, Addressing::global, op->site, w.row<uint64_t>(op->a), mask);
  } else if constexpr (kAddressing == Addressing::local) {
    access_local<kBytes, kExtend, kStore>(w, op, Addressing::local, op->site, w.row<uint64_t>(op->a), mask);
  } else {
    // Generic: the window of each lane says the space; lanes of one space go together.
    const uint64_t* address = w.row<uint64_t>(op->a);
    LaneMask shared = 0, local = 0;
    const uint64_t first = window_of(address[std::countr_zero(mask)] + static_cast<uint64_t>(op->imm));
    LaneMask same = 0;
    for (unsigned i = 0; i < kWarpSize; ++i) {
      const uint64_t window = window_of(address[i] + static_cast<uint64_t>(op->imm));
      same |= static_cast<LaneMask>(window == first) << i;
      shared |= static_cast<LaneMask>(window == kSharedWindow) << i;
      local |= static_cast<LaneMask>(window == kLocalWindow) << i;
    }
    const LaneMask global = mask & ~shared & ~local;
    if (global) {
      if ((same & mask) == mask)
        access_global<kBytes, kExtend, kStore>(w, op, Addressing::generic, op->site, address, mask);
      else {
        alignas(64) uint64_t exact[kWarpSize];
        for (unsigned i = 0; i < kWarpSize; ++i) exact[i] = address[i] + static_cast<uint64_t>(op->imm);
        slowly<kBytes, kExtend, kStore>(w, op, Addressing::generic, op->site, exact, global);
      }
    }
    if (shared & mask) {
      alignas(64) uint32_t offset[kWarpSize];
      FULLWARP_LANE_LOOP
      for (unsigned i = 0; i < kWarpSize; ++i)
        offset[i] = static_cast<uint32_t>(offset_of(address[i] + static_cast<uint64_t>(op->imm)));
      access_shared<kBytes, kExtend, kStore>(w, op, op->site + 1, offset, shared & mask, 0);
    }
    if (local & mask)
      access_local<kBytes, kExtend, kStore>(w, op, Addressing::generic, op->site + 2, address, local & mask);
  }
  return op + 1;
}

// The common case on its own, so that it compiles to little code: 4-byte accesses of all 32 lanes that fit
// the pattern. Everything else goes through `access`.
HWY_INLINE bool words_fit(const Site& s, const uint32_t* HWY_RESTRICT a) {
  const WordTag d;
  const auto base = hn::Set(d, a[0]);
  auto difference = hn::Zero(d);
  for (unsigned i = 0; i < kWarpSize; i += static_cast<unsigned>(hn::Lanes(d))) {
    const auto delta = hn::LoadU(d, reinterpret_cast<const uint32_t*>(s.delta32) + i);
    difference = hn::Or(difference, hn::Xor(hn::Sub(hn::LoadU(d, a + i), base), delta));
  }
  return hn::AllTrue(d, hn::Eq(difference, hn::Zero(d)));
}

HWY_INLINE bool words_fit(const Site& s, const uint64_t* HWY_RESTRICT a) {
  const hn::ScalableTag<uint64_t> d;
  const auto base = hn::Set(d, a[0]);
  auto difference = hn::Zero(d);
  for (unsigned i = 0; i < kWarpSize; i += static_cast<unsigned>(hn::Lanes(d))) {
    const auto delta = hn::LoadU(d, reinterpret_cast<const uint64_t*>(s.delta) + i);
    difference = hn::Or(difference, hn::Xor(hn::Sub(hn::LoadU(d, a + i), base), delta));
  }
  return hn::AllTrue(d, hn::Eq(difference, hn::Zero(d)));
}

template <class Address>
HWY_INLINE bool words_fit(Warp& w, const MicroOp* op, const Site& s, const Address* HWY_RESTRICT a) {
  if (!op->steady.tag) return words_fit(s, a);
  const uint64_t tag = *w.row<uint64_t>(op->steady.tag);
  Seen& seen = *w.row<Seen>(op->steady.seen);
  if (HWY_LIKELY(seen.tag == tag && seen.version == s.version)) return true;
  if (!words_fit(s, a)) return false;
  seen = {tag, s.version};
  return true;
}

template <bool kStore, bool kCheck>
HWY_NOINLINE const MicroOp* shared_word(Warp& w, const MicroOp* op) {
  Site& s = w.sites[op->site];
  const uint32_t* a = w.row<uint32_t>(op->a);
  const uint32_t base = a[0] + static_cast<uint32_t>(op->imm);
  if (HWY_LIKELY(w.exec == kFullMask && s.mask == kFullMask && s.aligned && (base & 3) == 0 &&
                 int64_t{base} + s.lowest >= 0 && int64_t{base} + s.end <= w.shared_bytes &&
                 words_fit(w, op, s, a))) {
    ++s.pending;
    if constexpr (kCheck) check_shared_pattern<kStore>(w, op, s, base, 4, kFullMask);
    move_words<kStore>(s, w.shared + base, w.row<uint32_t>(op->dst));
    return op + 1;
  }
  return access<Addressing::shared, 4, Extend::zero, kStore>(w, op);
}

// Asks for the lines of the next access if this instruction goes on as it did from the last one. The CPU
// cannot tell: to it all loads of a kernel are this one.
HWY_INLINE void fetch_ahead(Site& s, const BufferView& view, uint64_t base) {
  const uint64_t next = offset_of(base + base - s.last_base);
  s.last_base = base;
  if (next >= view.bytes) return;
  hwy::Prefetch(view.data + next);
  hwy::Prefetch(view.data + next + 64);
  hwy::Prefetch(view.sectors + next / 32);
  if (view.shadow) hwy::Prefetch(view.shadow->lines.get() + (next >> (view.shadow->granule_shift + 5)));
}

template <bool kStore>
HWY_NOINLINE const MicroOp* global_word(Warp& w, const MicroOp* op) {
  Site& s = w.sites[op->site];
  const uint64_t* a = w.row<uint64_t>(op->a);
  const uint64_t base = a[0] + static_cast<uint64_t>(op->imm);
  const uint64_t window = window_of(base) - kFirstBufferWindow;
  const int64_t offset = static_cast<int64_t>(offset_of(base));
  if (HWY_LIKELY(w.exec == kFullMask && s.mask == kFullMask && s.aligned && (base & 3) == 0 &&
                 window < w.view_count && offset + s.lowest >= 0 && words_fit(w, op, s, a))) {
    const BufferView& view = w.views[window];
    if (HWY_LIKELY(static_cast<uint64_t>(offset + s.end) <= view.bytes && !(kStore && view.read_only) &&
                   !view.written)) {
      if (!(op->flags & kNotCounted)) {
        count_hit(w, s, base);
        fetch_ahead(s, view, base);
        cover_pattern<kStore>(view, s, w.block_number, static_cast<uint64_t>(offset), 4);
      }
      if (view.shadow)
        check_global_pattern<kStore>(w, op, s, view, window, static_cast<uint64_t>(offset), 4, kFullMask);
      else if (kStore && HWY_UNLIKELY(w.watch_stores))
        unexpected_store(w, window);
      move_words<kStore>(s, view.data + offset, w.row<uint32_t>(op->dst));
      return op + 1;
    }
  }
  return access<Addressing::global, 4, Extend::zero, kStore>(w, op);
}

// `.param` variables of device functions: words of 32 lanes in the frame.
template <unsigned kBytes, Extend kExtend, bool kStore>
HWY_NOINLINE const MicroOp* access_param(Warp& w, const MicroOp* op) {
  const LaneMask mask = w.exec;
  for (unsigned j = 0; j < vector_of(op); ++j) {
    const uint64_t offset = static_cast<uint64_t>(op->imm) + j * kBytes;
    uint32_t* words = w.row<uint32_t>(op->a) + offset / 4 * kWarpSize;
    const unsigned shift = static_cast<unsigned>(offset % 4) * 8;
    Wide<kBytes>* row = w.row<Wide<kBytes>>(element_row(op, j));
    for (unsigned i = 0; i < kWarpSize; ++i) {
      if (!((mask >> i) & 1)) continue;
      if constexpr (kStore) {
        if constexpr (kBytes == 8) {
          words[i] = static_cast<uint32_t>(row[i]);
          words[i + kWarpSize] = static_cast<uint32_t>(row[i] >> 32);
        } else {
          const uint32_t field = kBytes == 4 ? ~0u : ((1u << (8 * (kBytes & 3))) - 1) << shift;
          words[i] = (words[i] & ~field) | ((static_cast<uint32_t>(row[i]) << shift) & field);
        }
      } else {
        if constexpr (kBytes == 8)
          row[i] = words[i] | static_cast<uint64_t>(words[i + kWarpSize]) << 32;
        else
          row[i] = extend<kBytes, kExtend>(static_cast<Raw<kBytes>>(words[i] >> shift));
      }
    }
  }
  return op + 1;
}

template <unsigned kBytes, Extend kExtend, bool kStore>
Handlers pick_space(MemoryPath path) {
  Handler h = nullptr;
  switch (path) {
    case MemoryPath::generic: h = access<Addressing::generic, kBytes, kExtend, kStore>; break;
    case MemoryPath::global: h = access<Addressing::global, kBytes, kExtend, kStore>; break;
    case MemoryPath::shared: h = access<Addressing::shared, kBytes, kExtend, kStore>; break;
    case MemoryPath::local: h = access<Addressing::local, kBytes, kExtend, kStore>; break;
    case MemoryPath::shared_word:
    case MemoryPath::global_word: break;
    case MemoryPath::param: h = access_param<kBytes, kExtend, kStore>; break;
  }
  return {h, h};
}

Handlers memory_handlers(MemoryPath path, unsigned bytes, bool sign32, bool sign16, bool store) {
  if (path == MemoryPath::shared_word) {
    const Handler h = store ? (sign32 ? shared_word<true, true> : shared_word<true, false>)
                            : (sign32 ? shared_word<false, true> : shared_word<false, false>);
    return {h, h};
  }
  if (path == MemoryPath::global_word) {
    const Handler h = store ? global_word<true> : global_word<false>;
    return {h, h};
  }
  if (store) {
    switch (bytes) {
      case 1: return pick_space<1, Extend::zero, true>(path);
      case 2: return pick_space<2, Extend::zero, true>(path);
      case 4: return pick_space<4, Extend::zero, true>(path);
      default: return pick_space<8, Extend::zero, true>(path);
    }
  }
  switch (bytes) {
    case 1:
      return sign32   ? pick_space<1, Extend::sign32, false>(path)
             : sign16 ? pick_space<1, Extend::sign16, false>(path)
                      : pick_space<1, Extend::zero, false>(path);
    case 2:
      return sign32 ? pick_space<2, Extend::sign32, false>(path) : pick_space<2, Extend::zero, false>(path);
    case 4: return pick_space<4, Extend::zero, false>(path);
    default: return pick_space<8, Extend::zero, false>(path);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fullwarp::exec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fullwarp::exec {
HWY_EXPORT(memory_handlers);

Handlers memory_handlers(MemoryPath path, unsigned bytes, bool sign32, bool sign16, bool store) {
  return HWY_DYNAMIC_DISPATCH(memory_handlers)(path, bytes, sign32, sign16, store);
}
}  // namespace fullwarp::exec
#endif

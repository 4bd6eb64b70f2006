// Global loads and stores whose lanes lie here and there in a few buffers, as vectors: bounds and alignment
// of all lanes at once, sectors told apart by sorting (distinct-inl.h), marks beside them written only where
// they are new. Lists, trees and tables. What does not fit (faults, races to look for, runs) goes through
// gather.h.
#if defined(FULLWARP_EXEC_SCATTERED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FULLWARP_EXEC_SCATTERED_INL_H_
#undef FULLWARP_EXEC_SCATTERED_INL_H_
#else
#define FULLWARP_EXEC_SCATTERED_INL_H_
#endif

#include <algorithm>
#include <bit>

#include "exec/access.h"
#include "exec/distinct-inl.h"
#include "exec/gather.h"

HWY_BEFORE_NAMESPACE();
namespace fullwarp::exec {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if FULLWARP_HAS_DISTINCT

// Where 32 lanes are, seen from the first active one's buffer, that is, in 32 bits where all buffers lie
// within 2 GiB. Lanes outside the access's mask repeat the first active one.
struct Scattered {
  static constexpr unsigned kMaxBuffers = 4;
  unsigned count = 0;
  const BufferView* view[kMaxBuffers];
  LaneMask lanes_in[kMaxBuffers];
  alignas(64) int32_t place[kWarpSize];   // bytes from view[0]->data
  alignas(64) int32_t sector[kWarpSize];  // from view[0]->sectors

  std::byte* bytes(unsigned lane) const { return view[0]->data + place[lane]; }
  SectorUse& use(unsigned lane) const { return view[0]->sectors[sector[lane]]; }
};

HWY_INLINE hn::Mask<Eight> lanes_on(LaneMask mask, unsigned first) {
  const Eight d;
  alignas(32) static constexpr uint32_t kLaneBits[8] = {1, 2, 4, 8, 16, 32, 64, 128};
  const Words bits = hn::Load(d, kLaneBits);
  return hn::Eq(hn::And(hn::Set(d, mask >> first), bits), bits);
}

template <class D>
HWY_INLINE LaneMask mask_bits(D d, hn::Mask<D> mask, unsigned first) {
  uint8_t bits[8];
  hn::StoreMaskBits(d, mask, bits);
  return static_cast<LaneMask>(bits[0]) << first;
}

HWY_INLINE Words load_words(const int32_t* from) {
  return hn::Load(Eight(), reinterpret_cast<const uint32_t*>(from));
}
HWY_INLINE void store_words(Words v, int32_t* to) { hn::Store(v, Eight(), reinterpret_cast<uint32_t*>(to)); }

// Finds those lanes of `rest` that are in the buffer of the first of them. False unless they are inside it
// and aligned.
template <bool kFirst>
HWY_INLINE bool find_in_buffer(const BufferView& view, const uint64_t* HWY_RESTRICT address, uint64_t imm,
                               LaneMask rest, unsigned width, Scattered& lanes) {
  const Eight d;
  const EightPairs pairs;
  const uint64_t first = address[std::countr_zero(rest)] + imm;
  const int64_t far = view.data - (kFirst ? view.data : lanes.view[0]->data);
  const int64_t sectors_far = view.sectors - (kFirst ? view.sectors : lanes.view[0]->sectors);
  constexpr int64_t kReach = int64_t{1} << 30;
  if (view.bytes < width || view.bytes > uint64_t{kReach} || offset_of(first) > view.bytes - width)
    return false;
  if (far > kReach || far < -kReach || sectors_far > kReach / 2 || sectors_far < -kReach / 2) return false;
  const auto start = hn::Set(pairs, (window_of(first) << kWindowShift) - imm);
  const Words zero = hn::Zero(d), offset = hn::Set(d, static_cast<uint32_t>(offset_of(first)));
  const Words to_place = hn::Set(d, static_cast<uint32_t>(far)),
              to_sector = hn::Set(d, static_cast<uint32_t>(sectors_far));
  static_assert(mem::kSectorBytes == 1 << 5);
  Words misplaced = zero, greatest = zero;
  LaneMask found = 0;
  for (unsigned i = 0; i < kWarpSize; i += 8) {
    const auto low = hn::BitCast(d, hn::Sub(hn::LoadU(pairs, address + i), start));
    const auto high = hn::BitCast(d, hn::Sub(hn::LoadU(pairs, address + i + 4), start));
    const auto here = hn::And(lanes_on(rest, i), hn::Eq(hn::ConcatOdd(d, high, low), zero));
    const Words own = hn::IfThenElse(here, hn::ConcatEven(d, high, low), offset);
    misplaced = hn::Or(misplaced, own);
    greatest = hn::Max(greatest, own);
    found |= mask_bits(d, here, i);
    Words place = hn::Add(own, to_place), sector = hn::Add(hn::ShiftRight<5>(own), to_sector);
    if constexpr (!kFirst) {
      place = hn::IfThenElse(here, place, load_words(lanes.place + i));
      sector = hn::IfThenElse(here, sector, load_words(lanes.sector + i));
    }
    store_words(place, lanes.place + i);
    store_words(sector, lanes.sector + i);
  }
  const Words limit = hn::Set(d, static_cast<uint32_t>(view.bytes - width));
  const Words bad =
      hn::Or(hn::And(misplaced, hn::Set(d, width - 1)), hn::Xor(hn::Max(greatest, limit), limit));
  lanes.view[lanes.count] = &view;
  lanes.lanes_in[lanes.count] = found;
  ++lanes.count;
  return hn::AllTrue(d, hn::Eq(bad, zero));
}

// Finds the lanes of `mask` at `address` + imm. False unless all of them are inside a few buffers, aligned to
// `width` (a power of two up to 32), may be written if kStore, and need no check for races.
template <bool kStore>
HWY_INLINE bool find_scattered(const Warp& w, const uint64_t* address, uint64_t imm, LaneMask mask,
                               unsigned width, Scattered& lanes) {
  for (LaneMask rest = mask; rest; rest &= ~lanes.lanes_in[lanes.count - 1]) {
    const uint64_t window = window_of(address[std::countr_zero(rest)] + imm) - kFirstBufferWindow;
    if (window >= w.view_count || lanes.count == Scattered::kMaxBuffers) return false;
    const BufferView& view = w.views[window];
    if (kStore && (view.read_only || (w.watch_stores && !view.shadow))) return false;
    if (w.worker->options->check_races && (kStore || view.written || view.shadow)) return false;
    if (!(lanes.count == 0 ? find_in_buffer<true>(view, address, imm, rest, width, lanes)
                           : find_in_buffer<false>(view, address, imm, rest, width, lanes)))
      return false;
  }
  return true;
}

// Do three quarters of the lanes go on where the one before them is or ends (site.h)? May say so of others
// too.
HWY_INLINE bool may_come_in_runs(const Scattered& lanes, LaneMask mask, unsigned width) {
  const Eight d;
  const Words zero = hn::Zero(d), next = hn::Set(d, width);
  LaneMask goes_on = 0;
  for (unsigned i = 0; i < kWarpSize; i += 8) {
    const Words own = load_words(lanes.place + i);
    const Words step =
        hn::Sub(own, hn::CombineShiftRightBytes<12>(d, own, hn::ConcatLowerLower(d, own, own)));
    goes_on |= mask_bits(d, hn::Or(hn::Eq(step, zero), hn::Eq(step, next)), i) & ~(LaneMask{1} << i);
  }
  for (unsigned i = 8; i < kWarpSize; i += 8) {
    const uint32_t step = static_cast<uint32_t>(lanes.place[i] - lanes.place[i - 1]);
    goes_on |= static_cast<LaneMask>((step == 0) | (step == width)) << i;
  }
  return comes_in_runs(mask & ~(goes_on & (mask << 1)), mask);
}

// The lanes that touch bytes not marked yet, or for loads, sectors that block `me` has not loaded.
template <bool kStore>
HWY_INLINE LaneMask unmarked_lanes(const Scattered& lanes, uint32_t me, unsigned width) {
  const Eight d;
  const EightPairs pairs;
  const hn::RebindToSigned<Eight> signed_words;
  const hn::RebindToSigned<EightPairs> signed_pairs;
  const Words bits = hn::Set(d, sector_bits(0, width - 1)), in_sector = hn::Set(d, 31);
  static_assert(sizeof(SectorUse) == 16 && offsetof(SectorUse, stored) == 4 &&
                offsetof(SectorUse, loader) == 8 && offsetof(SectorUse, loaded) == 12);
  LaneMask marked = 0;
  for (unsigned i = 0; i < kWarpSize; i += 8) {
    const Words need = hn::Shl(bits, hn::And(load_words(lanes.place + i), in_sector));
    const auto sector = hn::Load(signed_words, lanes.sector + i);
    if constexpr (kStore) {
      const uint32_t* const stored = &lanes.view[0]->sectors->stored;
      const Words have = hn::GatherIndex(d, stored, hn::ShiftLeft<2>(sector));
      marked |= mask_bits(d, hn::Eq(hn::And(have, need), need), i);
    } else {
      const uint64_t* const loads = reinterpret_cast<const uint64_t*>(&lanes.view[0]->sectors->loader);
      const auto low_half = hn::Set(pairs, 0xffffffffu), block = hn::Set(pairs, me);
      const auto four = [&](auto index, auto bits_needed, unsigned lane) HWY_ATTR {
        const auto have = hn::GatherIndex(pairs, loads, hn::ShiftLeft<1>(hn::PromoteTo(signed_pairs, index)));
        const auto wanted = hn::ShiftLeft<32>(hn::PromoteTo(pairs, bits_needed));
        return mask_bits(pairs, hn::Eq(hn::And(have, hn::Or(wanted, low_half)), hn::Or(wanted, block)), lane);
      };
      const hn::Half<Eight> half;
      const hn::Half<decltype(signed_words)> signed_half;
      marked |= four(hn::LowerHalf(signed_half, sector), hn::LowerHalf(half, need), i);
      marked |= four(hn::UpperHalf(signed_half, sector), hn::UpperHalf(half, need), i + 4);
    }
  }
  return ~marked;
}

// Marks what each lane touches; for loads, returns how many sectors this block had not loaded before.
template <bool kStore>
HWY_INLINE uint32_t mark_lanes(const Scattered& lanes, uint32_t me, LaneMask mask, unsigned width) {
  const LaneMask unmarked = unmarked_lanes<kStore>(lanes, me, width) & mask;
  if (HWY_LIKELY(unmarked == 0)) return 0;
  const uint32_t bits = sector_bits(0, width - 1);
  uint32_t fresh = 0;
  for (unsigned b = 0; b < lanes.count; ++b) {
    uint32_t here = 0;
    for (LaneMask left = unmarked & lanes.lanes_in[b]; left; left &= left - 1) {
      const unsigned i = static_cast<unsigned>(std::countr_zero(left));
      SectorUse& use = lanes.use(i);
      const uint32_t needed = bits << (static_cast<uint32_t>(lanes.place[i]) % mem::kSectorBytes);
      if constexpr (kStore) {
        use.stored |= needed;
      } else {
        use.loaded |= needed;
        here += use.loader != me;
        use.loader = me;
      }
    }
    if constexpr (!kStore) lanes.view[b]->coverage->load_sectors_of_blocks += here;
    fresh += here;
  }
  return fresh;
}

// Finds, checks, counts and marks an access. False, with nothing counted, where gather.h is called for.
template <bool kStore>
HWY_INLINE bool count_scattered(Warp& w, const MicroOp* op, Site& s, const SiteInfo& info,
                                const uint64_t* address, LaneMask mask, unsigned width, Scattered& lanes) {
  Worker& k = *w.worker;
  if ((op->flags & kNotCounted) || !info.as_written(width)) return false;
  if (!find_scattered<kStore>(w, address, static_cast<uint64_t>(op->imm), mask, width, lanes)) return false;
  if (may_come_in_runs(lanes, mask, width)) return false;

  Rows sectors = {load_words(lanes.sector), load_words(lanes.sector + 8), load_words(lanes.sector + 16),
                  load_words(lanes.sector + 24)};
  sort(sectors);
  // A buffer's sectors start at a line's first, here as in the buffer.
  static_assert(mem::kLineBytes == mem::kSectorBytes << 2);
  mem::AccessCost cost;
  cost.requests = 1;
  cost.sectors = count_distinct(sectors);
  cost.lines = count_distinct({hn::ShiftRight<2>(sectors.r0), hn::ShiftRight<2>(sectors.r1),
                               hn::ShiftRight<2>(sectors.r2), hn::ShiftRight<2>(sectors.r3)});
  const uint32_t bytes = lane_count(mask) * width;
  cost.ideal_sectors = std::min(cost.sectors, (bytes + mem::kSectorBytes - 1) / mem::kSectorBytes);

  const uint32_t me = static_cast<uint32_t>(k.block->linear) + 1;
  for (unsigned b = 0; b < lanes.count; ++b) {
    const uint64_t asked = uint64_t{lane_count(lanes.lanes_in[b])} * width;
    lanes.view[b]->coverage->scattered = true;
    if constexpr (kStore)
      lanes.view[b]->coverage->stored_asked += asked;
    else
      lanes.view[b]->coverage->ask_load(me, asked);
  }
  const uint32_t fresh = mark_lanes<kStore>(lanes, me, mask, width);
  if constexpr (!kStore) s.counters.extra_copies += cost.sectors - fresh;

  add_request(s, cost, lane_count(mask), width);
  if (cost.sectors == 1) {
    int32_t apart = 0;
    for (unsigned i = 1; i < kWarpSize; ++i) apart |= lanes.place[i] ^ lanes.place[0];
    s.counters.uniform_requests += apart == 0;
  }
  if (HWY_UNLIKELY(!s.counters.example.valid || cost.sectors - cost.ideal_sectors > s.example_excess)) {
    mem::WarpAccess access;
    const uint64_t first = address[std::countr_zero(mask)];
    for (unsigned i = 0; i < kWarpSize; ++i)
      access.address[i] = ((mask >> i) & 1 ? address[i] : first) + static_cast<uint64_t>(op->imm);
    access.mask = mask;
    access.width_bytes = width;
    access.space = mem::AccessSpace::global;
    access.kind = kStore ? mem::AccessKind::store : mem::AccessKind::load;
    consider_example(s, access, cost, *k.program, occurrence(w));
  }
  return true;
}

// Words from where the lanes are to a row.
HWY_INLINE void fetch_scattered(const Scattered& lanes, LaneMask mask, uint32_t* HWY_RESTRICT row) {
  const Eight d;
  const hn::RebindToSigned<Eight> signed_words;
  const uint32_t* const data = reinterpret_cast<const uint32_t*>(lanes.view[0]->data);
  for (unsigned i = 0; i < kWarpSize; i += 8) {
    const Words words = hn::GatherOffset(d, data, hn::Load(signed_words, lanes.place + i));
    hn::StoreU(hn::IfThenElse(lanes_on(mask, i), words, hn::LoadU(d, row + i)), d, row + i);
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace fullwarp::exec
HWY_AFTER_NAMESPACE();

#endif

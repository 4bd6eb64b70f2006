// How many different values 32 lanes hold. Sectors of a request are told apart by this: the values are sorted
// in registers (a bitonic network over four vectors of eight lanes, no branch, no memory), then compared with
// their neighbours. It takes the same time wherever the lanes lie.
#if defined(FULLWARP_EXEC_DISTINCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FULLWARP_EXEC_DISTINCT_INL_H_
#undef FULLWARP_EXEC_DISTINCT_INL_H_
#else
#define FULLWARP_EXEC_DISTINCT_INL_H_
#endif

#include "hwy/highway.h"

// Vectors of eight words are what the network is written for; narrower machines go without it.
#undef FULLWARP_HAS_DISTINCT
#define FULLWARP_HAS_DISTINCT (HWY_MAX_BYTES >= 32 && !HWY_HAVE_SCALABLE)

#if FULLWARP_HAS_DISTINCT
HWY_BEFORE_NAMESPACE();
namespace fullwarp::exec {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Eight = hn::FixedTag<uint32_t, 8>;
using EightPairs = hn::FixedTag<uint64_t, 4>;
using Words = hn::Vec<Eight>;

// Value t of the sorted sequence ends in column t / 4 (lane of the vectors), row t % 4 (vector).
struct Rows {
  Words r0, r1, r2, r3;
};

HWY_INLINE void order(Words& low, Words& high) {
  const Words least = hn::Min(low, high);
  high = hn::Max(low, high);
  low = least;
}

// Own values and their partners' in order: `merge(least, greatest)` picks which of the two each column keeps.
template <class Partner, class Merge>
HWY_INLINE Words exchange(Words own, Words other, Partner partner, Merge merge) {
  const Words there = partner(other);
  return merge(hn::Min(own, there), hn::Max(own, there));
}

// Columns whose sequences rise and fall become columns that rise: distances 2 and 1.
HWY_INLINE void clean_columns(Rows& v) {
  order(v.r0, v.r2);
  order(v.r1, v.r3);
  order(v.r0, v.r1);
  order(v.r2, v.r3);
}

template <class Partner, class Merge>
HWY_INLINE void across(Rows& v, Partner partner, Merge merge) {
  v = {exchange(v.r0, v.r0, partner, merge), exchange(v.r1, v.r1, partner, merge),
       exchange(v.r2, v.r2, partner, merge), exchange(v.r3, v.r3, partner, merge)};
}

// The first step of a merge: the second half is read backwards.
template <class Partner, class Merge>
HWY_INLINE void across_backwards(Rows& v, Partner partner, Merge merge) {
  v = {exchange(v.r0, v.r3, partner, merge), exchange(v.r1, v.r2, partner, merge),
       exchange(v.r2, v.r1, partner, merge), exchange(v.r3, v.r0, partner, merge)};
}

HWY_INLINE void sort(Rows& v) {
  const Eight d;
  const EightPairs pairs;
  // Which columns take the greater value.
  const auto odd = [&](Words low, Words high) HWY_ATTR { return hn::OddEven(high, low); };
  const auto upper_pair = [&](Words low, Words high) HWY_ATTR {
    return hn::BitCast(d, hn::OddEven(hn::BitCast(pairs, high), hn::BitCast(pairs, low)));
  };
  const auto upper_four = [&](Words low, Words high) HWY_ATTR { return hn::ConcatUpperLower(d, high, low); };
  const auto next = [](Words x) HWY_ATTR { return hn::Shuffle2301(x); };
  const auto second = [](Words x) HWY_ATTR { return hn::Shuffle1032(x); };
  const auto back_four = [](Words x) HWY_ATTR { return hn::Shuffle0123(x); };
  const auto back_eight = [&](Words x) HWY_ATTR { return hn::Reverse(d, x); };
  // Columns of four.
  clean_columns(v);
  order(v.r1, v.r2);
  // Two, four, eight columns at a time.
  across_backwards(v, next, odd);
  clean_columns(v);
  across_backwards(v, back_four, upper_pair);
  across(v, next, odd);
  clean_columns(v);
  across_backwards(v, back_eight, upper_four);
  across(v, second, upper_pair);
  across(v, next, odd);
  clean_columns(v);
}

// Different values in sorted rows.
HWY_INLINE uint32_t count_distinct(const Rows& v) {
  const Eight d;
  alignas(32) static constexpr uint32_t kBefore[8] = {0, 0, 1, 2, 3, 4, 5, 6};
  const Words before = hn::TableLookupLanes(v.r3, hn::SetTableIndices(d, kBefore));
  // The first value has none before it: it is the one that is not counted below.
  const Words head = hn::IfThenElse(hn::FirstN(d, 1), v.r0, before);
  const size_t same = hn::CountTrue(d, hn::Eq(v.r0, head)) + hn::CountTrue(d, hn::Eq(v.r1, v.r0)) +
                      hn::CountTrue(d, hn::Eq(v.r2, v.r1)) + hn::CountTrue(d, hn::Eq(v.r3, v.r2));
  return static_cast<uint32_t>(33 - same);
}

}  // namespace HWY_NAMESPACE
}  // namespace fullwarp::exec
HWY_AFTER_NAMESPACE();
#endif

#endif

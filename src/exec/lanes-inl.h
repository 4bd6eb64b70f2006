// Loops over 32 lanes, compiled once per target (Highway's foreach_target): the compiler turns the plain loop
// over a pure function of exec/semantics/ into vector code. Destination rows may be the same as source rows,
// never partly overlapping, which is what FULLWARP_LANE_LOOP tells the compiler.
#if defined(FULLWARP_EXEC_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FULLWARP_EXEC_LANES_INL_H_
#undef FULLWARP_EXEC_LANES_INL_H_
#else
#define FULLWARP_EXEC_LANES_INL_H_
#endif

#include <bit>
#include <cstdint>
#include <cstring>

#include "exec/warp.h"
#include "hwy/highway.h"

#ifndef FULLWARP_LANE_LOOP
#ifdef __clang__
#define FULLWARP_LANE_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define FULLWARP_LANE_LOOP _Pragma("GCC ivdep")
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace fullwarp::exec {
namespace HWY_NAMESPACE {

// The row type that holds a T: 32-bit lanes for everything narrower.
template <class T>
struct RowOf {
  using type = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
};
template <class T>
using Row = typename RowOf<T>::type;

// Reads lane i of a row as a T (narrow integers sign- or zero-extend on their own).
template <class T>
HWY_INLINE T get(const Row<T>* row, unsigned i) {
  if constexpr (sizeof(T) >= 4) {
    return std::bit_cast<T>(row[i]);
  } else {
    return static_cast<T>(row[i]);
  }
}

// The bits that a row keeps of a T.
template <class T>
HWY_INLINE Row<T> bits(T value) {
  if constexpr (sizeof(T) >= 4) {
    return std::bit_cast<Row<T>>(value);
  } else {
    return static_cast<std::make_unsigned_t<T>>(value);
  }
}

template <class R>
HWY_INLINE void blend(R* HWY_RESTRICT dst, const R* HWY_RESTRICT from, LaneMask mask) {
  FULLWARP_LANE_LOOP
  for (unsigned i = 0; i < kWarpSize; ++i) dst[i] = (mask >> i) & 1 ? from[i] : dst[i];
}

// Runs `body(Row<D>* dst)`, which fills all 32 lanes, directly or through a blend.
template <class D, bool kMasked, class Body>
HWY_INLINE void write_row(Warp& w, uint32_t offset, Body body) {
  if constexpr (kMasked) {
    alignas(64) Row<D> temp[kWarpSize];
    body(temp);
    blend(w.row<Row<D>>(offset), temp, w.exec);
  } else {
    body(w.row<Row<D>>(offset));
  }
}

// D f(A), D f(A, B), D f(A, B, C): stateless functors, one lane at a time.
template <class F, bool kMasked, class D, class A>
HWY_NOINLINE const MicroOp* unary(Warp& w, const MicroOp* op) {
  const Row<A>* a = w.row<Row<A>>(op->a);
  write_row<D, kMasked>(w, op->dst, [&](Row<D>* d) HWY_ATTR {
    FULLWARP_LANE_LOOP
    for (unsigned i = 0; i < kWarpSize; ++i) d[i] = bits<D>(F{}(get<A>(a, i)));
  });
  return op + 1;
}

template <class F, bool kMasked, class D, class A, class B>
HWY_NOINLINE const MicroOp* binary(Warp& w, const MicroOp* op) {
  const Row<A>* a = w.row<Row<A>>(op->a);
  const Row<B>* b = w.row<Row<B>>(op->b);
  write_row<D, kMasked>(w, op->dst, [&](Row<D>* d) HWY_ATTR {
    FULLWARP_LANE_LOOP
    for (unsigned i = 0; i < kWarpSize; ++i) d[i] = bits<D>(F{}(get<A>(a, i), get<B>(b, i)));
  });
  return op + 1;
}

template <class F, bool kMasked, class D, class A, class B, class C>
HWY_NOINLINE const MicroOp* ternary(Warp& w, const MicroOp* op) {
  const Row<A>* a = w.row<Row<A>>(op->a);
  const Row<B>* b = w.row<Row<B>>(op->b);
  const Row<C>* c = w.row<Row<C>>(op->c);
  write_row<D, kMasked>(w, op->dst, [&](Row<D>* d) HWY_ATTR {
    FULLWARP_LANE_LOOP
    for (unsigned i = 0; i < kWarpSize; ++i) d[i] = bits<D>(F{}(get<A>(a, i), get<B>(b, i), get<C>(c, i)));
  });
  return op + 1;
}

// 32 truth values as a mask. `f(i)` gives bool.
template <class F>
HWY_INLINE LaneMask collect(F f) {
  alignas(64) uint32_t flag[kWarpSize];
  FULLWARP_LANE_LOOP
  for (unsigned i = 0; i < kWarpSize; ++i) flag[i] = f(i) ? ~0u : 0u;
  const hwy::HWY_NAMESPACE::ScalableTag<int32_t> d;
  LaneMask mask = 0;
  for (unsigned i = 0; i < kWarpSize; i += static_cast<unsigned>(hwy::HWY_NAMESPACE::Lanes(d))) {
    uint8_t part[8] = {};
    hwy::HWY_NAMESPACE::StoreMaskBits(d,
                                      hwy::HWY_NAMESPACE::MaskFromVec(hwy::HWY_NAMESPACE::Load(
                                          d, reinterpret_cast<const int32_t*>(flag + i))),
                                      part);
    uint32_t word;
    std::memcpy(&word, part, 4);
    if (hwy::HWY_NAMESPACE::Lanes(d) < 32) word &= (uint32_t{1} << hwy::HWY_NAMESPACE::Lanes(d)) - 1;
    mask |= word << i;
  }
  return mask;
}

// A function as a functor type: Fn<sem::add<uint32_t>>.
template <auto kFunction>
struct Fn {
  template <class... A>
  HWY_INLINE auto operator()(A... a) const {
    return kFunction(a...);
  }
};

template <class F, class D, class A>
HWY_INLINE Handlers bind1() {
  return {unary<F, false, D, A>, unary<F, true, D, A>};
}
template <class F, class D, class A, class B = A>
HWY_INLINE Handlers bind2() {
  return {binary<F, false, D, A, B>, binary<F, true, D, A, B>};
}
template <class F, class D, class A, class B = A, class C = A>
HWY_INLINE Handlers bind3() {
  return {ternary<F, false, D, A, B, C>, ternary<F, true, D, A, B, C>};
}

}  // namespace HWY_NAMESPACE
}  // namespace fullwarp::exec
HWY_AFTER_NAMESPACE();

#endif

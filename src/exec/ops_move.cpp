// Moves: mov and its packing forms, selp, cvta, isspacep, special registers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/ops_move.cpp"
#include "exec/targets.h"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "exec/handlers.h"
#include "exec/lanes-inl.h"
#include "exec/move_ops.h"
#include "exec/worker.h"

HWY_BEFORE_NAMESPACE();
namespace fullwarp::exec {
namespace HWY_NAMESPACE {

template <class T>
struct Same {
  HWY_INLINE T operator()(T a) const { return a; }
};
struct Narrow {
  HWY_INLINE uint32_t operator()(uint64_t a) const { return static_cast<uint32_t>(a); }
};
struct High {
  HWY_INLINE uint32_t operator()(uint64_t a) const { return static_cast<uint32_t>(a >> 32); }
};
struct WidenZero {
  HWY_INLINE uint64_t operator()(uint32_t a) const { return a; }
};
struct WidenSign {
  HWY_INLINE uint64_t operator()(uint32_t a) const {
    return static_cast<uint64_t>(int64_t{static_cast<int32_t>(a)});
  }
};
struct Pack64 {
  HWY_INLINE uint64_t operator()(uint32_t a, uint32_t b) const { return uint64_t{b} << 32 | a; }
};
struct Pack32 {
  HWY_INLINE uint32_t operator()(uint32_t a, uint32_t b) const { return b << 16 | (a & 0xffff); }
};
struct Pack16 {
  HWY_INLINE uint32_t operator()(uint32_t a, uint32_t b) const { return (b & 0xff) << 8 | (a & 0xff); }
};
template <unsigned kShift, uint32_t kKeep>
struct Field {
  HWY_INLINE uint32_t operator()(uint32_t a) const { return (a >> kShift) & kKeep; }
};
struct AddWindow {  // generic address of an offset in a window
  HWY_INLINE uint64_t operator()(uint64_t a, uint64_t window) const { return a + window; }
};
struct DropWindow {
  HWY_INLINE uint64_t operator()(uint64_t a) const { return a & kOffsetMask; }
};

template <class R, bool kMasked>
HWY_NOINLINE const MicroOp* select(Warp& w, const MicroOp* op) {
  const R* a = w.row<R>(op->a);
  const R* b = w.row<R>(op->b);
  const LaneMask p = w.pred(op->c);
  write_row<R, kMasked>(w, op->dst, [&](R* d) HWY_ATTR {
    FULLWARP_LANE_LOOP
    for (unsigned i = 0; i < kWarpSize; ++i) d[i] = (p >> i) & 1 ? a[i] : b[i];
  });
  return op + 1;
}

// Copies a row of Warp::specials.
template <bool kMasked, bool kWide>
HWY_NOINLINE const MicroOp* special(Warp& w, const MicroOp* op) {
  const uint32_t* from = reinterpret_cast<const uint32_t*>(w.specials.data() + op->imm);
  using R = std::conditional_t<kWide, uint64_t, uint32_t>;
  write_row<R, kMasked>(w, op->dst, [&](R* d) HWY_ATTR {
    FULLWARP_LANE_LOOP
    for (unsigned i = 0; i < kWarpSize; ++i) d[i] = from[i];
  });
  return op + 1;
}

template <bool kMasked, bool kWide>
HWY_NOINLINE const MicroOp* local_address(Warp& w, const MicroOp* op) {
  using R = std::conditional_t<kWide, uint64_t, uint32_t>;
  const R address = static_cast<R>(w.frame->local_base + static_cast<uint64_t>(op->imm));
  write_row<R, kMasked>(w, op->dst, [&](R* d) HWY_ATTR {
    FULLWARP_LANE_LOOP
    for (unsigned i = 0; i < kWarpSize; ++i) d[i] = address;
  });
  return op + 1;
}

// %clock and its kin: a counter that moves on with every instruction of the warp and every reading.
template <bool kMasked, bool kWide>
HWY_NOINLINE const MicroOp* clock(Warp& w, const MicroOp* op) {
  using R = std::conditional_t<kWide, uint64_t, uint32_t>;
  w.steps += 1;
  const R now = static_cast<R>((w.steps * 4) >> op->imm);
  write_row<R, kMasked>(w, op->dst, [&](R* d) HWY_ATTR {
    FULLWARP_LANE_LOOP
    for (unsigned i = 0; i < kWarpSize; ++i) d[i] = now;
  });
  return op + 1;
}

template <uint64_t kWindow>
HWY_NOINLINE const MicroOp* is_space(Warp& w, const MicroOp* op) {
  const uint64_t* a = w.row<uint64_t>(op->a);
  LaneMask result = 0;
  for (unsigned i = 0; i < kWarpSize; ++i) {
    const uint64_t window = window_of(a[i]);
    const bool in = kWindow == 0 ? window >= kFirstBufferWindow : window == kWindow;
    result |= static_cast<LaneMask>(in) << i;
  }
  LaneMask& d = w.pred(op->dst);
  d = (d & ~w.exec) | (result & w.exec);
  return op + 1;
}

Handlers move_table(MoveKind kind) {
  switch (kind) {
    case MoveKind::same32: return bind1<Same<uint32_t>, uint32_t, uint32_t>();
    case MoveKind::same64: return bind1<Same<uint64_t>, uint64_t, uint64_t>();
    case MoveKind::narrow: return bind1<Narrow, uint32_t, uint64_t>();
    case MoveKind::high: return bind1<High, uint32_t, uint64_t>();
    case MoveKind::widen_zero: return bind1<WidenZero, uint64_t, uint32_t>();
    case MoveKind::widen_sign: return bind1<WidenSign, uint64_t, uint32_t>();
    case MoveKind::pack64: return bind2<Pack64, uint64_t, uint32_t>();
    case MoveKind::pack32: return bind2<Pack32, uint32_t, uint32_t>();
    case MoveKind::pack16: return bind2<Pack16, uint32_t, uint32_t>();
    case MoveKind::low16: return bind1<Field<0, 0xffff>, uint32_t, uint32_t>();
    case MoveKind::high16: return bind1<Field<16, 0xffff>, uint32_t, uint32_t>();
    case MoveKind::byte0: return bind1<Field<0, 0xff>, uint32_t, uint32_t>();
    case MoveKind::byte1: return bind1<Field<8, 0xff>, uint32_t, uint32_t>();
    case MoveKind::byte2: return bind1<Field<16, 0xff>, uint32_t, uint32_t>();
    case MoveKind::byte3: return bind1<Field<24, 0xff>, uint32_t, uint32_t>();
    case MoveKind::add_window: return bind2<AddWindow, uint64_t, uint64_t>();
    case MoveKind::drop_window: return bind1<DropWindow, uint64_t, uint64_t>();
    case MoveKind::select32: return {select<uint32_t, false>, select<uint32_t, true>};
    case MoveKind::select64: return {select<uint64_t, false>, select<uint64_t, true>};
    case MoveKind::special32: return {special<false, false>, special<true, false>};
    case MoveKind::special64: return {special<false, true>, special<true, true>};
    case MoveKind::local32: return {local_address<false, false>, local_address<true, false>};
    case MoveKind::local64: return {local_address<false, true>, local_address<true, true>};
    case MoveKind::clock32: return {clock<false, false>, clock<true, false>};
    case MoveKind::clock64: return {clock<false, true>, clock<true, true>};
    case MoveKind::is_global: return {is_space<0>, nullptr};
    case MoveKind::is_shared: return {is_space<kSharedWindow>, nullptr};
    case MoveKind::is_local: return {is_space<kLocalWindow>, nullptr};
    case MoveKind::is_never: return {is_space<~uint64_t{0}>, nullptr};
  }
  return {};
}

}  // namespace HWY_NAMESPACE
}  // namespace fullwarp::exec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fullwarp::exec {
HWY_EXPORT(move_table);
Handlers move_handlers(MoveKind kind) { return HWY_DYNAMIC_DISPATCH(move_table)(kind); }
}  // namespace fullwarp::exec
#endif

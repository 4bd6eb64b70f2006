// atom and red. Lanes go in order. Two steps: where each lane's bytes are (checked, counted, in one go where
// all lanes meet one buffer or shared memory, else by access.h), then the operation over those places, a
// short loop for each operation and type.
//
// In that loop lanes that follow each other at one address keep the value at hand, so that a counter that all
// threads add to costs no trip to memory for each lane. Where other workers run (Worker::atomic_memory) only
// additions and the like with no result read get here (visibility.cpp): such a run is first added up, then
// held back (held_back.h) or applied with a compare-and-swap.
#include <atomic>
#include <bit>
#include <cstring>
#include <memory>
#include <type_traits>

#include "exec/access.h"
#include "exec/block_order.h"
#include "exec/gather.h"
#include "exec/handlers.h"
#include "exec/race.h"
#include "exec/semantics/float.h"
#include "exec/semantics/half.h"
#include "mem/warp_access.h"

namespace fullwarp::exec {

using mem::AccessKind;
using mem::AccessSpace;
using ptx::Mod;
using ptx::Op;
using ptx::Operand;
using ptx::Type;

namespace {

constexpr unsigned kMaxElements = 8;

struct Atomic;
// Applies element `j` for the lanes of `mask`, whose bytes are at place[lane] + j * element_bytes.
using Apply = void (*)(Warp& w, const Atomic& atomic, unsigned j, std::byte* const* place, LaneMask mask,
                       bool concurrent);

struct Atomic {
  Apply global = nullptr, shared = nullptr;
  AccessKind kind = AccessKind::atomic;
  Addressing addressing = Addressing::generic;
  unsigned elements = 1, element_bytes = 4;
  bool result = false;  // `dst` rows are written
  bool polls = false;   // cas and exch: what spin locks are made of
  uint32_t dst[kMaxElements] = {}, b[kMaxElements] = {}, c = 0;
  unsigned bytes() const { return elements * element_bytes; }
};

template <class T>
using RowOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

// ---- operations: new value from the old one and the operand ----

struct Add {
  template <class T>
  static T apply(T old, T b) {
    return static_cast<T>(old + b);
  }
};
struct And {
  template <class T>
  static T apply(T old, T b) {
    return old & b;
  }
};
struct Or {
  template <class T>
  static T apply(T old, T b) {
    return old | b;
  }
};
struct Xor {
  template <class T>
  static T apply(T old, T b) {
    return old ^ b;
  }
};
struct Min {
  template <class T>
  static T apply(T old, T b) {
    return b < old ? b : old;
  }
};
struct Max {
  template <class T>
  static T apply(T old, T b) {
    return old < b ? b : old;
  }
};
struct Exchange {
  template <class T>
  static T apply(T, T b) {
    return b;
  }
};
struct Increment {
  static uint32_t apply(uint32_t old, uint32_t b) { return old >= b ? 0 : old + 1; }
};
struct Decrement {
  static uint32_t apply(uint32_t old, uint32_t b) { return old == 0 || old > b ? b : old - 1; }
};
// f32 additions flush subnormals in global memory, not in shared memory (PTX ISA, atom).
struct AddF32 {
  static uint32_t apply(uint32_t old, uint32_t b) {
    return std::bit_cast<uint32_t>(
        sem::add_f32<sem::Rounding::rn, false>(std::bit_cast<float>(old), std::bit_cast<float>(b)));
  }
};
struct AddF32Flush {
  static uint32_t apply(uint32_t old, uint32_t b) {
    return std::bit_cast<uint32_t>(
        sem::add_f32<sem::Rounding::rn, true>(std::bit_cast<float>(old), std::bit_cast<float>(b)));
  }
};
struct AddF64 {
  static uint64_t apply(uint64_t old, uint64_t b) {
    return std::bit_cast<uint64_t>(
        sem::add_f64<sem::Rounding::rn>(std::bit_cast<double>(old), std::bit_cast<double>(b)));
  }
};
template <uint16_t (*kFunction)(uint16_t, uint16_t)>
struct Halves {
  static uint16_t apply(uint16_t old, uint16_t b) { return kFunction(old, b); }
  static uint32_t apply(uint32_t old, uint32_t b) { return sem::packed(old, b, kFunction); }
};
uint16_t add_f16(uint16_t a, uint16_t b) { return sem::add_f16<>(a, b); }
uint16_t add_bf16(uint16_t a, uint16_t b) { return sem::add_bf16(a, b); }
uint16_t min_f16(uint16_t a, uint16_t b) { return sem::min_half<sem::kInfinityF16>(a, b); }
uint16_t max_f16(uint16_t a, uint16_t b) { return sem::max_half<sem::kInfinityF16>(a, b); }
uint16_t min_bf16(uint16_t a, uint16_t b) { return sem::min_half<sem::kInfinityBf16>(a, b); }
uint16_t max_bf16(uint16_t a, uint16_t b) { return sem::max_half<sem::kInfinityBf16>(a, b); }

template <class T>
T load(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}
template <class T>
void store(std::byte* p, T value) {
  std::memcpy(p, &value, sizeof value);
}

// Several workers: no result is read, and the operation may be applied in any order.
template <class F, class T>
void bring(std::byte* place, uint64_t operand) {
  std::atomic_ref<T> at(*reinterpret_cast<T*>(place));
  T old = at.load(std::memory_order_relaxed);
  while (!at.compare_exchange_weak(old, F::apply(old, static_cast<T>(operand)), std::memory_order_relaxed)) {
  }
}

// One thread does what several have noted.
template <class F, class T>
void bring_alone(std::byte* place, uint64_t operand) {
  store(place, static_cast<T>(F::apply(load<T>(place), static_cast<T>(operand))));
}

template <class F, class T>
void apply_concurrently(HeldBack& held_back, const RowOf<T>* b, std::byte* const* place, size_t offset,
                        LaneMask mask) {
  while (mask) {
    const unsigned first = static_cast<unsigned>(std::countr_zero(mask));
    mask &= mask - 1;
    std::byte* const p = place[first] + offset;
    T sum = static_cast<T>(b[first]);
    while (mask && place[std::countr_zero(mask)] + offset == p) {
      sum = F::apply(sum, static_cast<T>(b[std::countr_zero(mask)]));
      mask &= mask - 1;
    }
    if (!held_back.active()) {
      bring<F, T>(p, static_cast<uint64_t>(sum));
      continue;
    }
    if (uint64_t* const held = held_back.hold(p, &bring<F, T>, static_cast<uint64_t>(sum)))
      *held = static_cast<uint64_t>(F::apply(static_cast<T>(*held), sum));
  }
}

template <class F, class T>
void apply(Warp& w, const Atomic& atomic, unsigned j, std::byte* const* place, LaneMask mask,
           bool concurrent) {
  const size_t offset = size_t{j} * atomic.element_bytes;
  const auto* b = w.row<RowOf<T>>(atomic.b[j]);
  constexpr bool kAnyOrder = std::is_same_v<F, Add> || std::is_same_v<F, Min> || std::is_same_v<F, Max> ||
                             std::is_same_v<F, And> || std::is_same_v<F, Or> || std::is_same_v<F, Xor>;
  if (concurrent && !atomic.result && w.worker->held_back.in_order()) {
    for (LaneMask left = mask; left; left &= left - 1) {
      const unsigned i = static_cast<unsigned>(std::countr_zero(left));
      w.worker->held_back.note(place[i] + offset, &bring_alone<F, T>,
                               static_cast<uint64_t>(static_cast<T>(b[i])));
    }
    return;
  }
  if constexpr (kAnyOrder) {
    if (concurrent && !atomic.result) {
      apply_concurrently<F, T>(w.worker->held_back, b, place, offset, mask);
      return;
    }
  } else {
    (void)concurrent;
  }
  auto* d = w.row<RowOf<T>>(atomic.dst[j]);
  std::byte* at = place[std::countr_zero(mask)] + offset;
  T value = load<T>(at);
  using U = std::conditional_t<std::is_integral_v<T>, std::make_unsigned_t<T>, T>;
  auto step = [&](unsigned i) {
    std::byte* p = place[i] + offset;
    if (p != at) {
      store(at, value);
      at = p;
      value = load<T>(p);
    }
    const T old = value;
    value = F::apply(value, static_cast<T>(b[i]));
    return static_cast<RowOf<T>>(static_cast<U>(old));
  };
  if (!atomic.result) {
    for (LaneMask left = mask; left; left &= left - 1) step(static_cast<unsigned>(std::countr_zero(left)));
  } else {
    for (LaneMask left = mask; left; left &= left - 1) {
      const unsigned i = static_cast<unsigned>(std::countr_zero(left));
      d[i] = step(i);
    }
  }
  store(at, value);
}

template <class T>
void compare_and_swap(Warp& w, const Atomic& atomic, unsigned, std::byte* const* place, LaneMask mask, bool) {
  const auto* b = w.row<RowOf<T>>(atomic.b[0]);
  const auto* c = w.row<RowOf<T>>(atomic.c);
  auto* d = w.row<RowOf<T>>(atomic.dst[0]);
  for (LaneMask left = mask; left; left &= left - 1) {
    const unsigned i = static_cast<unsigned>(std::countr_zero(left));
    const T old = load<T>(place[i]);
    if (old == static_cast<T>(b[i])) store(place[i], static_cast<T>(c[i]));
    if (atomic.result) d[i] = old;
  }
}

// 128 bits: two 64-bit rows, the low words first.
template <bool kCompare>
void swap_wide(Warp& w, const Atomic& atomic, unsigned, std::byte* const* place, LaneMask mask, bool) {
  const auto* b = w.row<uint64_t>(atomic.b[0]);
  const auto* c = w.row<uint64_t>(kCompare ? atomic.c : atomic.b[0]);
  auto* d = w.row<uint64_t>(atomic.dst[0]);
  for (LaneMask left = mask; left; left &= left - 1) {
    const unsigned i = static_cast<unsigned>(std::countr_zero(left)), high = i + kWarpSize;
    const uint64_t old[2] = {load<uint64_t>(place[i]), load<uint64_t>(place[i] + 8)};
    if (!kCompare || (old[0] == b[i] && old[1] == b[high])) {
      store(place[i], c[i]);
      store(place[i] + 8, c[high]);
    }
    if (atomic.result) {
      d[i] = old[0];
      d[high] = old[1];
    }
  }
}

// ---- where the lanes' bytes are ----

// Do the lanes lie as in the site's pattern? `address` has every lane's, of any value outside the mask.
template <class Address>
bool fits(const Site& s, const Address* address, LaneMask mask) {
  if (mask != s.mask || s.pattern == Pattern::none) return false;
  const Address base = address[std::countr_zero(mask)];
  Address difference = 0;
  for (unsigned i = 0; i < kWarpSize; ++i) {
    const Address on = static_cast<Address>(-static_cast<Address>((mask >> i) & 1));
    Address delta;
    if constexpr (sizeof(Address) == 4)
      delta = static_cast<Address>(s.delta32[i]);
    else
      delta = static_cast<Address>(s.delta[i]);
    difference |= ((address[i] - base) ^ delta) & on;
  }
  return difference == 0;
}

template <class Address>
bool uniform(const Address* address, LaneMask mask) {
  const Address base = address[std::countr_zero(mask)];
  Address difference = 0;
  for (unsigned i = 0; i < kWarpSize; ++i)
    difference |= (address[i] ^ base) & static_cast<Address>(-static_cast<Address>((mask >> i) & 1));
  return difference == 0;
}

// Counts a request that fits no pattern, without looking for the example where it is no costlier than that.
void count_shared(Warp& w, Site& s, const SiteInfo& info, const mem::WarpAccess& access) {
  if (!info.counted || info.machine_width_bytes == 0) return;
  if (s.counters.example.valid && info.machine_width_bytes == access.width_bytes &&
      info.machine_offset == 0 && info.split_offset == mem::MachineAccess::kNoSplit) {
    const mem::AccessCost cost = mem::shared_cost(access);
    if (cost.wavefronts - cost.ideal_wavefronts <= s.example_excess) {
      const uint32_t lanes = lane_count(access.mask);
      s.counters.requests += cost.requests;
      s.counters.lanes += lanes;
      s.counters.bytes_asked += uint64_t{lanes} * access.width_bytes;
      s.counters.wavefronts += cost.wavefronts;
      s.counters.ideal_wavefronts += cost.ideal_wavefronts;
      s.counters.least_wavefronts += cost.least_wavefronts;
      return;
    }
  }
  count_access(s, info, access, w);
}

// All lanes in shared memory, inside and aligned. False: the slow way has to look at it.
bool place_shared(Warp& w, const MicroOp* op, const Atomic& atomic, uint32_t site, const uint32_t* offset,
                  LaneMask mask, std::byte** place) {
  const unsigned bytes = atomic.bytes();
  if (w.shared_bytes < bytes) return false;
  const uint32_t last = w.shared_bytes - bytes;
  uint32_t bad = 0;
  for (unsigned i = 0; i < kWarpSize; ++i) {
    const uint32_t wrong = static_cast<uint32_t>(offset[i] > last) | (offset[i] & (bytes - 1));
    bad |= (mask >> i) & 1 ? wrong : 0;
  }
  if (bad) return false;
  Worker& k = *w.worker;
  Site& s = k.sites[site];
  const SiteInfo& info = k.program->sites[site];
  bool counted = fits(s, offset, mask) && s.space == AccessSpace::shared;
  if (!counted && uniform(offset, mask))
    counted = set_pattern(s, info, AccessSpace::shared, offset, mask, bytes, w);
  if (counted) {
    ++s.pending;
  } else {
    mem::WarpAccess access;
    for (unsigned i = 0; i < kWarpSize; ++i) access.address[i] = offset[i];
    access.mask = mask;
    access.width_bytes = bytes;
    access.space = AccessSpace::shared;
    access.kind = atomic.kind;
    count_shared(w, s, info, access);
  }
  if (k.options->check_races) {
    SharedShadow& shadow = w.block->shadow;
    shadow.settle();
    bool known =
        shadow.granule_shift == 2 && bytes == 4 && !shadow.fences && shadow.watched_bytes == w.shared_bytes;
    for (LaneMask left = known ? mask : 0; left && known; left &= left - 1)
      known = shadow.add_atomic(offset[std::countr_zero(left)] / 4, w.index, site);
    if (!known) check_shared(w, op, site, offset, mask, bytes, true, true, Order::atomic);
  }
  for (unsigned i = 0; i < kWarpSize; ++i) place[i] = w.shared + offset[i];
  return true;
}

// All lanes in one buffer that has values throughout, inside and aligned. False: the slow way.
bool place_global(Warp& w, const Atomic& atomic, uint32_t site, const uint64_t* address, LaneMask mask,
                  std::byte** place) {
  const unsigned bytes = atomic.bytes();
  Gather g;
  if (bytes > 32 || !find_lanes(w, address, mask, bytes, true, g)) return false;
  Worker& k = *w.worker;
  for (unsigned n = 0; k.options->check_races && n < g.groups; ++n)
    if (g.group[n].view->written) return false;
  count_gather(w, k.sites[site], k.program->sites[site], g, mask, bytes, atomic.kind);
  for (unsigned i = 0; i < kWarpSize; ++i) place[i] = g.bytes(i);
  return true;
}

void apply_all(Warp& w, const Atomic& atomic, Apply f, std::byte* const* place, LaneMask mask, bool shared) {
  const bool concurrent = !shared && w.worker->atomic_memory;
  for (unsigned j = 0; j < atomic.elements; ++j) f(w, atomic, j, place, mask, concurrent);
}

void clear_results(Warp& w, const Atomic& atomic, LaneMask mask) {
  if (!atomic.result) return;
  const unsigned rows = atomic.element_bytes == 16 ? 2 : 1;
  for (; mask; mask &= mask - 1) {
    const unsigned i = static_cast<unsigned>(std::countr_zero(mask));
    for (unsigned j = 0; j < atomic.elements; ++j)
      for (unsigned r = 0; r < rows; ++r) {
        if (atomic.element_bytes >= 8)
          w.row<uint64_t>(atomic.dst[j])[i + r * kWarpSize] = 0;
        else
          w.row<uint32_t>(atomic.dst[j])[i] = 0;
      }
  }
}

// Lane by lane; lanes that fault get 0.
void run_slowly(Warp& w, const MicroOp* op, const Atomic& atomic, Addressing addressing, uint32_t site,
                const uint64_t* address, LaneMask mask) {
  LaneTarget target[kWarpSize];
  std::byte* place[kWarpSize] = {};
  const LaneMask ok =
      access_lanes(w, op, addressing, site, address, mask, atomic.bytes(), atomic.kind, target);
  LaneMask in_shared = 0, in_global = 0;
  std::byte own[kWarpSize][32];  // atomics on a thread's local memory work on a copy
  LaneMask in_local = 0;
  for (LaneMask left = ok; left; left &= left - 1) {
    const unsigned i = static_cast<unsigned>(std::countr_zero(left));
    const LaneMask bit = LaneMask{1} << i;
    place[i] = target[i].data;
    if (target[i].space == AccessSpace::shared) {
      in_shared |= bit;
    } else if (target[i].space == AccessSpace::global) {
      in_global |= bit;
    } else {
      in_local |= bit;
      read_target(w, i, target[i], own[i], atomic.bytes());
      place[i] = own[i];
    }
  }
  if (in_global) apply_all(w, atomic, atomic.global, place, in_global, false);
  if (in_shared) apply_all(w, atomic, atomic.shared, place, in_shared, true);
  if (in_local) apply_all(w, atomic, atomic.shared, place, in_local, true);
  for (LaneMask left = in_local; left; left &= left - 1) {
    const unsigned i = static_cast<unsigned>(std::countr_zero(left));
    write_target(w, i, target[i], own[i], atomic.bytes());
  }
  clear_results(w, atomic, mask & ~ok);
}

// grid.sync() of a cooperative launch: each block adds to a counter in the launch's workspace, whose top bit
// flips when the last one has come. What any block did before is ordered before all that follows.
void look_at_grid_barrier(Worker& k, uint64_t address) {
  const uint64_t window = window_of(k.program->param_buffer) + 1;
  if (window_of(address) != window) return;
  uint32_t* const workspace =
      reinterpret_cast<uint32_t*>(k.memory->buffer(window - kFirstBufferWindow).data.get());
  if (!((workspace[0] ^ workspace[1]) >> 31)) return;
  workspace[0] = workspace[1];
  for (size_t buffer = 0; buffer < k.views.size(); ++buffer)
    if (k.views[buffer].shadow) watch_buffer(k, buffer);
}

const MicroOp* run_atomic(Warp& w, const MicroOp* op) {
  const Atomic& atomic = *static_cast<const Atomic*>(op->info);
  const LaneMask mask = w.exec;
  if (mask == 0) return op + 1;
  w.polls += atomic.polls;
  std::byte* place[kWarpSize];
  if (atomic.addressing == Addressing::shared) {
    const uint32_t* row = w.row<uint32_t>(op->a);
    const uint32_t imm = static_cast<uint32_t>(op->imm);
    alignas(64) uint32_t offset[kWarpSize];
    for (unsigned i = 0; i < kWarpSize; ++i) offset[i] = row[i] + imm;
    if (place_shared(w, op, atomic, op->site, offset, mask, place)) {
      apply_all(w, atomic, atomic.shared, place, mask, true);
      return op + 1;
    }
    alignas(64) uint64_t wide[kWarpSize];
    for (unsigned i = 0; i < kWarpSize; ++i) wide[i] = offset[i];
    run_slowly(w, op, atomic, Addressing::shared, op->site, wide, mask);
    return op + 1;
  }
  const uint64_t* row = w.row<uint64_t>(op->a);
  alignas(64) uint64_t address[kWarpSize];
  for (unsigned i = 0; i < kWarpSize; ++i) address[i] = row[i] + static_cast<uint64_t>(op->imm);
  if (place_global(w, atomic, op->site, address, mask, place)) {
    apply_all(w, atomic, atomic.global, place, mask, false);
    look_at_grid_barrier(*w.worker, address[std::countr_zero(mask)]);
    return op + 1;
  }
  if (atomic.addressing == Addressing::generic) {
    alignas(64) uint32_t offset[kWarpSize];
    uint64_t elsewhere = 0;  // not in the first 4 GB of the shared window
    for (unsigned i = 0; i < kWarpSize; ++i) {
      offset[i] = static_cast<uint32_t>(address[i]);
      elsewhere |= (mask >> i) & 1 ? (address[i] ^ (kSharedWindow << kWindowShift)) >> 32 : 0;
    }
    if (!elsewhere && place_shared(w, op, atomic, op->site + 1, offset, mask, place)) {
      apply_all(w, atomic, atomic.shared, place, mask, true);
      return op + 1;
    }
  }
  run_slowly(w, op, atomic, atomic.addressing, op->site, address, mask);
  return op + 1;
}

// ---- decoding ----

struct Applies {
  Apply global = nullptr, shared = nullptr;
};

template <class F, class T>
Applies both() {
  return {apply<F, T>, apply<F, T>};
}

template <class F>
Applies by_width(unsigned bytes) {
  return bytes == 8 ? both<F, uint64_t>() : both<F, uint32_t>();
}
template <class F>
Applies by_integer(Type type) {
  switch (type) {
    case Type::s32: return both<F, int32_t>();
    case Type::s64: return both<F, int64_t>();
    case Type::u64: return both<F, uint64_t>();
    case Type::u32: return both<F, uint32_t>();
    default: return {};
  }
}
template <auto kF16, auto kBf16>
Applies by_half(Type type) {
  switch (type) {
    case Type::f16: return both<Halves<kF16>, uint16_t>();
    case Type::f16x2: return both<Halves<kF16>, uint32_t>();
    case Type::bf16: return both<Halves<kBf16>, uint16_t>();
    case Type::bf16x2: return both<Halves<kBf16>, uint32_t>();
    default: return {};
  }
}

bool is_half(Type t) { return t == Type::f16 || t == Type::f16x2 || t == Type::bf16 || t == Type::bf16x2; }

Applies choose(const ptx::Instruction& i, Type type) {
  const unsigned bytes = ptx::size_bytes(type);
  if (i.has(Mod::add_)) {
    if (type == Type::f32) return {apply<AddF32Flush, uint32_t>, apply<AddF32, uint32_t>};
    if (type == Type::f64) return both<AddF64, uint64_t>();
    return is_half(type) ? by_half<add_f16, add_bf16>(type) : by_width<Add>(bytes);
  }
  if (i.has(Mod::min_)) return is_half(type) ? by_half<min_f16, min_bf16>(type) : by_integer<Min>(type);
  if (i.has(Mod::max_)) return is_half(type) ? by_half<max_f16, max_bf16>(type) : by_integer<Max>(type);
  if (i.has(Mod::and_)) return by_width<And>(bytes);
  if (i.has(Mod::or_)) return by_width<Or>(bytes);
  if (i.has(Mod::xor_)) return by_width<Xor>(bytes);
  if (i.has(Mod::inc)) return both<Increment, uint32_t>();
  if (i.has(Mod::dec)) return both<Decrement, uint32_t>();
  if (i.has(Mod::exch))
    return bytes == 16 ? Applies{swap_wide<false>, swap_wide<false>} : by_width<Exchange>(bytes);
  if (i.has(Mod::cas)) {
    if (bytes == 16) return {swap_wide<true>, swap_wide<true>};
    if (bytes == 2) return {compare_and_swap<uint16_t>, compare_and_swap<uint16_t>};
    return bytes == 8 ? Applies{compare_and_swap<uint64_t>, compare_and_swap<uint64_t>}
                      : Applies{compare_and_swap<uint32_t>, compare_and_swap<uint32_t>};
  }
  return {};
}

}  // namespace

bool decode_atomic(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  const bool reduction = i.op == Op::red;
  if (i.op != Op::atom && !reduction) return false;
  if (i.has(Mod::async)) return d.fail("is not supported");
  const Type type = i.type(0);
  auto atomic = std::make_shared<Atomic>();
  const Applies applies = choose(i, type);
  if (!applies.global) return d.fail("has no known operation");
  atomic->global = applies.global;
  atomic->shared = applies.shared;
  atomic->elements = i.has(Mod::v2) ? 2 : i.has(Mod::v4) ? 4 : i.has(Mod::v8) ? 8 : 1;
  atomic->element_bytes = ptx::size_bytes(type);
  atomic->polls = i.has(Mod::cas) || i.has(Mod::exch);
  atomic->result = !reduction && atomic_result_is_used(d);
  // What ptxas makes a reduction: an atomic whose result nobody reads (there is none of cas and exch).
  atomic->kind =
      reduction || (!atomic->result && !atomic->polls) ? AccessKind::reduction : AccessKind::atomic;

  const unsigned first = reduction ? 0 : 1;  // the address
  if (i.operand_count < first + 2) return d.fail("has too few operands");
  const Type row_type = atomic->element_bytes == 16  ? Type::b128
                        : atomic->element_bytes == 8 ? Type::b64
                        : atomic->element_bytes == 2 ? Type::b16
                                                     : Type::b32;
  auto rows = [&](const Operand& operand, uint32_t* into, bool destination) {
    for (unsigned j = 0; j < atomic->elements; ++j) {
      if (operand.kind == Operand::Kind::vector && operand.count != atomic->elements) {
        d.fail("has a vector of another length");
        return;
      }
      const Operand& element = operand.kind == Operand::Kind::vector ? d.element(operand, j) : operand;
      into[j] = destination ? d.destination(element, row_type)
                            : d.source(element, element.kind == Operand::Kind::imm ? type : row_type);
    }
  };
  rows(d.operand(first + 1), atomic->b, false);
  if (i.has(Mod::cas)) {
    if (i.operand_count < first + 3) return d.fail("has too few operands");
    atomic->c = d.source(first + 2, row_type);
  }
  if (!reduction) rows(d.operand(0), atomic->dst, true);
  if (d.error()) return true;

  const ptx::Space space = space_of(i);
  atomic->addressing = space == ptx::Space::shared   ? Addressing::shared
                       : space == ptx::Space::global ? Addressing::global
                                                     : Addressing::generic;
  const MemoryAddress at = decode_address(d, d.operand(first), space);
  if (d.error()) return true;
  const uint32_t site = new_memory_site(d, space, atomic->kind, atomic->bytes());
  if (space == ptx::Space::global || space == ptx::Space::generic)
    emit_block_order(d,
                     {.reads = true, .writes = true, .releases = i.has(Mod::release) || i.has(Mod::acq_rel)},
                     at.row, at.imm);
  MicroOp& op = d.emit({run_atomic, nullptr}, 0, at.row);
  op.imm = at.imm;
  op.site = site;
  op.flags = 1;
  op.info = atomic.get();
  d.out.infos.push_back(std::move(atomic));
  return true;
}

}  // namespace fullwarp::exec

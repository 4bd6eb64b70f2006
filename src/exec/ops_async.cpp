// Asynchronous copies (cp.async, cp.async.bulk) and the barriers they signal (mbarrier).
//
// Copies are done where they are issued. For the race detector a copy is a store by the issuing thread, so
// that others need a barrier (or an mbarrier) to read it, and what it brings may not be read at all before
// that thread has waited: for its group, or by way of an mbarrier that tracks it.
//
// An mbarrier object is 64 bits of shared memory, opaque to the program; ours:
//
//   63     62     61        41 40       20 19       0
//   [phase][valid][tx, signed ][ expected ][ pending ]
//
// `expected` is what `pending` becomes when a phase completes: at pending 0 and tx 0. The state that arrive
// returns is the object before it. Who waits for a phase is ordered after all who arrived in it (Released).
#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/access.h"
#include "exec/handlers.h"
#include "exec/memory_ops.h"

namespace fullwarp::exec {

using mem::AccessKind;
using ptx::Mod;
using ptx::Op;
using ptx::Operand;
using ptx::Type;

namespace {

template <class F>
void for_lanes(LaneMask mask, F f) {
  for (; mask; mask &= mask - 1) f(static_cast<unsigned>(std::countr_zero(mask)));
}

const MicroOp* nothing(Warp&, const MicroOp* op) { return op + 1; }

// ---- cp.async: a load into scratch rows and a store from them ----

const MicroOp* begin_copy(Warp& w, const MicroOp* op) {  // a: row of addresses, flags: words
  alignas(64) uint32_t offset[kWarpSize];
  const uint32_t* row = w.row<uint32_t>(op->a);
  for (unsigned i = 0; i < kWarpSize; ++i) offset[i] = row[i] + static_cast<uint32_t>(op->imm);
  w.block->shadow.begin_copies(w.index, w.exec, offset, 4 * op->flags);
  return op + 1;
}

const MicroOp* commit_copies(Warp& w, const MicroOp* op) {
  w.block->shadow.commit_copies(w.index, w.exec);
  return op + 1;
}

const MicroOp* finish_copies(Warp& w, const MicroOp* op) {  // imm: groups that may be left
  w.block->shadow.finish_copies(w.index, w.exec, static_cast<uint32_t>(op->imm));
  return op + 1;
}

struct PartialCopy {
  MicroOp load;  // of whole lanes, into `rows`
  uint32_t rows[4] = {};
  unsigned words = 1;
  uint32_t size = 0;    // row of the source sizes, or:
  uint32_t ignore = 0;  // row of a predicate: take zeros instead of the source
  bool by_predicate = false;
};

// Lanes that take less than the whole from the source fill up with zeros.
const MicroOp* load_partly(Warp& w, const MicroOp* op) {
  const PartialCopy& copy = *static_cast<const PartialCopy*>(op->info);
  const unsigned bytes = 4 * copy.words;
  LaneMask whole = 0, part = 0;
  const uint32_t* size = w.row<uint32_t>(copy.size);
  if (copy.by_predicate) {
    whole = w.exec & ~w.pred(copy.ignore);
  } else {
    for_lanes(w.exec, [&](unsigned i) {
      if (size[i] >= bytes)
        whole |= LaneMask{1} << i;
      else if (size[i] > 0)
        part |= LaneMask{1} << i;
    });
  }
  for_lanes(w.exec & ~whole, [&](unsigned i) {
    uint32_t words[4] = {};
    if ((part >> i) & 1)
      read_memory(w, op, i, w.row<uint64_t>(copy.load.a)[i] + static_cast<uint64_t>(copy.load.imm), words,
                  size[i]);
    for (unsigned j = 0; j < copy.words; ++j) w.row<uint32_t>(copy.rows[j])[i] = words[j];
  });
  if (whole) {
    const LaneMask exec = w.exec;
    w.exec = whole;
    copy.load.run[1](w, &copy.load);
    w.exec = exec;
  }
  return op + 1;
}

bool decode_copy(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  if (i.operand_count < 3) return d.fail("has too few operands");
  const std::optional<uint64_t> bytes = d.constant_value(d.operand(2));
  if (!bytes || (*bytes != 4 && *bytes != 8 && *bytes != 16)) return d.fail("copies 4, 8 or 16 bytes");
  const unsigned words = static_cast<unsigned>(*bytes / 4);
  const unsigned extra = i.operand_count - 3u - (i.has(Mod::L2_cache_hint) ? 1u : 0u);
  uint32_t rows[4] = {};
  for (unsigned j = 0; j < words; ++j) rows[j] = d.temporary(kRow32);
  const MemoryAddress to = decode_address(d, d.operand(0), ptx::Space::shared);
  const MemoryAddress from = decode_address(d, d.operand(1), ptx::Space::global);
  auto partial = std::make_shared<PartialCopy>();
  bool whole = extra == 0;
  if (!whole) {
    const Operand& limit = d.operand(3);
    const bool predicate =
        limit.kind == Operand::Kind::reg && d.register_type(static_cast<int32_t>(limit.index)) == Type::pred;
    partial->by_predicate = predicate;
    if (predicate) {
      partial->ignore = d.source(limit, Type::pred);
    } else {
      const std::optional<uint64_t> size = d.constant_value(limit);
      whole = size && *size >= *bytes;
      if (!whole) partial->size = d.source(limit, Type::u32);
    }
  }
  if (d.error()) return true;
  const uint32_t load_site = new_memory_site(d, ptx::Space::global, AccessKind::load, 4 * words);
  const uint32_t store_site = new_memory_site(d, ptx::Space::shared, AccessKind::async_copy, 4 * words);
  MicroOp& load = d.emit(memory_handlers(MemoryPath::global, 4, false, false, false), rows[0], from.row,
                         rows[1], rows[2], rows[3]);
  load.imm = from.imm;
  load.site = load_site;
  load.flags = words;
  if (!whole) {
    partial->load = load;
    partial->words = words;
    std::copy(rows, rows + 4, partial->rows);
    d.out.ops.pop_back();
    d.emit({load_partly, nullptr}).info = partial.get();
    d.out.infos.push_back(std::move(partial));
  }
  MicroOp& store = d.emit(memory_handlers(MemoryPath::shared, 4, false, false, true), rows[0], to.row,
                          rows[1], rows[2], rows[3]);
  store.imm = to.imm;
  store.site = store_site;
  store.flags = words;
  if (d.program.check_races) {
    MicroOp& begin = d.emit({begin_copy, nullptr}, 0, to.row);
    begin.imm = to.imm;
    begin.flags = words;
  }
  return true;
}

// ---- mbarrier ----

enum class Step : uint8_t { init, inval, arrive, arrive_drop, expect, complete, test, test_parity };

struct Object {
  uint32_t pending = 0, expected = 0;
  int32_t tx = 0;
  bool phase = false, valid = false;
};

constexpr uint32_t kCountMask = (1u << 20) - 1;
constexpr uint32_t kTxMask = (1u << 21) - 1;
constexpr unsigned kExpectedShift = 20, kTxShift = 41, kValidShift = 62, kPhaseShift = 63;

Object unpack(uint64_t bits) {
  Object o;
  o.pending = static_cast<uint32_t>(bits) & kCountMask;
  o.expected = static_cast<uint32_t>(bits >> kExpectedShift) & kCountMask;
  o.tx = static_cast<int32_t>(static_cast<uint32_t>(bits >> kTxShift & kTxMask) << 11) >> 11;
  o.valid = bits >> kValidShift & 1;
  o.phase = bits >> kPhaseShift;
  return o;
}
uint64_t pack(const Object& o) {
  return uint64_t{o.pending & kCountMask} | uint64_t{o.expected & kCountMask} << kExpectedShift |
         uint64_t{static_cast<uint32_t>(o.tx) & kTxMask} << kTxShift | uint64_t{o.valid} << kValidShift |
         uint64_t{o.phase} << kPhaseShift;
}

struct Barrier64 {
  Step step = Step::init;
  Addressing addressing = Addressing::shared;
  bool expects = false;  // arrive.expect_tx: the operand is bytes, one thread arrives
  bool waits = false;    // try_wait
  bool result = false;
  uint32_t value = 0;  // row of the count, the bytes, the state or the parity
};

// ---- order through an mbarrier, for the race detector ----

Released& released(Warp& w, uint64_t offset) {
  Released& r = w.block->shadow.released[static_cast<uint32_t>(offset)];
  if (r.arriving.size() != w.block->warps.size()) {
    r.arriving.assign(w.block->warps.size(), 0);
    r.complete = r.arriving;
  }
  return r;
}

// What this warp did, and what it knows of others, is behind the barrier's phase.
void release(Warp& w, uint64_t offset) {
  SharedShadow& s = w.block->shadow;
  Released& r = released(w, offset);
  s.tick();
  r.arriving[w.index] = s.clock;
  if (!s.met.empty())
    for (uint32_t other = 0; other < s.warps; ++other)
      r.arriving[other] = std::max(r.arriving[other], s.met[size_t{w.index} * s.warps + other]);
}

void complete(Warp& w, uint64_t offset) {
  Released& r = released(w, offset);
  for (size_t k = 0; k < r.arriving.size(); ++k) r.complete[k] = std::max(r.complete[k], r.arriving[k]);
}

void acquire(Warp& w, uint64_t offset) {
  SharedShadow& s = w.block->shadow;
  const Released& r = released(w, offset);
  if (s.met.empty()) s.met.assign(size_t{s.warps} * s.warps, 0);
  for (uint32_t other = 0; other < s.warps; ++other) {
    uint32_t& met = s.met[size_t{w.index} * s.warps + other];
    met = std::max(met, r.complete[other]);
  }
  s.warp_stamp[w.index] = std::max(s.warp_stamp[w.index], r.complete[w.index]);
}

// ---- operations ----

void settle(Warp& w, Object& o, uint64_t offset, bool races) {
  if (o.pending != 0 || o.tx != 0) return;
  o.phase = !o.phase;
  o.pending = o.expected;
  if (races) complete(w, offset);
}

void arrive(Warp& w, const MicroOp* op, unsigned lane, Object& o, uint32_t count) {
  if (count > o.pending) {
    profile::Fault& fault = report_fault(w, op, profile::FaultKind::invalid_instruction, lane);
    fault.detail = "more threads arrive at the mbarrier than its count of " + std::to_string(o.expected);
    count = o.pending;
  }
  o.pending -= count;
}

// Adds bytes that a copy has brought; false if there is no such object.
bool complete_bytes(Warp& w, const MicroOp* op, unsigned lane, uint64_t generic_address, uint32_t bytes) {
  uint64_t bits = 0;
  if (!read_memory(w, op, lane, generic_address, &bits, 8)) return false;
  Object o = unpack(bits);
  if (!o.valid) return false;
  const bool races = w.worker->options->check_races;
  o.tx -= static_cast<int32_t>(bytes);
  if (races) release(w, offset_of(generic_address));
  settle(w, o, offset_of(generic_address), races);
  bits = pack(o);
  return write_memory(w, op, lane, generic_address, &bits, 8);
}

const MicroOp* run_barrier(Warp& w, const MicroOp* op) {
  const Barrier64& b = *static_cast<const Barrier64*>(op->info);
  const bool test = b.step == Step::test || b.step == Step::test_parity;
  const bool races = w.worker->options->check_races;
  uint64_t address[kWarpSize] = {};
  for_lanes(w.exec, [&](unsigned i) {
    address[i] = b.addressing == Addressing::shared
                     ? static_cast<uint32_t>(w.row<uint32_t>(op->a)[i] + static_cast<uint32_t>(op->imm))
                     : w.row<uint64_t>(op->a)[i] + static_cast<uint64_t>(op->imm);
  });
  LaneTarget target[kWarpSize];
  const AccessKind kind = test                   ? AccessKind::load
                          : b.step == Step::init ? AccessKind::store
                                                 : AccessKind::atomic;
  const LaneMask ok = access_lanes(w, op, b.addressing, op->site, address, w.exec, 8, kind, target);
  LaneMask true_lanes = 0, failed = 0;
  uint64_t last_release = ~uint64_t{0};  // once for all lanes: each release moves the clock
  auto release_once = [&](uint64_t offset) {
    if (!races || offset == last_release) return;
    release(w, offset);
    last_release = offset;
  };
  for_lanes(ok, [&](unsigned i) {
    if (target[i].space != mem::AccessSpace::shared) {
      report_fault(w, op, profile::FaultKind::invalid_instruction, i).detail =
          "an mbarrier object lies in shared memory";
      return;
    }
    const uint64_t offset = target[i].offset;
    uint64_t bits = 0;
    read_target(w, i, target[i], &bits, 8);
    Object o = unpack(bits);
    const bool wide = b.step == Step::test;
    const uint64_t value = wide ? w.row<uint64_t>(b.value)[i] : w.row<uint32_t>(b.value)[i];
    const uint32_t count = static_cast<uint32_t>(value);
    if (b.step == Step::init) {
      o = Object{count & kCountMask, count & kCountMask, 0, false, true};
      if (races) w.block->shadow.released.erase(static_cast<uint32_t>(offset));
    } else if (!o.valid) {
      report_fault(w, op, profile::FaultKind::invalid_instruction, i).detail =
          "the mbarrier object is not initialised";
      if (test) true_lanes |= LaneMask{1} << i;  // do not wait for what cannot come
      return;
    }
    switch (b.step) {
      case Step::init: break;
      case Step::inval: o = Object{}; break;
      case Step::arrive:
      case Step::arrive_drop: {
        if (b.result) w.row<uint64_t>(op->dst)[i] = bits;
        release_once(offset);
        if (b.expects) o.tx += static_cast<int32_t>(count);
        const uint32_t arriving = b.expects ? 1 : count;
        if (b.step == Step::arrive_drop) o.expected -= std::min(o.expected, arriving);
        arrive(w, op, i, o, arriving);
        settle(w, o, offset, races);
        break;
      }
      case Step::expect: o.tx += static_cast<int32_t>(count); break;
      case Step::complete:
        o.tx -= static_cast<int32_t>(count);
        release_once(offset);
        settle(w, o, offset, races);
        break;
      case Step::test:
      case Step::test_parity: {
        const bool waited_for = wide ? value >> kPhaseShift : count & 1;
        if (o.phase != waited_for) {
          true_lanes |= LaneMask{1} << i;
          if (races) acquire(w, offset);
        } else {
          failed |= LaneMask{1} << i;
        }
        return;
      }
    }
    bits = pack(o);
    write_target(w, i, target[i], &bits, 8);
  });
  if (test) {
    LaneMask& d = w.pred(op->dst);
    d = (d & ~w.exec) | true_lanes;
    if (failed) {  // others have to run before it can come true
      w.polls += b.waits ? 32 : 1;
      if (b.waits) w.budget = std::min(w.budget, 4);
    }
  }
  return op + 1;
}

const MicroOp* pending_count(Warp& w, const MicroOp* op) {
  for_lanes(w.exec,
            [&](unsigned i) { w.row<uint32_t>(op->dst)[i] = unpack(w.row<uint64_t>(op->a)[i]).pending; });
  return op + 1;
}

Addressing addressing_of(ptx::Space space) {
  return space == ptx::Space::shared ? Addressing::shared : Addressing::generic;
}

bool decode_mbarrier(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  if (i.has(Mod::pending_count)) {
    const uint32_t a = d.source(1, Type::b64), dst = d.destination(0, Type::b32);
    d.emit({pending_count, nullptr}, dst, a);
    return true;
  }
  auto b = std::make_shared<Barrier64>();
  const bool test = i.has(Mod::test_wait) || i.has(Mod::try_wait);
  const bool arrives = i.has(Mod::arrive) || i.has(Mod::arrive_drop);
  b->step = i.has(Mod::init)          ? Step::init
            : i.has(Mod::inval)       ? Step::inval
            : i.has(Mod::arrive)      ? Step::arrive
            : i.has(Mod::arrive_drop) ? Step::arrive_drop
            : i.has(Mod::expect_tx)   ? Step::expect
            : i.has(Mod::complete_tx) ? Step::complete
            : i.has(Mod::parity)      ? Step::test_parity
                                      : Step::test;
  b->expects = arrives && i.has(Mod::expect_tx);
  b->waits = i.has(Mod::try_wait);
  const unsigned first = test || arrives ? 1 : 0;
  const ptx::Space space = space_of(i);
  b->addressing = addressing_of(space);
  const bool has_value = i.operand_count > first + 1;
  b->value = has_value               ? d.source(first + 1, b->step == Step::test ? Type::b64 : Type::u32)
             : b->step == Step::test ? d.constant64(0)
                                     : d.constant32(1);
  uint32_t dst = 0;
  if (test) dst = d.destination(0, Type::pred);
  if (arrives && d.operand(0).kind == Operand::Kind::reg) {
    b->result = true;
    dst = d.destination(0, Type::b64);
  }
  const MemoryAddress at = decode_address(d, d.operand(first), space);
  if (d.error()) return true;
  const uint32_t site = new_memory_site(d, space, test ? AccessKind::load : AccessKind::atomic, 8);
  MicroOp& op = d.emit({run_barrier, nullptr}, dst, at.row);
  op.imm = at.imm;
  op.site = site;
  op.flags = 1 | kNotCounted | (test ? kStrong : 0);
  op.info = b.get();
  d.out.infos.push_back(std::move(b));
  return true;
}

// ---- cp.async.mbarrier.arrive: the copies are complete, so that what is left is to arrive ----

bool decode_copy_arrive(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  // Who waits at the mbarrier has waited for the copies: they are let go here.
  if (d.program.check_races) d.emit({finish_copies, nullptr}).imm = SharedShadow::kAllCopies;
  if (!i.has(Mod::noinc) &&
      !i.has(Mod::mbarrier_arrive_noinc)) {  // one more is expected, and that one has come
    d.emit({nothing, nullptr});
    return true;
  }
  auto b = std::make_shared<Barrier64>();
  b->step = Step::arrive;
  const ptx::Space space = space_of(i);
  b->addressing = addressing_of(space);
  b->value = d.constant32(1);
  const MemoryAddress at = decode_address(d, d.operand(0), space);
  if (d.error()) return true;
  const uint32_t site = new_memory_site(d, space, AccessKind::atomic, 8);
  MicroOp& op = d.emit({run_barrier, nullptr}, 0, at.row);
  op.imm = at.imm;
  op.site = site;
  op.flags = 1 | kNotCounted;
  op.info = b.get();
  d.out.infos.push_back(std::move(b));
  return true;
}

// ---- cp.async.bulk between global and shared memory ----

struct BulkCopy {
  uint32_t to = 0, from = 0, barrier = 0, bytes = 0;  // rows: generic addresses, and 32 bits of size
  int64_t to_imm = 0, from_imm = 0, barrier_imm = 0;
  bool signals = false;
  bool to_shared = false, from_shared = false, barrier_shared = false;  // rows of 32-bit shared offsets
  uint32_t load_site = 0, store_site = 0;
};

uint64_t generic_address(Warp& w, uint32_t row, int64_t imm, bool shared, unsigned lane) {
  if (shared)
    return (kSharedWindow << kWindowShift) |
           static_cast<uint32_t>(w.row<uint32_t>(row)[lane] + static_cast<uint32_t>(imm));
  return w.row<uint64_t>(row)[lane] + static_cast<uint64_t>(imm);
}

const MicroOp* run_bulk(Warp& w, const MicroOp* op) {
  const BulkCopy& copy = *static_cast<const BulkCopy*>(op->info);
  for_lanes(w.exec, [&](unsigned i) {
    const uint32_t bytes = w.row<uint32_t>(copy.bytes)[i];
    if (bytes % 16 != 0) {
      report_fault(w, op, profile::FaultKind::invalid_instruction, i).detail =
          "a bulk copy of " + std::to_string(bytes) + " bytes: sizes are multiples of 16";
      return;
    }
    uint64_t to[kWarpSize] = {}, from[kWarpSize] = {};
    LaneTarget source[kWarpSize], destination[kWarpSize];
    const LaneMask lane = LaneMask{1} << i;
    for (uint32_t done = 0; done < bytes; done += 16) {
      from[i] = generic_address(w, copy.from, copy.from_imm, copy.from_shared, i) + done;
      to[i] = generic_address(w, copy.to, copy.to_imm, copy.to_shared, i) + done;
      if (!access_lanes(w, op, Addressing::generic, copy.load_site, from, lane, 16, AccessKind::load, source))
        break;
      if (!access_lanes(w, op, Addressing::generic, copy.store_site, to, lane, 16, AccessKind::store,
                        destination))
        break;
      std::byte buffer[16];
      read_target(w, i, source[i], buffer, 16);
      write_target(w, i, destination[i], buffer, 16);
    }
    if (copy.signals)
      complete_bytes(w, op, i, generic_address(w, copy.barrier, copy.barrier_imm, copy.barrier_shared, i),
                     bytes);
  });
  return op + 1;
}

bool decode_bulk(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  if (i.op != Op::cp || i.has(Mod::tensor) || i.has(Mod::multicast_cluster) || i.has(Mod::cp_mask) ||
      i.has(Mod::reduce))
    return d.fail("this bulk copy is not supported");
  if (i.operand_count < 3) return d.fail("has too few operands");
  auto copy = std::make_shared<BulkCopy>();
  copy->signals = i.has(Mod::mbarrier_complete_tx_bytes);
  const bool to_global = i.has(Mod::bulk_group);
  copy->to_shared = !to_global;
  copy->from_shared = to_global || !i.has(Mod::global);
  copy->barrier_shared = true;
  auto address = [&](const Operand& operand, bool shared, uint32_t& row, int64_t& imm) {
    const MemoryAddress at = decode_address(d, operand, shared ? ptx::Space::shared : ptx::Space::global);
    row = at.row;
    imm = at.imm;
  };
  address(d.operand(0), copy->to_shared, copy->to, copy->to_imm);
  address(d.operand(1), copy->from_shared, copy->from, copy->from_imm);
  copy->bytes = d.source(2, Type::u32);
  if (copy->signals) address(d.operand(3), true, copy->barrier, copy->barrier_imm);
  if (d.error()) return true;
  copy->load_site = new_memory_site(d, ptx::Space::generic, AccessKind::load, 16);
  copy->store_site = new_memory_site(d, ptx::Space::generic, AccessKind::store, 16);
  MicroOp& op = d.emit({run_bulk, nullptr});
  op.site = copy->store_site;
  op.flags = 1 | kNotCounted;  // the copy engine's traffic passes no L1 request counters
  op.info = copy.get();
  d.out.infos.push_back(std::move(copy));
  return true;
}

}  // namespace

bool decode_async(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  if (i.op == Op::mbarrier) return decode_mbarrier(d);
  if (i.op != Op::cp) return false;
  if (i.has(Mod::commit_group) || i.has(Mod::wait_group) || i.has(Mod::wait_all) || i.has(Mod::prefetch)) {
    const bool groups = d.program.check_races && !i.has(Mod::prefetch) && !i.has(Mod::bulk);
    if (groups && i.has(Mod::commit_group)) {
      d.emit({commit_copies, nullptr});
    } else if (groups) {
      const std::optional<uint64_t> left =
          i.has(Mod::wait_group) && i.operand_count ? d.constant_value(d.operand(0)) : std::nullopt;
      d.emit({finish_copies, nullptr}).imm =
          left ? static_cast<int64_t>(std::min<uint64_t>(*left, 1u << 20)) : SharedShadow::kAllCopies;
    } else {
      d.emit({nothing, nullptr});
    }
    return true;
  }
  if (i.has(Mod::reduce) || i.has(Mod::bulk) || i.has(Mod::tensor)) return decode_bulk(d);
  if (i.has(Mod::mbarrier) || i.has(Mod::mbarrier_arrive) || i.has(Mod::mbarrier_arrive_noinc))
    return decode_copy_arrive(d);
  return decode_copy(d);
}

}  // namespace fullwarp::exec

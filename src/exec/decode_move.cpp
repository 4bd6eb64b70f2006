#include "exec/handlers.h"
#include "exec/move_ops.h"
#include "exec/worker.h"

namespace fullwarp::exec {

using ptx::Mod;
using ptx::Op;
using ptx::Operand;
using ptx::Special;
using ptx::Type;

Handlers narrow_row_handlers() { return move_handlers(MoveKind::narrow); }
Handlers widen_row_handlers(bool sign) {
  return move_handlers(sign ? MoveKind::widen_sign : MoveKind::widen_zero);
}
Handlers move_handlers(bool wide) { return move_handlers(wide ? MoveKind::same64 : MoveKind::same32); }

namespace {

const MicroOp* move_predicate(Warp& w, const MicroOp* op) {
  LaneMask& d = w.pred(op->dst);
  d = (d & ~w.exec) | (w.pred(op->a) & w.exec);
  return op + 1;
}

const MicroOp* negate_predicate(Warp& w, const MicroOp* op) {
  w.pred(op->dst) = ~w.pred(op->a);
  return op + 1;
}

bool emit_special_row(Decoder& d, uint32_t index, uint32_t row, bool wide) {
  d.emit(move_handlers(wide ? MoveKind::special64 : MoveKind::special32), row).imm = index * kRow32;
  return true;
}

unsigned register_bytes(const Decoder& d, const Operand& o) {
  return o.kind == Operand::Kind::reg ? ptx::size_bytes(d.register_type(static_cast<int32_t>(o.index))) : 0;
}

bool decode_pack(Decoder& d, const Operand& from, unsigned bytes) {
  const uint32_t dst = d.destination(0, bytes == 8 ? Type::b64 : Type::b32);
  if (from.count == 2) {
    const Type half = bytes == 8 ? Type::b32 : Type::b16;
    const uint32_t a = d.source(d.element(from, 0), half), b = d.source(d.element(from, 1), half);
    const MoveKind kind = bytes == 8 ? MoveKind::pack64 : bytes == 4 ? MoveKind::pack32 : MoveKind::pack16;
    d.emit(move_handlers(kind), dst, a, b);
    return true;
  }
  if (from.count == 4 && (bytes == 8 || bytes == 4)) {  // by way of the two halves
    uint32_t half[2];
    const MoveKind inner = bytes == 8 ? MoveKind::pack32 : MoveKind::pack16;
    for (unsigned h = 0; h < 2; ++h) {
      const uint32_t a = d.source(d.element(from, 2 * h), Type::b16),
                     b = d.source(d.element(from, 2 * h + 1), Type::b16);
      half[h] = d.temporary(kRow32);
      d.emit(move_handlers(inner), half[h], a, b);
    }
    d.emit(move_handlers(bytes == 8 ? MoveKind::pack64 : MoveKind::pack32), dst, half[0], half[1]);
    return true;
  }
  return d.fail("packs a vector of this length");
}

bool decode_unpack(Decoder& d, const Operand& to, unsigned bytes) {
  const uint32_t from = d.source(1, bytes == 8 ? Type::b64 : Type::b32);
  auto part = [&](unsigned index, MoveKind kind, uint32_t source, Type type) {
    const Operand& element = d.element(to, index);
    if (element.kind == Operand::Kind::sink) return;
    d.emit(move_handlers(kind), d.destination(element, type), source);
  };
  // A destination may also be the source: take it from a copy.
  const uint32_t copy = d.temporary(bytes == 8 ? kRow64 : kRow32);
  d.emit(move_handlers(bytes == 8), copy, from);
  if (to.count == 2) {
    if (bytes == 8) {
      part(0, MoveKind::narrow, copy, Type::b32);
      part(1, MoveKind::high, copy, Type::b32);
    } else if (bytes == 4) {
      part(0, MoveKind::low16, copy, Type::b16);
      part(1, MoveKind::high16, copy, Type::b16);
    } else {
      part(0, MoveKind::byte0, copy, Type::b16);
      part(1, MoveKind::byte1, copy, Type::b16);
    }
    return true;
  }
  if (to.count == 4 && bytes == 8) {
    const uint32_t low = d.temporary(kRow32), high = d.temporary(kRow32);
    d.emit(move_handlers(MoveKind::narrow), low, copy);
    d.emit(move_handlers(MoveKind::high), high, copy);
    part(0, MoveKind::low16, low, Type::b16);
    part(1, MoveKind::high16, low, Type::b16);
    part(2, MoveKind::low16, high, Type::b16);
    part(3, MoveKind::high16, high, Type::b16);
    return true;
  }
  if (to.count == 4 && bytes == 4) {
    for (unsigned k = 0; k < 4; ++k)
      part(k, static_cast<MoveKind>(static_cast<unsigned>(MoveKind::byte0) + k), copy, Type::b16);
    return true;
  }
  return d.fail("unpacks into a vector of this length");
}

bool decode_mov(Decoder& d) {
  const Type type = d.instruction().type(0);
  const unsigned bytes = ptx::size_bytes(type);
  if (d.operand_count() < 2) return d.fail("has too few operands");
  const Operand& to = d.operand(0);
  const Operand& from = d.operand(1);
  if (type == Type::pred) {
    const uint32_t source = d.source(from, Type::pred), dst = d.destination(to, Type::pred);
    d.emit({move_predicate, nullptr}, dst, source);
    return true;
  }
  if (bytes == 16) {
    // b128: two 64-bit rows, packed from and unpacked into pairs.
    if (from.kind == Operand::Kind::vector && from.count == 2) {
      const uint32_t dst = d.destination(to, Type::b128);
      const uint32_t a = d.source(d.element(from, 0), Type::b64), b = d.source(d.element(from, 1), Type::b64);
      d.emit(move_handlers(MoveKind::same64), dst, a);
      d.emit(move_handlers(MoveKind::same64), dst + kRow64, b);
      return true;
    }
    if (from.kind != Operand::Kind::reg) return d.fail("moves 128 bits from an operand of this kind");
    const uint32_t source = d.register_row(static_cast<int32_t>(from.index));
    if (to.kind == Operand::Kind::vector && to.count == 2) {
      d.emit(move_handlers(MoveKind::same64), d.destination(d.element(to, 0), Type::b64), source);
      d.emit(move_handlers(MoveKind::same64), d.destination(d.element(to, 1), Type::b64), source + kRow64);
      return true;
    }
    const uint32_t dst = d.destination(to, Type::b128);
    d.emit(move_handlers(MoveKind::same64), dst, source);
    d.emit(move_handlers(MoveKind::same64), dst + kRow64, source + kRow64);
    return true;
  }
  if (from.kind == Operand::Kind::vector && to.kind == Operand::Kind::vector) {  // mov.v2
    if (from.count != to.count || (bytes != 4 && bytes != 8)) return d.fail("moves vectors of this kind");
    std::vector<uint32_t> copies;  // an element may be destination and source
    for (unsigned k = 0; k < from.count; ++k) {
      copies.push_back(d.temporary(bytes == 8 ? kRow64 : kRow32));
      d.emit(move_handlers(bytes == 8), copies.back(), d.source(d.element(from, k), type));
    }
    for (unsigned k = 0; k < to.count; ++k)
      if (d.element(to, k).kind != Operand::Kind::sink)
        d.emit(move_handlers(bytes == 8), d.destination(d.element(to, k), type), copies[k]);
    return true;
  }
  if (from.kind == Operand::Kind::vector) return decode_pack(d, from, bytes);
  if (to.kind == Operand::Kind::vector) return decode_unpack(d, to, bytes);
  const uint32_t dst = d.destination(to, type);
  const bool wide_dst = register_bytes(d, to) == 8;
  if (from.kind == Operand::Kind::special && !d.constant_value(from)) {
    if (!emit_special(d, from, dst, wide_dst))
      return d.fail("reads a special register that is not supported");
    return true;
  }
  if (from.kind == Operand::Kind::variable && !d.constant_value(from)) {
    if (!emit_special(d, from, dst, wide_dst)) return d.fail("takes the address of a variable of this space");
    return true;
  }
  if (from.kind == Operand::Kind::reg && d.register_type(static_cast<int32_t>(from.index)) == Type::pred)
    return d.fail("moves a predicate into a register");
  const uint32_t source = d.source(from, wide_dst && from.kind != Operand::Kind::reg ? Type::b64 : type);
  if (d.alias(to, source, wide_dst ? Type::b64 : type)) return true;
  d.emit(move_handlers(bytes == 8), dst, source);
  return true;
}

}  // namespace

Handlers negate_predicate_handlers() { return {negate_predicate, nullptr}; }

bool emit_special(Decoder& d, const Operand& o, uint32_t row, bool wide) {
  if (o.kind == Operand::Kind::variable) {
    const ptx::Variable& v = d.module.variables[o.index];
    if (v.space != ptx::Space::local) return false;
    for (size_t k = 0; k < d.function.variables.size(); ++k)
      if (d.function.variables[k] == static_cast<int32_t>(o.index)) {
        d.emit(move_handlers(wide ? MoveKind::local64 : MoveKind::local32), row).imm =
            d.out.local_offset[k] + o.value;
        return true;
      }
    return false;
  }
  switch (static_cast<Special>(o.index)) {
    case Special::tid: return emit_special_row(d, kTidX + std::min<uint32_t>(o.component, 2), row, wide);
    case Special::ctaid: return emit_special_row(d, kCtaIdX + std::min<uint32_t>(o.component, 2), row, wide);
    case Special::clusterid:
      return emit_special_row(d, kCtaIdX + std::min<uint32_t>(o.component, 2), row, wide);
    case Special::laneid: return emit_special_row(d, kLaneId, row, wide);
    case Special::warpid: return emit_special_row(d, kWarpId, row, wide);
    case Special::lanemask_eq: return emit_special_row(d, kMaskEq, row, wide);
    case Special::lanemask_le: return emit_special_row(d, kMaskLe, row, wide);
    case Special::lanemask_lt: return emit_special_row(d, kMaskLt, row, wide);
    case Special::lanemask_ge: return emit_special_row(d, kMaskGe, row, wide);
    case Special::lanemask_gt: return emit_special_row(d, kMaskGt, row, wide);
    case Special::clock:
    case Special::clock64:
    case Special::globaltimer:
    case Special::globaltimer_lo:
      d.emit(move_handlers(wide ? MoveKind::clock64 : MoveKind::clock32), row).imm = 0;
      return true;
    case Special::clock_hi:
    case Special::globaltimer_hi:
      d.emit(move_handlers(wide ? MoveKind::clock64 : MoveKind::clock32), row).imm = 32;
      return true;
    default: return false;
  }
}

bool decode_move(Decoder& d) {
  const ptx::Instruction& i = d.instruction();
  switch (i.op) {
    case Op::mov: return decode_mov(d);
    case Op::selp: {
      const Type type = i.type(0);
      const uint32_t a = d.source(1, type), b = d.source(2, type), p = d.source(3, Type::pred);
      const uint32_t dst = d.destination(0, type);
      d.emit(move_handlers(ptx::size_bytes(type) == 8 ? MoveKind::select64 : MoveKind::select32), dst, a, b,
             p);
      return true;
    }
    case Op::cvta: {
      // Global and constant addresses are generic already; shared and local ones are offsets in their window.
      const ptx::Space space = space_of(i);
      const bool wide = ptx::size_bytes(i.type(0)) == 8;
      const uint64_t window = space == ptx::Space::shared  ? kSharedWindow << kWindowShift
                              : space == ptx::Space::local ? kLocalWindow << kWindowShift
                                                           : 0;
      const uint32_t a = d.source(1, i.type(0)), dst = d.destination(0, i.type(0));
      if ((window == 0 || !wide) && d.alias(d.operand(0), a, i.type(0))) return true;
      if (window == 0 || !wide)
        d.emit(move_handlers(wide), dst, a);
      else if (i.has(Mod::to))
        d.emit(move_handlers(MoveKind::drop_window), dst, a);
      else
        d.emit(move_handlers(MoveKind::add_window), dst, a, d.constant64(window));
      return true;
    }
    case Op::isspacep: {
      const uint32_t a = d.source(1, Type::u64), dst = d.destination(0, Type::pred);
      const ptx::Space space = space_of(i);
      d.emit(move_handlers(space == ptx::Space::global   ? MoveKind::is_global
                           : space == ptx::Space::shared ? MoveKind::is_shared
                           : space == ptx::Space::local  ? MoveKind::is_local
                                                         : MoveKind::is_never),
             dst, a);
      return true;
    }
    default: return false;
  }
}

}  // namespace fullwarp::exec

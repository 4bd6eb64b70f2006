// Which path to memory a load or store takes, and its sites.
#include <cstring>

#include "exec/access.h"
#include "exec/block_order.h"
#include "exec/handlers.h"
#include "exec/memory_ops.h"
#include "exec/move_ops.h"

namespace fullwarp::exec {

using ptx::Mod;
using ptx::Op;
using ptx::Operand;
using ptx::Type;

ptx::Space space_of(const ptx::Instruction& i) {
  if (i.has(Mod::global)) return ptx::Space::global;
  if (i.has(Mod::shared) || i.has(Mod::shared_cta) || i.has(Mod::shared_cluster)) return ptx::Space::shared;
  if (i.has(Mod::local)) return ptx::Space::local;
  if (i.has(Mod::const_)) return ptx::Space::const_;
  if (i.has(Mod::param) || i.has(Mod::param_entry) || i.has(Mod::param_func)) return ptx::Space::param;
  return ptx::Space::generic;
}

bool is_strong(const ptx::Instruction& i) {
  return i.has(Mod::volatile_) || i.has(Mod::relaxed) || i.has(Mod::acquire) || i.has(Mod::release) ||
         i.has(Mod::mmio);
}

MemoryAddress decode_address(Decoder& d, const Operand& o, ptx::Space space) {
  MemoryAddress at;
  const bool narrow = space == ptx::Space::shared;
  Operand base = o;
  if (o.kind == Operand::Kind::address) {
    base.kind = o.base;
    at.imm = o.value;
    base.value = 0;
  } else {
    at.imm = o.value;
    base.value = 0;
  }
  if (base.kind == Operand::Kind::reg) {
    const Type type = d.register_type(static_cast<int32_t>(base.index));
    const bool wide = ptx::size_bytes(type) == 8;
    if (narrow) {
      at.row = d.source(base, Type::u32);
    } else if (wide) {
      at.row = d.source(base, Type::u64);
    } else {
      at.row = d.temporary(kRow64);
      d.emit(widen_row_handlers(false), at.row, d.source(base, Type::u32));
    }
    return at;
  }
  if (base.kind == Operand::Kind::none || base.kind == Operand::Kind::imm) {
    at.row = narrow ? d.constant32(0) : d.constant64(0);
    if (base.kind == Operand::Kind::imm) at.imm = o.value;
    return at;
  }
  at.row = d.source(base, narrow ? Type::u32 : Type::u64);
  return at;
}

uint32_t new_memory_site(Decoder& d, ptx::Space space, mem::AccessKind kind, unsigned width) {
  SiteInfo info;
  const uint32_t index = static_cast<uint32_t>(&d.instruction() - d.function.instructions.data());
  info.instruction = {d.out.function, index};
  info.kind = kind;
  info.width_bytes = width;
  info.machine_width_bytes = width;
  info.counted = space != ptx::Space::const_ && space != ptx::Space::param;
  if (info.counted && d.program.machine && static_cast<size_t>(d.out.function) < d.program.machine->size()) {
    const auto& forms = (*d.program.machine)[static_cast<size_t>(d.out.function)];
    if (index < forms.size() && forms[index].width_bytes != 0) {
      const mem::MachineAccess& form = forms[index];
      info.machine_width_bytes = form.counts() ? form.width_bytes : 0;
      info.machine_offset = form.offset_bytes;
      info.split_offset = form.split_offset_bytes;
      info.leader_instruction = form.removed ? -1 : form.leader;
    }
  }
  const uint32_t first = d.new_site(info);
  if (space == ptx::Space::generic) {
    d.new_site(info);
    d.new_site(info);
  }
  return first;
}

namespace {

const MicroOp* poll(Warp& w, const MicroOp* op) {  // before a load that others' stores can end a spin for
  ++w.polls;
  return op + 1;
}

MemoryPath path_of(ptx::Space space) {
  switch (space) {
    case ptx::Space::global:
    case ptx::Space::const_: return MemoryPath::global;
    case ptx::Space::shared: return MemoryPath::shared;
    case ptx::Space::local: return MemoryPath::local;
    case ptx::Space::param: return MemoryPath::param;
    default: return MemoryPath::generic;
  }
}

// A kernel parameter at a place known now is a constant of the launch. False where that does not serve.
bool decode_kernel_parameter(Decoder& d, const Operand& address, const Operand& value, Type type,
                             unsigned vector) {
  const unsigned bytes = ptx::size_bytes(type);
  const Operand::Kind base = address.kind == Operand::Kind::address ? address.base : address.kind;
  if (base != Operand::Kind::param || vector != 1 || (bytes != 4 && bytes != 8) ||
      value.kind != Operand::Kind::reg ||
      ptx::size_bytes(d.register_type(static_cast<int32_t>(value.index))) != bytes || address.value < 0)
    return false;
  const Buffer& parameters =
      d.program.memory->buffer(static_cast<size_t>(d.program.memory->find(d.program.param_buffer)));
  const uint64_t at = kernel_param_offset(d.function, address.index) + static_cast<uint64_t>(address.value);
  if (at + bytes > parameters.bytes || at % bytes != 0) return false;
  uint64_t constant = 0;
  std::memcpy(&constant, parameters.data.get() + at, bytes);
  const uint32_t row = bytes == 8 ? d.constant64(constant) : d.constant32(static_cast<uint32_t>(constant));
  if (!d.alias(value, row, type)) d.emit(move_handlers(bytes == 8), d.destination(value, type), row);
  return true;
}

bool decode_access(Decoder& d, bool store) {
  const ptx::Instruction& i = d.instruction();
  const Type type = i.type(0);
  if (i.operand_count < 2) return d.fail("has too few operands");
  unsigned bytes = ptx::size_bytes(type);
  unsigned vector = i.has(Mod::v2) ? 2 : i.has(Mod::v4) ? 4 : i.has(Mod::v8) ? 8 : 1;
  // Eight words are one access of four 64-bit elements, each packed from or unpacked into a pair of
  // registers.
  const bool pairs = vector == 8 && bytes == 4;
  if ((vector == 8 && !pairs) || bytes == 16) return d.fail("accesses of this width are not supported");
  const Operand& address = d.operand(store ? 0 : 1);
  const Operand& value = d.operand(store ? 1 : 0);
  ptx::Space space = space_of(i);
  const bool is_signed = type == Type::s8 || type == Type::s16;

  // Kernel parameters are constants of the launch: they are read like constant memory.
  const ParamSlot* slot = nullptr;
  if (space == ptx::Space::param) {
    slot = d.slot_of(address);
    if (!slot) {
      if (store || !d.function.entry) return d.fail("names no parameter that can be accessed");
      if (decode_kernel_parameter(d, address, value, type, vector)) return true;
      space = ptx::Space::const_;
    } else {
      const int64_t offset = address.value;
      if (offset < 0 || static_cast<uint64_t>(offset) + bytes * vector > (slot->bytes + 3) / 4 * 4 + 4)
        return d.fail("reaches outside the parameter");
    }
  }
  const uint32_t flags =
      (pairs ? 4 : vector) | (is_strong(i) ? kStrong : 0) | (space == ptx::Space::const_ ? kNotCounted : 0);

  // Rows of the elements; registers wider than the access take a detour.
  uint32_t rows[4] = {};
  struct Widen {
    uint32_t from, to;
  };
  std::vector<Widen> widen;
  bool sign32 = false, sign16 = false;
  const Type lane_type = bytes == 8 ? Type::b64 : Type::b32;
  if (pairs) {
    if (value.kind != Operand::Kind::vector || value.count != vector)
      return d.fail("has a vector of another length");
    bytes = 8;
    vector = 4;
    for (unsigned j = 0; j < vector; ++j) {
      rows[j] = d.temporary(kRow64);
      if (!store) continue;
      const uint32_t low = d.source(d.element(value, 2 * j), lane_type),
                     high = d.source(d.element(value, 2 * j + 1), lane_type);
      d.emit(move_handlers(MoveKind::pack64), rows[j], low, high);
    }
  }
  for (unsigned j = 0; j < vector && !pairs; ++j) {
    const Operand& element = value.kind == Operand::Kind::vector ? d.element(value, j) : value;
    if (value.kind == Operand::Kind::vector && value.count != vector)
      return d.fail("has a vector of another length");
    if (store) {
      const bool reg = element.kind == Operand::Kind::reg;
      const bool wide = reg && ptx::size_bytes(d.register_type(static_cast<int32_t>(element.index))) == 8;
      rows[j] = d.source(element, bytes == 8 ? Type::b64 : wide ? Type::b32 : reg ? lane_type : type);
    } else {
      const bool reg = element.kind == Operand::Kind::reg;
      const unsigned have = reg ? ptx::size_bytes(d.register_type(static_cast<int32_t>(element.index))) : 0;
      if (have == 8 && bytes < 8) {
        rows[j] = d.temporary(kRow32);
        widen.push_back({rows[j], d.register_row(static_cast<int32_t>(element.index))});
        sign32 = is_signed;
      } else {
        rows[j] = d.destination(element, bytes == 8 ? Type::b64 : have && have < 4 ? type : lane_type);
        if (is_signed && have == 2 && bytes == 1)
          sign16 = true;
        else if (is_signed && have == 4)
          sign32 = true;
      }
    }
  }
  if (d.error()) return true;
  MemoryPath path = slot ? MemoryPath::param : path_of(space);
  MemoryAddress at;
  if (slot) {
    at.row = slot->offset;
    at.imm = address.value;
  } else {
    at = decode_address(d, address, space);
    if (d.error()) return true;
  }
  const uint32_t site =
      slot
          ? 0
          : new_memory_site(d, space, store ? mem::AccessKind::store : mem::AccessKind::load, bytes * vector);
  if (bytes == 4 && vector == 1) {
    if (path == MemoryPath::shared) {
      path = MemoryPath::shared_word;
      sign32 = d.program.check_races;
    } else if (path == MemoryPath::global) {
      path = MemoryPath::global_word;
    }
  }
  const bool fast = space == ptx::Space::global || space == ptx::Space::shared;
  const uint32_t tag = fast ? d.tag_row(address) : 0;
  if (!store && (flags & kStrong)) d.emit({poll, nullptr});
  if ((flags & kStrong) && (space == ptx::Space::global || space == ptx::Space::generic))
    emit_block_order(d, {.reads = !store, .writes = store, .releases = i.has(Mod::release)}, at.row, at.imm);
  MicroOp& op =
      d.emit(memory_handlers(path, bytes, sign32, sign16, store), rows[0], at.row, rows[1], rows[2], rows[3]);
  op.imm = at.imm;
  op.site = site;
  op.flags = flags;
  op.steady = {tag, tag ? d.temporary(sizeof(Seen)) : 0};
  for (unsigned j = 0; j < vector && pairs && !store; ++j)
    for (const MoveKind half : {MoveKind::narrow, MoveKind::high}) {
      const Operand& element = d.element(value, 2 * j + (half == MoveKind::high));
      if (element.kind != Operand::Kind::sink)
        d.emit(move_handlers(half), d.destination(element, lane_type), rows[j]);
    }
  for (const Widen& x : widen) d.emit(widen_row_handlers(is_signed || type == Type::s32), x.to, x.from);
  return true;
}

const MicroOp* nothing(Warp&, const MicroOp* op) { return op + 1; }

}  // namespace

bool decode_memory(Decoder& d) {
  switch (d.instruction().op) {
    case Op::ld:
    case Op::ldu: return decode_access(d, false);
    case Op::st:
      if (d.instruction().has(Mod::async))
        return d.fail("stores into another block of a cluster, which is not supported");
      return decode_access(d, true);
    case Op::prefetch:
    case Op::prefetchu:
    case Op::applypriority:
    case Op::discard: d.emit({nothing, nullptr}); return true;
    case Op::createpolicy: {
      uint32_t row = d.destination(0, Type::b64);
      if (!d.error()) d.emit(move_handlers(true), row, d.constant64(0));
      return true;
    }
    default: return false;
  }
}

}  // namespace fullwarp::exec

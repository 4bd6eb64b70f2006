#include "exec/decode.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>

#include "exec/handlers.h"
#include "exec/liveness.h"
#include "exec/warp.h"
#include "ptx/writes.h"

namespace fullwarp::exec {

using ptx::Operand;
using ptx::Type;

namespace {

unsigned row_bytes(Type type) {
  if (type == Type::pred) return 4;
  unsigned bytes = ptx::size_bytes(type);
  return bytes <= 4 ? kRow32 : bytes == 8 ? kRow64 : 2 * kRow64;
}

}  // namespace

Decoder::Decoder(const ptx::Module& m, Program& p, const ptx::Function& f, FunctionProgram& o)
    : module(m), program(p), function(f), out(o) {
  assign_rows();
}

bool Decoder::alias(const Operand& to, uint32_t row, Type type) {
  if (to.kind != Operand::Kind::reg || current_->guard >= 0 || !is_constant_row(row)) return false;
  const Type have = register_type(static_cast<int32_t>(to.index));
  if (have == Type::pred || row_bytes(have) != row_bytes(type) || definitions_[to.index] != 1) return false;
  register_row_[to.index] = row;
  return true;
}

void Decoder::count_definitions() {
  definitions_.assign(function.registers.size(), 0);
  auto note = [&](int64_t reg) {
    if (reg >= 0 && definitions_[static_cast<size_t>(reg)] < 2) ++definitions_[static_cast<size_t>(reg)];
  };
  // Text order is not execution order: what reads a register further up is decoded before its definition,
  // names the register's own row, and so needs the row written. Such a register counts as defined there too.
  auto read = [&](const Operand& operand) {
    const bool base = operand.kind == Operand::Kind::address && operand.base == Operand::Kind::reg;
    if ((base || operand.kind == Operand::Kind::reg) && definitions_[operand.index] == 0) note(operand.index);
  };
  for (const ptx::Instruction& i : function.instructions) {
    for (unsigned o = 0; o < i.operand_count; ++o) {
      const Operand& operand = module.operands_of(i)[o];
      note(operand.pair);
      if (o > 0 || operand.kind == Operand::Kind::address) read(operand);
      if (o > 0 && operand.kind != Operand::Kind::vector && operand.kind != Operand::Kind::list) continue;
      // The first operand, and, to be safe, every register of a vector or list, may be written.
      if (operand.kind == Operand::Kind::reg) note(operand.index);
      if (operand.kind == Operand::Kind::vector || operand.kind == Operand::Kind::list)
        for (unsigned e = 0; e < operand.count; ++e)
          if (module.operands[operand.first + e].kind == Operand::Kind::reg)
            note(module.operands[operand.first + e].index);
    }
  }
}

void Decoder::assign_rows() {
  count_definitions();
  // Predicates first and close together, then rows at 64-byte boundaries.
  register_row_.resize(function.registers.size());
  for (size_t r = 0; r < function.registers.size(); ++r)
    if (function.registers[r].type == Type::pred) {
      register_row_[r] = next_row_;
      next_row_ += 4;
    }
  next_row_ = predicate_bytes_ = (next_row_ + 63) / 64 * 64;
  for (size_t r = 0; r < function.registers.size(); ++r)
    if (function.registers[r].type != Type::pred)
      register_row_[r] = temporary(row_bytes(function.registers[r].type));
  auto slots = [&](const std::vector<ptx::Param>& params, std::vector<ParamSlot>& into) {
    for (const ptx::Param& param : params) into.push_back(param_slot(std::max(param.bytes, 1u)));
  };
  if (!function.entry) {
    slots(function.params, out.parameters);
    slots(function.returns, out.results);
  }
  uint32_t local = 0;
  out.local_offset.assign(function.variables.size(), 0);
  for (size_t v = 0; v < function.variables.size(); ++v) {
    const ptx::Variable& variable = module.variables[static_cast<size_t>(function.variables[v])];
    if (variable.space == ptx::Space::param) {
      variable_slot_[function.variables[v]] =
          param_slot(static_cast<uint32_t>(std::max<uint64_t>(variable.bytes, 1)));
    } else if (variable.space == ptx::Space::local) {
      uint32_t align = std::max(variable.align, 4u);
      local = (local + align - 1) / align * align;
      out.local_offset[v] = local;
      local += static_cast<uint32_t>(std::min<uint64_t>(variable.bytes, 1u << 24));
    }
  }
  out.local_bytes = (local + 15) / 16 * 16;
}

void Decoder::list_cleared() {
  if (predicate_bytes_) out.cleared.emplace_back(0, predicate_bytes_);
  const std::vector<bool>& early = live_.read_before_written;
  for (size_t r = 0; r < early.size(); ++r)
    if (early[r] && function.registers[r].type != Type::pred && !is_constant_row(register_row_[r])) {
      out.cleared.emplace_back(register_row_[r], row_bytes(function.registers[r].type));
      if (tag_row_[r]) out.cleared.emplace_back(tag_row_[r], 8);
    }
  const auto slot = [&](const ParamSlot& s) {
    out.cleared.emplace_back(s.offset, ((s.bytes + 3) / 4 + 1) * kRow32);
  };
  std::for_each(out.parameters.begin(), out.parameters.end(), slot);
  std::for_each(out.results.begin(), out.results.end(), slot);
  for (const auto& [variable, s] : variable_slot_) slot(s);
}

uint32_t Decoder::temporary(unsigned bytes) {
  uint32_t row = next_row_;
  next_row_ += (bytes + 63) / 64 * 64;
  return row;
}

ParamSlot Decoder::param_slot(uint32_t bytes) {
  uint32_t words = (std::min(bytes, 1u << 16) + 3) / 4;
  // 64-bit reads of the last word look at a pair of rows.
  return {temporary((words + 1) * kRow32), bytes};
}

const ParamSlot* Decoder::slot_of(const Operand& operand) const {
  Operand::Kind kind = operand.kind == Operand::Kind::address ? operand.base : operand.kind;
  if (kind == Operand::Kind::variable) {
    auto it = variable_slot_.find(static_cast<int32_t>(operand.index));
    return it == variable_slot_.end() ? nullptr : &it->second;
  }
  if (kind == Operand::Kind::param && !function.entry && operand.index < out.parameters.size())
    return &out.parameters[operand.index];
  if (kind == Operand::Kind::ret_param && operand.index < out.results.size())
    return &out.results[operand.index];
  return nullptr;
}

uint32_t Decoder::constant32(uint32_t value) {
  auto [it, fresh] = constants_.try_emplace({value, 4u}, 0);
  if (fresh) {
    next_constant_ += kRow32;
    it->second = static_cast<uint32_t>(-static_cast<int32_t>(next_constant_));
    std::vector<std::byte> row(kRow32);
    for (unsigned i = 0; i < kWarpSize; ++i) std::memcpy(row.data() + 4 * i, &value, 4);
    constant_rows_.emplace_back(next_constant_, std::move(row));
  }
  return it->second;
}

uint32_t Decoder::constant64(uint64_t value) {
  auto [it, fresh] = constants_.try_emplace({value, 8u}, 0);
  if (fresh) {
    next_constant_ += kRow64;
    it->second = static_cast<uint32_t>(-static_cast<int32_t>(next_constant_));
    std::vector<std::byte> row(kRow64);
    for (unsigned i = 0; i < kWarpSize; ++i) std::memcpy(row.data() + 8 * i, &value, 8);
    constant_rows_.emplace_back(next_constant_, std::move(row));
  }
  return it->second;
}

uint32_t Decoder::constant_pred(LaneMask value) {
  auto [it, fresh] = constants_.try_emplace({value, 1u}, 0);
  if (fresh) {
    next_constant_ += 64;
    it->second = static_cast<uint32_t>(-static_cast<int32_t>(next_constant_));
    std::vector<std::byte> row(4);
    std::memcpy(row.data(), &value, 4);
    constant_rows_.emplace_back(next_constant_, std::move(row));
  }
  return it->second;
}

uint64_t Decoder::variable_address(uint32_t variable) const {
  const ptx::Variable& v = module.variables[variable];
  if (v.space == ptx::Space::shared) return program.shared_offset[variable];
  int64_t buffer = program.memory->find_variable(static_cast<int32_t>(variable));
  return buffer < 0 ? 0 : DeviceMemory::address_of(static_cast<size_t>(buffer));
}

std::optional<uint64_t> Decoder::constant_value(const Operand& o) const {
  switch (o.kind) {
    case Operand::Kind::imm: return static_cast<uint64_t>(o.value);
    case Operand::Kind::variable: {
      ptx::Space space = module.variables[o.index].space;
      if (space == ptx::Space::local || space == ptx::Space::param) return std::nullopt;
      return variable_address(o.index) + static_cast<uint64_t>(o.value);
    }
    case Operand::Kind::param:
      if (!function.entry) return std::nullopt;
      return program.param_buffer + kernel_param_offset(function, o.index) + static_cast<uint64_t>(o.value);
    case Operand::Kind::function: return (kFunctionWindow << kWindowShift) + 16 * (uint64_t{o.index} + 1);
    case Operand::Kind::special:
      switch (static_cast<ptx::Special>(o.index)) {
        case ptx::Special::ntid:
          return o.component == 0 ? program.block.x : o.component == 1 ? program.block.y : program.block.z;
        case ptx::Special::nctaid:
          return o.component == 0 ? program.grid.x : o.component == 1 ? program.grid.y : program.grid.z;
        case ptx::Special::warp_sz: return kWarpSize;
        case ptx::Special::nwarpid: return 64;
        case ptx::Special::nsmid: return 132;
        case ptx::Special::smid:
        case ptx::Special::gridid: return 0;
        case ptx::Special::cluster_ctaid:
        case ptx::Special::cluster_ctarank:
        case ptx::Special::is_explicit_cluster: return 0;
        case ptx::Special::envreg: {  // 1 and 2: the high and low word of the grid barrier's workspace
          const uint64_t workspace = program.param_buffer + (uint64_t{1} << kWindowShift);
          return o.value == 1 ? workspace >> 32 : o.value == 2 ? workspace & 0xffffffff : 0;
        }
        case ptx::Special::cluster_nctaid:
        case ptx::Special::cluster_nctarank: return 1;
        case ptx::Special::nclusterid:
          return o.component == 0 ? program.grid.x : o.component == 1 ? program.grid.y : program.grid.z;
        case ptx::Special::dynamic_smem_size: return program.dynamic_shared_bytes;
        case ptx::Special::total_smem_size:
        case ptx::Special::aggr_smem_size:
          return program.dynamic_shared_offset + program.dynamic_shared_bytes;
        case ptx::Special::reserved_smem_offset_begin:
        case ptx::Special::reserved_smem_offset_0:
        case ptx::Special::reserved_smem_offset_1:
          program.uses_reserved_shared = true;
          return program.reserved_shared_offset();
        case ptx::Special::reserved_smem_offset_end:
          program.uses_reserved_shared = true;
          return program.reserved_shared_offset() + Program::kReservedSharedBytes;
        case ptx::Special::reserved_smem_offset_cap: return Program::kReservedSharedBytes;
        default: return std::nullopt;
      }
    default: return std::nullopt;
  }
}

uint32_t Decoder::source(const Operand& o, Type type) {
  const unsigned bytes = ptx::size_bytes(type);
  if (o.kind == Operand::Kind::reg) {
    if (register_type(static_cast<int32_t>(o.index)) != Type::pred && type != Type::pred) {
      unsigned have = row_bytes(register_type(static_cast<int32_t>(o.index))), want = row_bytes(type);
      if (have < want) {
        fail("register " + std::string(function.registers[o.index].name) + " is too narrow for ." +
             std::string(to_string(type)));
        return 0;
      }
      if (have > want) {  // the low half of each lane
        uint32_t row = temporary(kRow32);
        emit(narrow_row_handlers(), row, register_row(static_cast<int32_t>(o.index)));
        return row;
      }
    }
    if (type == Type::pred && o.negated) {
      uint32_t row = temporary(4);
      emit(negate_predicate_handlers(), row, register_row(static_cast<int32_t>(o.index)));
      return row;
    }
    return register_row(static_cast<int32_t>(o.index));
  }
  if (std::optional<uint64_t> known = constant_value(o)) {
    uint64_t value = *known;
    if (type == Type::pred) return constant_pred(((value != 0) != o.negated) ? kFullMask : 0);
    if (o.kind == Operand::Kind::imm && o.is_float && o.float_type == Type::f64 && bytes == 4)
      value = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(value)));
    if (o.kind == Operand::Kind::imm && o.is_float && o.float_type == Type::f32 && bytes == 8 &&
        type == Type::f64)
      value =
          std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(value))));
    if (bytes == 8) return constant64(value);
    if (bytes == 1) value &= 0xff;
    if (bytes == 2) value &= 0xffff;
    return constant32(static_cast<uint32_t>(value));
  }
  if (o.kind == Operand::Kind::special || o.kind == Operand::Kind::variable) {
    uint32_t row = temporary(bytes == 8 ? kRow64 : kRow32);
    if (emit_special(*this, o, row, bytes == 8)) return row;
  }
  fail("an operand of this kind is not supported here");
  return 0;
}

uint32_t Decoder::destination(const Operand& o, Type type) {
  if (o.kind == Operand::Kind::sink || o.kind == Operand::Kind::none) return temporary(row_bytes(type));
  if (o.kind != Operand::Kind::reg) {
    fail("the destination is not a register");
    return 0;
  }
  Type have = register_type(static_cast<int32_t>(o.index));
  if ((have == Type::pred) != (type == Type::pred) || row_bytes(have) < row_bytes(type)) {
    fail("register " + std::string(function.registers[o.index].name) + " cannot hold ." +
         std::string(to_string(type)));
    return 0;
  }
  return register_row(static_cast<int32_t>(o.index));
}

MicroOp& Decoder::emit(Handlers handlers) {
  MicroOp op;
  op.run[0] = handlers.full;
  op.run[1] = handlers.masked && !whole_rows_ ? handlers.masked : handlers.full;
  op.instruction = current_ ? static_cast<uint32_t>(current_ - function.instructions.data()) : 0;
  out.ops.push_back(op);
  return out.ops.back();
}

MicroOp& Decoder::emit(Handlers handlers, uint32_t dst, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  MicroOp& op = emit(handlers);
  op.dst = dst;
  op.a = a;
  op.b = b;
  op.c = c;
  op.d = d;
  return op;
}

bool Decoder::may_write_whole_rows(const ptx::Instruction& i) const {
  if (i.guard >= 0 || !goes_straight_on(i) || !ptx::writes_first_operand(i)) return false;
  bool kept = false;
  ptx::for_each_written(
      module, i, [&](uint32_t reg) { kept |= reg >= live_.kept_waiting.size() || live_.kept_waiting[reg]; });
  return !kept;
}

uint32_t Decoder::new_site(const SiteInfo& info) {
  program.sites.push_back(info);
  return static_cast<uint32_t>(program.sites.size() - 1);
}

uint32_t Decoder::new_division() {
  program.divisions.push_back({out.function, static_cast<uint32_t>(current_ - function.instructions.data())});
  return static_cast<uint32_t>(program.divisions.size() - 1);
}

bool Decoder::fail(const std::string& why) {
  if (!error_) {
    std::string text;
    if (current_) {
      text = std::string(to_string(current_->op));
      for (unsigned i = 0; i < current_->mod_count; ++i)
        text += "." + std::string(to_string(current_->mods[i]));
      for (unsigned i = 0; i < current_->type_count; ++i)
        text += "." + std::string(to_string(current_->types[i]));
      text = "instruction `" + text + "` in " + std::string(function.name) + ": ";
    }
    error_ = Error{text + why,
                   module.path,
                   current_ ? current_->line : function.line,
                   current_ ? current_->column : 0,
                   {}};
  }
  return true;
}

bool Decoder::decode() {
  Cfg cfg = build_cfg(module, function);
  find_tags(cfg);
  live_ = find_liveness(module, function, cfg);
  out.first_block = program.block_count;
  program.block_count += static_cast<uint32_t>(cfg.blocks.size());
  out.block_of.resize(function.instructions.size());
  for (size_t i = 0; i < out.block_of.size(); ++i)
    out.block_of[i] = out.first_block + cfg.block_of_instruction[i];
  block_start_.resize(cfg.blocks.size());
  out.ops.reserve(function.instructions.size() * 5 / 4 + cfg.blocks.size() + 8);
  for (uint32_t b = 0; b < cfg.blocks.size() && !error_; ++b) emit_block(cfg, b);
  if (error_) return false;
  for (const Fixup& fixup : fixups_) out.ops[fixup.op].target = &out.ops[block_start_[fixup.block]];
  for (auto& table : out.tables)  // targets hold block numbers until now
    for (const MicroOp*& target : table->targets)
      target = &out.ops[block_start_[reinterpret_cast<uintptr_t>(target)]];
  out.constants.assign(next_constant_, std::byte{0});
  for (auto& [offset, row] : constant_rows_)
    std::memcpy(out.constants.data() + (next_constant_ - offset), row.data(), row.size());
  out.frame_bytes = next_row_ + 64;
  list_cleared();
  out.decoded = true;
  return true;
}

// Defined with the control family.
void emit_block_entry(Decoder& d, uint32_t counter, uint32_t instructions, bool join_point);
void emit_jump(Decoder& d);
void emit_function_end(Decoder& d);
void emit_guard(Decoder& d, uint32_t predicate, bool negated);
void emit_branch(Decoder& d, uint32_t predicate, bool negated);

void Decoder::emit_block(const Cfg& cfg, uint32_t b) {
  const CfgBlock& block = cfg.blocks[b];
  block_start_[b] = out.ops.size();
  current_ =
      block.first < cfg.items.size() ? &function.instructions[cfg.items[block.first].instruction] : nullptr;
  uint32_t instructions = 0;
  for (uint32_t k = block.first; k < block.last; ++k) instructions += !cfg.items[k].skip;
  emit_block_entry(*this, out.first_block + b, instructions, block.join_point);
  for (uint32_t k = block.first; k < block.last && !error_; ++k) {
    const Item& item = cfg.items[k];
    current_ = &function.instructions[item.instruction];
    const bool branch = item.skip || current_->op == ptx::Op::bra;
    if (branch) {
      uint32_t target = block.successors[0];
      if (current_->guard >= 0 && block.successors.size() > 1) {
        emit_branch(*this, register_row(current_->guard), current_->guard_negated != item.skip);
        out.ops.back().flags = block.reconverge >= 0 ? kNamesReconvergence : 0;
        fixups_.push_back({out.ops.size() - 1, target});
        if (block.reconverge >= 0) {  // the op after the branch names the place to meet again
          emit(Handlers{});
          fixups_.push_back({out.ops.size() - 1, static_cast<uint32_t>(block.reconverge)});
        }
      } else {
        emit_jump(*this);
        fixups_.push_back({out.ops.size() - 1, target});
      }
      continue;
    }
    if (current_->op == ptx::Op::ret && !function.entry) {  // by way of the last block, where lanes meet
      emit_jump(*this);
      fixups_.push_back({out.ops.size() - 1, static_cast<uint32_t>(cfg.blocks.size() - 1)});
      continue;
    }
    size_t guard_op = out.ops.size();
    const bool guarded = current_->guard >= 0 && !is_control(current_->op);
    if (guarded) emit_guard(*this, register_row(current_->guard), current_->guard_negated);
    whole_rows_ = may_write_whole_rows(*current_);
    if (!decode_steady()) {
      if (!decode_item(cfg, item, b)) fail("is not supported");
      renew_tags();
    }
    whole_rows_ = false;
    if (error_) return;
    // The guard covers every op that the instruction became.
    if (guarded) {
      out.ops[guard_op].imm |= static_cast<int64_t>(out.ops.size() - guard_op - 1) << 32;
    }
  }
  if (b + 1 == cfg.blocks.size()) emit_function_end(*this);
}

bool Decoder::decode_item(const Cfg& cfg, const Item& item, uint32_t block) {
  size_t fixup_start = out.ops.size();
  if (decode_control(*this, cfg, item, block)) {
    if (!error_ && out.ops.size() > fixup_start && cfg.blocks[block].reconverge >= 0 &&
        (current_->op == ptx::Op::call || current_->op == ptx::Op::brx)) {
      out.ops.back().flags |= kNamesReconvergence;
      emit(Handlers{});  // names the place to meet again, as for branches
      fixups_.push_back({out.ops.size() - 1, static_cast<uint32_t>(cfg.blocks[block].reconverge)});
    }
    return true;
  }
  return decode_memory(*this) || decode_float(*this) || decode_integer(*this) || decode_logic(*this) ||
         decode_move(*this) || decode_convert(*this) || decode_half(*this) || decode_atomic(*this) ||
         decode_async(*this) || decode_video(*this) || decode_barrier(*this) || decode_warp(*this) ||
         decode_matrix(*this);
}

}  // namespace fullwarp::exec

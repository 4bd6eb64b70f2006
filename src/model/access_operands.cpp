// See access_operands.h.
#include "model/access_operands.h"

#include <algorithm>

#include "model/address_forms.h"

namespace fullwarp::model {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Op;
using ptx::Operand;
using Kind = ptx::Operand::Kind;

AccessClass space_of(const Instruction& i) {
  for (unsigned k = 0; k < i.mod_count; ++k) {
    switch (i.mods[k]) {
      case Mod::global: return AccessClass::global;
      case Mod::shared:
      case Mod::shared_cta:
      case Mod::shared_cluster: return AccessClass::shared;
      case Mod::local: return AccessClass::local;
      case Mod::param:
      case Mod::param_entry:
      case Mod::param_func:
      case Mod::const_: return AccessClass::none;
      default: break;
    }
  }
  return AccessClass::generic;
}

// Pure operations may go when nobody reads their result. Whatever is not listed here stays.
bool removable(const Instruction& i, const PtxAccess& access) {
  switch (i.op) {
    case Op::ld:
    case Op::ldu: return access.may_vanish;
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::mad:
    case Op::mul24:
    case Op::mad24:
    case Op::div:
    case Op::rem:
    case Op::abs:
    case Op::neg:
    case Op::min:
    case Op::max:
    case Op::sad:
    case Op::popc:
    case Op::clz:
    case Op::brev:
    case Op::bfind:
    case Op::bfe:
    case Op::bfi:
    case Op::dp4a:
    case Op::dp2a:
    case Op::fma:
    case Op::testp:
    case Op::copysign:
    case Op::rcp:
    case Op::sqrt:
    case Op::rsqrt:
    case Op::sin:
    case Op::cos:
    case Op::lg2:
    case Op::ex2:
    case Op::tanh:
    case Op::set:
    case Op::setp:
    case Op::selp:
    case Op::slct:
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::not_:
    case Op::cnot:
    case Op::lop3:
    case Op::shl:
    case Op::shr:
    case Op::shf:
    case Op::prmt:
    case Op::mov:
    case Op::cvt:
    case Op::cvta: return true;
    default: return false;
  }
}

// Calls visit(register) for every register that operand `o` reads.
template <class Visit>
void reads(const ptx::Module& module, const Operand& o, Visit visit) {
  if (o.kind == Kind::reg || (o.kind == Kind::address && o.base == Kind::reg)) visit(o.index);
  if (o.kind == Kind::vector || o.kind == Kind::list || (o.kind == Kind::address && o.count))
    for (uint32_t k = 0; k < o.count; ++k) {
      const Operand& element = module.operands[o.first + k];
      if (element.kind == Kind::reg) visit(element.index);
    }
}

}  // namespace

PtxAccess ptx_access(const ptx::Module& module, const Instruction& i) {
  PtxAccess access;
  switch (i.op) {
    case Op::ld:
    case Op::ldu:
      access.kind = PtxAccess::Kind::load;
      access.address_operand = 1;
      break;
    case Op::st:
      access.kind = PtxAccess::Kind::store;
      access.address_operand = 0;
      break;
    case Op::atom:
      access.kind = PtxAccess::Kind::atomic;
      access.address_operand = 1;
      break;
    case Op::red:
      if (i.has(Mod::async)) return {};
      access.kind = PtxAccess::Kind::atomic;
      access.address_operand = 0;
      break;
    case Op::ldmatrix:
    case Op::stmatrix:
      access.kind = PtxAccess::Kind::matrix;
      access.space = AccessClass::shared;
      access.address_operand = i.op == Op::ldmatrix ? 1 : 0;
      access.element_bytes = 16;
      access.plain = false;
      return access;
    case Op::cp: {
      const Operand* operands = module.operands_of(i);
      const bool copy =
          i.has(Mod::async) && !i.has(Mod::bulk) && i.operand_count >= 3 && operands[2].kind == Kind::imm;
      if (!copy || operands[0].kind != Kind::address) return {};
      const int64_t bytes = operands[2].value;
      if (bytes != 4 && bytes != 8 && bytes != 16) return {};
      access.kind = PtxAccess::Kind::async_copy;
      access.space = AccessClass::shared;
      access.address_operand = 0;
      access.element_bytes = static_cast<uint32_t>(bytes);
      access.plain = false;
      return access;
    }
    default: return {};
  }
  access.space = space_of(i);
  if (access.space == AccessClass::none || access.address_operand >= i.operand_count) return {};
  access.element_bytes = ptx::size_bytes(i.type());
  for (unsigned k = 0; k < i.mod_count; ++k) {
    switch (i.mods[k]) {
      case Mod::v2: access.elements = 2; break;
      case Mod::v4: access.elements = 4; break;
      case Mod::v8: access.elements = 8; break;
      case Mod::nc: access.read_only = true; break;
      case Mod::volatile_:
      case Mod::acquire:
      case Mod::release:
      case Mod::acq_rel:
      case Mod::mmio: access.plain = access.may_vanish = false; break;
      case Mod::relaxed: access.plain &= access.space == AccessClass::shared; break;
      default: break;
    }
    access.hints = access.hints * 257 + static_cast<uint64_t>(i.mods[k]) + 1;
  }
  return access;
}

Liveness liveness(const ptx::Module& module, const ptx::Function& function) {
  const size_t count = function.instructions.size(), registers = function.registers.size();
  Liveness out;
  out.live.assign(count, 0);
  out.used_elements.assign(count, 0);
  std::vector<std::vector<uint32_t>> writers(registers);
  std::vector<uint8_t> register_live(registers);
  std::vector<uint32_t> work;
  const auto keep = [&](uint32_t n) {
    if (out.live[n]) return;
    out.live[n] = 1;
    work.push_back(n);
  };
  for (uint32_t n = 0; n < count; ++n) {
    const Instruction& i = function.instructions[n];
    if (ptx::writes_first_operand(i))
      ptx::for_each_written(module, i, [&](uint32_t reg) {
        if (reg < registers) writers[reg].push_back(n);
      });
    if (!removable(i, ptx_access(module, i))) keep(n);
  }
  const auto need = [&](uint32_t reg) {
    if (reg >= registers || register_live[reg]) return;
    register_live[reg] = 1;
    for (uint32_t n : writers[reg]) keep(n);
  };
  for (const ptx::Param& param : function.returns)
    if (param.reg >= 0) need(static_cast<uint32_t>(param.reg));
  while (!work.empty()) {
    const uint32_t n = work.back();
    work.pop_back();
    const Instruction& i = function.instructions[n];
    if (i.guard >= 0) need(static_cast<uint32_t>(i.guard));
    for (unsigned k = ptx::writes_first_operand(i) ? 1 : 0; k < i.operand_count; ++k)
      reads(module, module.operands_of(i)[k], need);
  }
  for (uint32_t n = 0; n < count; ++n) {
    const Instruction& i = function.instructions[n];
    if (i.operand_count == 0) continue;
    const Operand& first = module.operands_of(i)[0];
    if (first.kind == Kind::reg) out.used_elements[n] = first.index < registers && register_live[first.index];
    if (first.kind == Kind::vector)
      for (uint32_t k = 0; k < first.count && k < 32; ++k) {
        const Operand& element = module.operands[first.first + k];
        if (element.kind == Kind::reg && element.index < registers && register_live[element.index])
          out.used_elements[n] |= 1u << k;
      }
  }
  return out;
}

}  // namespace fullwarp::model

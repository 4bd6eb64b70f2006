// See address_forms.h. The transfer of zero bits through an operation is what ptxas 13.0 was seen to know
// (docs/machine-accesses.md): sums, products, shifts by constants, masks, selections and conversions, but not
// minima.
#include "model/address_forms.h"

#include <algorithm>
#include <bit>

namespace fullwarp::model {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Op;
using ptx::Operand;
using ptx::Type;
using Kind = ptx::Operand::Kind;

constexpr size_t kMostTerms = 8;

unsigned zero_bits_of(uint64_t value) {
  return value == 0 ? kZeroBitsCap : std::min<unsigned>(kZeroBitsCap, std::countr_zero(value));
}

bool is_integer(Type type) {
  switch (type) {
    case Type::b16:
    case Type::b32:
    case Type::b64:
    case Type::u16:
    case Type::u32:
    case Type::u64:
    case Type::s16:
    case Type::s32:
    case Type::s64: return true;
    default: return false;
  }
}

// Low zero bits of the result from those of the operands. `of(i)` gives operand i's.
template <class Of>
unsigned transfer(const Instruction& i, const Operand* operands, Of of) {
  if (!is_integer(i.type())) return 0;
  const auto sum = [](unsigned a, unsigned b) { return std::min(a + b, kZeroBitsCap); };
  switch (i.op) {
    case Op::mov:
    case Op::cvta:
    case Op::neg: return of(1);
    case Op::cvt: return is_integer(i.type(1)) ? of(1) : 0;
    case Op::add:
    case Op::sub:
    case Op::or_:
    case Op::xor_:
    case Op::selp: return std::min(of(1), of(2));
    case Op::and_: return std::max(of(1), of(2));
    case Op::mul: return i.has(Mod::hi) ? 0 : sum(of(1), of(2));
    case Op::mad: return i.has(Mod::hi) ? 0 : std::min(sum(of(1), of(2)), of(3));
    case Op::shl:
      if (operands[2].kind != Kind::imm) return of(1);
      return operands[2].value < 0 || operands[2].value > 63
                 ? kZeroBitsCap
                 : sum(of(1), static_cast<unsigned>(operands[2].value));
    default: return 0;
  }
}

bool has_transfer(Op op) {
  switch (op) {
    case Op::mov:
    case Op::cvta:
    case Op::neg:
    case Op::cvt:
    case Op::add:
    case Op::sub:
    case Op::or_:
    case Op::xor_:
    case Op::selp:
    case Op::and_:
    case Op::mul:
    case Op::mad:
    case Op::shl: return true;
    default: return false;
  }
}

// Operations whose result depends on nothing but their operands.
bool is_pure(Op op) {
  if (has_transfer(op)) return true;
  switch (op) {
    case Op::shr:
    case Op::min:
    case Op::max:
    case Op::not_:
    case Op::bfe:
    case Op::bfi:
    case Op::abs:
    case Op::div:
    case Op::rem:
    case Op::prmt:
    case Op::lop3: return true;
    default: return false;
  }
}

unsigned result_bits(const Instruction& i) {
  const unsigned bits = 8 * ptx::size_bytes(i.type());
  return i.has(Mod::wide) ? 2 * bits : bits;
}

uint64_t mask_of(unsigned bits) { return bits >= 64 || bits == 0 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

Form combined(const Form& a, const Form& b, uint64_t factor, uint64_t mask) {  // a + factor * b
  Form out;
  out.constant = (a.constant + factor * b.constant) & mask;
  size_t i = 0, j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    const bool left = j == b.terms.size() || (i < a.terms.size() && a.terms[i].first <= b.terms[j].first);
    const bool right = i == a.terms.size() || (j < b.terms.size() && b.terms[j].first <= a.terms[i].first);
    const uint32_t id = left ? a.terms[i].first : b.terms[j].first;
    uint64_t value = 0;
    if (left) value += a.terms[i++].second;
    if (right) value += factor * b.terms[j++].second;
    if (value & mask) out.terms.emplace_back(id, value & mask);
  }
  return out;
}

}  // namespace

AddressForms::AddressForms(const ptx::Module& module, const ptx::Function& function)
    : module_(module), function_(function), writes_(function.registers.size()) {
  for (const Instruction& i : function.instructions)
    if (ptx::writes_first_operand(i))
      ptx::for_each_written(module, i, [&](uint32_t reg) {
        if (reg < writes_.size()) ++writes_[reg];
      });
  place_shared_variables();
  find_zero_bits();
}

// ptxas places the kernel's own shared variables one after the other as they are declared, then those of
// module scope; what the kernel does not name takes no room.
void AddressForms::place_shared_variables() {
  std::vector<uint8_t> named(module_.variables.size());
  for (const Instruction& i : function_.instructions)
    for (unsigned k = 0; k < i.operand_count; ++k) {
      const Operand& o = module_.operands_of(i)[k];
      const bool variable = o.kind == Kind::variable || (o.kind == Kind::address && o.base == Kind::variable);
      if (variable && o.index < named.size()) named[o.index] = 1;
    }
  std::vector<int32_t> order = function_.variables;
  for (size_t v = 0; v < named.size(); ++v)
    if (named[v] && module_.variables[v].function < 0) order.push_back(static_cast<int32_t>(v));
  uint64_t end = 0;
  for (int32_t index : order) {
    const ptx::Variable& v = module_.variables[static_cast<size_t>(index)];
    if (v.space != ptx::Space::shared || v.external || !named[static_cast<size_t>(index)]) continue;
    const uint64_t align = std::max<uint32_t>(v.align, 1);
    end = (end + align - 1) / align * align;
    shared_offset_[index] = end;
    end += v.bytes;
  }
}

// A register's zero bits are the least of its writers': start from the most and lower until nothing changes.
void AddressForms::find_zero_bits() {
  const size_t count = function_.registers.size();
  register_zero_bits_.assign(count, kZeroBitsCap);
  std::vector<uint8_t> written(count);
  std::vector<std::vector<uint32_t>> readers(count);
  std::vector<uint32_t> work;
  for (uint32_t n = 0; n < function_.instructions.size(); ++n) {
    const Instruction& i = function_.instructions[n];
    for (unsigned k = 1; k < i.operand_count; ++k) {
      const Operand& o = module_.operands_of(i)[k];
      if (o.kind == Kind::reg && o.index < count) readers[o.index].push_back(n);
    }
    work.push_back(n);
  }
  std::reverse(work.begin(), work.end());
  while (!work.empty()) {
    const Instruction& i = function_.instructions[work.back()];
    work.pop_back();
    if (!ptx::writes_first_operand(i)) continue;
    const Operand* operands = module_.operands_of(i);
    const unsigned bits =
        has_transfer(i.op)
            ? transfer(i, operands,
                       [&](unsigned k) { return k < i.operand_count ? register_zero_bits(operands[k]) : 0; })
            : 0;
    ptx::for_each_written(module_, i, [&](uint32_t reg) {
      if (reg >= count) return;
      written[reg] = 1;
      if (bits >= register_zero_bits_[reg]) return;
      register_zero_bits_[reg] = static_cast<uint8_t>(bits);
      work.insert(work.end(), readers[reg].begin(), readers[reg].end());
    });
  }
  for (size_t reg = 0; reg < count; ++reg)
    if (!written[reg]) register_zero_bits_[reg] = 0;  // a parameter of the function
}

unsigned AddressForms::register_zero_bits(const Operand& o) const {
  switch (o.kind) {
    case Kind::imm: return zero_bits_of(static_cast<uint64_t>(o.value));
    case Kind::reg: return o.index < register_zero_bits_.size() ? register_zero_bits_[o.index] : 0;
    case Kind::variable: {
      const ptx::Variable& v = module_.variables[o.index];
      const bool dynamic = v.space == ptx::Space::shared && v.external;
      const auto place = shared_offset_.find(static_cast<int32_t>(o.index));
      const uint64_t at =
          place != shared_offset_.end() ? place->second : std::max<uint32_t>(v.align, dynamic ? 16 : 1);
      return std::min(zero_bits_of(at), zero_bits_of(static_cast<uint64_t>(o.value)));
    }
    default: return 0;
  }
}

Form AddressForms::root(unsigned zero_bits) {
  root_zero_bits_.push_back(static_cast<uint8_t>(zero_bits));
  return {{{static_cast<uint32_t>(root_zero_bits_.size() - 1), 1}}, 0};
}

unsigned AddressForms::zero_bits(const Form& form) const {
  unsigned bits = zero_bits_of(form.constant);
  for (const auto& [id, factor] : form.terms)
    bits = std::min(bits, std::min(kZeroBitsCap, zero_bits_of(factor) + root_zero_bits_[id]));
  return bits;
}

Form AddressForms::variable_form(uint32_t variable) {
  const auto known = variables_.find(variable);
  if (known != variables_.end()) return known->second;
  Form form;
  const auto place = shared_offset_.find(static_cast<int32_t>(variable));
  if (place != shared_offset_.end() && module_.sm < 90) {
    form.constant = place->second;  // one window for all variables
  } else {
    Operand o;
    o.kind = Kind::variable;
    o.index = variable;
    form = root(register_zero_bits(o));
  }
  return variables_[variable] = form;
}

Form AddressForms::register_form(uint32_t reg) {
  const bool once = reg < writes_.size() && writes_[reg] == 1;
  std::map<uint32_t, Form>& forms = once ? once_ : in_block_;
  const auto known = forms.find(reg);
  if (known != forms.end()) return known->second;
  return forms[reg] = root(reg < register_zero_bits_.size() ? register_zero_bits_[reg] : 0);
}

Form AddressForms::form_of(const Operand& o) {
  switch (o.kind) {
    case Kind::reg: return register_form(o.index);
    case Kind::imm: return {{}, static_cast<uint64_t>(o.value)};
    case Kind::variable: {
      Form form = variable_form(o.index);
      form.constant += static_cast<uint64_t>(o.value);
      return form;
    }
    case Kind::special: {
      std::vector<uint64_t> key = {~uint64_t{0}, o.index, o.component};
      const auto [place, fresh] = opaque_.try_emplace(std::move(key), 0);
      if (fresh) place->second = root(0).terms[0].first;
      return {{{place->second, 1}}, 0};
    }
    default: return root(0);
  }
}

Form AddressForms::opaque(const Instruction& i, unsigned bits) {
  const Operand* operands = module_.operands_of(i);
  std::vector<uint64_t> key = {static_cast<uint64_t>(i.op), bits};
  for (unsigned k = 0; k < i.mod_count; ++k) key.push_back(static_cast<uint64_t>(i.mods[k]));
  for (unsigned k = 0; k < i.type_count; ++k) key.push_back(1000 + static_cast<uint64_t>(i.types[k]));
  std::array<unsigned, 8> zeros = {};
  for (unsigned k = 1; k < i.operand_count && k < zeros.size(); ++k) {
    const Form form = form_of(operands[k]);
    zeros[k] = zero_bits(form);
    key.push_back(form.constant);
    key.push_back(form.terms.size());
    for (const auto& [id, factor] : form.terms) {
      key.push_back(id);
      key.push_back(factor);
    }
  }
  const unsigned known = transfer(i, operands, [&](unsigned k) { return k < zeros.size() ? zeros[k] : 0; });
  const auto [place, fresh] = opaque_.try_emplace(std::move(key), 0);
  if (fresh) place->second = root(known).terms[0].first;
  return {{{place->second, 1}}, 0};
}

Form AddressForms::result_of(const Instruction& i, unsigned bits) {
  const Operand* operands = module_.operands_of(i);
  const uint64_t mask = mask_of(bits);
  const auto constant = [](const Form& form) { return form.terms.empty(); };
  if (is_integer(i.type())) {
    switch (i.op) {
      case Op::mov:
        if (i.operand_count == 2 && operands[1].kind != Kind::vector) return form_of(operands[1]);
        break;
      case Op::add: return combined(form_of(operands[1]), form_of(operands[2]), 1, mask);
      case Op::sub: return combined(form_of(operands[1]), form_of(operands[2]), ~uint64_t{0}, mask);
      case Op::shl:
        if (operands[2].kind == Kind::imm && operands[2].value >= 0 && operands[2].value < 64)
          return combined({}, form_of(operands[1]), uint64_t{1} << operands[2].value, mask);
        break;
      case Op::mul:
      case Op::mad: {
        if (!i.has(Mod::lo)) break;
        const Form a = form_of(operands[1]), b = form_of(operands[2]);
        if (!constant(a) && !constant(b)) break;
        const Form product =
            constant(a) ? combined({}, b, a.constant, mask) : combined({}, a, b.constant, mask);
        return i.op == Op::mul ? product : combined(product, form_of(operands[3]), 1, mask);
      }
      default: break;
    }
  }
  if (is_pure(i.op)) return opaque(i, bits);
  return root(0);
}

void AddressForms::step(const Instruction& i) {
  if (i.operand_count == 0 || !ptx::writes_first_operand(i)) return;
  const Operand& first = module_.operands_of(i)[0];
  const bool simple = first.kind == Kind::reg && first.pair == -1 && i.operand_count >= 2 && i.guard < 0;
  if (!simple) {
    ptx::for_each_written(module_, i, [&](uint32_t reg) {
      (reg < writes_.size() && writes_[reg] == 1 ? once_ : in_block_)[reg] =
          root(reg < register_zero_bits_.size() ? register_zero_bits_[reg] : 0);
    });
    return;
  }
  Form form = result_of(i, result_bits(i));
  if (form.terms.size() > kMostTerms) form = root(zero_bits(form));
  const bool once = first.index < writes_.size() && writes_[first.index] == 1;
  (once ? once_ : in_block_)[first.index] = std::move(form);
}

AddressForms::Address AddressForms::address(const Operand& o) {
  Address out;
  Form form;
  unsigned bits = 64;
  if (o.kind != Kind::address) return out;
  if (o.base == Kind::reg) {
    form = register_form(o.index);
    if (o.index < function_.registers.size()) bits = 8 * ptx::size_bytes(function_.registers[o.index].type);
  } else if (o.base == Kind::variable) {
    form = variable_form(o.index);
  } else if (o.base != Kind::imm) {
    return out;
  }
  out.offset = (form.constant + static_cast<uint64_t>(o.value)) & mask_of(bits);
  form.constant = 0;
  out.base_zero_bits = zero_bits(form);
  out.base = bases_.try_emplace(form, static_cast<uint32_t>(bases_.size())).first->second;
  out.known = true;
  return out;
}

}  // namespace fullwarp::model

#include "exec/steady.h"

#include <algorithm>
#include <utility>

#include "exec/decode.h"
#include "exec/handlers.h"
#include "ptx/writes.h"

namespace fullwarp::exec {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Op;
using ptx::Operand;

// Does the result depend on nothing but the operands, lane by lane?
bool is_pure(Op op) {
  switch (op) {
    case Op::mov:
    case Op::cvta:
    case Op::cvt:
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::mad:
    case Op::shl:
    case Op::shr:
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::not_:
    case Op::neg:
    case Op::min:
    case Op::max:
    case Op::selp:
    case Op::setp:
    case Op::div:
    case Op::rem:
    case Op::bfe:
    case Op::bfi: return true;
    default: return false;
  }
}

// Blocks that can reach each other, numbered; -1: in no loop. Tarjan's algorithm, without recursion.
std::vector<int32_t> loops_of(const Cfg& cfg) {
  const size_t n = cfg.blocks.size();
  std::vector<int32_t> order(n, -1), low(n, 0), loop(n, -1);
  std::vector<bool> on_stack(n);
  std::vector<uint32_t> stack;
  int32_t next = 0, loops = 0;
  for (uint32_t root = 0; root < n; ++root) {
    if (order[root] >= 0) continue;
    std::vector<std::pair<uint32_t, size_t>> path{{root, 0}};
    while (!path.empty()) {
      auto& [b, edge] = path.back();
      if (edge == 0) {
        order[b] = low[b] = next++;
        stack.push_back(b);
        on_stack[b] = true;
      }
      const auto& successors = cfg.blocks[b].successors;
      if (edge < successors.size()) {
        const uint32_t s = successors[edge++];
        if (order[s] < 0)
          path.emplace_back(s, 0);
        else if (on_stack[s])
          low[b] = std::min(low[b], order[s]);
        continue;
      }
      const uint32_t done = b;
      path.pop_back();
      if (!path.empty()) low[path.back().first] = std::min(low[path.back().first], low[done]);
      if (low[done] != order[done]) continue;
      const bool alone = stack.back() == done &&
                         std::find(cfg.blocks[done].successors.begin(), cfg.blocks[done].successors.end(),
                                   done) == cfg.blocks[done].successors.end();
      while (true) {
        const uint32_t member = stack.back();
        stack.pop_back();
        on_stack[member] = false;
        if (!alone) loop[member] = loops;
        if (member == done) break;
      }
      ++loops;
    }
  }
  return loop;
}

struct Definition {
  int32_t loop;
  bool keeps;  // the distances follow from those of
  std::vector<uint32_t> from;
};

class Finder {
 public:
  Finder(const Decoder& d, const Cfg& cfg)
      : d_(d), loop_(loops_of(cfg)), definitions_(d.function.registers.size()) {
    out_.tagged.assign(definitions_.size(), false);
    find_uniform();
    for (uint32_t b = 0; b < cfg.blocks.size(); ++b)
      for (uint32_t k = cfg.blocks[b].first; k < cfg.blocks[b].last; ++k)
        if (!cfg.items[k].skip) define(d.function.instructions[cfg.items[k].instruction], loop_[b]);
    for (uint32_t b = 0; b < cfg.blocks.size(); ++b)
      if (loop_[b] >= 0)
        for (uint32_t k = cfg.blocks[b].first; k < cfg.blocks[b].last; ++k)
          if (!cfg.items[k].skip) use(d.function.instructions[cfg.items[k].instruction], loop_[b]);
  }
  SteadyRegisters take() { return std::move(out_); }

 private:
  bool is_uniform(const Operand& o) const { return exec::is_uniform(d_, out_.uniform, o); }
  bool all_uniform(const Instruction& i) const { return has_uniform_result(d_, out_.uniform, i); }

  void find_uniform() {
    const ptx::Function& f = d_.function;
    out_.uniform.assign(f.registers.size(), false);
    std::vector<uint8_t> written(f.registers.size(), 0);
    for (const Instruction& i : f.instructions)
      if (ptx::writes_first_operand(i))
        ptx::for_each_written(d_.module, i, [&](uint32_t r) {
          written[r] = static_cast<uint8_t>(std::min(written[r] + 1, 2));
        });
    for (bool more = true; more;) {
      more = false;
      for (const Instruction& i : f.instructions) {
        if (i.operand_count < 2 || i.guard >= 0) continue;
        const Operand& to = d_.module.operands_of(i)[0];
        if (to.kind != Operand::Kind::reg || to.pair != -1 || written[to.index] != 1 ||
            out_.uniform[to.index])
          continue;
        bool all = false;
        if (i.op == Op::ld) {  // of a kernel parameter
          const Operand& from = d_.module.operands_of(i)[1];
          all = f.entry && space_of(i) == ptx::Space::param && from.kind == Operand::Kind::address &&
                from.base == Operand::Kind::param;
        } else {
          all = all_uniform(i);
        }
        if (all) out_.uniform[to.index] = more = true;
      }
    }
  }

  void define(const Instruction& i, int32_t loop) {
    if (!ptx::writes_first_operand(i)) return;
    Definition definition{loop, false, {}};
    const Kept kept = kept_distances(d_.module, i);
    if (all_uniform(i)) {
      definition.keeps = true;
    } else if (kept.op != Op::count) {
      definition.keeps = true;
      for (const Operand* o : {kept.a, kept.b}) {
        if (!o || is_uniform(*o)) continue;
        if (o->kind == Operand::Kind::reg)
          definition.from.push_back(o->index);
        else
          definition.keeps = false;
      }
    }
    ptx::for_each_written(d_.module, i, [&](uint32_t r) { definitions_[r].push_back(definition); });
  }

  // An access in a loop: is its address steady there?
  void use(const Instruction& i, int32_t loop) {
    if (i.op != Op::ld && i.op != Op::st) return;
    const ptx::Space space = space_of(i);
    if (space != ptx::Space::global && space != ptx::Space::shared) return;
    const Operand& address = d_.module.operands_of(i)[i.op == Op::ld ? 1 : 0];
    if (address.kind != Operand::Kind::address || address.base != Operand::Kind::reg) return;
    const unsigned bytes = ptx::size_bytes(d_.register_type(static_cast<int32_t>(address.index)));
    if (bytes != (space == ptx::Space::shared ? 4u : 8u)) return;
    std::vector<uint32_t> closure{address.index};
    for (size_t k = 0; k < closure.size(); ++k)
      for (const Definition& definition : definitions_[closure[k]]) {
        if (definition.loop != loop) continue;
        if (!definition.keeps) return;
        for (uint32_t from : definition.from) {
          if (std::find(closure.begin(), closure.end(), from) != closure.end()) continue;
          if (closure.size() == kMostRegisters) return;
          closure.push_back(from);
        }
      }
    for (uint32_t r : closure) out_.tagged[r] = true;
  }

  static constexpr size_t kMostRegisters = 64;
  const Decoder& d_;
  std::vector<int32_t> loop_;
  std::vector<std::vector<Definition>> definitions_;
  SteadyRegisters out_;
};

}  // namespace

Kept kept_distances(const ptx::Module& module, const Instruction& i) {
  const Operand* const o = &module.operands_of(i)[0];
  const auto good = [](const Operand& x) { return x.kind != Operand::Kind::vector && !x.negated; };
  if (i.has(Mod::cc) || i.has(Mod::sat) || i.operand_count < 2 || o[0].kind != Operand::Kind::reg ||
      o[0].pair != -1 || !good(o[1]))
    return {};
  const ptx::Type type = i.type(0);
  const unsigned bytes = ptx::size_bytes(type);
  if (i.op == Op::mov && i.operand_count == 2 && (bytes == 4 || bytes == 8)) return {Op::mov, &o[1], nullptr};
  const bool integer =
      type == ptx::Type::s32 || type == ptx::Type::u32 || type == ptx::Type::s64 || type == ptx::Type::u64;
  if ((i.op != Op::add && i.op != Op::sub) || !integer || i.operand_count != 3 || !good(o[2])) return {};
  return {i.op, &o[1], &o[2]};
}

bool is_uniform(const Decoder& d, const std::vector<bool>& uniform, const Operand& o) {
  if (o.kind == Operand::Kind::reg) return uniform[o.index];
  if (o.kind == Operand::Kind::special && static_cast<ptx::Special>(o.index) == ptx::Special::ctaid)
    return true;
  return d.constant_value(o).has_value();
}

bool has_uniform_result(const Decoder& d, const std::vector<bool>& uniform, const Instruction& i) {
  bool all = is_pure(i.op);
  for (unsigned k = 1; k < i.operand_count && all; ++k)
    all = is_uniform(d, uniform, d.module.operands_of(i)[k]);
  return all;
}

SteadyRegisters find_steady_registers(const Decoder& decoder, const Cfg& cfg) {
  return Finder(decoder, cfg).take();
}

}  // namespace fullwarp::exec

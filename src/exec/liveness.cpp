// Backward data flow, a bit a register, over the blocks cut where a warp may stop inside of one. A write
// under a guard does not count as one, so that a register written only so is cleared.
#include "exec/liveness.h"

#include <cstdint>

#include "ptx/forms.h"
#include "ptx/writes.h"

namespace fullwarp::exec {
namespace {

using ptx::Instruction;
using ptx::Operand;

using Bits = std::vector<uint64_t>;

bool has(const Bits& bits, uint32_t reg) { return bits[reg / 64] >> (reg % 64) & 1; }
void set(Bits& bits, uint32_t reg) { bits[reg / 64] |= uint64_t{1} << (reg % 64); }

// What a block reads before it writes it, and what it writes.
struct BlockSets {
  Bits reads, writes;
};

class Scan {
 public:
  Scan(const ptx::Module& module, const ptx::Function& function, BlockSets& sets)
      : module_(module), registers_(function.registers.size()), sets_(sets) {}

  void instruction(const Instruction& i, bool skip_only) {
    if (i.guard >= 0) read(static_cast<uint32_t>(i.guard));
    if (skip_only) return;
    const bool writes = ptx::writes_first_operand(i);
    for (unsigned k = 0; k < i.operand_count; ++k) {
      const Operand& o = module_.operands_of(i)[k];
      if (k > 0 || !writes || ptx::reads_first_operand(i) || o.kind == Operand::Kind::address) read(o);
    }
    if (!writes || i.guard >= 0) return;
    ptx::for_each_written(module_, i, [&](uint32_t reg) {
      if (reg < registers_) set(sets_.writes, reg);
    });
  }

 private:
  void read(uint32_t reg) {
    if (reg < registers_ && !has(sets_.writes, reg)) set(sets_.reads, reg);
  }
  void read(const Operand& o) {
    const Operand::Kind kind = o.kind == Operand::Kind::address ? o.base : o.kind;
    if (kind == Operand::Kind::reg) read(static_cast<uint32_t>(o.index));
    if (o.pair >= 0) read(static_cast<uint32_t>(o.pair));
    if (o.kind == Operand::Kind::vector || o.kind == Operand::Kind::list)
      for (uint32_t e = 0; e < o.count; ++e) read(module_.operands[o.first + e]);
  }

  const ptx::Module& module_;
  size_t registers_;
  BlockSets& sets_;
};

}  // namespace

bool goes_straight_on(const Instruction& i) {
  const ptx::Form& form = ptx::forms()[i.form];
  switch (form.cost) {
    case ptx::Cost::alu:
    case ptx::Cost::imul:
    case ptx::Cost::fma:
    case ptx::Cost::half:
    case ptx::Cost::fp64:
    case ptx::Cost::sfu:
    case ptx::Cost::convert: return form.memory == ptx::MemoryKind::none;
    case ptx::Cost::memory: return i.op == ptx::Op::ld || i.op == ptx::Op::st;
    default: return false;
  }
}

Liveness find_liveness(const ptx::Module& module, const ptx::Function& function, const Cfg& cfg) {
  struct Piece {
    uint32_t first, last, block;  // items
    bool ends_block;
  };
  std::vector<Piece> pieces;
  std::vector<uint32_t> piece_of_block(cfg.blocks.size());
  for (uint32_t b = 0; b < cfg.blocks.size(); ++b) {
    const CfgBlock& block = cfg.blocks[b];
    piece_of_block[b] = static_cast<uint32_t>(pieces.size());
    pieces.push_back({block.first, block.last, b, false});
    const auto cut = [&](uint32_t k) {  // item k begins a piece
      if (pieces.back().first == k || k == block.last) return;
      pieces.back().last = k;
      pieces.push_back({k, block.last, b, false});
    };
    for (uint32_t k = block.first; k < block.last; ++k) {
      const Instruction& i = function.instructions[cfg.items[k].instruction];
      // Nobody waits at a branch, but where it leads.
      if (cfg.items[k].skip || i.op == ptx::Op::bra || goes_straight_on(i)) continue;
      cut(k);
      cut(k + 1);
    }
    pieces.back().ends_block = true;
  }
  const size_t registers = function.registers.size(), words = registers / 64 + 1;
  std::vector<BlockSets> sets(pieces.size(), {Bits(words), Bits(words)});
  for (size_t p = 0; p < pieces.size(); ++p) {
    Scan scan(module, function, sets[p]);
    for (uint32_t k = pieces[p].first; k < pieces[p].last; ++k)
      scan.instruction(function.instructions[cfg.items[k].instruction], cfg.items[k].skip);
  }
  // `reads` grows into what is live where the piece begins.
  bool changed = true;
  const auto flow = [&](size_t from, size_t to) {
    for (size_t word = 0; word < words; ++word) {
      const uint64_t more = sets[from].reads[word] & ~sets[to].writes[word] & ~sets[to].reads[word];
      sets[to].reads[word] |= more;
      changed |= more != 0;
    }
  };
  while (changed) {
    changed = false;
    for (size_t p = pieces.size(); p-- > 0;) {
      if (!pieces[p].ends_block)
        flow(p + 1, p);
      else
        for (uint32_t s : cfg.blocks[pieces[p].block].successors) flow(piece_of_block[s], p);
    }
  }
  Liveness live{std::vector<bool>(registers), std::vector<bool>(registers)};
  for (uint32_t r = 0; r < registers && !sets.empty(); ++r) {
    live.read_before_written[r] = has(sets[0].reads, r);
    for (const BlockSets& set : sets) live.kept_waiting[r] = live.kept_waiting[r] || has(set.reads, r);
  }
  return live;
}

}  // namespace fullwarp::exec

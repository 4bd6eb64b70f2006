// Backward data flow over the blocks, a bit a register. A write under a guard does not count as one, so that a
// register written only so is cleared.
#include "exec/liveness.h"

#include <cstdint>

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
      if (k > 0 || !writes || o.kind == Operand::Kind::address) read(o);
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

std::vector<bool> read_before_written(const ptx::Module& module, const ptx::Function& function, const Cfg& cfg) {
  const size_t registers = function.registers.size(), words = registers / 64 + 1;
  std::vector<BlockSets> sets(cfg.blocks.size(), {Bits(words), Bits(words)});
  for (size_t b = 0; b < cfg.blocks.size(); ++b) {
    Scan scan(module, function, sets[b]);
    for (uint32_t k = cfg.blocks[b].first; k < cfg.blocks[b].last; ++k)
      scan.instruction(function.instructions[cfg.items[k].instruction], cfg.items[k].skip);
  }
  // `reads` grows into what is live where the block begins.
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = cfg.blocks.size(); b-- > 0;)
      for (uint32_t s : cfg.blocks[b].successors)
        for (size_t word = 0; word < words; ++word) {
          const uint64_t more = sets[s].reads[word] & ~sets[b].writes[word] & ~sets[b].reads[word];
          if (!more) continue;
          sets[b].reads[word] |= more;
          changed = true;
        }
  }
  std::vector<bool> live(registers);
  for (uint32_t r = 0; r < registers && !sets.empty(); ++r) live[r] = has(sets[0].reads, r);
  return live;
}

}  // namespace fullwarp::exec

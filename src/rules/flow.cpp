#include "rules/flow.h"

#include <algorithm>

namespace fullwarp::rules {
namespace {

using ptx::Op;

// Where the instruction may go besides the next one; `falls` tells whether it may go there.
struct Targets {
  std::vector<uint32_t> jumps;
  bool falls = true;
  bool exits = false;
  bool ends_block = false;
};

Targets targets(const ptx::Module& module, const ptx::Function& function, const ptx::Instruction& i) {
  Targets t;
  const bool guarded = i.guard >= 0;
  const ptx::Operand* operands = module.operands_of(i);
  switch (i.op) {
    case Op::bra:
      t.ends_block = true;
      t.falls = guarded;
      for (unsigned k = 0; k < i.operand_count; ++k)
        if (operands[k].kind == ptx::Operand::Kind::label)
          t.jumps.push_back(static_cast<uint32_t>(operands[k].value));
      break;
    case Op::brx:
      t.ends_block = true;
      t.falls = guarded;
      for (unsigned k = 0; k < i.operand_count; ++k)
        if (operands[k].kind == ptx::Operand::Kind::targets &&
            operands[k].index < function.branch_targets.size())
          t.jumps = function.branch_targets[operands[k].index].instructions;
      break;
    case Op::ret:
    case Op::exit:
    case Op::trap:
      t.ends_block = true;
      t.falls = guarded;
      t.exits = true;
      break;
    default: break;
  }
  return t;
}

}  // namespace

Flow::Flow(const ptx::Module& module, const ptx::Function& function) {
  find_blocks(module, function);
  if (blocks_.size() <= kMaxBlocks) find_post_dominators();
}

void Flow::find_blocks(const ptx::Module& module, const ptx::Function& function) {
  const uint32_t count = static_cast<uint32_t>(function.instructions.size());
  std::vector<bool> begins(count + 1, false);
  if (count > 0) begins[0] = true;
  for (uint32_t i = 0; i < count; ++i) {
    const Targets t = targets(module, function, function.instructions[i]);
    if (!t.ends_block) continue;
    begins[i + 1] = true;
    for (const uint32_t jump : t.jumps)
      if (jump < count) begins[jump] = true;
  }
  block_of_.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    if (begins[i]) blocks_.push_back({.begin = i, .end = i, .successors = {}});
    blocks_.back().end = i + 1;
    block_of_[i] = static_cast<uint32_t>(blocks_.size()) - 1;
  }
  for (uint32_t b = 0; b < blocks_.size(); ++b) {
    Block& block = blocks_[b];
    const Targets t = targets(module, function, function.instructions[block.end - 1]);
    block.exits = t.exits;
    const auto add = [&](uint32_t instruction) {
      if (instruction >= count) {
        block.exits = true;  // past the end: as `ret`
      } else if (std::find(block.successors.begin(), block.successors.end(), block_of_[instruction]) ==
                 block.successors.end()) {
        block.successors.push_back(block_of_[instruction]);
      }
    };
    if (t.falls) add(block.end);
    for (const uint32_t jump : t.jumps) add(jump);
  }
}

// Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph with one node for
// the end of the function. Blocks that cannot reach the end (endless loops) keep the end as their
// post-dominator.
void Flow::find_post_dominators() {
  const uint32_t end = static_cast<uint32_t>(blocks_.size());
  std::vector<std::vector<uint32_t>> predecessors(end + 1);
  for (uint32_t b = 0; b < end; ++b) {
    for (const uint32_t s : blocks_[b].successors) predecessors[s].push_back(b);
    if (blocks_[b].exits) predecessors[end].push_back(b);
  }
  // Postorder of the reversed graph from the end, without recursion: functions may have very many blocks.
  std::vector<uint32_t> order(end + 1, kNone), postorder;
  std::vector<bool> seen(end + 1, false);
  std::vector<std::pair<uint32_t, size_t>> stack = {{end, 0}};
  seen[end] = true;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next < predecessors[node].size()) {
      const uint32_t p = predecessors[node][next++];
      if (!seen[p]) {
        seen[p] = true;
        stack.emplace_back(p, 0);
      }
      continue;
    }
    order[node] = static_cast<uint32_t>(postorder.size());
    postorder.push_back(node);
    stack.pop_back();
  }
  std::vector<uint32_t> dominator(end + 1, kNone);
  dominator[end] = end;
  const auto meet = [&](uint32_t a, uint32_t b) {
    while (a != b) {
      while (order[a] < order[b]) a = dominator[a];
      while (order[b] < order[a]) b = dominator[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t k = postorder.size(); k-- > 0;) {
      const uint32_t node = postorder[k];
      if (node == end) continue;
      uint32_t best = kNone;
      const auto consider = [&](uint32_t successor) {
        if (dominator[successor] == kNone) return;
        best = best == kNone ? successor : meet(best, successor);
      };
      for (const uint32_t s : blocks_[node].successors) consider(s);
      if (blocks_[node].exits) consider(end);
      if (best != kNone && dominator[node] != best) {
        dominator[node] = best;
        changed = true;
      }
    }
  }
  for (uint32_t b = 0; b < end; ++b) blocks_[b].post_dominator = dominator[b] == end ? kNone : dominator[b];
}

Flow::Region Flow::region(uint32_t branch) const {
  Region region;
  if (branch >= block_of_.size() || blocks_.size() > kMaxBlocks) return region;
  const uint32_t start = block_of_[branch];
  const uint32_t stop = blocks_[start].post_dominator;
  std::vector<bool> seen(blocks_.size(), false);
  std::vector<uint32_t> pending;
  const auto visit = [&](uint32_t b) {
    if (b == stop || seen[b]) return;
    seen[b] = true;
    pending.push_back(b);
  };
  region.leaves = blocks_[start].exits;
  for (const uint32_t s : blocks_[start].successors) {
    visit(s);
    region.leaves |= blocks_[s].exits && blocks_[s].end - blocks_[s].begin == 1;
  }
  while (!pending.empty()) {
    const uint32_t b = pending.back();
    pending.pop_back();
    for (const uint32_t s : blocks_[b].successors) visit(s);
  }
  region.loop = seen[start];
  for (uint32_t b = 0; region.loop && b < blocks_.size(); ++b) {
    const auto& next = blocks_[b].successors;
    if (!seen[b] && blocks_[b].end > 0 &&
        std::any_of(next.begin(), next.end(), [&](uint32_t s) { return seen[s]; }))
      region.entries.push_back(blocks_[b].end - 1);
  }
  for (uint32_t b = 0; b < blocks_.size(); ++b)
    if (seen[b])
      for (uint32_t i = blocks_[b].begin; i < blocks_[b].end; ++i) region.instructions.push_back(i);
  return region;
}

}  // namespace fullwarp::rules

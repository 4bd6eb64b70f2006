#include "exec/cfg.h"

#include <algorithm>

namespace fullwarp::exec {
namespace {

using ptx::Op;

bool ends_block(const ptx::Instruction& i) {
  switch (i.op) {
    case Op::bra:
    case Op::brx:
    case Op::ret:
    case Op::exit:
    case Op::trap:
    case Op::call: return true;
    default: return false;
  }
}

bool leaves(const ptx::Instruction& i) { return i.op == Op::ret || i.op == Op::exit || i.op == Op::trap; }

// Post-dominators by Cooper, Harvey and Kennedy over the reversed graph. Paths that leave the function early
// (a `ret`, `exit` or `trap` other than the last) do not keep the other lanes from meeting, so blocks from
// which there is no other way are left out.
class PostDominators {
 public:
  explicit PostDominators(Cfg& cfg, const std::vector<bool>& is_exit, uint32_t main_exit) : cfg_(cfg) {
    size_t n = cfg.blocks.size();
    exit_ = static_cast<uint32_t>(n);
    dead_.assign(n, false);
    predecessors_.assign(n + 1, {});
    // blocks from which the main exit can be reached
    std::vector<std::vector<uint32_t>> reverse(n);
    for (uint32_t b = 0; b < n; ++b)
      for (uint32_t s : cfg.blocks[b].successors) reverse[s].push_back(b);
    std::vector<bool> reaches(n, false);
    std::vector<uint32_t> work;
    auto add = [&](uint32_t b) {
      if (!reaches[b]) {
        reaches[b] = true;
        work.push_back(b);
      }
    };
    if (main_exit < n) add(main_exit);
    while (!work.empty()) {
      uint32_t b = work.back();
      work.pop_back();
      for (uint32_t p : reverse[b]) add(p);
    }
    for (uint32_t b = 0; b < n; ++b) dead_[b] = !reaches[b];
    for (uint32_t b = 0; b < n; ++b) {
      if (dead_[b]) continue;
      if (is_exit[b]) predecessors_[exit_].push_back(b);
      for (uint32_t s : cfg.blocks[b].successors)
        if (!dead_[s]) predecessors_[s].push_back(b);
    }
    solve();
  }

  int32_t of(uint32_t block) const {
    if (dead_[block] || idom_[block] < 0 || static_cast<uint32_t>(idom_[block]) == exit_) return -1;
    return idom_[block];
  }

 private:
  void solve() {
    size_t n = cfg_.blocks.size() + 1;
    std::vector<uint32_t> order;  // post-order of the reversed graph from the exit
    std::vector<uint8_t> seen(n, 0);
    std::vector<std::pair<uint32_t, size_t>> stack{{exit_, 0}};
    seen[exit_] = 1;
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next < predecessors_[node].size()) {
        uint32_t p = predecessors_[node][next++];
        if (!seen[p]) {
          seen[p] = 1;
          stack.emplace_back(p, 0);
        }
      } else {
        order.push_back(node);
        stack.pop_back();
      }
    }
    std::vector<uint32_t> number(n, 0);
    for (uint32_t i = 0; i < order.size(); ++i) number[order[i]] = i;
    idom_.assign(n, -1);
    idom_[exit_] = static_cast<int32_t>(exit_);
    bool changed = true;
    while (changed) {
      changed = false;
      for (size_t k = order.size(); k-- > 0;) {
        uint32_t b = order[k];
        if (b == exit_) continue;
        int32_t best = -1;
        auto meet = [&](uint32_t s) {
          if (idom_[s] < 0) return;
          if (best < 0) {
            best = static_cast<int32_t>(s);
            return;
          }
          uint32_t x = static_cast<uint32_t>(best), y = s;
          while (x != y) {
            while (number[x] < number[y]) x = static_cast<uint32_t>(idom_[x]);
            while (number[y] < number[x]) y = static_cast<uint32_t>(idom_[y]);
          }
          best = static_cast<int32_t>(x);
        };
        for (uint32_t s : cfg_.blocks[b].successors)
          if (!dead_[s]) meet(s);
        if (std::find(predecessors_[exit_].begin(), predecessors_[exit_].end(), b) !=
            predecessors_[exit_].end())
          meet(exit_);
        if (best != idom_[b]) {
          idom_[b] = best;
          changed = true;
        }
      }
    }
  }

  Cfg& cfg_;
  uint32_t exit_ = 0;
  std::vector<bool> dead_;
  std::vector<std::vector<uint32_t>> predecessors_;
  std::vector<int32_t> idom_;
};

}  // namespace

bool is_control(Op op) {
  switch (op) {
    case Op::bra:
    case Op::brx:
    case Op::ret:
    case Op::exit:
    case Op::trap:
    case Op::call:
    case Op::bar:
    case Op::barrier:
    case Op::shfl:
    case Op::vote:
    case Op::match:
    case Op::redux:
    case Op::elect:
    case Op::activemask:
    case Op::mma:
    case Op::wmma:
    case Op::wgmma:
    case Op::ldmatrix:
    case Op::stmatrix:
    case Op::movmatrix:
    case Op::alloca_:
    case Op::stackrestore: return true;
    default: return false;
  }
}

Cfg build_cfg(const ptx::Module& module, const ptx::Function& function) {
  Cfg cfg;
  const auto& code = function.instructions;
  std::vector<uint32_t> first_item(code.size() + 1);
  for (uint32_t i = 0; i < code.size(); ++i) {
    first_item[i] = static_cast<uint32_t>(cfg.items.size());
    if (code[i].guard >= 0 && is_control(code[i].op) && code[i].op != Op::bra) cfg.items.push_back({i, true});
    cfg.items.push_back({i, false});
  }
  const uint32_t count = static_cast<uint32_t>(cfg.items.size());
  first_item[code.size()] = count;

  auto label = [&](const ptx::Operand& o) {
    uint64_t target = static_cast<uint64_t>(o.value);
    return first_item[std::min<uint64_t>(target, code.size())];
  };
  std::vector<bool> leader(count + 1, false);
  leader[0] = true;
  for (uint32_t k = 0; k < count; ++k) {
    const ptx::Instruction& i = code[cfg.items[k].instruction];
    if (cfg.items[k].skip) {
      leader[k + 1] = true;
      leader[std::min(k + 2, count)] = true;
      continue;
    }
    if (ends_block(i)) leader[k + 1] = true;
    if (i.op == Op::bra && i.operand_count > 0) leader[label(module.operands_of(i)[0])] = true;
    if (i.op == Op::call) leader[k] = true;  // so that a call can be entered again by part of its lanes
    if (i.op == Op::brx) {
      leader[k] = true;
      for (unsigned o = 0; o < i.operand_count; ++o)
        if (module.operands_of(i)[o].kind == ptx::Operand::Kind::targets)
          for (uint32_t t : function.branch_targets[module.operands_of(i)[o].index].instructions)
            leader[first_item[std::min<size_t>(t, code.size())]] = true;
    }
  }
  // One more, empty, block at the end: where control falls off or a device function returns.
  std::vector<uint32_t> block_at(count + 1);
  for (uint32_t k = 0; k <= count; ++k) {
    if (leader[k] || k == count) {
      if (!cfg.blocks.empty()) cfg.blocks.back().last = k;
      cfg.blocks.push_back({k, k, {}, -1, false});
    }
    block_at[k] = static_cast<uint32_t>(cfg.blocks.size() - 1);
  }
  cfg.block_of_instruction.resize(code.size());
  for (uint32_t i = 0; i < code.size(); ++i) cfg.block_of_instruction[i] = block_at[first_item[i]];

  const uint32_t end = static_cast<uint32_t>(cfg.blocks.size() - 1);
  std::vector<bool> is_exit(cfg.blocks.size(), false);
  uint32_t last_return = end;
  for (uint32_t b = 0; b < end; ++b) {
    CfgBlock& block = cfg.blocks[b];
    const Item& item = cfg.items[block.last - 1];
    const ptx::Instruction& i = code[item.instruction];
    if (item.skip) {
      block.successors = {block_at[std::min(block.last + 1, count)], b + 1};
    } else if (i.op == Op::bra && i.operand_count > 0) {
      block.successors = {block_at[label(module.operands_of(i)[0])]};
      if (i.guard >= 0) block.successors.push_back(b + 1);
    } else if (i.op == Op::brx) {
      for (unsigned o = 0; o < i.operand_count; ++o)
        if (module.operands_of(i)[o].kind == ptx::Operand::Kind::targets)
          for (uint32_t t : function.branch_targets[module.operands_of(i)[o].index].instructions)
            block.successors.push_back(block_at[first_item[std::min<size_t>(t, code.size())]]);
    } else if (leaves(i)) {
      if (i.op == Op::ret && !function.entry)
        block.successors = {end};
      else
        is_exit[b] = true;
      if (i.op == Op::ret) last_return = b;
    } else {
      block.successors = {b + 1};
    }
  }
  is_exit[end] = true;
  // The main way out: the end block where something reaches it, else the last `ret`.
  bool end_reached = !function.entry;
  for (uint32_t b = 0; b < end; ++b)
    for (uint32_t s : cfg.blocks[b].successors) end_reached |= s == end;
  PostDominators post(cfg, is_exit, end_reached ? end : last_return);
  for (uint32_t b = 0; b < end; ++b) {
    CfgBlock& block = cfg.blocks[b];
    const Item& item = cfg.items[block.last - 1];
    bool splits = block.successors.size() > 1 || (!item.skip && code[item.instruction].op == Op::call) ||
                  code[item.instruction].op == Op::brx;
    if (!splits) continue;
    int32_t r = post.of(b);
    if (r < 0) continue;
    // A kernel's bare `ret` is no place to wait for: lanes that get there are done.
    const CfgBlock& target = cfg.blocks[static_cast<uint32_t>(r)];
    if (function.entry && (target.first == target.last || leaves(code[cfg.items[target.first].instruction])))
      continue;
    block.reconverge = r;
    cfg.blocks[static_cast<uint32_t>(r)].join_point = true;
  }
  return cfg;
}

}  // namespace fullwarp::exec

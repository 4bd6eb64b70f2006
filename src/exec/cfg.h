// Control flow of one function: basic blocks over items, and for each block that can split a warp the block
// where its lanes come together again (its immediate post-dominator).
//
// Items are the function's instructions, with guarded control instructions (`@%p bar.sync 0;`) preceded by a
// branch around them, so that only branches part lanes.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/module.h"

namespace fullwarp::exec {

struct Item {
  uint32_t instruction = 0;
  bool skip = false;  // the branch around a guarded instruction: taken where the guard is false
};

struct CfgBlock {
  uint32_t first = 0, last = 0;      // items [first, last)
  std::vector<uint32_t> successors;  // for a conditional branch: [taken, fall through]
  int32_t reconverge = -1;           // block, or -1: lanes meet only at the end of the function
  bool join_point = false;           // some block reconverges here
};

struct Cfg {
  std::vector<Item> items;
  std::vector<CfgBlock> blocks;
  std::vector<uint32_t> block_of_instruction;  // block that begins with or holds the instruction's first item
};

Cfg build_cfg(const ptx::Module& module, const ptx::Function& function);

// Instructions that must run with all their lanes or none: a guard on them becomes a branch.
bool is_control(ptx::Op op);

}  // namespace fullwarp::exec

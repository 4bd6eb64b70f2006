// The control flow of one PTX function: which instructions stand between a branch and the point where its
// ways meet again. Reconvergence in the engine is src/exec's; this is only for the question what a divergent
// branch costs. Functions of more than kMaxBlocks basic blocks have no regions: the analysis is for code that
// people wrote.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/module.h"

namespace fullwarp::rules {

class Flow {
 public:
  Flow(const ptx::Module& module, const ptx::Function& function);

  struct Region {
    std::vector<uint32_t> instructions;  // in order
    bool loop = false;                   // the branch can reach itself inside: it leaves or repeats a loop
    std::vector<uint32_t> entries;       // of a loop: the last instructions of the blocks that lead into it
    bool leaves = false;  // one of its ways leads straight out of the function (a bounds check)
  };
  // What can execute after the branch and before its immediate post-dominator.
  Region region(uint32_t branch) const;

 private:
  static constexpr size_t kMaxBlocks = size_t{1} << 16;
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Block {
    uint32_t begin = 0, end = 0;  // instructions
    std::vector<uint32_t> successors;
    bool exits = false;               // may leave the function
    uint32_t post_dominator = kNone;  // block index; kNone: the end of the function
  };

  void find_blocks(const ptx::Module& module, const ptx::Function& function);
  void find_post_dominators();

  std::vector<Block> blocks_;
  std::vector<uint32_t> block_of_;  // by instruction
};

}  // namespace fullwarp::rules

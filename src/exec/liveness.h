// Which registers hold a value where a thread may stand still while others of its warp run.
#pragma once

#include <vector>

#include "exec/cfg.h"
#include "ptx/module.h"

namespace fullwarp::exec {

struct Liveness {
  // A thread may read it before it has written it: a new frame has to clear these and no others.
  std::vector<bool> read_before_written;
  // Live at a block's start or around an instruction at which lanes wait for each other. While some lanes
  // run, nobody will ever read what the others have in any other register: it may be overwritten.
  std::vector<bool> kept_waiting;
};
// By register of the function.
Liveness find_liveness(const ptx::Module& module, const ptx::Function& function, const Cfg& cfg);

// Can the running lanes only go on from this instruction to the next one? False for jumps, calls, barriers,
// and whatever lanes or warps do together.
bool goes_straight_on(const ptx::Instruction& instruction);

}  // namespace fullwarp::exec

// Which registers a thread may read before it has written them: the only ones that a new frame has to clear.
#pragma once

#include <vector>

#include "exec/cfg.h"
#include "ptx/module.h"

namespace fullwarp::exec {

// By register of the function.
std::vector<bool> read_before_written(const ptx::Module& module, const ptx::Function& function, const Cfg& cfg);

}  // namespace fullwarp::exec

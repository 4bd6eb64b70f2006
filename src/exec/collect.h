// What the workers of a launch counted and saw, added up.
#pragma once

#include <cstdint>

#include "exec/exec.h"
#include "exec/sweep.h"
#include "exec/worker.h"

namespace fullwarp::exec {

// The launch's profile, all buffers of `memory` in it; the sweep is done. Counts that workers still hold back
// are flushed.
profile::KernelProfile collect(const Program& program, const DeviceMemory& memory, const Workers& workers,
                               const Sweep& sweep, const Launch& launch, uint64_t blocks_run);

}  // namespace fullwarp::exec

// What the workers of a launch counted and saw, added up.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "exec/exec.h"
#include "exec/worker.h"

namespace fullwarp::exec {

using Workers = std::vector<std::unique_ptr<Worker>>;

// The launch's profile, all buffers of `memory` in it. Counts that workers still hold back are flushed.
profile::KernelProfile collect(const Program& program, const DeviceMemory& memory, const Workers& workers,
                               const Launch& launch, uint64_t blocks_run);

}  // namespace fullwarp::exec

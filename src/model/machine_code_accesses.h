// The second half of machine_accesses: what the rules said, corrected by the machine code itself.
#pragma once

#include <vector>

#include "cubin/cubin.h"
#include "model/machine_accesses.h"
#include "ptx/module.h"

namespace fullwarp::model {

void apply_machine_code(const ptx::Module& module, const ptx::Function& function,
                        const cubin::Kernel& machine_code, std::vector<MachineAccess>& accesses);

}  // namespace fullwarp::model

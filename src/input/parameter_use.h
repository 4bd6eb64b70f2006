// What a kernel does with parameters that have no C++ type.
#pragma once

#include <vector>

#include "input/resolve.h"

namespace fullwarp::input {

// Sets `use` of each parameter of 64 bits without a type.
void note_uses(const ptx::Module& module, const ptx::Function& function,
               std::vector<ParameterInfo>* parameters);

}  // namespace fullwarp::input

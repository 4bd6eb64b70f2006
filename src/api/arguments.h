// A launch's arguments as the kernel's parameter block: the kernel's parameters give types, sizes and places.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "api/workspace.h"

namespace fullwarp::api {

// In-place buffers are made in the workspace. The errors name the parameter by its position and C++ type.
Result<std::vector<std::byte>> parameter_block(const ptx::Function& kernel,
                                               const std::vector<input::Argument>& arguments,
                                               Workspace& workspace, const std::string& base_dir);

}  // namespace fullwarp::api

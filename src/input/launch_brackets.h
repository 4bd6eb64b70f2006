// nvcc takes `kernel << <grid, block> >> (...)`, as formatters that do not know CUDA write it; clang wants
// the brackets in one piece.
#pragma once

#include <string>
#include <string_view>

namespace fullwarp::input {

// The source with every launch's brackets in one piece; all other characters stay in their line and column.
std::string with_joined_launch_brackets(std::string_view source);

}  // namespace fullwarp::input

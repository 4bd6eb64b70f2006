// The measured tables of src/shapes/data/, which the build puts into the program.
#pragma once

#include <string_view>

namespace fullwarp::shapes {

// The text of NAME.csv; empty if there is none.
std::string_view embedded_table(std::string_view name);

}  // namespace fullwarp::shapes

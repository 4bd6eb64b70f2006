// Text that the build puts into the program (cmake/Embed.cmake).
#pragma once

#include <string_view>

namespace fullwarp::shapes {

// The measured tables of src/shapes/data/: the text of NAME.csv; empty if there is none.
std::string_view embedded_table(std::string_view name);

// The pages of docs/rules/shapes/; empty if there is none of this rule.
std::string_view embedded_page(std::string_view rule_id);

}  // namespace fullwarp::shapes

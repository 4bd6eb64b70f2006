// The pages of docs/rules/ as they are compiled into the program (cmake/Embed.cmake).
#pragma once

#include <string_view>

namespace fullwarp::rules {

std::string_view embedded_page(std::string_view rule_id);  // empty if there is none

}  // namespace fullwarp::rules

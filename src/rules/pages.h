// The pages of docs/rules/ as they are compiled into the program.
#pragma once

#include <span>
#include <string_view>

namespace fullwarp::rules {

struct Page {
  std::string_view id, text;
};

std::span<const Page> pages();

}  // namespace fullwarp::rules

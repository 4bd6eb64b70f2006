// Words and numbers as findings write them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/warp.h"
#include "mem/warp_access.h"

namespace fullwarp::rules {

std::string grouped(uint64_t value);                             // 1048576 -> "1 048 576"
std::string counted(uint64_t value, std::string_view singular);  // 1 -> "1 request", 2000 -> "2 000 requests"
std::string percent(double share);                               // 0.97 -> "97 %", 0.004 -> "0.4 %"
std::string decimal(double value);                               // 4.0 -> "4", 28.66 -> "28.7"
std::string lanes_text(LaneMask mask);                     // "lane 3", "lanes 0-31", "lanes 0, 2, 4, ..., 30"
std::string sequence(const std::vector<int64_t>& values);  // at most three values, then "..."
std::string dims(const Dim3& d);                           // "(3, 0, 0)"
std::string joined(const std::vector<std::string>& names);  // "a, b and c"

// What an access does, for "lanes 0-31 read words ...".
std::string_view verb(mem::AccessKind kind);  // "read", "write", "update"
std::string_view noun(mem::AccessKind kind);  // "load", "store", "atomic", ...
bool is_load(mem::AccessKind kind);           // load, async_copy (from global), matrix_load

}  // namespace fullwarp::rules

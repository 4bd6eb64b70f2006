// Pieces of text that several renderers need.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "report/report.h"

namespace fullwarp::report {

std::string grouped(uint64_t value);            // 1048576 -> "1 048 576"
std::string to_text(const MetricValue& value);  // as a plain number
std::string to_text(const diag::Value& value);  // integers grouped, doubles with up to four digits
std::string dims(const Dim3& d);                // (32), (32,8), (4,4,2)
std::string hash_text(uint64_t hash);           // 16 hex digits

// A line of a file's text, counted from 1, without its line end; empty if there is none.
std::string_view line_of(std::string_view text, uint32_t line);

// Control characters would let a file under test steer the terminal: they become '?', but for tabs and,
// where `keep_newlines`, line ends.
std::string printable(std::string_view text, bool keep_newlines = false);

}  // namespace fullwarp::report

// A finding is data: a stable rule id, a place, evidence in numbers. Renderers in src/report/ only render.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace fullwarp::diag {

enum class Level : uint8_t { note, warning, error };

struct Place {
  std::string file;         // as the compiler named it; the PTX file where there is no line information
  uint32_t line = 0;        // from 1; 0: unknown
  uint32_t column = 0;      // from 1; 0: unknown (renderers point at the whole line)
  uint32_t end_column = 0;  // one past the last marked column; 0: only `column`
};

struct Note {
  std::string text;
  std::optional<Place> place;  // for example "inlined here"
};

using Value = std::variant<int64_t, double, std::string>;

struct Finding {
  std::string rule;  // "bank-conflict"; ids are listed in src/rules/
  Level level = Level::warning;
  std::string kernel;  // demangled
  Place place;
  std::string message;  // what was observed: lower case, no full stop
  std::string label;    // stands after the caret: "lanes 0-31 read words 0, 32, 64, ...: all in bank 0"
  std::vector<Note> notes;
  std::vector<std::pair<std::string, Value>> evidence;  // in display order: {"requests", 32768}
  double share = 0;            // 0..1: part of the kernel's total (of what, a note says) that this concerns
  std::string fix;             // what to do, in words and code; may be empty
  std::optional<double> gain;  // factor (>= 1), only where it follows from exact counts
  std::string gain_of;         // what becomes fewer by it: "global-memory sectors"
  uint64_t count = 1;          // occurrences folded into this one
};

}  // namespace fullwarp::diag

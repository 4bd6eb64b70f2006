// Where in a line an instruction comes from. nvcc's `.loc` names a statement, not an operand: for
// `out[i] = tile[y][x] % n` every instruction says "line 12, column 3". What an instruction does narrows it
// to the name or operator that makes it.
//
//   narrow_column("  out[i] = tile[y][x] % n;", {.names = {"tile"}})   ->  columns 12 to 15
//   narrow_column("  out[i] = tile[y][x] % n;", {.operators = {"%"}})  ->  the operator
//
// Comments, strings and longer words that hold the name do not count. It is text search: a name that a macro
// makes is not found.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fullwarp::input {

struct ColumnRange {
  uint32_t begin = 0, end = 0;  // from 1, `end` one past the last; 0: not found
  bool found() const { return begin != 0; }
  bool operator==(const ColumnRange&) const = default;
};

struct Hint {
  std::vector<std::string> names = {};      // variables, best guess first: "tile"
  std::vector<std::string> operators = {};  // "%", "/", "%=", "&&", "?"
  std::vector<std::string> calls = {};      // functions: "__syncthreads", "atomicAdd"
  unsigned occurrence = 0;  // the n-th, from 0, of those in the line; one too many gives the last
  uint32_t from_column =
      0;  // only at or after this column: the compiler's own, where it is finer than a line
  enum class Use : uint8_t { any, read, written } use = Use::any;  // of a name: left of an assignment, or not
};

// The first of calls, names, operators (in this order) that the line has.
ColumnRange narrow_column(std::string_view line, const Hint& hint);

// The whole statement part of a line: from its first to its last character that is no blank or comment.
ColumnRange code_columns(std::string_view line);

}  // namespace fullwarp::input

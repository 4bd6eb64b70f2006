// What a finding reads from the source itself: where a name stands in a line, how an array is declared,
// whether a type is a struct. Kernels and their parameters are input/source_kernels.h's, columns
// input/columns.h's. It is text search, not a C++ parser: every answer may be "unknown", and a finding then
// says the same thing without the name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diag/finding.h"
#include "diag/source_cache.h"

namespace fullwarp::rules {

// An array `[__shared__] TYPE NAME[DIM][DIM]...`.
struct ArrayDeclaration {
  uint32_t line = 0;
  bool shared = false;
  std::string type;  // "float"
  std::vector<std::string>
      dims;  // as written: "32", "TILE + 1"; one empty string for `extern __shared__ x[]`
  std::vector<std::optional<uint64_t>> sizes;  // their values, where they follow from the file
};

// The nearest declaration of `name` at or above `line` of `file`.
std::optional<ArrayDeclaration> find_array(diag::SourceCache& sources, const std::string& file, uint32_t line,
                                           std::string_view name);

// Whether the type of a pointer, as written ("const Particle *"), is known to be a struct: a vector type of
// CUDA's, or one that the file or a file it includes declares. A template's parameter is not, and neither is
// `typedef float real`.
bool is_struct(diag::SourceCache& sources, const std::string& file, std::string_view type);

// The value of an integer expression of literals, + - * / ( ), and names that the file defines as constants
// (#define, const, constexpr); nothing if it has anything else in it.
std::optional<uint64_t> constant_value(diag::SourceCache& sources, const std::string& file,
                                       std::string_view expression);

// Columns (from 1) of `name` as a whole word in a line's code, comments left out.
std::vector<uint32_t> columns_of(std::string_view line, std::string_view name);

// Puts names into the order in which the line has them; those it does not have come last.
void sort_by_column(std::vector<std::string>& names, std::string_view line);

// Names that a line indexes, in order and once each: "out", "tile" in `out[i] = tile[j] + tile[k];`.
std::vector<std::string> subscripted_names(std::string_view line);

// The operand after `%` or `/`: "n" in `i % n`, "2 * s" in `tid % (2 * s)`, if the line has exactly one of
// the operators; `column` is the operator's.
struct Divisor {
  std::string text;
  uint32_t column = 0, end_column = 0;
};
std::optional<Divisor> divisor_in(std::string_view line, char op);

}  // namespace fullwarp::rules

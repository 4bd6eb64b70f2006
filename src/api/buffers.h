// Buffers of launch statements as typed values: compared, summed up and printed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "input/launch.h"
#include "report/report.h"

namespace fullwarp::api {

// Element `index` of a buffer's bytes.
double real_at(std::span<const std::byte> bytes, input::ElementType type, uint64_t index);
// As a user reads it: integers exactly, floats with as many digits as tell neighbours apart.
std::string text_at(std::span<const std::byte> bytes, input::ElementType type, uint64_t index);

uint64_t fnv1a64(std::span<const std::byte> bytes);

report::Output summarise(const std::string& name, input::ElementType type, std::span<const std::byte> bytes);

struct Comparison {
  uint64_t compared = 0, different = 0;
  uint64_t first_index = 0;                  // of the first that differs
  std::optional<double> largest_difference;  // absolute, over those that differ; empty for NaN alone
};

// Elements are equal if their values are (0 equals -0; a NaN equals a NaN), or with tolerances if
// |got - expected| <= atol + rtol |expected|. Both spans hold the same number of elements of `type`.
struct Tolerance {
  double rtol = 0, atol = 0;
};
Comparison compare(std::span<const std::byte> got, std::span<const std::byte> expected,
                   input::ElementType type, std::optional<Tolerance> tolerance);

}  // namespace fullwarp::api

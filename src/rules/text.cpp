#include "rules/text.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace fullwarp::rules {

std::string grouped(uint64_t value) {
  std::string digits = std::to_string(value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), " ");
  return digits;
}

std::string counted(uint64_t value, std::string_view singular) {
  return fmt::format("{} {}{}", grouped(value), singular, value == 1 ? "" : "s");
}

std::string percent(double share) {
  const double value = 100 * share;
  if (value >= 1 || value == 0) return fmt::format("{:.0f} %", std::floor(value + 0.5));
  return value < 0.1 ? "less than 0.1 %" : fmt::format("{:.1f} %", value);
}

std::string decimal(double value) {
  const double rounded = std::round(value * 10) / 10;
  return rounded == std::floor(rounded) ? fmt::format("{:.0f}", rounded) : fmt::format("{:.1f}", rounded);
}

std::string lanes_text(LaneMask mask) {
  if (mask == 0) return "no lane";
  const unsigned first = static_cast<unsigned>(std::countr_zero(mask));
  const unsigned last = 31 - static_cast<unsigned>(std::countl_zero(mask));
  const unsigned count = lane_count(mask);
  if (count == 1) return fmt::format("lane {}", first);
  if (last - first + 1 == count) return fmt::format("lanes {}-{}", first, last);
  std::string text = "lanes ";
  unsigned written = 0;
  for (unsigned lane = first; lane <= last; ++lane) {
    if (!(mask >> lane & 1)) continue;
    if (written == 3 && count > 4) return text + fmt::format(", ..., {}", last);
    text += fmt::format("{}{}", written++ ? ", " : "", lane);
  }
  return text;
}

std::string sequence(const std::vector<int64_t>& values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i == 3) return text + ", ...";
    text += fmt::format("{}{}", i ? ", " : "", values[i]);
  }
  return text;
}

std::string dims(const Dim3& d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); }

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

std::string_view verb(mem::AccessKind kind) {
  switch (kind) {
    case mem::AccessKind::load:
    case mem::AccessKind::matrix_load:
    case mem::AccessKind::tensor_load:
    case mem::AccessKind::async_copy: return "read";
    case mem::AccessKind::store:
    case mem::AccessKind::matrix_store: return "write";
    case mem::AccessKind::atomic:
    case mem::AccessKind::reduction: return "update";
  }
  return "access";
}

std::string_view noun(mem::AccessKind kind) {
  switch (kind) {
    case mem::AccessKind::load: return "load";
    case mem::AccessKind::matrix_load: return "matrix load";
    case mem::AccessKind::tensor_load: return "tensor load";
    case mem::AccessKind::async_copy: return "asynchronous copy";
    case mem::AccessKind::store: return "store";
    case mem::AccessKind::matrix_store: return "matrix store";
    case mem::AccessKind::atomic: return "atomic";
    case mem::AccessKind::reduction: return "reduction";
  }
  return "access";
}

bool is_load(mem::AccessKind kind) { return verb(kind) == "read"; }

}  // namespace fullwarp::rules

#include "api/buffers.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "input/small_float.h"

namespace fullwarp::api {

using input::ElementType;

namespace {

template <class T>
T load(std::span<const std::byte> bytes, uint64_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

// Calls visit(read), where read(bytes, i) gives element i as the type's own C++ value.
template <class Visit>
auto with_reader(ElementType type, Visit visit) {
  using Bytes = std::span<const std::byte>;
  switch (type) {
    case ElementType::i8: return visit(load<int8_t>);
    case ElementType::i16: return visit(load<int16_t>);
    case ElementType::i32: return visit(load<int32_t>);
    case ElementType::i64: return visit(load<int64_t>);
    case ElementType::u8: return visit(load<uint8_t>);
    case ElementType::u16: return visit(load<uint16_t>);
    case ElementType::u32: return visit(load<uint32_t>);
    case ElementType::u64: return visit(load<uint64_t>);
    case ElementType::f16:
      return visit([](Bytes bytes, uint64_t i) { return input::f16_value(load<uint16_t>(bytes, i)); });
    case ElementType::bf16:
      return visit([](Bytes bytes, uint64_t i) { return input::bf16_value(load<uint16_t>(bytes, i)); });
    case ElementType::f32: return visit(load<float>);
    case ElementType::f64: break;
  }
  return visit(load<double>);
}

}  // namespace

double real_at(std::span<const std::byte> bytes, ElementType type, uint64_t index) {
  return with_reader(type, [&](auto read) { return static_cast<double>(read(bytes, index)); });
}

std::string text_at(std::span<const std::byte> bytes, ElementType type, uint64_t index) {
  return with_reader(type, [&](auto read) {
    const auto value = read(bytes, index);
    if constexpr (sizeof(value) == 1)
      return fmt::format("{}", static_cast<int>(value));  // not a character
    else
      return fmt::format("{}", value);
  });
}

uint64_t fnv1a64(std::span<const std::byte> bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (std::byte b : bytes) hash = (hash ^ static_cast<uint64_t>(b)) * 0x100000001b3;
  return hash;
}

report::Output summarise(const std::string& name, ElementType type, std::span<const std::byte> bytes) {
  report::Output output;
  output.buffer = name;
  output.type = input::to_string(type);
  output.count = bytes.size() / input::size_bytes(type);
  output.hash = fnv1a64(bytes);
  with_reader(type, [&](auto read) {
    using Value = decltype(read(bytes, 0));
    std::optional<Value> least, greatest;
    for (uint64_t i = 0; i < output.count; ++i) {
      const Value value = read(bytes, i);
      if (value != value) {
        ++output.nan;
        continue;
      }
      if (!least || value < *least) least = value;
      if (!greatest || value > *greatest) greatest = value;
    }
    if (least) output.min = static_cast<double>(*least);
    if (greatest) output.max = static_cast<double>(*greatest);
  });
  return output;
}

Comparison compare(std::span<const std::byte> got, std::span<const std::byte> expected, ElementType type,
                   std::optional<Tolerance> tolerance) {
  Comparison result;
  result.compared = got.size() / input::size_bytes(type);
  with_reader(type, [&](auto read) {
    for (uint64_t i = 0; i < result.compared; ++i) {
      const auto a = read(got, i), b = read(expected, i);
      if (a == b || (a != a && b != b)) continue;
      const double difference = std::abs(static_cast<double>(a) - static_cast<double>(b));
      // An infinite difference passes no tolerance, not even that of an infinite reference.
      if (tolerance && std::isfinite(difference) &&
          difference <= tolerance->atol + tolerance->rtol * std::abs(static_cast<double>(b)))
        continue;
      if (result.different++ == 0) result.first_index = i;
      if (!std::isnan(difference) && !(result.largest_difference >= difference))
        result.largest_difference = difference;
    }
  });
  return result;
}

}  // namespace fullwarp::api

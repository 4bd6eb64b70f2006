// From a scalar function to one over lanes: the signature is read off the function's type.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "libdevice/libdevice.h"

namespace fullwarp::libdevice {

template <class T>
constexpr Type type_of() {
  if constexpr (std::is_void_v<T>) return Type::kNone;
  if constexpr (std::is_same_v<T, int32_t> || std::is_same_v<T, uint32_t>) return Type::kI32;
  if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, uint64_t>) return Type::kI64;
  if constexpr (std::is_same_v<T, float>) return Type::kF32;
  if constexpr (std::is_same_v<T, double>) return Type::kF64;
  if constexpr (std::is_same_v<T, int32_t*>) return Type::kOutI32;
  if constexpr (std::is_same_v<T, float*>) return Type::kOutF32;
  if constexpr (std::is_same_v<T, double*>) return Type::kOutF64;
  if constexpr (std::is_same_v<T, const float*>) return Type::kInF32;
  if constexpr (std::is_same_v<T, const double*>) return Type::kInF64;
  if constexpr (std::is_same_v<T, const void*>) return Type::kIgnored;
}

template <class T>
T lane_argument(void* array, unsigned lane) {
  if constexpr (std::is_same_v<T, const void*>) {
    return nullptr;
  } else if constexpr (std::is_same_v<T, const float*> || std::is_same_v<T, const double*>) {
    return static_cast<const T*>(array)[lane];
  } else if constexpr (std::is_pointer_v<T>) {
    return static_cast<T>(array) + lane;
  } else {
    return static_cast<const T*>(array)[lane];
  }
}

template <class T>
T canonical(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::isnan(value) ? std::bit_cast<float>(0x7fffffffu) : value;
  } else {
    return value;
  }
}

template <auto F>
struct Adapt;

template <class R, class... A, R (*F)(A...)>
struct Adapt<F> {
  static void run(LaneMask mask, void* result, void* const* args) {
    run_indexed(mask, result, args, std::index_sequence_for<A...>{});
  }

  static constexpr Function entry(std::string_view name) {
    static_assert(sizeof...(A) <= kMaxParameters);
    return Function{name, type_of<R>(), sizeof...(A), {type_of<A>()...}, &run};
  }

 private:
  template <size_t... I>
  static void run_indexed(LaneMask mask, void* result, void* const* args, std::index_sequence<I...>) {
    for (LaneMask left = mask; left != 0; left &= left - 1) {
      const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
      if constexpr (std::is_void_v<R>) {
        F(lane_argument<A>(args[I], lane)...);
      } else {
        static_cast<R*>(result)[lane] = canonical(F(lane_argument<A>(args[I], lane)...));
      }
    }
  }
};

// The families, each a table of its own translation unit.
std::span<const Function> integer_functions();
std::span<const Function> conversion_functions();
std::span<const Function> rounded_functions();
std::span<const Function> elementary_functions();
std::span<const Function> special_functions();

}  // namespace fullwarp::libdevice

// Between the decoding of conversions of narrow formats and their lane loops (ops_narrow.cpp).
#pragma once

#include <cstdint>

namespace fullwarp::exec {

enum class FrequentConversion : uint8_t {
  f16_to_f32,
  bf16_to_f32,
  f32_to_f16,
  f32_to_bf16,
  f32_to_tf32,
  f32_to_f16x2,
  f32_to_bf16x2,
};

}  // namespace fullwarp::exec

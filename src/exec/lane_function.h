// Rare operations: a function is called for each active lane. Slower than the lane loops by far, but nothing
// is compiled for each form and target; what matters for speed is in the ops_* files.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>

#include "exec/decode.h"

namespace fullwarp::exec {

// From the bits of up to three operands to the bits of the result.
using LaneFunction = std::function<uint64_t(uint64_t a, uint64_t b, uint64_t c)>;

struct LaneOperand {
  uint32_t row = 0;
  bool wide = false;  // 64-bit lanes
};

// dst[lane] = f(a[lane], b[lane], c[lane]) cut to `bytes` (2, 4 or 8) of the destination.
void emit_lane_function(Decoder& d, LaneFunction f, uint32_t dst, unsigned bytes,
                        std::initializer_list<LaneOperand> operands);

}  // namespace fullwarp::exec

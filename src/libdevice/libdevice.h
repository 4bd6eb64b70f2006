// The math functions that clang's PTX calls by name (`call __nv_sinf`), executed here over the lanes of a
// warp.
//
// NVIDIA's libdevice is linked into PTX by nvcc and by clang with a toolkit; with our headers (src/cudainc)
// its calls stay in the PTX, and the engine looks them up in this table. Values pass through arrays of 32
// lanes. Where the device function writes through a pointer (`__nv_remquof(float, float, int*)`), run()
// writes the lanes of an array and the engine stores them at the pointers, so that its checks of addresses
// see every access.
//
// Accuracy: single precision is computed in double and rounded once, double by the host's libm or in extended
// precision, so results are at least as close to the true value as CUDA documents; integer, bit, rounding and
// conversion functions are exact, directed rounding included. A NaN result of a float function is 0x7fffffff.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/warp.h"

namespace fullwarp::libdevice {

// A value's type, or what a pointer parameter stands for.
enum class Type : uint8_t {
  kNone,  // result of a void function
  kI32,   // int32_t or uint32_t lanes; 16-bit values (half bits) travel in it, zero-extended
  kI64,   // int64_t or uint64_t lanes
  kF32,
  kF64,
  kOutI32,   // int* to one value: args[i] is an int32_t array to be written
  kOutF32,   // float* to one value
  kOutF64,   // double* to one value
  kInF32,    // const float* to as many values as argument 0 says: args[i] is an array of const float*
  kInF64,    // const double* likewise
  kIgnored,  // a pointer that is not followed (the tag of nan): args[i] may be null
};

inline constexpr unsigned kMaxParameters = 4;
// The most elements that __nv_norm and its kin read; a larger or negative count is taken as 0.
inline constexpr int32_t kMaxNormCount = 1 << 20;

struct Function {
  std::string_view name;  // with the "__nv_" prefix
  Type result;
  uint8_t parameter_count;
  Type parameters[kMaxParameters];
  // For each lane in `mask`: result[lane] and the out arrays from the arguments. Lanes outside stay
  // untouched. The arrays hold 32 elements of the parameter's type; `result` may be null for kNone.
  void (*run)(LaneMask mask, void* result, void* const* args);
};

// Null when libdevice has no such function.
const Function* find(std::string_view name);

// Sorted by name.
std::span<const Function> all();

}  // namespace fullwarp::libdevice

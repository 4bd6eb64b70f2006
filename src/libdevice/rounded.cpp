// Arithmetic and conversions to floating point with a rounding direction. The direction is set in the FPU for
// the loop over the lanes; this file is compiled with -frounding-math, so that no operation is done before
// the program runs or moved across the change.
#include <cfenv>
#include <cmath>
#include <cstdint>

#include "libdevice/adapt.h"

namespace fullwarp::libdevice {
namespace {

template <class T>
T add(T a, T b) {
  return a + b;
}
template <class T>
T subtract(T a, T b) {
  return a - b;
}
template <class T>
T multiply(T a, T b) {
  return a * b;
}
template <class T>
T divide(T a, T b) {
  return a / b;
}
template <class T>
T reciprocal(T a) {
  return T{1} / a;
}
template <class T>
T root(T a) {
  return std::sqrt(a);
}
template <class T>
T fused(T a, T b, T c) {
  return std::fma(a, b, c);
}
template <class To, class From>
To convert(From a) {
  return static_cast<To>(a);
}

// The host has no instruction from uint64_t to floating point before AVX-512; the halves' sum rounds once.
template <class To>
To convert_u64(uint64_t a) {
  const uint64_t kept = a >> 63 == 0 ? a : a >> 1 | (a & 1);
  const To value = static_cast<To>(static_cast<int64_t>(kept));
  return a >> 63 == 0 ? value : value * To{2};
}

template <auto F, int kDirection>
struct Rounded {
  static void run(LaneMask mask, void* result, void* const* args) {
    const int before = std::fegetround();
    std::fesetround(kDirection);
    Adapt<F>::run(mask, result, args);
    std::fesetround(before);
  }
  static constexpr Function entry(std::string_view name) {
    Function f = Adapt<F>::entry(name);
    f.run = &run;
    return f;
  }
};

#define FOUR(PREFIX, F)                                       \
  Rounded<F, FE_TONEAREST>::entry("__nv_" PREFIX "_rn"),      \
      Rounded<F, FE_TOWARDZERO>::entry("__nv_" PREFIX "_rz"), \
      Rounded<F, FE_UPWARD>::entry("__nv_" PREFIX "_ru"),     \
      Rounded<F, FE_DOWNWARD>::entry("__nv_" PREFIX "_rd")

constexpr Function kFunctions[] = {
    FOUR("fadd", &add<float>),
    FOUR("fsub", &subtract<float>),
    FOUR("fmul", &multiply<float>),
    FOUR("fdiv", &divide<float>),
    FOUR("frcp", &reciprocal<float>),
    FOUR("fsqrt", &root<float>),
    FOUR("fmaf", &fused<float>),
    FOUR("fmaf_ieee", &fused<float>),
    FOUR("dadd", &add<double>),
    FOUR("dsub", &subtract<double>),
    FOUR("dmul", &multiply<double>),
    FOUR("ddiv", &divide<double>),
    FOUR("drcp", &reciprocal<double>),
    FOUR("dsqrt", &root<double>),
    FOUR("fma", &fused<double>),
    FOUR("double2float", (&convert<float, double>)),
    FOUR("int2float", (&convert<float, int32_t>)),
    FOUR("uint2float", (&convert<float, uint32_t>)),
    FOUR("ll2float", (&convert<float, int64_t>)),
    FOUR("ull2float", &convert_u64<float>),
    FOUR("ll2double", (&convert<double, int64_t>)),
    FOUR("ull2double", &convert_u64<double>),
};
#undef FOUR

}  // namespace

std::span<const Function> rounded_functions() { return kFunctions; }

}  // namespace fullwarp::libdevice

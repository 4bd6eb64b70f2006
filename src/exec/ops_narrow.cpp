// cvt with the narrow floating formats (f16, bf16, tf32, fp8), and cvt.pack. The frequent ones (f32 <-> f16 and
// bf16, to nearest) are lane loops; the others go through f32, a step at a time, by lane functions: narrow
// formats fit in f32, and f64 and integers come as an f32 rounded to odd, so that one rounding decides.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/ops_narrow.cpp"
#include "exec/targets.h"
#include "hwy/foreach_target.h"
// After foreach_target:
#include "exec/handlers.h"
#include "exec/lane_function.h"
#include "exec/lanes-inl.h"
#include "exec/semantics/convert.h"
#include "exec/semantics/narrow_formats.h"

HWY_BEFORE_NAMESPACE();
namespace fullwarp::exec {
namespace HWY_NAMESPACE {
namespace {

template <auto kFunction, class D, class A>
Handlers convert1() { return {unary<Fn<kFunction>, true, D, A>, nullptr}; }

// Overloads and templates need a name of their own to be bound.
HWY_INLINE uint16_t to_f16(float x) { return sem::f16_from_f32(x); }
HWY_INLINE uint16_t to_bf16(float x) { return sem::bf16_from_f32(x); }
HWY_INLINE uint32_t to_f16x2(float a, float b) {
  return uint32_t{sem::f16_from_f32(a)} << 16 | sem::f16_from_f32(b);
}
HWY_INLINE uint32_t to_bf16x2(float a, float b) {
  return uint32_t{sem::bf16_from_f32(a)} << 16 | sem::bf16_from_f32(b);
}
HWY_INLINE uint32_t to_tf32(float x) { return sem::tf32_from_f32<sem::NarrowRounding::rna>(x); }

}  // namespace

Handlers frequent_conversion_target(FrequentConversion which) {
  switch (which) {
    case FrequentConversion::f16_to_f32: return convert1<sem::f32_from_f16, float, uint16_t>();
    case FrequentConversion::bf16_to_f32: return convert1<sem::f32_from_bf16, float, uint16_t>();
    case FrequentConversion::f32_to_f16: return convert1<to_f16, uint16_t, float>();
    case FrequentConversion::f32_to_bf16: return convert1<to_bf16, uint16_t, float>();
    case FrequentConversion::f32_to_tf32: return convert1<to_tf32, uint32_t, float>();
    case FrequentConversion::f32_to_f16x2: return {binary<Fn<to_f16x2>, true, uint32_t, float, float>, nullptr};
    default: return {binary<Fn<to_bf16x2>, true, uint32_t, float, float>, nullptr};
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fullwarp::exec
HWY_AFTER_NAMESPACE();

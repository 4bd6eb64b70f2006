// From a PTX type to a C++ type, for generic lambdas that pick handlers: by_integer(type, [](auto x) {...}).
#if defined(FULLWARP_EXEC_TYPES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FULLWARP_EXEC_TYPES_INL_H_
#undef FULLWARP_EXEC_TYPES_INL_H_
#else
#define FULLWARP_EXEC_TYPES_INL_H_
#endif

#include <cstdint>

#include "exec/micro_op.h"
#include "ptx/module.h"

HWY_BEFORE_NAMESPACE();
namespace fullwarp::exec {
namespace HWY_NAMESPACE {

template <class F>
Handlers by_integer(ptx::Type type, F f) {
  using ptx::Type;
  switch (type) {
    case Type::u16:
    case Type::b16: return f(uint16_t{});
    case Type::s16: return f(int16_t{});
    case Type::u32:
    case Type::b32: return f(uint32_t{});
    case Type::s32: return f(int32_t{});
    case Type::u64:
    case Type::b64: return f(uint64_t{});
    case Type::s64: return f(int64_t{});
    default: return {};
  }
}

template <class F>
Handlers by_bits(ptx::Type type, F f) {
  switch (ptx::size_bytes(type)) {
    case 1:
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
    default: return {};
  }
}

template <class F>
Handlers by_integer32(ptx::Type type, F f) {
  return type == ptx::Type::s32 ? f(int32_t{}) : f(uint32_t{});
}

}  // namespace HWY_NAMESPACE
}  // namespace fullwarp::exec
HWY_AFTER_NAMESPACE();

#endif

// __isGlobal and its kin: which space a generic address lies in; __cvta_generic_to_shared and its kin: the address
// within the space and back. LLVM numbers the spaces: 1 global, 3 shared, 4 constant, 5 local.
#pragma once

#define FW_PURE static __device__ __forceinline__ __attribute__((const))
FW_PURE unsigned int __isGlobal(const void* p) { return __nvvm_isspacep_global(p); }
FW_PURE unsigned int __isShared(const void* p) { return __nvvm_isspacep_shared(p); }
FW_PURE unsigned int __isConstant(const void* p) { return __nvvm_isspacep_const(p); }
FW_PURE unsigned int __isLocal(const void* p) { return __nvvm_isspacep_local(p); }
FW_PURE unsigned int __isGridConstant(const void* p) {
  unsigned int yes;
  asm("{ .reg .pred p; isspacep.param p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(yes) : "l"(p));
  return yes;
}
#undef FW_PURE

#define FW_CVTA(SPACE, NUMBER)                                                                      \
  static __device__ __forceinline__ size_t __cvta_generic_to_##SPACE(const void* p) {               \
    return (size_t)(__attribute__((address_space(NUMBER))) void*)p;                                 \
  }                                                                                                 \
  static __device__ __forceinline__ void* __cvta_##SPACE##_to_generic(size_t p) {                   \
    return (void*)(__attribute__((address_space(NUMBER))) void*)p;                                  \
  }
FW_CVTA(global, 1)
FW_CVTA(shared, 3)
FW_CVTA(constant, 4)
FW_CVTA(local, 5)
#undef FW_CVTA

// __isGlobal and its kin: which space a generic address lies in.
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

// atomicAdd and its kin for the integer and floating types, at device, block (_block) and system (_system) scope.
// The half types are in cuda_fp16.h and cuda_bf16.h.
#pragma once

#define FW_D static __device__ __forceinline__
#define FW_ATOMIC2(OP, SUFFIX, TYPE, CLANG) \
  FW_D TYPE atomic##OP##SUFFIX(TYPE* p, TYPE v) { return CLANG##Atomic##OP##SUFFIX(p, v); }

// FW_SCOPE(suffix): every function at one scope.
#define FW_SCOPE(SUFFIX)                                                                                          \
  FW_ATOMIC2(Add, SUFFIX, int, __i)                                                                               \
  FW_ATOMIC2(Add, SUFFIX, unsigned int, __u)                                                                      \
  FW_ATOMIC2(Add, SUFFIX, unsigned long long, __ull)                                                              \
  FW_ATOMIC2(Add, SUFFIX, float, __f)                                                                             \
  FW_ATOMIC2(Add, SUFFIX, double, __d)                                                                            \
  FW_D int atomicSub##SUFFIX(int* p, int v) { return __iAtomicAdd##SUFFIX(p, (int)(0u - (unsigned)v)); }          \
  FW_D unsigned atomicSub##SUFFIX(unsigned* p, unsigned v) { return __uAtomicAdd##SUFFIX(p, 0u - v); }            \
  FW_ATOMIC2(Exch, SUFFIX, int, __i)                                                                              \
  FW_ATOMIC2(Exch, SUFFIX, unsigned int, __u)                                                                     \
  FW_ATOMIC2(Exch, SUFFIX, unsigned long long, __ull)                                                             \
  FW_ATOMIC2(Exch, SUFFIX, float, __f)                                                                            \
  FW_ATOMIC2(Min, SUFFIX, int, __i)                                                                               \
  FW_ATOMIC2(Min, SUFFIX, unsigned int, __u)                                                                      \
  FW_ATOMIC2(Min, SUFFIX, long long, __ill)                                                                       \
  FW_ATOMIC2(Min, SUFFIX, unsigned long long, __ull)                                                              \
  FW_ATOMIC2(Max, SUFFIX, int, __i)                                                                               \
  FW_ATOMIC2(Max, SUFFIX, unsigned int, __u)                                                                      \
  FW_ATOMIC2(Max, SUFFIX, long long, __ill)                                                                       \
  FW_ATOMIC2(Max, SUFFIX, unsigned long long, __ull)                                                              \
  FW_ATOMIC2(Inc, SUFFIX, unsigned int, __u)                                                                      \
  FW_ATOMIC2(Dec, SUFFIX, unsigned int, __u)                                                                      \
  FW_BITWISE(And, SUFFIX)                                                                                         \
  FW_BITWISE(Or, SUFFIX)                                                                                          \
  FW_BITWISE(Xor, SUFFIX)                                                                                         \
  FW_D int atomicCAS##SUFFIX(int* p, int compare, int v) { return __iAtomicCAS##SUFFIX(p, compare, v); }          \
  FW_D unsigned atomicCAS##SUFFIX(unsigned* p, unsigned compare, unsigned v) {                                    \
    return __uAtomicCAS##SUFFIX(p, compare, v);                                                                   \
  }                                                                                                               \
  FW_D unsigned long long atomicCAS##SUFFIX(unsigned long long* p, unsigned long long compare,                    \
                                            unsigned long long v) {                                               \
    return __ullAtomicCAS##SUFFIX(p, compare, v);                                                                 \
  }

#define FW_BITWISE(OP, SUFFIX)                                                                                    \
  FW_ATOMIC2(OP, SUFFIX, int, __i)                                                                                \
  FW_ATOMIC2(OP, SUFFIX, unsigned int, __u)                                                                       \
  FW_ATOMIC2(OP, SUFFIX, unsigned long long, __ull)

FW_SCOPE()
FW_SCOPE(_block)
FW_SCOPE(_system)
#undef FW_SCOPE
#undef FW_BITWISE
#undef FW_ATOMIC2

// 16 bits, and 16 bytes (sm_90).
#define FW_ATOMIC_WIDTHS(SUFFIX, PTX)                                                                             \
  FW_D unsigned short atomicCAS##SUFFIX(unsigned short* p, unsigned short compare, unsigned short v) {            \
    unsigned short old;                                                                                           \
    asm volatile("atom" PTX ".cas.b16 %0, [%1], %2, %3;" : "=h"(old) : "l"(p), "h"(compare), "h"(v) : "memory");  \
    return old;                                                                                                   \
  }                                                                                                               \
  template <class T, class = typename FwWhen<sizeof(T) == 16>::Yes>                                               \
  FW_D T atomicCAS##SUFFIX(T* p, T compare, T v) {                                                                \
    const ulonglong2 c = FW_BITS(compare), n = FW_BITS(v);                                                        \
    ulonglong2 old;                                                                                               \
    asm volatile("{ .reg .b128 c, n, o; mov.b128 c, {%3, %4}; mov.b128 n, {%5, %6}; atom" PTX                     \
                 ".cas.b128 o, [%2], c, n; mov.b128 {%0, %1}, o; }"                                               \
                 : "=l"(old.x), "=l"(old.y)                                                                       \
                 : "l"(p), "l"(c.x), "l"(c.y), "l"(n.x), "l"(n.y)                                                 \
                 : "memory");                                                                                     \
    return __builtin_bit_cast(T, old);                                                                            \
  }                                                                                                               \
  template <class T, class = typename FwWhen<sizeof(T) == 16>::Yes>                                               \
  FW_D T atomicExch##SUFFIX(T* p, T v) {                                                                          \
    const ulonglong2 n = FW_BITS(v);                                                                              \
    ulonglong2 old;                                                                                               \
    asm volatile("{ .reg .b128 n, o; mov.b128 n, {%3, %4}; atom" PTX                                              \
                 ".exch.b128 o, [%2], n; mov.b128 {%0, %1}, o; }"                                                 \
                 : "=l"(old.x), "=l"(old.y)                                                                       \
                 : "l"(p), "l"(n.x), "l"(n.y)                                                                     \
                 : "memory");                                                                                     \
    return __builtin_bit_cast(T, old);                                                                            \
  }
#define FW_BITS(V) __builtin_bit_cast(ulonglong2, V)

template <bool>
struct FwWhen {};
template <>
struct FwWhen<true> {
  using Yes = void;
};

FW_ATOMIC_WIDTHS(, "")
FW_ATOMIC_WIDTHS(_block, ".cta")
FW_ATOMIC_WIDTHS(_system, ".sys")
#undef FW_ATOMIC_WIDTHS
#undef FW_BITS
#undef FW_D

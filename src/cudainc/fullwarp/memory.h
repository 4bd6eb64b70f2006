// Loads and stores with a cache hint: __ldca, __ldcg, __ldcs, __ldlu, __ldcv, __stwb, __stcg, __stcs, __stwt.
// __ldg is clang's.
#pragma once

#define FW_D static __device__ __forceinline__
// A scalar: its PTX type, the type and constraint of the register that carries it.
#define FW_SCALAR(TYPE, PTX, CARRIER, C)                                                             \
  FW_D TYPE FW_LOAD(const TYPE* p) {                                                                 \
    CARRIER r;                                                                                       \
    asm volatile("ld.global." FW_HINT "." PTX " %0, [%1];" : "=" C(r) : "l"(p) FW_CLOBBER);          \
    return (TYPE)r;                                                                                  \
  }
#define FW_PAIR(TYPE, PTX, CARRIER, C)                                                               \
  FW_D TYPE FW_LOAD(const TYPE* p) {                                                                 \
    CARRIER a, b;                                                                                    \
    asm volatile("ld.global." FW_HINT ".v2." PTX " {%0, %1}, [%2];"                                  \
                 : "=" C(a), "=" C(b)                                                                \
                 : "l"(p) FW_CLOBBER);                                                               \
    return TYPE{(decltype(TYPE::x))a, (decltype(TYPE::x))b};                                         \
  }
#define FW_QUAD(TYPE, PTX, CARRIER, C)                                                               \
  FW_D TYPE FW_LOAD(const TYPE* p) {                                                                 \
    CARRIER a, b, c, d;                                                                              \
    asm volatile("ld.global." FW_HINT ".v4." PTX " {%0, %1, %2, %3}, [%4];"                          \
                 : "=" C(a), "=" C(b), "=" C(c), "=" C(d)                                            \
                 : "l"(p) FW_CLOBBER);                                                               \
    return TYPE{(decltype(TYPE::x))a, (decltype(TYPE::x))b, (decltype(TYPE::x))c, (decltype(TYPE::x))d}; \
  }
#define FW_STORE_SCALAR(TYPE, PTX, CARRIER, C)                                                       \
  FW_D void FW_STORE(TYPE* p, TYPE v) {                                                              \
    asm volatile("st.global." FW_HINT "." PTX " [%0], %1;" ::"l"(p), C((CARRIER)v) : "memory");      \
  }
#define FW_STORE_PAIR(TYPE, PTX, CARRIER, C)                                                         \
  FW_D void FW_STORE(TYPE* p, TYPE v) {                                                              \
    asm volatile("st.global." FW_HINT ".v2." PTX " [%0], {%1, %2};" ::"l"(p), C((CARRIER)v.x),       \
                 C((CARRIER)v.y)                                                                     \
                 : "memory");                                                                        \
  }
#define FW_STORE_QUAD(TYPE, PTX, CARRIER, C)                                                         \
  FW_D void FW_STORE(TYPE* p, TYPE v) {                                                              \
    asm volatile("st.global." FW_HINT ".v4." PTX " [%0], {%1, %2, %3, %4};" ::"l"(p),                \
                 C((CARRIER)v.x), C((CARRIER)v.y), C((CARRIER)v.z), C((CARRIER)v.w)                  \
                 : "memory");                                                                        \
  }

// FW_TYPES(one, two, four): every type that CUDA has these functions for.
#define FW_TYPES(ONE, TWO, FOUR)                    \
  ONE(char, "s8", int, "r")                         \
  ONE(signed char, "s8", int, "r")                  \
  ONE(short, "s16", short, "h")                     \
  ONE(int, "s32", int, "r")                         \
  ONE(long, "s64", long, "l")                       \
  ONE(long long, "s64", long long, "l")             \
  ONE(unsigned char, "u8", unsigned, "r")           \
  ONE(unsigned short, "u16", unsigned short, "h")   \
  ONE(unsigned int, "u32", unsigned, "r")           \
  ONE(unsigned long, "u64", unsigned long, "l")     \
  ONE(unsigned long long, "u64", unsigned long long, "l") \
  ONE(float, "f32", float, "f")                     \
  ONE(double, "f64", double, "d")                   \
  TWO(char2, "s8", int, "r")                        \
  TWO(short2, "s16", short, "h")                    \
  TWO(int2, "s32", int, "r")                        \
  TWO(longlong2, "s64", long long, "l")             \
  TWO(uchar2, "u8", unsigned, "r")                  \
  TWO(ushort2, "u16", unsigned short, "h")          \
  TWO(uint2, "u32", unsigned, "r")                  \
  TWO(ulonglong2, "u64", unsigned long long, "l")   \
  TWO(float2, "f32", float, "f")                    \
  TWO(double2, "f64", double, "d")                  \
  FOUR(char4, "s8", int, "r")                       \
  FOUR(short4, "s16", short, "h")                   \
  FOUR(int4, "s32", int, "r")                       \
  FOUR(uchar4, "u8", unsigned, "r")                 \
  FOUR(ushort4, "u16", unsigned short, "h")         \
  FOUR(uint4, "u32", unsigned, "r")                 \
  FOUR(float4, "f32", float, "f")

#define FW_LOAD __ldca
#define FW_HINT "ca"
#define FW_CLOBBER
FW_TYPES(FW_SCALAR, FW_PAIR, FW_QUAD)
#undef FW_LOAD
#undef FW_HINT
#undef FW_CLOBBER

#define FW_LOAD __ldcg
#define FW_HINT "cg"
#define FW_CLOBBER
FW_TYPES(FW_SCALAR, FW_PAIR, FW_QUAD)
#undef FW_LOAD
#undef FW_HINT
#undef FW_CLOBBER

#define FW_LOAD __ldcs
#define FW_HINT "cs"
#define FW_CLOBBER
FW_TYPES(FW_SCALAR, FW_PAIR, FW_QUAD)
#undef FW_LOAD
#undef FW_HINT
#undef FW_CLOBBER

#define FW_LOAD __ldlu
#define FW_HINT "lu"
#define FW_CLOBBER : "memory"
FW_TYPES(FW_SCALAR, FW_PAIR, FW_QUAD)
#undef FW_LOAD
#undef FW_HINT
#undef FW_CLOBBER

#define FW_LOAD __ldcv
#define FW_HINT "cv"
#define FW_CLOBBER : "memory"
FW_TYPES(FW_SCALAR, FW_PAIR, FW_QUAD)
#undef FW_LOAD
#undef FW_HINT
#undef FW_CLOBBER

#define FW_STORE __stwb
#define FW_HINT "wb"
FW_TYPES(FW_STORE_SCALAR, FW_STORE_PAIR, FW_STORE_QUAD)
#undef FW_STORE
#undef FW_HINT

#define FW_STORE __stcg
#define FW_HINT "cg"
FW_TYPES(FW_STORE_SCALAR, FW_STORE_PAIR, FW_STORE_QUAD)
#undef FW_STORE
#undef FW_HINT

#define FW_STORE __stcs
#define FW_HINT "cs"
FW_TYPES(FW_STORE_SCALAR, FW_STORE_PAIR, FW_STORE_QUAD)
#undef FW_STORE
#undef FW_HINT

#define FW_STORE __stwt
#define FW_HINT "wt"
FW_TYPES(FW_STORE_SCALAR, FW_STORE_PAIR, FW_STORE_QUAD)
#undef FW_STORE
#undef FW_HINT

#undef FW_SCALAR
#undef FW_PAIR
#undef FW_QUAD
#undef FW_STORE_SCALAR
#undef FW_STORE_PAIR
#undef FW_STORE_QUAD
#undef FW_TYPES
#undef FW_D

// Macros shared by cuda_fp16.h and cuda_bf16.h. Each intrinsic is one PTX instruction on a 16-bit register ("h") or
// on a pair in a 32-bit register ("r"), written as inline PTX so that the result is the machine's. Functions are
// __host__ __device__ as in CUDA; only the device side is ever generated.
// No include guard: undef_half_macros.h ends each use.

#define FW_HD static __host__ __device__ __forceinline__
#define FW_D static __device__ __forceinline__
#define FW_U16(V) __builtin_bit_cast(unsigned short, V)
#define FW_U32(V) __builtin_bit_cast(unsigned int, V)

#define FW_UNARY(NAME, T, BITS, C, INSTRUCTION)                                          \
  FW_HD T NAME(const T a) {                                                              \
    BITS r;                                                                              \
    asm(INSTRUCTION " %0, %1;" : "=" C(r) : C(__builtin_bit_cast(BITS, a)));             \
    return __builtin_bit_cast(T, r);                                                     \
  }
#define FW_BINARY(NAME, T, BITS, C, INSTRUCTION)                                         \
  FW_HD T NAME(const T a, const T b) {                                                   \
    BITS r;                                                                              \
    asm(INSTRUCTION " %0, %1, %2;"                                                       \
        : "=" C(r)                                                                       \
        : C(__builtin_bit_cast(BITS, a)), C(__builtin_bit_cast(BITS, b)));               \
    return __builtin_bit_cast(T, r);                                                     \
  }
#define FW_TERNARY(NAME, T, BITS, C, INSTRUCTION)                                        \
  FW_HD T NAME(const T a, const T b, const T c) {                                        \
    BITS r;                                                                              \
    asm(INSTRUCTION " %0, %1, %2, %3;"                                                   \
        : "=" C(r)                                                                       \
        : C(__builtin_bit_cast(BITS, a)), C(__builtin_bit_cast(BITS, b)), C(__builtin_bit_cast(BITS, c))); \
    return __builtin_bit_cast(T, r);                                                     \
  }
#define FW_UNARY1(NAME, T, I) FW_UNARY(NAME, T, unsigned short, "h", I)
#define FW_UNARY2(NAME, T2, I) FW_UNARY(NAME, T2, unsigned int, "r", I)
#define FW_BINARY1(NAME, T, I) FW_BINARY(NAME, T, unsigned short, "h", I)
#define FW_BINARY2(NAME, T2, I) FW_BINARY(NAME, T2, unsigned int, "r", I)
#define FW_TERNARY1(NAME, T, I) FW_TERNARY(NAME, T, unsigned short, "h", I)
#define FW_TERNARY2(NAME, T2, I) FW_TERNARY(NAME, T2, unsigned int, "r", I)

// A conversion: FROM in a register C1, through PTX INSTRUCTION, to TO in a register of type BITS and constraint C0.
#define FW_CVT(NAME, TO, BITS, C0, FROM, FROM_BITS, C1, INSTRUCTION)                     \
  FW_HD TO NAME(const FROM a) {                                                          \
    BITS r;                                                                              \
    asm(INSTRUCTION " %0, %1;" : "=" C0(r) : C1(__builtin_bit_cast(FROM_BITS, a)));      \
    return __builtin_bit_cast(TO, r);                                                    \
  }

// The operators, once the intrinsics of a type exist. T::fw_one() is 1 in that type.
#define FW_OPERATORS(T)                                                     \
  FW_HD T operator+(const T& a, const T& b) { return __hadd(a, b); }        \
  FW_HD T operator-(const T& a, const T& b) { return __hsub(a, b); }        \
  FW_HD T operator*(const T& a, const T& b) { return __hmul(a, b); }        \
  FW_HD T operator/(const T& a, const T& b) { return __hdiv(a, b); }        \
  FW_HD bool operator==(const T& a, const T& b) { return __heq(a, b); }     \
  FW_HD bool operator!=(const T& a, const T& b) { return __hneu(a, b); }    \
  FW_HD bool operator>(const T& a, const T& b) { return __hgt(a, b); }      \
  FW_HD bool operator<(const T& a, const T& b) { return __hlt(a, b); }      \
  FW_HD bool operator>=(const T& a, const T& b) { return __hge(a, b); }     \
  FW_HD bool operator<=(const T& a, const T& b) { return __hle(a, b); }     \
  FW_OPERATORS_UNARY(T, __hneg)

#define FW_OPERATORS2(T)                                                    \
  FW_HD T operator+(const T& a, const T& b) { return __hadd2(a, b); }       \
  FW_HD T operator-(const T& a, const T& b) { return __hsub2(a, b); }       \
  FW_HD T operator*(const T& a, const T& b) { return __hmul2(a, b); }       \
  FW_HD T operator/(const T& a, const T& b) { return __h2div(a, b); }       \
  FW_HD bool operator==(const T& a, const T& b) { return __hbeq2(a, b); }   \
  FW_HD bool operator!=(const T& a, const T& b) { return __hbneu2(a, b); }  \
  FW_HD bool operator>(const T& a, const T& b) { return __hbgt2(a, b); }    \
  FW_HD bool operator<(const T& a, const T& b) { return __hblt2(a, b); }    \
  FW_HD bool operator>=(const T& a, const T& b) { return __hbge2(a, b); }   \
  FW_HD bool operator<=(const T& a, const T& b) { return __hble2(a, b); }   \
  FW_OPERATORS_UNARY(T, __hneg2)

#define FW_OPERATORS_UNARY(T, NEG)                                          \
  FW_HD T& operator+=(T& a, const T& b) { return a = a + b; }               \
  FW_HD T& operator-=(T& a, const T& b) { return a = a - b; }               \
  FW_HD T& operator*=(T& a, const T& b) { return a = a * b; }               \
  FW_HD T& operator/=(T& a, const T& b) { return a = a / b; }               \
  FW_HD T& operator++(T& a) { return a += T(T::fw_one()); }                 \
  FW_HD T& operator--(T& a) { return a -= T(T::fw_one()); }                 \
  FW_HD T operator++(T& a, const int) {                                     \
    const T old = a;                                                        \
    ++a;                                                                    \
    return old;                                                             \
  }                                                                         \
  FW_HD T operator--(T& a, const int) {                                     \
    const T old = a;                                                        \
    --a;                                                                    \
    return old;                                                             \
  }                                                                         \
  FW_HD T operator+(const T& a) { return a; }                               \
  FW_HD T operator-(const T& a) { return NEG(a); }

// Comparisons of pairs out of those of single values: a pair of 1.0 and 0.0, a mask of 16 bits each, all of both.
#define FW_COMPARE2(T, T2, OP)                                                                                  \
  FW_HD T2 __h##OP##2(const T2 a, const T2 b) {                                                                 \
    return T2(T(__h##OP(a.x, b.x) ? 1.0f : 0.0f), T(__h##OP(a.y, b.y) ? 1.0f : 0.0f));                          \
  }                                                                                                             \
  FW_HD unsigned int __h##OP##2_mask(const T2 a, const T2 b) {                                                  \
    return (__h##OP(a.x, b.x) ? 0xffffu : 0u) | (__h##OP(a.y, b.y) ? 0xffff0000u : 0u);                         \
  }                                                                                                             \
  FW_HD bool __hb##OP##2(const T2 a, const T2 b) { return __h##OP(a.x, b.x) && __h##OP(a.y, b.y); }
#define FW_COMPARES2(T, T2)  \
  FW_COMPARE2(T, T2, eq)     \
  FW_COMPARE2(T, T2, ne)     \
  FW_COMPARE2(T, T2, le)     \
  FW_COMPARE2(T, T2, ge)     \
  FW_COMPARE2(T, T2, lt)     \
  FW_COMPARE2(T, T2, gt)     \
  FW_COMPARE2(T, T2, equ)    \
  FW_COMPARE2(T, T2, neu)    \
  FW_COMPARE2(T, T2, leu)    \
  FW_COMPARE2(T, T2, geu)    \
  FW_COMPARE2(T, T2, ltu)    \
  FW_COMPARE2(T, T2, gtu)

// Shuffles, cached loads and stores: the bits of the value travel.
#define FW_SHUFFLES(T, BITS)                                                                              \
  FW_D T __shfl_sync(unsigned mask, T v, int lane, int width = 32) {                                      \
    return __builtin_bit_cast(T, (BITS)__shfl_sync(mask, (unsigned)__builtin_bit_cast(BITS, v), lane, width)); \
  }                                                                                                       \
  FW_D T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32) {                             \
    return __builtin_bit_cast(T, (BITS)__shfl_up_sync(mask, (unsigned)__builtin_bit_cast(BITS, v), delta, width)); \
  }                                                                                                       \
  FW_D T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32) {                           \
    return __builtin_bit_cast(T, (BITS)__shfl_down_sync(mask, (unsigned)__builtin_bit_cast(BITS, v), delta, width)); \
  }                                                                                                       \
  FW_D T __shfl_xor_sync(unsigned mask, T v, int lanes, int width = 32) {                                 \
    return __builtin_bit_cast(T, (BITS)__shfl_xor_sync(mask, (unsigned)__builtin_bit_cast(BITS, v), lanes, width)); \
  }
#define FW_CACHED_LOAD(T, BITS, NAME) \
  FW_D T NAME(const T* p) { return __builtin_bit_cast(T, NAME((const BITS*)(const void*)p)); }
#define FW_CACHED_STORE(T, BITS, NAME) \
  FW_D void NAME(T* p, const T v) { NAME((BITS*)(void*)p, __builtin_bit_cast(BITS, v)); }
#define FW_CACHED(T, BITS)          \
  FW_CACHED_LOAD(T, BITS, __ldg)    \
  FW_CACHED_LOAD(T, BITS, __ldca)   \
  FW_CACHED_LOAD(T, BITS, __ldcg)   \
  FW_CACHED_LOAD(T, BITS, __ldcs)   \
  FW_CACHED_LOAD(T, BITS, __ldlu)   \
  FW_CACHED_LOAD(T, BITS, __ldcv)   \
  FW_CACHED_STORE(T, BITS, __stwb)  \
  FW_CACHED_STORE(T, BITS, __stcg)  \
  FW_CACHED_STORE(T, BITS, __stcs)  \
  FW_CACHED_STORE(T, BITS, __stwt)

// nvcuda::wmma: matrix products of a warp, as PTX wmma instructions. A fragment holds its registers' values in x[];
// which lane holds which element is the machine's secret, as in CUDA.
//
//   instruction            A, B registers          C, D
//   f16   three shapes     8 x f16x2, 8 x f16x2    4 x f16x2 or 8 x f32
//   bf16  16x16x16         4, 4                    8 x f32       (8x32x16: 2, 8; 32x8x16: 8, 2)
//   s8 u8 16x16x16         2, 2 of 4 bytes each    8 x s32       (8x32x16: 1, 4; 32x8x16: 4, 1)
//   tf32  16x16x8          4, 4                    8 x f32
//   f64   8x8x4            1, 1                    2 x f64
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

namespace nvcuda {
namespace wmma {

#define FW_D __device__ __forceinline__

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

FW_D float __float_to_tf32(float v) {
  unsigned r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(v));
  return __builtin_bit_cast(float, r);
}

namespace details {
// How an element is stored, and how many a fragment holds. Undefined combinations fail to compile.
template <class T>
struct Storage {
  using type = T;
};
template <>
struct Storage<precision::tf32> {
  using type = float;
};
template <class Use, int M, int N, int K, class T>
struct Count;
template <class Use, int M, int N, int K, class T>
struct Load;
template <int M, int N, int K, class T>
struct Store;
template <int M, int N, int K, class A, class B, class C, class D>
struct Mma;
template <class T>
struct IsRow;
template <>
struct IsRow<row_major> {
  static constexpr bool value = true;
};
template <>
struct IsRow<col_major> {
  static constexpr bool value = false;
};
}  // namespace details

template <class Use, int M, int N, int K, class T, class Layout = void>
class fragment {
 public:
  using element_type = T;
  using storage_element_type = typename details::Storage<T>::type;
  static constexpr int num_elements = details::Count<Use, M, N, K, T>::value;
  static constexpr int num_storage_elements = num_elements;
  storage_element_type x[num_elements];
};

namespace details {
#define FW_OUT1(C) "=" C(r[0])
#define FW_OUT2(C) "=" C(r[0]), "=" C(r[1])
#define FW_OUT4(C) "=" C(r[0]), "=" C(r[1]), "=" C(r[2]), "=" C(r[3])
#define FW_OUT8(C) FW_OUT4(C), "=" C(r[4]), "=" C(r[5]), "=" C(r[6]), "=" C(r[7])
#define FW_IN1(C, V) C(V[0])
#define FW_IN2(C, V) C(V[0]), C(V[1])
#define FW_IN4(C, V) C(V[0]), C(V[1]), C(V[2]), C(V[3])
#define FW_IN8(C, V) FW_IN4(C, V), C(V[4]), C(V[5]), C(V[6]), C(V[7])
// Operand lists that start at operand 0, after one operand, and the two operands after a list.
#define FW_LIST1 "{%0}"
#define FW_LIST2 "{%0, %1}"
#define FW_LIST4 "{%0, %1, %2, %3}"
#define FW_LIST8 "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define FW_AFTER1 ", [%1], %2;"
#define FW_AFTER2 ", [%2], %3;"
#define FW_AFTER4 ", [%4], %5;"
#define FW_AFTER8 ", [%8], %9;"

// COUNT registers of type REG (constraint C) hold ELEMENTS elements of type T.
#define FW_LOAD(USE, LETTER, M, N, K, T, SHAPE, PTX, COUNT, REG, C, ELEMENTS)                                      \
  template <>                                                                                                      \
  struct Count<USE, M, N, K, T> {                                                                                  \
    static constexpr int value = ELEMENTS;                                                                         \
  };                                                                                                               \
  template <>                                                                                                      \
  struct Load<USE, M, N, K, T> {                                                                                   \
    static FW_D void run(void* x, const void* p, unsigned pitch, bool row) {                                       \
      REG r[COUNT];                                                                                                \
      if (row) {                                                                                                   \
        asm volatile("wmma.load." LETTER ".sync.aligned.row." SHAPE "." PTX " " FW_LIST##COUNT FW_AFTER##COUNT     \
                     : FW_OUT##COUNT(C)                                                                            \
                     : "l"(p), "r"(pitch)                                                                          \
                     : "memory");                                                                                  \
      } else {                                                                                                     \
        asm volatile("wmma.load." LETTER ".sync.aligned.col." SHAPE "." PTX " " FW_LIST##COUNT FW_AFTER##COUNT     \
                     : FW_OUT##COUNT(C)                                                                            \
                     : "l"(p), "r"(pitch)                                                                          \
                     : "memory");                                                                                  \
      }                                                                                                            \
      __builtin_memcpy(x, r, sizeof(r));                                                                           \
    }                                                                                                              \
  };
#define FW_STORE(M, N, K, T, SHAPE, PTX, LIST, COUNT, REG, C)                                                      \
  template <>                                                                                                      \
  struct Store<M, N, K, T> {                                                                                       \
    static FW_D void run(const void* x, void* p, unsigned pitch, bool row) {                                       \
      REG r[COUNT];                                                                                                \
      __builtin_memcpy(r, x, sizeof(r));                                                                           \
      if (row) {                                                                                                   \
        asm volatile("wmma.store.d.sync.aligned.row." SHAPE "." PTX " [%0], " LIST ", %1;" ::"l"(p), "r"(pitch),   \
                     FW_IN##COUNT(C, r)                                                                            \
                     : "memory");                                                                                  \
      } else {                                                                                                     \
        asm volatile("wmma.store.d.sync.aligned.col." SHAPE "." PTX " [%0], " LIST ", %1;" ::"l"(p), "r"(pitch),   \
                     FW_IN##COUNT(C, r)                                                                            \
                     : "memory");                                                                                  \
      }                                                                                                            \
    }                                                                                                              \
  };
#define FW_STORE_LIST2 "{%2, %3}"
#define FW_STORE_LIST4 "{%2, %3, %4, %5}"
#define FW_STORE_LIST8 "{%2, %3, %4, %5, %6, %7, %8, %9}"

// Accumulators.
#define FW_ACCUMULATOR(M, N, K, SHAPE, T, PTX, COUNT, REG, C, ELEMENTS)                         \
  FW_LOAD(accumulator, "c", M, N, K, T, SHAPE, PTX, COUNT, REG, C, ELEMENTS)                    \
  FW_STORE(M, N, K, T, SHAPE, PTX, FW_STORE_LIST##COUNT, COUNT, REG, C)
#define FW_ACCUMULATORS(M, N, K, SHAPE)                             \
  FW_ACCUMULATOR(M, N, K, SHAPE, __half, "f16", 4, unsigned, "r", 8) \
  FW_ACCUMULATOR(M, N, K, SHAPE, float, "f32", 8, float, "f", 8)     \
  FW_ACCUMULATOR(M, N, K, SHAPE, int, "s32", 8, int, "r", 8)
FW_ACCUMULATORS(16, 16, 16, "m16n16k16")
FW_ACCUMULATORS(32, 8, 16, "m32n8k16")
FW_ACCUMULATORS(8, 32, 16, "m8n32k16")
FW_ACCUMULATOR(16, 16, 8, "m16n16k8", float, "f32", 8, float, "f", 8)
FW_ACCUMULATOR(8, 8, 4, "m8n8k4", double, "f64", 2, double, "d", 2)

// Multiplicands.
#define FW_AB(M, N, K, SHAPE, T, PTX, COUNT_A, COUNT_B, REG, C, ELEMENTS_A, ELEMENTS_B)  \
  FW_LOAD(matrix_a, "a", M, N, K, T, SHAPE, PTX, COUNT_A, REG, C, ELEMENTS_A)            \
  FW_LOAD(matrix_b, "b", M, N, K, T, SHAPE, PTX, COUNT_B, REG, C, ELEMENTS_B)
FW_AB(16, 16, 16, "m16n16k16", __half, "f16", 8, 8, unsigned, "r", 16, 16)
FW_AB(32, 8, 16, "m32n8k16", __half, "f16", 8, 8, unsigned, "r", 16, 16)
FW_AB(8, 32, 16, "m8n32k16", __half, "f16", 8, 8, unsigned, "r", 16, 16)
FW_AB(16, 16, 16, "m16n16k16", __nv_bfloat16, "bf16", 4, 4, unsigned, "r", 8, 8)
FW_AB(32, 8, 16, "m32n8k16", __nv_bfloat16, "bf16", 8, 2, unsigned, "r", 16, 4)
FW_AB(8, 32, 16, "m8n32k16", __nv_bfloat16, "bf16", 2, 8, unsigned, "r", 4, 16)
FW_AB(16, 16, 16, "m16n16k16", signed char, "s8", 2, 2, unsigned, "r", 8, 8)
FW_AB(32, 8, 16, "m32n8k16", signed char, "s8", 4, 1, unsigned, "r", 16, 4)
FW_AB(8, 32, 16, "m8n32k16", signed char, "s8", 1, 4, unsigned, "r", 4, 16)
FW_AB(16, 16, 16, "m16n16k16", unsigned char, "u8", 2, 2, unsigned, "r", 8, 8)
FW_AB(32, 8, 16, "m32n8k16", unsigned char, "u8", 4, 1, unsigned, "r", 16, 4)
FW_AB(8, 32, 16, "m8n32k16", unsigned char, "u8", 1, 4, unsigned, "r", 4, 16)
FW_AB(16, 16, 8, "m16n16k8", precision::tf32, "tf32", 4, 4, unsigned, "r", 4, 4)
FW_AB(8, 8, 4, "m8n8k4", double, "f64", 1, 1, double, "d", 1, 1)

// Products. ORDER is the text of the operand lists, whose numbers follow from the counts.
#define FW_MMA_FORM(LAYOUTS, SHAPE, TYPES, ORDER, ND, CD, NA, NB, CAB, NC, CC)                                     \
  asm volatile("wmma.mma.sync.aligned." LAYOUTS "." SHAPE TYPES " " ORDER ";"                                      \
               : FW_OUT##ND(CD)                                                                                    \
               : FW_IN##NA(CAB, a), FW_IN##NB(CAB, b), FW_IN##NC(CC, c))
#define FW_MMA(M, N, K, SHAPE, A, B, C, D, TYPES, SATURATED, ORDER, ND, RD, CD, NA, NB, RAB, CAB, NC, RC, CC)      \
  template <>                                                                                                      \
  struct Mma<M, N, K, A, B, C, D> {                                                                                \
    static FW_D void run(void* dx, const void* ax, const void* bx, const void* cx, bool a_row, bool b_row,         \
                         bool saturate) {                                                                          \
      RD r[ND];                                                                                                    \
      RAB a[NA], b[NB];                                                                                            \
      RC c[NC];                                                                                                    \
      __builtin_memcpy(a, ax, sizeof(a));                                                                          \
      __builtin_memcpy(b, bx, sizeof(b));                                                                          \
      __builtin_memcpy(c, cx, sizeof(c));                                                                          \
      if (saturate) {                                                                                              \
        if (a_row && b_row) {                                                                                      \
          FW_MMA_FORM("row.row", SHAPE, SATURATED, ORDER, ND, CD, NA, NB, CAB, NC, CC);                            \
        } else if (a_row) {                                                                                        \
          FW_MMA_FORM("row.col", SHAPE, SATURATED, ORDER, ND, CD, NA, NB, CAB, NC, CC);                            \
        } else if (b_row) {                                                                                        \
          FW_MMA_FORM("col.row", SHAPE, SATURATED, ORDER, ND, CD, NA, NB, CAB, NC, CC);                            \
        } else {                                                                                                   \
          FW_MMA_FORM("col.col", SHAPE, SATURATED, ORDER, ND, CD, NA, NB, CAB, NC, CC);                            \
        }                                                                                                          \
      } else {                                                                                                     \
        if (a_row && b_row) {                                                                                      \
          FW_MMA_FORM("row.row", SHAPE, TYPES, ORDER, ND, CD, NA, NB, CAB, NC, CC);                                \
        } else if (a_row) {                                                                                        \
          FW_MMA_FORM("row.col", SHAPE, TYPES, ORDER, ND, CD, NA, NB, CAB, NC, CC);                                \
        } else if (b_row) {                                                                                        \
          FW_MMA_FORM("col.row", SHAPE, TYPES, ORDER, ND, CD, NA, NB, CAB, NC, CC);                                \
        } else {                                                                                                   \
          FW_MMA_FORM("col.col", SHAPE, TYPES, ORDER, ND, CD, NA, NB, CAB, NC, CC);                                \
        }                                                                                                          \
      }                                                                                                            \
      __builtin_memcpy(dx, r, sizeof(r));                                                                          \
    }                                                                                                              \
  };

// D, A, B, C operand lists by register counts: FW_ORDER_<D>_<A>_<B>_<C>.
#define FW_ORDER_8_8_8_8                                                                                           \
  "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11, %12, %13, %14, %15}, "                                     \
  "{%16, %17, %18, %19, %20, %21, %22, %23}, {%24, %25, %26, %27, %28, %29, %30, %31}"
#define FW_ORDER_4_8_8_4                                                                                           \
  "{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15, %16, %17, %18, %19}, "               \
  "{%20, %21, %22, %23}"
#define FW_ORDER_8_8_8_4                                                                                           \
  "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11, %12, %13, %14, %15}, "                                     \
  "{%16, %17, %18, %19, %20, %21, %22, %23}, {%24, %25, %26, %27}"
#define FW_ORDER_4_8_8_8                                                                                           \
  "{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15, %16, %17, %18, %19}, "               \
  "{%20, %21, %22, %23, %24, %25, %26, %27}"
#define FW_ORDER_8_4_4_8                                                                                           \
  "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, "                                   \
  "{%16, %17, %18, %19, %20, %21, %22, %23}"
#define FW_ORDER_8_8_2_8                                                                                           \
  "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17}, "                         \
  "{%18, %19, %20, %21, %22, %23, %24, %25}"
#define FW_ORDER_8_2_8_8                                                                                           \
  "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13, %14, %15, %16, %17}, "                         \
  "{%18, %19, %20, %21, %22, %23, %24, %25}"
#define FW_ORDER_8_2_2_8                                                                                           \
  "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, {%10, %11}, {%12, %13, %14, %15, %16, %17, %18, %19}"
#define FW_ORDER_8_4_1_8                                                                                           \
  "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, {%12}, {%13, %14, %15, %16, %17, %18, %19, %20}"
#define FW_ORDER_8_1_4_8                                                                                           \
  "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8}, {%9, %10, %11, %12}, {%13, %14, %15, %16, %17, %18, %19, %20}"

#define FW_HALF_MMA(M, N, K, SHAPE, C, D, TYPES, ND, RD, CD, NC, RC, CC)                                           \
  FW_MMA(M, N, K, SHAPE, __half, __half, C, D, TYPES, TYPES ".satfinite", FW_ORDER_##ND##_8_8_##NC, ND, RD, CD, 8, \
         8, unsigned, "r", NC, RC, CC)
#define FW_HALF_MMAS(M, N, K, SHAPE)                                                            \
  FW_HALF_MMA(M, N, K, SHAPE, float, float, ".f32.f32", 8, float, "f", 8, float, "f")           \
  FW_HALF_MMA(M, N, K, SHAPE, __half, __half, ".f16.f16", 4, unsigned, "r", 4, unsigned, "r")   \
  FW_HALF_MMA(M, N, K, SHAPE, __half, float, ".f32.f16", 8, float, "f", 4, unsigned, "r")       \
  FW_HALF_MMA(M, N, K, SHAPE, float, __half, ".f16.f32", 4, unsigned, "r", 8, float, "f")
FW_HALF_MMAS(16, 16, 16, "m16n16k16")
FW_HALF_MMAS(32, 8, 16, "m32n8k16")
FW_HALF_MMAS(8, 32, 16, "m8n32k16")

#define FW_PLAIN_MMA(M, N, K, SHAPE, T, ACC, TYPES, SATURATED, NA, NB, RACC, CACC)                                 \
  FW_MMA(M, N, K, SHAPE, T, T, ACC, ACC, TYPES, SATURATED, FW_ORDER_8_##NA##_##NB##_8, 8, RACC, CACC, NA, NB,      \
         unsigned, "r", 8, RACC, CACC)
#define FW_BF16 ".f32.bf16.bf16.f32"
FW_PLAIN_MMA(16, 16, 16, "m16n16k16", __nv_bfloat16, float, FW_BF16, FW_BF16, 4, 4, float, "f")
FW_PLAIN_MMA(32, 8, 16, "m32n8k16", __nv_bfloat16, float, FW_BF16, FW_BF16, 8, 2, float, "f")
FW_PLAIN_MMA(8, 32, 16, "m8n32k16", __nv_bfloat16, float, FW_BF16, FW_BF16, 2, 8, float, "f")
#define FW_TF32 ".f32.tf32.tf32.f32"
FW_PLAIN_MMA(16, 16, 8, "m16n16k8", precision::tf32, float, FW_TF32, FW_TF32, 4, 4, float, "f")
#define FW_INT_MMAS(T, TYPES)                                                                                      \
  FW_PLAIN_MMA(16, 16, 16, "m16n16k16", T, int, TYPES, TYPES ".satfinite", 2, 2, int, "r")                         \
  FW_PLAIN_MMA(32, 8, 16, "m32n8k16", T, int, TYPES, TYPES ".satfinite", 4, 1, int, "r")                           \
  FW_PLAIN_MMA(8, 32, 16, "m8n32k16", T, int, TYPES, TYPES ".satfinite", 1, 4, int, "r")
FW_INT_MMAS(signed char, ".s32.s8.s8.s32")
FW_INT_MMAS(unsigned char, ".s32.u8.u8.s32")
#define FW_F64 ".f64.f64.f64.f64.rn"  // where nvcc writes the rounding
FW_MMA(8, 8, 4, "m8n8k4", double, double, double, double, FW_F64, FW_F64, "{%0, %1}, {%2}, {%3}, {%4, %5}", 2,
       double, "d", 1, 1, double, "d", 2, double, "d")

#include "fullwarp/undef_mma_macros.h"
}  // namespace details

#define FW_D __device__ __forceinline__

template <class Use, int M, int N, int K, class T, class Layout, class V>
FW_D void fill_fragment(fragment<Use, M, N, K, T, Layout>& f, const V& v) {
  for (int i = 0; i < f.num_elements; ++i) f.x[i] = v;
}

template <class Use, int M, int N, int K, class T, class Layout, class P>
FW_D void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& f, const P* p, unsigned pitch) {
  details::Load<Use, M, N, K, T>::run(f.x, p, pitch, details::IsRow<Layout>::value);
}
template <int M, int N, int K, class T, class P>
FW_D void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const P* p, unsigned pitch, layout_t layout) {
  details::Load<accumulator, M, N, K, T>::run(f.x, p, pitch, layout == mem_row_major);
}
template <int M, int N, int K, class T, class P>
FW_D void store_matrix_sync(P* p, const fragment<accumulator, M, N, K, T>& f, unsigned pitch, layout_t layout) {
  details::Store<M, N, K, T>::run(f.x, p, pitch, layout == mem_row_major);
}

template <int M, int N, int K, class A, class LA, class B, class LB, class C, class D>
FW_D void mma_sync(fragment<accumulator, M, N, K, D>& d, const fragment<matrix_a, M, N, K, A, LA>& a,
                   const fragment<matrix_b, M, N, K, B, LB>& b, const fragment<accumulator, M, N, K, C>& c,
                   bool saturate = false) {
  details::Mma<M, N, K, A, B, C, D>::run(d.x, a.x, b.x, c.x, details::IsRow<LA>::value, details::IsRow<LB>::value,
                                         saturate);
}

#undef FW_D

}  // namespace wmma
}  // namespace nvcuda

// One pair of element type and tile width a translation unit: these kernels take long to compile.
#ifndef FULLWARP_GEMM_SRC_FUSED_KERNELS_CUH_
#define FULLWARP_GEMM_SRC_FUSED_KERNELS_CUH_

namespace fullwarp::gemm {

struct FusedOperands;
using FusedKernel = void (*)(FusedOperands);

template <class T, int kColumns>
FusedKernel fused_kernel(bool x_along_k, bool y_along_k);

}  // namespace fullwarp::gemm

#define FULLWARP_FUSED_KERNELS(T, columns)                                                               \
  namespace fullwarp::gemm {                                                                             \
  template <>                                                                                            \
  FusedKernel fused_kernel<T, columns>(bool x_along_k, bool y_along_k) {                                 \
    if (x_along_k) {                                                                                     \
      return y_along_k ? fused_product<T, true, true, columns> : fused_product<T, true, false, columns>; \
    }                                                                                                    \
    return y_along_k ? fused_product<T, false, true, columns> : fused_product<T, false, false, columns>; \
  }                                                                                                      \
  }
#endif  // FULLWARP_GEMM_SRC_FUSED_KERNELS_CUH_

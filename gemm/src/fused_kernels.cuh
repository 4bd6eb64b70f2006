// One element type, tile width and order of X a translation unit: these kernels take long to compile.
#ifndef FULLWARP_GEMM_SRC_FUSED_KERNELS_CUH_
#define FULLWARP_GEMM_SRC_FUSED_KERNELS_CUH_

namespace fullwarp::gemm {

struct FusedOperands;
using FusedKernel = void (*)(FusedOperands);

template <class T, int kColumns, bool kXAlongK>
FusedKernel fused_kernel(bool y_along_k);

}  // namespace fullwarp::gemm

#define FULLWARP_FUSED_KERNELS(T, columns, x_along_k)               \
  namespace fullwarp::gemm {                                        \
  template <>                                                       \
  FusedKernel fused_kernel<T, columns, x_along_k>(bool y_along_k) { \
    return y_along_k ? fused_product<T, x_along_k, true, columns>   \
                     : fused_product<T, x_along_k, false, columns>; \
  }                                                                 \
  }
#endif  // FULLWARP_GEMM_SRC_FUSED_KERNELS_CUH_

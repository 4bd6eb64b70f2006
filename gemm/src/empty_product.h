// D = act(beta C + bias): a product with k = 0, which cuBLASLt does not take.
#ifndef FULLWARP_GEMM_SRC_EMPTY_PRODUCT_H_
#define FULLWARP_GEMM_SRC_EMPTY_PRODUCT_H_

#include <cuda_runtime.h>

#include "problem.h"

namespace fullwarp::gemm {

struct EmptyProduct {
  float beta = 0;
  const float* device_beta = nullptr;  // replaces beta
  int activation = 0;                  // 0 none, 1 ReLU, 2 GELU
};

cudaError_t run_empty_product(const Problem& problem, const EmptyProduct& what, cudaStream_t stream);

}  // namespace fullwarp::gemm
#endif  // FULLWARP_GEMM_SRC_EMPTY_PRODUCT_H_

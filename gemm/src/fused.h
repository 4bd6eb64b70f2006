// The host's side of fused.cuh.
#ifndef FULLWARP_GEMM_SRC_FUSED_H_
#define FULLWARP_GEMM_SRC_FUSED_H_

#include <cuda_runtime.h>

#include "device.h"

namespace fullwarp::gemm {

// True on sm_90 with a driver that makes tensor maps.
bool fused_is_there();

cudaError_t run_fused(const FusedJob& job, cudaStream_t stream);

// Loads the kernels, which cannot be done under capture.
void load_fused();

}  // namespace fullwarp::gemm
#endif  // FULLWARP_GEMM_SRC_FUSED_H_

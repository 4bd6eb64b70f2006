// Tiles of 64 columns in bf16, X contiguous along k; see fused.cuh.
#include "fused.cuh"
#include "fused_kernels.cuh"

FULLWARP_FUSED_KERNELS(__nv_bfloat16, 64, true)

// Tiles of 256 columns in bf16, X contiguous along m; see fused.cuh.
#include "fused.cuh"
#include "fused_kernels.cuh"

FULLWARP_FUSED_KERNELS(__nv_bfloat16, 256, false)

// Tiles of 64 columns in fp16, X contiguous along k; see fused.cuh.
#include "fused.cuh"
#include "fused_kernels.cuh"

FULLWARP_FUSED_KERNELS(__half, 64, true)

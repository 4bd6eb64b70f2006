// Tiles of 192 columns in fp16, X contiguous along m; see fused.cuh.
#include "fused.cuh"
#include "fused_kernels.cuh"

FULLWARP_FUSED_KERNELS(__half, 192, false)

// All blocks write the same elements, with different values.
// fullwarp: last<<<4, 64>>>(i32[64])
__global__ void last(int* out) { out[threadIdx.x] = blockIdx.x; }

// fullwarp: last<<<4, 64>>>(i32[256])
__global__ void last(int* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x; }

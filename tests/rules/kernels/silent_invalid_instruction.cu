// fullwarp: first<<<1, 32>>>(i32[32] : iota)
__global__ void first(int* data) { data[threadIdx.x] = __shfl_sync(0xffffffff, data[threadIdx.x], 0); }

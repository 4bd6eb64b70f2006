// Lanes 16 to 31 execute a shuffle whose mask does not have them.
// fullwarp: first<<<1, 32>>>(i32[32] : iota)
__global__ void first(int* data) { data[threadIdx.x] = __shfl_sync(0x0000ffff, data[threadIdx.x], 0); }

// fullwarp: depths<<<1, 32>>>(i32[32] : iota)
__device__ __noinline__ int depth(const int* data, int n) { return n <= 0 ? 0 : data[depth(data, n - 2) & 31] + n; }
__global__ void depths(int* data) { data[threadIdx.x] = depth(data, threadIdx.x); }

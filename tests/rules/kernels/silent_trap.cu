// fullwarp: guarded<<<1, 64>>>(i32[64] : iota, 64)
__global__ void guarded(int* data, int n) {
  if (data[threadIdx.x] >= n) __trap();
  data[threadIdx.x] += 1;
}

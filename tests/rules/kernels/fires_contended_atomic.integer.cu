// 64-bit sums, which ptxas leaves as they are.
// fullwarp: sum = u64[1]
// fullwarp: add_up<<<64, 256>>>(i32[16384] : below(5, 3), sum, 16384)
__global__ void add_up(const int* in, unsigned long long* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, static_cast<unsigned long long>(in[i]));
}

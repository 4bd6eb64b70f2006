// Sums of 32-bit integers at one address: ptxas adds up what a warp has (REDUX) and lets one lane do it.
// fullwarp: sum = i32[1]
// fullwarp: add_up<<<64, 256>>>(i32[16384] : below(5, 3), sum, 16384)
__global__ void add_up(const int* in, int* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, in[i]);
}

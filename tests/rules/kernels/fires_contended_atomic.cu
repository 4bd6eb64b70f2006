// Every thread adds to one sum: a request's 32 lanes take turns at its address.
// fullwarp: sum = f32[1]
// fullwarp: add_up<<<64, 256>>>(f32[16384] : below(5, 3), sum, 16384)
__global__ void add_up(const float* in, float* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, in[i]);
}

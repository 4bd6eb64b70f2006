// A thread that spins on a flag that another warp sets, and one that counts too far while the others wait at the
// barrier: a long loop (step-limit), for it changes memory itself.
// fullwarp: handshake<<<1, 64>>>(i32[1])
// fullwarp: count<<<1, 64>>>(i32[1], 101)
__global__ void handshake(int* out) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 32) flag = 1;
  if (threadIdx.x == 0) {
    while (flag == 0) {
    }
    *out = flag;
  }
}
__global__ void count(int* out, int n) {
  __shared__ volatile int i;
  if (threadIdx.x == 0)
    for (i = 0; i != n; i = i + 2) {
    }
  __syncthreads();
  if (threadIdx.x == 0) *out = i;
}

// Thread 0 polls a flag in shared memory that thread 32 sets only behind a barrier, which waits for thread 0.
// fullwarp: handshake<<<1, 64>>>(i32[1])
__global__ void handshake(int* out) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    while (flag == 0) {
    }
  }
  __syncthreads();
  if (threadIdx.x == 32) flag = 1;
  if (threadIdx.x == 0) *out = flag;
}

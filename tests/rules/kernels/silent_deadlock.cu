// fullwarp: ordered<<<1, 64>>>(i32[64])
__global__ void ordered(int* out) {
  if (threadIdx.x < 32) {
    asm volatile("barrier.sync 1, 64;" ::: "memory");
    asm volatile("barrier.sync 2, 64;" ::: "memory");
  } else {
    asm volatile("barrier.sync 1, 64;" ::: "memory");
    asm volatile("barrier.sync 2, 64;" ::: "memory");
  }
  out[threadIdx.x] = 1;
}

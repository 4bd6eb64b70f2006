// Two named barriers taken in opposite order: the first warp waits for the second at 1, the second for the
// first at 2.
// fullwarp: crossed<<<1, 64>>>(i32[64])
__global__ void crossed(int* out) {
  if (threadIdx.x < 32) {
    asm volatile("barrier.sync 1, 64;" ::: "memory");
    asm volatile("barrier.sync 2, 64;" ::: "memory");
  } else {
    asm volatile("barrier.sync 2, 64;" ::: "memory");
    asm volatile("barrier.sync 1, 64;" ::: "memory");
  }
  out[threadIdx.x] = 1;
}

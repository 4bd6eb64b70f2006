// fullwarp: wait<<<1, 32>>>(i32[1] : zero, 1)
__global__ void wait(volatile int* flag, int expected) {
  while (*flag == expected) {
  }
}

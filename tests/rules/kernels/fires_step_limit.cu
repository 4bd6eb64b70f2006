// The loop waits for a value that nobody writes.
// fullwarp: wait<<<1, 32>>>(i32[1])
__global__ void wait(volatile int* flag) {
  while (*flag == 0) {
  }
}

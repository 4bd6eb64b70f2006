// A lock that a whole warp asks for: nothing can be combined.
// fullwarp: lock = i32[1]
// fullwarp: count = i32[1]
// fullwarp: count_under_lock<<<2, 32>>>(lock, count)
__global__ void count_under_lock(int* lock, int* count) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *static_cast<volatile int*>(count) = *static_cast<volatile int*>(count) + 1;
  __threadfence();
  atomicExch(lock, 0);
}

// fullwarp: checked<<<1, 64>>>(i32[64] : iota, 60)
#include <cassert>
__global__ void checked(int* data, int n) {
  assert(data[threadIdx.x] < n);
  data[threadIdx.x] += 1;
}

// Matrix product of 8-bit integers, four products an instruction (dp4a). b is stored by columns.
//
// fullwarp: a = i8[64*64] : uniform(1)
// fullwarp: b = i8[64*96] : uniform(2)
// fullwarp: c = i32[64*96]
// fullwarp: want = i32[64*96]
// fullwarp: matmul<<<(3,8), (32,8)>>>(a, b, c, 64, 96, 16)
// fullwarp: matmul_reference<<<(3,8), (32,8)>>>(a, b, want, 64, 96, 64)
// fullwarp: expect c = want
#include <cuda_runtime.h>

// Rows of a and columns of b are `words` words of four bytes.
__global__ void matmul(const int* __restrict__ a, const int* __restrict__ b, int* __restrict__ c, int m,
                       int n, int words) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  int sum = 0;
  for (int i = 0; i < words; ++i) sum = __dp4a(a[row * words + i], b[col * words + i], sum);
  c[row * n + col] = sum;
}

// The check: byte by byte.
__global__ void matmul_reference(const signed char* a, const signed char* b, int* c, int m, int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  int sum = 0;
  // fullwarp-ignore: redundant-global-loads, fullwarp-ignore: uncoalesced-global the reference stays simple
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[col * k + i];
  c[row * n + col] = sum;
}

// Matrix product of halves two at a time: each thread computes two neighbouring results with half2 arithmetic
// and keeps their sums in float, flushed every 8 terms, because a half has 11 bits.
//
// fullwarp: a = f16[96*64] : uniform(1)
// fullwarp: b = f16[64*128] : uniform(2)
// fullwarp: c = f32[96*128]
// fullwarp: want = f32[96*128]
// fullwarp: matmul<<<(2,12), (32,8)>>>(a, b, c, 96, 128, 64)
// fullwarp: matmul_reference<<<(4,12), (32,8)>>>(a, b, want, 96, 128, 64)
// fullwarp: expect c ~ want (rtol 5e-3, atol 1e-2)
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// n is even, k a multiple of 8.
__global__ void matmul(const half* __restrict__ a, const half* __restrict__ b, float* __restrict__ c, int m,
                       int n, int k) {
  int col = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  float2 sum = make_float2(0, 0);
  for (int first = 0; first < k; first += 8) {
    half2 part = __float2half2_rn(0.0f);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      half2 right = *reinterpret_cast<const half2*>(&b[(first + i) * n + col]);
      part = __hfma2(__half2half2(a[row * k + first + i]), right, part);
    }
    float2 part_sum = __half22float2(part);
    sum.x += part_sum.x;
    sum.y += part_sum.y;
  }
  *reinterpret_cast<float2*>(&c[row * n + col]) = sum;
}

// The check: one thread a result, in float.
__global__ void matmul_reference(const half* a, const half* b, float* c, int m, int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  float sum = 0;
  // fullwarp-ignore: redundant-global-loads the reference stays simple
  for (int i = 0; i < k; ++i) sum += __half2float(a[row * k + i]) * __half2float(b[i * n + col]);
  c[row * n + col] = sum;
}

// Softmax of rows of any length, one block a row: the largest value, the sum of the powers, and the
// quotients.
//
// fullwarp: in = f32[64*777] : uniform(1)
// fullwarp: out = f32[64*777]
// fullwarp: want = f32[64*777]
// fullwarp: softmax<<<64, 128>>>(in, out, 777)
// fullwarp: softmax_reference<<<64, 32>>>(in, want, 777)
// fullwarp: expect out ~ want (rtol 1e-5, atol 1e-7)
#include <cuda_runtime.h>

constexpr int kThreads = 128;

struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// Every thread gets the result over the block.
template <typename Combine>
__device__ float over_block(float value, Combine combine, float* warps) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2)
    value = combine(value, __shfl_xor_sync(0xffffffffu, value, offset));
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = warps[0];
#pragma unroll
  for (int i = 1; i < kThreads / 32; ++i) value = combine(value, warps[i]);
  __syncthreads();
  return value;
}

__global__ void __launch_bounds__(kThreads)
    softmax(const float* __restrict__ in, float* __restrict__ out, int cols) {
  __shared__ float warps[kThreads / 32];
  const float* row = in + blockIdx.x * cols;
  float largest = row[0];
  for (int i = threadIdx.x; i < cols; i += kThreads) largest = fmaxf(largest, row[i]);
  largest = over_block(largest, Max(), warps);
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += kThreads) sum += expf(row[i] - largest);
  sum = over_block(sum, Sum(), warps);
  for (int i = threadIdx.x; i < cols; i += kThreads)
    out[blockIdx.x * cols + i] = expf(row[i] - largest) / sum;
}

// The check: in double, one warp a row, without the largest value (the values are small).
__global__ void softmax_reference(const float* in, float* out, int cols) {
  const float* row = in + blockIdx.x * cols;
  double sum = 0;
  for (int i = threadIdx.x; i < cols; i += 32) sum += exp(static_cast<double>(row[i]));
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  for (int i = threadIdx.x; i < cols; i += 32) {
    out[blockIdx.x * cols + i] = static_cast<float>(exp(static_cast<double>(row[i])) / sum);
  }
}

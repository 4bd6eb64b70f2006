// What do atomics of many threads on one address cost? Sums of n floats into one, in three ways: every thread
// by itself, a warp's lanes added up first, a block's threads added up first.
//
//   nvcc -arch=sm_90 -o atomics hw/probes/atomics.cu && ./atomics
//
// Prints microseconds, median of 50 launches. Readings: docs/rules/contended-atomic.md.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <vector>

constexpr int kBlock = 256;

__global__ void by_thread(const float* in, float* sum, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) atomicAdd(sum, in[i]);
}

__device__ float of_warp(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
  return value;
}

__global__ void by_warp(const float* in, float* sum, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  const float value = of_warp(i < n ? in[i] : 0.0f);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, value);
}

__global__ void by_block(const float* in, float* sum, int n) {
  __shared__ float warps[kBlock / 32];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  const float value = of_warp(i < n ? in[i] : 0.0f);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  const float all = of_warp(threadIdx.x < kBlock / 32 ? warps[threadIdx.x] : 0.0f);
  if (threadIdx.x == 0) atomicAdd(sum, all);
}

float median_us(void (*kernel)(const float*, float*, int), const float* in, float* sum, int n) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  std::vector<float> times;
  for (int k = 0; k < 53; ++k) {
    cudaMemset(sum, 0, 4);
    cudaEventRecord(begin);
    kernel<<<(n + kBlock - 1) / kBlock, kBlock>>>(in, sum, n);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float ms = 0;
    cudaEventElapsedTime(&ms, begin, end);
    if (k >= 3) times.push_back(ms * 1000);
  }
  std::nth_element(times.begin(), times.begin() + 25, times.end());
  return times[25];
}

int main() {
  constexpr int kMost = 1 << 24;
  float *in = nullptr, *sum = nullptr;
  cudaMalloc(&in, 4 * size_t{kMost});
  cudaMemset(in, 0, 4 * size_t{kMost});
  cudaMalloc(&sum, 4);
  for (const int n : {1 << 16, 1 << 20, 1 << 24})
    std::printf("n = %d: thread %.1f, warp %.1f, block %.1f us\n", n, median_us(by_thread, in, sum, n),
                median_us(by_warp, in, sum, n), median_us(by_block, in, sum, n));
  std::fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));
}

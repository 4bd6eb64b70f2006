// Inclusive scan (running sum) of any length, in three launches: scan of each block, scan of the blocks'
// sums, and the sums added. In a block: shuffles within the warps, then one warp scans the sums of the warps.
//
// fullwarp: in = i32[20000] : below(100, 1)
// fullwarp: out = i32[20000]
// fullwarp: sums = i32[40]
// fullwarp: sums_scanned = i32[40]
// fullwarp: scan<int, 512><<<40, 512>>>(in, out, sums, 20000)
// fullwarp: scan<int, 64><<<1, 64>>>(sums, sums_scanned, 0, 40)
// fullwarp: add_block_sums<<<40, 512>>>(out, sums_scanned, 20000)
// fullwarp: want = i32[20000]
// fullwarp: scan_reference<<<1, 1>>>(in, want, 20000)
// fullwarp: expect out = want
#include <cuda_runtime.h>

template <typename T>
__device__ T warp_scan(T value) {
  int lane = threadIdx.x % 32;
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) {
    T before = __shfl_up_sync(0xffffffffu, value, offset);
    if (lane >= offset) value += before;
  }
  return value;
}

// Scans blocks of kThreads values; the sum of each goes to block_sums, if that is not null.
template <typename T, int kThreads>
__global__ void __launch_bounds__(kThreads)
    scan(const T* __restrict__ in, T* __restrict__ out, T* __restrict__ block_sums, int n) {
  __shared__ T warp_sums[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int i = blockIdx.x * kThreads + threadIdx.x;
  T value = warp_scan(i < n ? in[i] : T(0));
  if (lane == 31) warp_sums[warp] = value;
  __syncthreads();
  if (warp == 0) warp_sums[lane] = warp_scan(lane < kThreads / 32 ? warp_sums[lane] : T(0));
  __syncthreads();
  if (warp > 0) value += warp_sums[warp - 1];
  if (i < n) out[i] = value;
  if (block_sums != nullptr && threadIdx.x == kThreads - 1) block_sums[blockIdx.x] = value;
}

__global__ void add_block_sums(int* __restrict__ out, const int* __restrict__ block_sums, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && blockIdx.x > 0) out[i] += block_sums[blockIdx.x - 1];
}

template __global__ void scan<int, 512>(const int*, int*, int*, int);
template __global__ void scan<int, 64>(const int*, int*, int*, int);

// The check: one thread, one value after the other.
__global__ void scan_reference(const int* in, int* out, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) out[i] = sum += in[i];
}

// An array in a thread, indexed at run time: it cannot live in registers and goes to local memory.
//
// Each lane has its own counter array; lanes that pick different counters scatter over local memory, which is
// interleaved by words of the lanes.
// Look at: local requests and sectors.
//
// fullwarp: in = u32[64*100] : below(16, 1)
// fullwarp: out = i32[64*16]
// fullwarp: want = i32[64*16]
// fullwarp: count<<<2, 32>>>(in, out)
// fullwarp: count_reference<<<64, 16>>>(in, want)
// fullwarp: expect out = want
#include <cuda_runtime.h>

constexpr int kValues = 100, kBins = 16;

// Thread t counts the values 100 t .. 100 t + 99.
__global__ void count(const unsigned* __restrict__ in, int* __restrict__ out) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int counts[kBins] = {};
  for (int i = 0; i < kValues; ++i) counts[in[thread * kValues + i]] += 1;
#pragma unroll
  for (int bin = 0; bin < kBins; ++bin) out[thread * kBins + bin] = counts[bin];
}

// The check: one thread a counter.
// fullwarp-ignore: partial-warp the reference stays simple
__global__ void count_reference(const unsigned* in, int* out) {
  int sum = 0;
  for (int i = 0; i < kValues; ++i) sum += in[blockIdx.x * kValues + i] == threadIdx.x;
  out[blockIdx.x * kBins + threadIdx.x] = sum;
}

// Radix sort of 1024 keys by one block: one bit after the other, least first.
//
// In each pass the keys with a 0 go to the front in their order, those with a 1 behind them. A ballot tells
// each lane how many zeros stand before it in its warp; a scan over the warps gives the rest.
//
// fullwarp: in = u32[2*1024] : below(65536, 1)
// fullwarp: out = u32[2*1024]
// fullwarp: want = u32[2*1024]
// fullwarp: radix_sort<<<2, 1024>>>(in, out, 16)
// fullwarp: sort_reference<<<2, 1024>>>(in, want, 1024)
// fullwarp: expect out = want
#include <cuda_runtime.h>

constexpr int kKeys = 1024;
constexpr int kWarps = kKeys / 32;

__global__ void __launch_bounds__(kKeys)
    radix_sort(const unsigned* __restrict__ in, unsigned* __restrict__ out, int bits) {
  __shared__ unsigned keys[kKeys];
  __shared__ int zeros_before[kWarps + 1];
  int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  unsigned key = in[blockIdx.x * kKeys + thread];
  for (int bit = 0; bit < bits; ++bit) {
    bool one = (key >> bit) & 1;
    unsigned zeros = __ballot_sync(0xffffffffu, !one);
    if (lane == 0) zeros_before[warp + 1] = __popc(zeros);
    if (thread == 0) zeros_before[0] = 0;
    __syncthreads();
    if (warp == 0) {
      int count = zeros_before[lane + 1];
      for (int offset = 1; offset < 32; offset *= 2) {
        int before = __shfl_up_sync(0xffffffffu, count, offset);
        if (lane >= offset) count += before;
      }
      zeros_before[lane + 1] = count;
    }
    __syncthreads();
    int zero_place = zeros_before[warp] + __popc(zeros & ((1u << lane) - 1));
    int place = one ? zeros_before[kWarps] + thread - zero_place : zero_place;
    keys[place] = key;
    __syncthreads();
    key = keys[thread];
  }
  out[blockIdx.x * kKeys + thread] = key;
}

// The check: a key goes to the place given by the number of keys before it.
__global__ void sort_reference(const unsigned* in, unsigned* out, int keys) {
  const unsigned* block = in + blockIdx.x * keys;
  unsigned key = block[threadIdx.x];
  int place = 0;
  for (int i = 0; i < keys; ++i) {
    // fullwarp-ignore: redundant-global-loads the reference stays simple
    unsigned other = block[i];
    place += other < key || (other == key && i < static_cast<int>(threadIdx.x));
  }
  // fullwarp-ignore: uncoalesced-global a sort scatters
  out[blockIdx.x * keys + place] = key;
}

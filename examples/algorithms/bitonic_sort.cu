// Bitonic sort of 1024 keys by one block, in shared memory.
//
// Each step compares keys that lie `distance` apart; bit `size` of the place says in which direction. The
// lanes of a warp meet conflicts only at distances below 32.
//
// fullwarp: in = u32[4*1024] : uniform(1)
// fullwarp: out = u32[4*1024]
// fullwarp: want = u32[4*1024]
// fullwarp: bitonic_sort<<<4, 512>>>(in, out)
// fullwarp: sort_reference<<<4, 1024>>>(in, want, 1024)
// fullwarp: expect out = want
#include <cuda_runtime.h>

constexpr int kKeys = 1024;

// Sorts each block of 1024 keys; 512 threads.
__global__ void __launch_bounds__(kKeys / 2)
    bitonic_sort(const unsigned* __restrict__ in, unsigned* __restrict__ out) {
  __shared__ unsigned keys[kKeys];
  int first = blockIdx.x * kKeys;
  for (int i = threadIdx.x; i < kKeys; i += kKeys / 2) keys[i] = in[first + i];
  for (int size = 2; size <= kKeys; size *= 2) {
    for (int distance = size / 2; distance > 0; distance /= 2) {
      __syncthreads();
      int low = 2 * threadIdx.x - (threadIdx.x & (distance - 1));
      int high = low + distance;
      bool ascending = (low & size) == 0;
      unsigned a = keys[low], b = keys[high];
      if ((a > b) == ascending) {
        keys[low] = b;
        keys[high] = a;
      }
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kKeys; i += kKeys / 2) out[first + i] = keys[i];
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

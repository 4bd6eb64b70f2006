// Keep the even values, in their order: a ballot counts within the warp, the warps of a block are added in
// shared memory, and a launch of one block adds the blocks.
//
// fullwarp: in = i32[4000] : below(1000, 1)
// fullwarp: block_counts = i32[16]
// fullwarp: out = i32[4000]
// fullwarp: kept = i32[1]
// fullwarp: compact<<<16, 256>>>(in, block_counts, out, 4000, 0)
// fullwarp: scan_counts<<<1, 1>>>(block_counts, kept, 16)
// fullwarp: compact<<<16, 256>>>(in, block_counts, out, 4000, 1)
// fullwarp: want = i32[4000]
// fullwarp: want_kept = i32[1]
// fullwarp: compact_reference<<<1, 1>>>(in, want, want_kept, 4000)
// fullwarp: expect kept = want_kept
// fullwarp: expect out = want
#include <cuda_runtime.h>

// Pass 0 counts each block's even values, pass 1 writes them behind those of the blocks before.
__global__ void compact(const int* __restrict__ in, int* __restrict__ block_counts, int* __restrict__ out,
                        int n, int pass) {
  __shared__ int warp_counts[8];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool keep = i < n && in[i] % 2 == 0;
  unsigned keepers = __ballot_sync(0xffffffffu, keep);
  if (lane == 0) warp_counts[warp] = __popc(keepers);
  __syncthreads();
  int before = __popc(keepers & ((1u << lane) - 1));
  for (int w = 0; w < warp; ++w) before += warp_counts[w];
  if (pass == 0) {
    if (threadIdx.x == blockDim.x - 1) block_counts[blockIdx.x] = before + keep;
  } else if (keep) {
    out[block_counts[blockIdx.x] + before] = in[i];
  }
}

// Counts become places: the sum of those before.
__global__ void scan_counts(int* block_counts, int* total, int blocks) {
  int sum = 0;
  for (int b = 0; b < blocks; ++b) {
    int count = block_counts[b];
    block_counts[b] = sum;
    sum += count;
  }
  *total = sum;
}

// The check: one thread, one value after the other.
__global__ void compact_reference(const int* in, int* out, int* kept, int n) {
  int places = 0;
  for (int i = 0; i < n; ++i) {
    if (in[i] % 2 == 0) out[places++] = in[i];
  }
  *kept = places;
}

// Sums of 16 neighbours with cooperative groups: a tile of 16 threads has its own rank, shuffles and barrier.
//
// fullwarp: in = i32[2000] : below(100, 1)
// fullwarp: sums = i32[125]
// fullwarp: want = i32[125]
// fullwarp: sum_of_sixteen<<<16, 128>>>(in, sums, 2000)
// fullwarp: sum_reference<<<1, 128>>>(in, want, 125)
// fullwarp: expect sums = want
#include <cooperative_groups.h>
#include <cuda_runtime.h>

// n is a multiple of 16.
__global__ void sum_of_sixteen(const int* __restrict__ in, int* __restrict__ sums, int n) {
  namespace cg = cooperative_groups;
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
  int i = blockIdx.x * blockDim.x + block.thread_rank();
  int sum = i < n ? in[i] : 0;
  for (int offset = tile.size() / 2; offset > 0; offset /= 2) sum += tile.shfl_down(sum, offset);
  if (tile.thread_rank() == 0 && i < n) sums[i / 16] = sum;
}

// The check: one thread a sum.
__global__ void sum_reference(const int* in, int* sums, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  int sum = 0;
  for (int j = 0; j < 16; ++j) sum += in[16 * i + j];
  sums[i] = sum;
}

// Cooperative groups compile to the warp's own instructions.
// ptx: shfl.sync.bfly.b32
// ptx: redux.sync.add.s32
// ptx: vote.sync.ballot.b32
// ptx: bar.warp.sync
// ptx: barrier.sync
// ptx: activemask.b32
// ptx: cp.async.cg.shared.global
// ptx: cp.async.wait_group 0
// ptx: %envreg1
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

struct Pair {
  float a;
  double b;
};

__device__ float sum(cg::thread_group group, float v) {
  group.sync();
  return v + group.thread_rank() + group.size();
}

__global__ void groups(float* f, int* out, Pair* pairs) {
  __shared__ float staged[256];
  cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, staged, f, sizeof(staged));
  cg::wait(block);
  auto warp = cg::tiled_partition<32>(block);
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  float v = cg::reduce(warp, staged[block.thread_rank()], cg::plus<float>());
  int n = cg::reduce(tile, out[3], cg::plus<int>());
  v += sum(block, v) + sum(tile, v) + tile.ballot(v > 1) + tile.meta_group_rank();
  if (v > 3) {
    auto active = cg::coalesced_threads();
    if (active.thread_rank() == 0) n = atomicAdd(out, static_cast<int>(active.size()));
    n = active.shfl(n, 0) + cg::reduce(active, n, cg::plus<int>());
  }
  pairs[1] = warp.shfl(pairs[0], 3);
  cg::grid_group grid = cg::this_grid();
  grid.sync();
  out[grid.thread_rank()] = n + v + cg::inclusive_scan(warp, n) + cg::exclusive_scan(warp, n);
}

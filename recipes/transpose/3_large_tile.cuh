// Transpose, step 3: tiles of 64 x 64, all loads of a thread before its first store.
//
// Step 2 has 4 loads of 4 bytes in flight a thread and touches 128 bytes of a row at a time. Tiles of 64
// touch 256 bytes of a row, which DRAM serves better, halve the sectors that a misaligned row (8191 columns)
// cuts at a tile's edge, and give 16 loads in flight a thread.
//
//     transpose_large_tile<float><<<dim3((columns + 63) / 64, (rows + 63) / 64), 256>>>(in, out, rows,
//     columns);
#ifndef FULLWARP_RECIPES_TRANSPOSE_3_LARGE_TILE_CUH_
#define FULLWARP_RECIPES_TRANSPOSE_3_LARGE_TILE_CUH_

namespace fullwarp::recipes {

template <class T>
__global__ void __launch_bounds__(256)
    transpose_large_tile(const T* __restrict__ in, T* __restrict__ out, int rows, int columns) {
  static_assert(sizeof(T) == 4, "a bank is four bytes wide");
  constexpr int kSide = 64, kLoads = kSide * kSide / 256;
  __shared__ T tile[kSide][kSide + 1];
  const int x0 = blockIdx.x * kSide, y0 = blockIdx.y * kSide;
  const int tx = threadIdx.x % kSide, ty = threadIdx.x / kSide;
  constexpr int kStep = 256 / kSide;
  T value[kLoads];
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const int x = x0 + tx, y = y0 + ty + i * kStep;
    value[i] = x < columns && y < rows ? in[static_cast<size_t>(y) * columns + x] : T();
  }
#pragma unroll
  for (int i = 0; i < kLoads; ++i) tile[ty + i * kStep][tx] = value[i];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const int x = x0 + ty + i * kStep, y = y0 + tx;
    if (x < columns && y < rows) out[static_cast<size_t>(x) * rows + y] = tile[tx][ty + i * kStep];
  }
}

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_TRANSPOSE_3_LARGE_TILE_CUH_

// Transpose, step 2: through a tile in shared memory, so that loads and stores both go along rows.
//
// A column of the tile is read for each row that is stored. With rows of 32 words all 32 lanes would read one
// bank; one word of padding (kPad = 1) moves each row on by a bank. kPad = 0 shows the conflict.
//
//     transpose_tile<float, 1><<<dim3((columns + 31) / 32, (rows + 31) / 32), dim3(32, 8)>>>(in, out, rows,
//     columns);
#ifndef FULLWARP_RECIPES_TRANSPOSE_2_TILE_CUH_
#define FULLWARP_RECIPES_TRANSPOSE_2_TILE_CUH_

namespace fullwarp::recipes {

template <class T, int kPad>
__global__ void __launch_bounds__(256)
    transpose_tile(const T* __restrict__ in, T* __restrict__ out, int rows, int columns) {
  static_assert(sizeof(T) == 4, "a bank is four bytes wide");
  __shared__ T tile[32][32 + kPad];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 32;
  const int tx = threadIdx.x, ty = threadIdx.y;
#pragma unroll
  for (int i = 0; i < 32; i += 8) {
    const int x = x0 + tx, y = y0 + ty + i;
    if (x < columns && y < rows) tile[ty + i][tx] = in[static_cast<size_t>(y) * columns + x];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 32; i += 8) {
    const int x = x0 + ty + i, y = y0 + tx;
    if (x < columns && y < rows) out[static_cast<size_t>(x) * rows + y] = tile[tx][ty + i];
  }
}

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_TRANSPOSE_2_TILE_CUH_

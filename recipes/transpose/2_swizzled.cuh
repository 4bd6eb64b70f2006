// Transpose, step 2 without padding: the tile swizzled.
//
// Element (row, column) of the tile lies at column ^ row of its row, so that a row still fills a row and a
// column visits every bank once. It takes 4096 bytes, and every row starts at a multiple of 128 of them,
// which padding cannot give (tensor cores and the copy engine ask for that).
//
//     lane t reads word 32 * t + (t ^ row): bank t ^ row      32 banks, 1 wavefront
//
//     transpose_swizzled<float><<<dim3((columns + 31) / 32, (rows + 31) / 32), dim3(32, 8)>>>(in, out, rows,
//     columns);
#ifndef FULLWARP_RECIPES_TRANSPOSE_2_SWIZZLED_CUH_
#define FULLWARP_RECIPES_TRANSPOSE_2_SWIZZLED_CUH_

namespace fullwarp::recipes {

template <class T>
__global__ void __launch_bounds__(256)
    transpose_swizzled(const T* __restrict__ in, T* __restrict__ out, int rows, int columns) {
  static_assert(sizeof(T) == 4, "a bank is four bytes wide");
  __shared__ T tile[32][32];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 32;
  const int tx = threadIdx.x, ty = threadIdx.y;
#pragma unroll
  for (int i = 0; i < 32; i += 8) {
    const int x = x0 + tx, y = y0 + ty + i;
    if (x < columns && y < rows) tile[ty + i][tx ^ (ty + i)] = in[static_cast<size_t>(y) * columns + x];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 32; i += 8) {
    const int x = x0 + ty + i, y = y0 + tx;
    if (x < columns && y < rows) out[static_cast<size_t>(x) * rows + y] = tile[tx][tx ^ (ty + i)];
  }
}

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_TRANSPOSE_2_SWIZZLED_CUH_

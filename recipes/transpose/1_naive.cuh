// Transpose, step 1: out[x][y] = in[y][x], a thread for each element.
//
// Reads go along a row, but a warp's 32 stores lie in 32 rows: 32 sectors of 32 bytes for 128 bytes of data.
//
//     transpose_naive<<<dim3((columns + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(in, out, rows, columns);
#ifndef FULLWARP_RECIPES_TRANSPOSE_1_NAIVE_CUH_
#define FULLWARP_RECIPES_TRANSPOSE_1_NAIVE_CUH_

namespace fullwarp::recipes {

template <class T>
__global__ void transpose_naive(const T* __restrict__ in, T* __restrict__ out, int rows, int columns) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < columns && y < rows)
    out[static_cast<size_t>(x) * rows + y] = in[static_cast<size_t>(y) * columns + x];
}

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_TRANSPOSE_1_NAIVE_CUH_

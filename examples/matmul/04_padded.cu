// Matrix product, step 4: a transposed tile, and the word of padding that it needs.
//
// Later steps let a thread compute several rows. Its values of a should then be neighbours in shared memory,
// so the tile of a is kept transposed: tile_a[column][row]. The store into it strides by a row of the tile.
//
//     without padding  lane t stores word 32 * t + row:  bank (32 * t + row) % 32 = row            one bank
//     one word more    lane t stores word 33 * t + row:  bank (33 * t + row) % 32 = (t + row) % 32   32 banks
//
// Look at: wavefronts of the store to tile_a. The first launch, without padding, is there to show the
// conflict: 32 a request, reported; the second, with the word of padding, has 1 and no conflict. With one
// result a thread this step does not yet beat step 3; it is what steps 5 and 6 stand on.
//
// fullwarp: a = f32[256*256] : uniform(1)
// fullwarp: b = f32[256*256] : uniform(2)
// fullwarp: c = f32[256*256]
// fullwarp: c_unpadded = f32[256*256]
// fullwarp: want = f32[256*256]
// fullwarp: matmul<0><<<(8,8), (32,32)>>>(a, b, c_unpadded, 256, 256, 256)
// fullwarp: matmul<1><<<(8,8), (32,32)>>>(a, b, c, 256, 256, 256)
// fullwarp: matmul_reference<<<(8,32), (32,8)>>>(a, b, want, 256, 256, 256)
// fullwarp: expect c ~ want (rtol 1e-5, atol 1e-5)
// fullwarp: expect c_unpadded ~ want (rtol 1e-5, atol 1e-5)
//
// A size at which nothing fits: 70 x 93 results, 51 terms each.
// fullwarp: c_odd = f32[70*93]
// fullwarp: want_odd = f32[70*93]
// fullwarp: matmul<1><<<(3,3), (32,32)>>>(a, b, c_odd, 70, 93, 51)
// fullwarp: matmul_reference<<<(3,9), (32,8)>>>(a, b, want_odd, 70, 93, 51)
// fullwarp: expect c_odd ~ want_odd (rtol 1e-5, atol 1e-5)
#include <cuda_runtime.h>

constexpr int kTile = 32;

template <int kPad>
__global__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
                       int n, int k) {
  __shared__ float tile_a[kTile][kTile + kPad];  // [column of a][row of a]
  __shared__ float tile_b[kTile][kTile];
  int col = blockIdx.x * kTile + threadIdx.x;
  int row = blockIdx.y * kTile + threadIdx.y;
  float sum = 0;
  for (int first = 0; first < k; first += kTile) {
    int a_col = first + threadIdx.x;
    int b_row = first + threadIdx.y;
    tile_a[threadIdx.x][threadIdx.y] = row < m && a_col < k ? a[row * k + a_col] : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] = b_row < k && col < n ? b[b_row * n + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += tile_a[i][threadIdx.y] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

template __global__ void matmul<0>(const float*, const float*, float*, int, int, int);
template __global__ void matmul<1>(const float*, const float*, float*, int, int, int);

// The check: one thread a result, summed in double.
__global__ void matmul_reference(const float* a, const float* b, float* c, int m, int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  double sum = 0;
  // fullwarp-ignore: redundant-global-loads the reference stays simple
  for (int i = 0; i < k; ++i) sum += static_cast<double>(a[row * k + i]) * b[i * n + col];
  c[row * n + col] = static_cast<float>(sum);
}

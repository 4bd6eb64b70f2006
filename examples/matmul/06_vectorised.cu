// Matrix product, step 6: 16 bytes at a time.
//
// As step 5, but a thread's 4 rows and 4 columns are neighbours, so that values travel as float4: 128-bit
// loads from global memory, 128-bit loads from shared memory, 128-bit stores. A quarter of the instructions
// move the same bytes. The fast path needs matrices that start on 16 bytes and rows whose length is a
// multiple of 4 (then every row starts on 16 bytes). Other sizes take the checked path, value by value, in
// which neighbouring lanes take neighbouring values as in step 5: coalesced, too.
//
//     results of thread (x, y):  rows 4 y .. 4 y + 3;  columns 4 x .. 4 x + 3
//     on the checked path:       rows 4 y .. 4 y + 3;  columns x, x + 16, x + 32, x + 48
//
// Look at: requests and their width. tile_a is padded by 4 words, not 2: a row must still start on 16 bytes.
// That leaves a 2-way conflict in the store to tile_a, which costs less than the wide loads save.
//
// fullwarp: a = f32[256*256] : uniform(1)
// fullwarp: b = f32[256*256] : uniform(2)
// fullwarp: c = f32[256*256]
// fullwarp: want = f32[256*256]
// fullwarp: matmul<<<(4,4), (16,16)>>>(a, b, c, 256, 256, 256)
// fullwarp: matmul_reference<<<(8,32), (32,8)>>>(a, b, want, 256, 256, 256)
// fullwarp: expect c ~ want (rtol 1e-5, atol 1e-5)
//
// A size at which nothing fits: 70 x 93 results, 51 terms each.
// fullwarp: c_odd = f32[70*93]
// fullwarp: want_odd = f32[70*93]
// fullwarp: matmul<<<(2,2), (16,16)>>>(a, b, c_odd, 70, 93, 51)
// fullwarp: matmul_reference<<<(3,9), (32,8)>>>(a, b, want_odd, 70, 93, 51)
// fullwarp: expect c_odd ~ want_odd (rtol 1e-5, atol 1e-5)
#include <cuda_runtime.h>

constexpr int kThreads = 16;                  // in x and in y
constexpr int kPerThread = 4;                 // results of a thread, in x and in y
constexpr int kTile = kThreads * kPerThread;  // results of a block, in x and in y
constexpr int kDepth = 16;                    // terms between two barriers

using TileA = float[kDepth][kTile + 4];  // [column of a][row of a]
using TileB = float[kDepth][kTile];

// Four neighbours of a row-major matrix from (row, col), 0 beyond its edge. `col` and `cols` are multiples
// of 4.
__device__ float4 load4(const float* __restrict__ matrix, int row, int col, int rows, int cols) {
  if (row >= rows || col >= cols) return make_float4(0, 0, 0, 0);
  return *reinterpret_cast<const float4*>(matrix + row * cols + col);
}

__device__ float load(const float* __restrict__ matrix, int row, int col, int rows, int cols) {
  return row < rows && col < cols ? matrix[row * cols + col] : 0.0f;
}

template <bool kVector>
__device__ void multiply(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                         int m, int n, int k, TileA& tile_a, TileB& tile_b) {
  int x = threadIdx.x, y = threadIdx.y, thread = y * kThreads + x;
  int first_row = blockIdx.y * kTile, first_col = blockIdx.x * kTile;
  float sum[kPerThread][kPerThread] = {};

  for (int first = 0; first < k; first += kDepth) {
    if (kVector) {
      int a_row = thread / 4, a_col = thread % 4 * 4;    // this thread's float4 of the 64 x 16 tile of a
      int b_row = thread / 16, b_col = thread % 16 * 4;  // and of the 16 x 64 tile of b
      float4 from_a = load4(a, first_row + a_row, first + a_col, m, k);
      tile_a[a_col + 0][a_row] = from_a.x;
      tile_a[a_col + 1][a_row] = from_a.y;
      tile_a[a_col + 2][a_row] = from_a.z;
      tile_a[a_col + 3][a_row] = from_a.w;
      *reinterpret_cast<float4*>(&tile_b[b_row][b_col]) = load4(b, first + b_row, first_col + b_col, k, n);
    } else {
#pragma unroll
      for (int j = 0; j < kPerThread; ++j) {  // 4 elements of each tile
        int i = thread + j * kThreads * kThreads;
        tile_a[i % kDepth][i / kDepth] = load(a, first_row + i / kDepth, first + i % kDepth, m, k);
        tile_b[i / kTile][i % kTile] = load(b, first + i / kTile, first_col + i % kTile, k, n);
      }
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kDepth; ++d) {
      float4 left = *reinterpret_cast<const float4*>(&tile_a[d][y * kPerThread]);
      float rows[kPerThread] = {left.x, left.y, left.z, left.w};
      float cols[kPerThread];
      if (kVector) {
        float4 right = *reinterpret_cast<const float4*>(&tile_b[d][x * kPerThread]);
        cols[0] = right.x, cols[1] = right.y, cols[2] = right.z, cols[3] = right.w;
      } else {
#pragma unroll
        for (int j = 0; j < kPerThread; ++j) cols[j] = tile_b[d][x + j * kThreads];
      }
#pragma unroll
      for (int i = 0; i < kPerThread; ++i) {
#pragma unroll
        for (int j = 0; j < kPerThread; ++j) sum[i][j] += rows[i] * cols[j];
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    int row = first_row + y * kPerThread + i;
    if (kVector) {
      int col = first_col + x * kPerThread;
      if (row < m && col < n)
        *reinterpret_cast<float4*>(&c[row * n + col]) =
            make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
    } else {
#pragma unroll
      for (int j = 0; j < kPerThread; ++j) {
        int col = first_col + x + j * kThreads;
        if (row < m && col < n) c[row * n + col] = sum[i][j];
      }
    }
  }
}

__global__ void __launch_bounds__(kThreads* kThreads)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n,
           int k) {
  __shared__ __align__(16) TileA tile_a;
  __shared__ __align__(16) TileB tile_b;
  if (n % 4 == 0 && k % 4 == 0)
    multiply<true>(a, b, c, m, n, k, tile_a, tile_b);
  else
    multiply<false>(a, b, c, m, n, k, tile_a, tile_b);
}

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

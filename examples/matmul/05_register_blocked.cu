// Matrix product, step 5: 4 x 4 results a thread, in registers.
//
// In steps 3 and 4 each multiplication costs two loads from shared memory. Here 16 x 16 threads compute a
// tile of 64 x 64 results; a thread loads 4 values of a and 4 of b and multiplies them 16 times: half a load
// each. Its rows are 16 apart and so are its columns, which keeps the 16 lanes along x on neighbouring words.
//
//     results of thread (x, y):  rows y, y + 16, y + 32, y + 48;  columns x, x + 16, x + 32, x + 48
//
// The tile of a is transposed. A warp stores 16 columns of 2 rows of it; rows of 66 words put these on 32
// banks:
//
//     lane (x, y) stores word 66 * x + y:  bank (2 * x + y) % 32
//
// Look at: shared loads per multiplication. The grid is 4 times smaller than in step 3: with 16 blocks most
// of a big GPU idles, and an H200 takes longer than in step 3. Register blocking pays where the grid fills
// the chip.
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

__global__ void __launch_bounds__(kThreads* kThreads)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n,
           int k) {
  __shared__ float tile_a[kDepth][kTile + 2];  // [column of a][row of a]
  __shared__ float tile_b[kDepth][kTile];
  int x = threadIdx.x, y = threadIdx.y, thread = y * kThreads + x;
  int first_row = blockIdx.y * kTile, first_col = blockIdx.x * kTile;
  float sum[kPerThread][kPerThread] = {};

  for (int first = 0; first < k; first += kDepth) {
    // 64 x 16 values of a and 16 x 64 of b, four of each a thread: a warp loads two rows of the
    // tile of a and half a row of that of b.
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
      int row = first_row + y + i * kThreads, a_col = first + x;
      tile_a[x][y + i * kThreads] = row < m && a_col < k ? a[row * k + a_col] : 0.0f;
      int at = thread + i * kThreads * kThreads;
      int b_row = first + at / kTile, col = first_col + at % kTile;
      tile_b[at / kTile][at % kTile] = b_row < k && col < n ? b[b_row * n + col] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kDepth; ++d) {
      float from_a[kPerThread], from_b[kPerThread];
#pragma unroll
      for (int i = 0; i < kPerThread; ++i) {
        from_a[i] = tile_a[d][y + i * kThreads];
        from_b[i] = tile_b[d][x + i * kThreads];
      }
#pragma unroll
      for (int i = 0; i < kPerThread; ++i) {
#pragma unroll
        for (int j = 0; j < kPerThread; ++j) sum[i][j] += from_a[i] * from_b[j];
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
#pragma unroll
    for (int j = 0; j < kPerThread; ++j) {
      int row = first_row + y + i * kThreads, col = first_col + x + j * kThreads;
      if (row < m && col < n) c[row * n + col] = sum[i][j];
    }
  }
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

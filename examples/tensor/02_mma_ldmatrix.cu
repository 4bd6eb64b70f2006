// Tensor cores, step 2: mma.sync on tiles in shared memory, loaded by ldmatrix, any size.
//
// A block of four warps computes 64 x 64 results. ldmatrix hands every lane the pieces of an 8 x 8 matrix
// that mma.sync wants from it; each of its four phases reads eight rows of 16 bytes, so a row pitch of 80
// (144) bytes, that is 20 (36) words, keeps the eight rows on different banks.
// Look at: one ldmatrix for four matrices, no conflict; global loads of 16 bytes where the rows allow it. The
// stores to tile_a have a 2-way conflict left: 8 lanes fill two rows of 16 words that lie 20 words apart.
//
// fullwarp: a = f16[128*128] : uniform(1)
// fullwarp: b = f16[128*128] : uniform(2)
// fullwarp: c = f32[128*128]
// fullwarp: want = f32[128*128]
// fullwarp: matmul<<<(2,2), 128>>>(a, b, c, 128, 128, 128)
// fullwarp: matmul_reference<<<(4,16), (32,8)>>>(a, b, want, 128, 128, 128)
// fullwarp: expect c ~ want (rtol 1e-4, atol 1e-4)
//
// A size at which nothing fits: 70 x 93 results, 51 terms each.
// fullwarp: c_odd = f32[70*93]
// fullwarp: want_odd = f32[70*93]
// fullwarp: matmul<<<(2,2), 128>>>(a, b, c_odd, 70, 93, 51)
// fullwarp: matmul_reference<<<(3,9), (32,8)>>>(a, b, want_odd, 70, 93, 51)
// fullwarp: expect c_odd ~ want_odd (rtol 1e-4, atol 1e-4)
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int kTile = 64;      // results of a block, in x and in y
constexpr int kDepth = 32;     // terms between two barriers
constexpr int kThreads = 128;  // four warps, each 32 x 32 results: 2 x 4 products of 16 x 8
constexpr int kPad = 8;        // halves: rows start on 16 bytes, eight rows apart by all 32 banks

// Loads four (two) 8 x 8 matrices of halves; lane t gives the address of row t % 8 of matrix t / 8.
__device__ void load_a(unsigned (&to)[4], const half* row) {
  unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}
__device__ void load_b(unsigned (&to)[2], const half* row) {
  unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1])
               : "r"(address)
               : "memory");
}
// sum (16 x 8, f32) += a (16 x 16, f16) * b (16 x 8, f16)
__device__ void multiply(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Eight neighbours of a row-major matrix from (row, col), 0 beyond its edge. `col` is a multiple of 8.
__device__ void copy8(half* to, const half* matrix, int row, int col, int rows, int cols) {
  if (row < rows && col < cols && cols % 8 == 0) {
    *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(matrix + row * cols + col);
    return;
  }
  for (int i = 0; i < 8; ++i) {
    to[i] = row < rows && col + i < cols ? matrix[row * cols + col + i] : __float2half(0.0f);
  }
}

// c (m x n) = a (m x k) * b (k x n), row-major.
__global__ void __launch_bounds__(kThreads) matmul(const half* __restrict__ a, const half* __restrict__ b,
                                                   float* __restrict__ c, int m, int n, int k) {
  __shared__ __align__(16) half tile_a[kTile][kDepth + kPad];
  __shared__ __align__(16) half tile_b[kDepth][kTile + kPad];
  int first_row = blockIdx.y * kTile, first_col = blockIdx.x * kTile;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int warp_row = warp / 2 * 32, warp_col = warp % 2 * 32;
  float sum[2][4][4] = {};

  for (int first = 0; first < k; first += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth / 8; i += kThreads) {
      int a_row = i / (kDepth / 8), a_col = i % (kDepth / 8) * 8;
      copy8(&tile_a[a_row][a_col], a, first_row + a_row, first + a_col, m, k);
      int b_row = i / (kTile / 8), b_col = i % (kTile / 8) * 8;
      copy8(&tile_b[b_row][b_col], b, first + b_row, first_col + b_col, k, n);
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kDepth; d += 16) {
      unsigned left[2][4], right[4][2];
#pragma unroll
      for (int i = 0; i < 2; ++i) load_a(left[i], &tile_a[warp_row + i * 16 + lane % 16][d + lane / 16 * 8]);
#pragma unroll
      for (int j = 0; j < 4; ++j) load_b(right[j], &tile_b[d + lane % 16][warp_col + j * 8]);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) multiply(sum[i][j], left[i], right[j]);
      }
    }
    __syncthreads();
  }

  // Lane t holds columns 2 (t % 4) and the next of rows t / 4 and t / 4 + 8.
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int v = 0; v < 4; ++v) {
        int row = first_row + warp_row + i * 16 + lane / 4 + v / 2 * 8;
        int col = first_col + warp_col + j * 8 + lane % 4 * 2 + v % 2;
        if (row < m && col < n) c[row * n + col] = sum[i][j][v];
      }
    }
  }
}

// The check: one thread a result, the products exact, summed in double.
__global__ void matmul_reference(const half* a, const half* b, float* c, int m, int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  double sum = 0;
  for (int i = 0; i < k; ++i)
    // fullwarp-ignore: redundant-global-loads the reference stays simple
    sum += static_cast<double>(__half2float(a[row * k + i])) * __half2float(b[i * n + col]);
  c[row * n + col] = static_cast<float>(sum);
}

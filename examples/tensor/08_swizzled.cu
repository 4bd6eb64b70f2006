// Tensor cores, step 4: a swizzle instead of padding, and results stored in pairs.
//
// As step 3, without the two things its report names.
// 1. Rows padded to 80 bytes keep ldmatrix free of conflicts, but not the copies into them: eight lanes copy
//    two rows, and the second begins in banks that the first has used. Here rows are not padded; the pieces
//    of 16 bytes of a row are stored in another order, by exclusive or with the row's number:
//
//        tile_a: 4 pieces a row, two rows in all 32 banks    tile_b: 8 pieces a row, one row in all 32 banks
//        row 0   0 1 2 3                                     row 0   0 1 2 3 4 5 6 7
//        row 1   0 1 2 3                                     row 1   1 0 3 2 5 4 7 6
//        row 2   1 0 3 2                                     row 2   2 3 0 1 6 7 4 5
//        row 3   1 0 3 2                                     row 3   3 2 1 0 7 6 5 4
//
//    A copy fills whole rows, in whatever order: all banks once. ldmatrix takes one piece of eight rows: all
//    banks once, too. And 3 KB less a block.
// 2. A lane holds two neighbouring columns of c: the float2 of four lanes fill a sector, where two stores of
//    one float touch it twice.
//
// Look at: no finding, at either size.
//
// fullwarp: a = f16[128*128] : uniform(1)
// fullwarp: b = f16[128*128] : uniform(2)
// fullwarp: c = f32[128*128]
// fullwarp: want = f32[128*128]
// fullwarp: matmul<<<(2,2), 128>>>(a, b, c, 128, 128, 128)
// fullwarp: matmul_reference<<<(4,16), (32,8)>>>(a, b, want, 128, 128, 128)
// fullwarp: expect c ~ want (rtol 1e-4, atol 1e-4)
//
// 70 x 88 results, 56 terms each.
// fullwarp: c_odd = f32[70*88]
// fullwarp: want_odd = f32[70*88]
// fullwarp: matmul<<<(2,2), 128>>>(a, b, c_odd, 70, 88, 56)
// fullwarp: matmul_reference<<<(3,9), (32,8)>>>(a, b, want_odd, 70, 88, 56)
// fullwarp: expect c_odd ~ want_odd (rtol 1e-4, atol 1e-4)
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int kTile = 64;      // results of a block, in x and in y
constexpr int kDepth = 32;     // terms between two barriers
constexpr int kThreads = 128;  // four warps, each 32 x 32 results: 2 x 4 products of 16 x 8

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

// Starts a copy of 16 bytes to shared memory; zeros if `inside` is false.
__device__ void copy16_async(half* to, const half* from, bool inside) {
  unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(inside ? 16 : 0)
               : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kLeft>
__device__ void wait_until_left() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

// Where the tiles keep a column, a multiple of 8 halves, of a row; pairs of rows of tile_a share the banks.
__device__ int in_a(int row, int col) { return col ^ (row / 2 % 4 * 8); }
__device__ int in_b(int row, int col) { return col ^ (row % 8 * 8); }

// c (m x n) = a (m x k) * b (k x n), row-major; k and n are multiples of 8.
__global__ void __launch_bounds__(kThreads) matmul(const half* __restrict__ a, const half* __restrict__ b,
                                                   float* __restrict__ c, int m, int n, int k) {
  __shared__ __align__(16) half tile_a[2][kTile][kDepth];
  __shared__ __align__(16) half tile_b[2][kDepth][kTile];
  int first_row = blockIdx.y * kTile, first_col = blockIdx.x * kTile;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int warp_row = warp / 2 * 32, warp_col = warp % 2 * 32;
  float sum[2][4][4] = {};

  auto start_copy = [&](int buffer, int first) {
    for (int i = threadIdx.x; i < kTile * kDepth / 8; i += kThreads) {
      int a_row = i / (kDepth / 8), a_col = i % (kDepth / 8) * 8;
      bool a_inside = first_row + a_row < m && first + a_col < k;
      copy16_async(&tile_a[buffer][a_row][in_a(a_row, a_col)],
                   a_inside ? a + (first_row + a_row) * k + first + a_col : a, a_inside);
      int b_row = i / (kTile / 8), b_col = i % (kTile / 8) * 8;
      bool b_inside = first + b_row < k && first_col + b_col < n;
      copy16_async(&tile_b[buffer][b_row][in_b(b_row, b_col)],
                   b_inside ? b + (first + b_row) * n + first_col + b_col : b, b_inside);
    }
    commit();
  };

  start_copy(0, 0);
  for (int first = 0, buffer = 0; first < k; first += kDepth, buffer ^= 1) {
    if (first + kDepth < k) {
      start_copy(buffer ^ 1, first + kDepth);
      wait_until_left<1>();
    } else {
      wait_until_left<0>();
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kDepth; d += 16) {
      unsigned left[2][4], right[4][2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        int row = warp_row + i * 16 + lane % 16;
        load_a(left[i], &tile_a[buffer][row][in_a(row, d + lane / 16 * 8)]);
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        int row = d + lane % 16;
        load_b(right[j], &tile_b[buffer][row][in_b(row, warp_col + j * 8)]);
      }
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) multiply(sum[i][j], left[i], right[j]);
      }
    }
    __syncthreads();
  }

  // Lane t holds columns 2 (t % 4) and the next of rows t / 4 and t / 4 + 8; both are inside or neither is.
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int half_tile = 0; half_tile < 2; ++half_tile) {
        int row = first_row + warp_row + i * 16 + lane / 4 + half_tile * 8;
        int col = first_col + warp_col + j * 8 + lane % 4 * 2;
        if (row < m && col < n)
          *reinterpret_cast<float2*>(&c[row * n + col]) =
              make_float2(sum[i][j][2 * half_tile], sum[i][j][2 * half_tile + 1]);
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

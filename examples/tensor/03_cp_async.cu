// Tensor cores, step 3: cp.async and two buffers.
//
// As step 2, but the tiles go from global to shared memory without passing through registers, and the next
// pair is on its way while this one is multiplied:
//
//     copy 0 | copy 1    | copy 2    | ...
//            | multiply 0| multiply 1| ...
//
// cp.async moves 16 bytes, so the rows of a and b must be multiples of 8 halves (k % 8 == 0, n % 8 == 0);
// beyond the edge it is told to read 0 bytes and fills with zeros. m is any number.
// Look at: two barriers a step, so that all see all copies, and none overwrites what a slower warp reads.
// What is still found, the banks of the copies and the half sectors of the stores: step 4, 08_swizzled.cu.
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

// c (m x n) = a (m x k) * b (k x n), row-major; k and n are multiples of 8.
__global__ void __launch_bounds__(kThreads) matmul(const half* __restrict__ a, const half* __restrict__ b,
                                                   float* __restrict__ c, int m, int n, int k) {
  __shared__ __align__(16) half tile_a[2][kTile][kDepth + kPad];
  __shared__ __align__(16) half tile_b[2][kDepth][kTile + kPad];
  int first_row = blockIdx.y * kTile, first_col = blockIdx.x * kTile;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int warp_row = warp / 2 * 32, warp_col = warp % 2 * 32;
  float sum[2][4][4] = {};

  auto start_copy = [&](int buffer, int first) {
    for (int i = threadIdx.x; i < kTile * kDepth / 8; i += kThreads) {
      int a_row = i / (kDepth / 8), a_col = i % (kDepth / 8) * 8;
      bool a_inside = first_row + a_row < m && first + a_col < k;
      copy16_async(&tile_a[buffer][a_row][a_col], a_inside ? a + (first_row + a_row) * k + first + a_col : a,
                   a_inside);
      int b_row = i / (kTile / 8), b_col = i % (kTile / 8) * 8;
      bool b_inside = first + b_row < k && first_col + b_col < n;
      copy16_async(&tile_b[buffer][b_row][b_col], b_inside ? b + (first + b_row) * n + first_col + b_col : b,
                   b_inside);
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
      for (int i = 0; i < 2; ++i)
        load_a(left[i], &tile_a[buffer][warp_row + i * 16 + lane % 16][d + lane / 16 * 8]);
#pragma unroll
      for (int j = 0; j < 4; ++j) load_b(right[j], &tile_b[buffer][d + lane % 16][warp_col + j * 8]);
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

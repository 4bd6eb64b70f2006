// Every step of every recipe against plain loops in double precision, at sizes that fit no tile.
//
// fullwarp: m = 150; n = 141; k = 70
// fullwarp: a = f32[m*k] : uniform(1)
// fullwarp: b = f32[k*n] : uniform(2)
// fullwarp: want = f32[m*n]
// fullwarp: c1 = f32[m*n]; c2 = f32[m*n]; c3 = f32[m*n]; c4 = f32[m*n]; c5 = f32[m*n]
// fullwarp: matmul_reference<<<(m*n+127)/128, 128>>>(a, b, want, m, n, k)
// fullwarp: matmul_naive<<<(5,19), (32,8)>>>(a, b, c1, m, n, k)
// fullwarp: matmul_tiled<<<(5,5), (32,32)>>>(a, b, c2, m, n, k)
// fullwarp: fullwarp::recipes::matmul_registers<fullwarp::recipes::TileShape<128, 128, 8> ><<<(2,2), 256>>>(a, b, c3, m, n, k)
// fullwarp: fullwarp::recipes::matmul_double_buffered<fullwarp::recipes::TileShape<128, 128, 8>, false, true><<<(2,2), 256>>>(a, b, c4, m, n, k)
// fullwarp: fullwarp::recipes::matmul_pipelined<fullwarp::recipes::TileShape<128, 128, 8>, false><<<(2,2), 256>>>(1, a, b, c5, m, n, k)
// fullwarp: expect c1 ~ want (rtol 1e-5, atol 1e-5)
// fullwarp: expect c2 ~ want (rtol 1e-5, atol 1e-5)
// fullwarp: expect c3 ~ want (rtol 1e-5, atol 1e-5)
// fullwarp: expect c4 ~ want (rtol 1e-5, atol 1e-5)
// fullwarp: expect c5 ~ want (rtol 1e-5, atol 1e-5)
//
// fullwarp: rows = 100; columns = 77
// fullwarp: in = f32[rows*columns] : iota
// fullwarp: turned = f32[rows*columns]
// fullwarp: t1 = f32[rows*columns]; t2 = f32[rows*columns]; t2s = f32[rows*columns]; t3 = f32[rows*columns]
// fullwarp: transpose_reference<<<(rows*columns+127)/128, 128>>>(in, turned, rows, columns)
// fullwarp: transpose_naive<float><<<(3,13), (32,8)>>>(in, t1, rows, columns)
// fullwarp: transpose_tile<float, 1><<<(3,4), (32,8)>>>(in, t2, rows, columns)
// fullwarp: transpose_swizzled<float><<<(3,4), (32,8)>>>(in, t2s, rows, columns)
// fullwarp: transpose_large_tile<float><<<(2,2), 256>>>(in, t3, rows, columns)
// fullwarp: expect t1 = turned
// fullwarp: expect t2 = turned
// fullwarp: expect t2s = turned
// fullwarp: expect t3 = turned
//
// Small whole numbers: every order of sums gives the same.
// fullwarp: s_in = f32[3001] : below(5, 3)
// fullwarp: s_want = f32[1]; s1 = f32[1]; s2 = f32[1]; s3 = f32[1]
// fullwarp: sum_reference<<<1, 1>>>(s_in, 3001, s_want)
// fullwarp: sum_shared<<<12, 256>>>(s_in, 3001, s1)
// fullwarp: sum_shuffle<<<12, 256>>>(s_in, 3001, s2)
// fullwarp: sum_vectors<<<2, 256>>>(s_in, 3001, s3)
// fullwarp: expect s1 = s_want
// fullwarp: expect s2 = s_want
// fullwarp: expect s3 = s_want
//
// 3 images of 5 inputs and 9 outputs, 21 x 37.
// fullwarp: v_in = f32[3*5*21*37] : uniform(4)
// fullwarp: v_weight = f32[9*5*9] : uniform(5)
// fullwarp: v_want = f32[3*9*21*37]
// fullwarp: v1 = f32[3*9*21*37]; v2 = f32[3*9*21*37]; v3 = f32[3*9*21*37]
// fullwarp: conv_reference<<<(3*9*21*37+127)/128, 128>>>(v_in, v_weight, v_want, 3, 5, 9, 1, 21, 37)
// fullwarp: conv3x3_naive<<<(2,3,27), (32,8)>>>(v_in, v_weight, v1, {i32 5, i32 9, i32 21, i32 37})
// fullwarp: conv3x3_shared<8><<<(2,3,6), (32,8)>>>(v_in, v_weight, v2, {i32 5, i32 9, i32 21, i32 37})
// fullwarp: conv3x3_registers<16><<<(1,2,3), (16,16)>>>(v_in, v_weight, v3, {i32 5, i32 9, i32 21, i32 37})
// fullwarp: expect v1 ~ v_want (rtol 1e-5, atol 1e-5)
// fullwarp: expect v2 ~ v_want (rtol 1e-5, atol 1e-5)
// fullwarp: expect v3 ~ v_want (rtol 1e-5, atol 1e-5)
//
// 2 volumes of 3 inputs and 5 outputs, 6 x 11 x 35.
// fullwarp: w_in = f32[2*3*6*11*35] : uniform(6)
// fullwarp: w_weight = f32[5*3*27] : uniform(7)
// fullwarp: w_want = f32[2*5*6*11*35]
// fullwarp: w1 = f32[2*5*6*11*35]; w2 = f32[2*5*6*11*35]; w3 = f32[2*5*6*11*35]
// fullwarp: conv_reference<<<(2*5*6*11*35+127)/128, 128>>>(w_in, w_weight, w_want, 2, 3, 5, 6, 11, 35)
// fullwarp: conv3d_naive<<<(2,2,60), (32,8)>>>(w_in, w_weight, w1, {i32 3, i32 5, i32 6, i32 11, i32 35})
// fullwarp: conv3d_shared<8><<<(2,2,12), (32,8)>>>(w_in, w_weight, w2, {i32 3, i32 5, i32 6, i32 11, i32 35})
// fullwarp: conv3d_registers<16, 3><<<(1,1,12), (16,16)>>>(w_in, w_weight, w3, {i32 3, i32 5, i32 6, i32 11, i32 35})
// fullwarp: expect w1 ~ w_want (rtol 1e-5, atol 1e-5)
// fullwarp: expect w2 ~ w_want (rtol 1e-5, atol 1e-5)
// fullwarp: expect w3 ~ w_want (rtol 1e-5, atol 1e-5)
//
// Quotients and remainders of 2000 numbers, for divisors of every kind.
// fullwarp: q = u32[2000]
// fullwarp: r = u32[2000]
// fullwarp: fast_division_differs<<<8, 256>>>(q, r, 2000)
// fullwarp: expect q = u32[2000] : zero
// fullwarp: expect r = u32[2000] : zero
#include <cuda_runtime.h>

#include "conv3d/1_naive.cuh"
#include "conv3d/2_shared.cuh"
#include "conv3d/3_registers.cuh"
#include "conv3x3/1_naive.cuh"
#include "conv3x3/2_shared.cuh"
#include "conv3x3/3_registers.cuh"
#include "fast_division.cuh"
#include "matmul/1_naive.cuh"
#include "matmul/2_tiled.cuh"
#include "matmul/3_registers.cuh"
#include "matmul/4_double_buffered.cuh"
#include "matmul/5_pipelined.cuh"
#include "reduction/1_shared.cuh"
#include "reduction/2_shuffle.cuh"
#include "reduction/3_vectors.cuh"
#include "transpose/1_naive.cuh"
#include "transpose/2_swizzled.cuh"
#include "transpose/2_tile.cuh"
#include "transpose/3_large_tile.cuh"

__global__ void matmul_reference(const float* a, const float* b, float* c, int m, int n, int k) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m * n) return;
  double sum = 0;
  for (int l = 0; l < k; ++l) sum += static_cast<double>(a[i / n * k + l]) * b[l * n + i % n];
  c[i] = static_cast<float>(sum);
}

__global__ void transpose_reference(const float* in, float* out, int rows, int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * columns) out[i % columns * rows + i / columns] = in[i];
}

__global__ void sum_reference(const float* in, int n, float* out) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i];
  *out = static_cast<float>(sum);
}

// One or three planes of weights: a depth of 1 has 9 weights, else 27.
__global__ void conv_reference(const float* in, const float* weight, float* out, int batch, int inputs, int outputs,
                               int depth, int height, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= batch * outputs * depth * height * width) return;
  const int x = i % width, y = i / width % height, z = i / width / height % depth;
  const int output = i / width / height / depth % outputs, image = i / width / height / depth / outputs;
  const int planes = depth == 1 ? 1 : 3;
  double sum = 0;
  for (int c = 0; c < inputs; ++c) {
    for (int d = 0; d < planes * 9; ++d) {
      const int zz = planes == 1 ? 0 : z + d / 9 - 1, yy = y + d / 3 % 3 - 1, xx = x + d % 3 - 1;
      if (zz < 0 || zz >= depth || yy < 0 || yy >= height || xx < 0 || xx >= width) continue;
      sum += static_cast<double>(weight[(output * inputs + c) * planes * 9 + d]) *
             in[((image * inputs + c) * depth + zz) * height * width + yy * width + xx];
    }
  }
  out[i] = static_cast<float>(sum);
}

// How many divisors give a wrong quotient or remainder for the thread's number.
__global__ void fast_division_differs(unsigned* quotients, unsigned* remainders, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned number = i < 64 ? 0xffffffffu - i : i * 2654435761u;
  unsigned wrong_quotients = 0, wrong_remainders = 0;
  constexpr unsigned kDivisors[] = {1, 2, 3, 7, 10, 255, 256, 641, 65537, 1u << 30, 2147483647u};
  for (const unsigned divisor : kDivisors) {
    const fullwarp::recipes::FastDivisor fast(divisor);
    wrong_quotients += number / fast != number / divisor;
    wrong_remainders += number % fast != number % divisor;
  }
  quotients[i] = wrong_quotients;
  remainders[i] = wrong_remainders;
}

// What the launches above instantiate.
using namespace fullwarp::recipes;
template __global__ void fullwarp::recipes::matmul_registers<TileShape<128, 128, 8>>(const float*, const float*, float*,
                                                                                     int, int, int);
template __global__ void fullwarp::recipes::matmul_double_buffered<TileShape<128, 128, 8>, false, true>(
    const float*, const float*, float*, int, int, int);
template __global__ void fullwarp::recipes::matmul_pipelined<TileShape<128, 128, 8>, false>(float, const float*,
                                                                                             const float*, float*, int,
                                                                                             int, int);

// Direct 3 x 3 convolution with zero padding, in three steps; any image size, any channel counts.
//
//   out[b][o][y][x] = sum over i, dy, dx of weight[o][i][dy][dx] in[b][i][y + dy - 1][x + dx - 1]
//
//   1 conv3x3_naive      a thread for each result, all from global memory
//   2 conv3x3_shared     a tile of the input with its rim in shared memory, read once a block for kOutputs
//                        outputs
//   3 conv3x3_registers  four results along x and kOutputs outputs a thread: 4 values and 4 weights for 16
//                        products
//
// Grid: x (width + TX - 1) / TX, y (height + TY - 1) / TY, z batch * groups of kOutputs outputs
//   1: TX = 32, TY = 8, kOutputs = 1, threads (32, 8)
//   2: TX = 32, TY = 8, kOutputs = 8, threads (32, 8)
//   3: TX = 64, TY = 16, kOutputs = 16, threads (16, 16)
#ifndef FULLWARP_RECIPES_CONV_CONV3X3_CUH_
#define FULLWARP_RECIPES_CONV_CONV3X3_CUH_

namespace fullwarp::recipes {

struct ConvShape {
  int inputs, outputs, height, width;
};

__global__ void __launch_bounds__(256)
    conv3x3_naive(const float* __restrict__ in, const float* __restrict__ weight, float* __restrict__ out,
                  ConvShape s) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int output = blockIdx.z % s.outputs, image = blockIdx.z / s.outputs;
  if (x >= s.width || y >= s.height) return;
  const size_t plane = static_cast<size_t>(s.height) * s.width;
  float sum = 0;
  for (int i = 0; i < s.inputs; ++i) {
    const float* const from = in + (static_cast<size_t>(image) * s.inputs + i) * plane;
    const float* const w = weight + (static_cast<size_t>(output) * s.inputs + i) * 9;
    for (int dy = 0; dy < 3; ++dy) {
      for (int dx = 0; dx < 3; ++dx) {
        const int yy = y + dy - 1, xx = x + dx - 1;
        if (yy >= 0 && yy < s.height && xx >= 0 && xx < s.width) {
          sum += w[dy * 3 + dx] * from[static_cast<size_t>(yy) * s.width + xx];
        }
      }
    }
  }
  out[(static_cast<size_t>(image) * s.outputs + output) * plane + static_cast<size_t>(y) * s.width + x] = sum;
}

// A tile of one input plane with one pixel of rim on each side, zeros outside the image.
template <int kRows, int kColumns, int kPitch, int kThreads>
__device__ __forceinline__ void load_with_rim(float (*tile)[kPitch], const float* plane, int y0, int x0,
                                              const ConvShape& s, int thread) {
  for (int i = thread; i < kRows * kColumns; i += kThreads) {
    const int r = i / kColumns, c = i % kColumns;
    const int y = y0 + r - 1, x = x0 + c - 1;
    const bool there = y >= 0 && y < s.height && x >= 0 && x < s.width;
    tile[r][c] = there ? plane[static_cast<size_t>(y) * s.width + x] : 0.0f;
  }
}

template <int kOutputs>
__global__ void __launch_bounds__(256)
    conv3x3_shared(const float* __restrict__ in, const float* __restrict__ weight, float* __restrict__ out,
                   ConvShape s) {
  __shared__ float tile[10][34];
  __shared__ float w[kOutputs][9];
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * 32 + tx;
  const int groups = (s.outputs + kOutputs - 1) / kOutputs;
  const int first = blockIdx.z % groups * kOutputs, image = blockIdx.z / groups;
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 8;
  const size_t plane = static_cast<size_t>(s.height) * s.width;
  float sum[kOutputs] = {};
  for (int i = 0; i < s.inputs; ++i) {
    load_with_rim<10, 34, 34, 256>(tile, in + (static_cast<size_t>(image) * s.inputs + i) * plane, y0, x0, s,
                                   thread);
    if (thread < kOutputs * 9) {
      const int o = first + thread / 9;
      w[thread / 9][thread % 9] =
          o < s.outputs ? weight[(static_cast<size_t>(o) * s.inputs + i) * 9 + thread % 9] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < 9; ++d) {
      const float v = tile[ty + d / 3][tx + d % 3];
#pragma unroll
      for (int o = 0; o < kOutputs; ++o) sum[o] += w[o][d] * v;
    }
    __syncthreads();
  }
  const int x = x0 + tx, y = y0 + ty;
  if (x >= s.width || y >= s.height) return;
#pragma unroll
  for (int o = 0; o < kOutputs; ++o) {
    if (first + o < s.outputs) {
      out[(static_cast<size_t>(image) * s.outputs + first + o) * plane + static_cast<size_t>(y) * s.width +
          x] = sum[o];
    }
  }
}

template <int kOutputs>
__global__ void __launch_bounds__(256)
    conv3x3_registers(const float* __restrict__ in, const float* __restrict__ weight, float* __restrict__ out,
                      ConvShape s) {
  constexpr int kAlong = 4;  // results of a thread along x, 16 apart: a warp's reads are neighbours
  // A warp reads 16 neighbours of two rows: a pitch of 16 modulo 32 words puts the rows into different banks.
  __shared__ float tile[18][80];
  __shared__ __align__(16) float w[9][kOutputs];
  static_assert(kOutputs % 4 == 0, "weights are read four at a time");
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * 16 + tx;
  const int groups = (s.outputs + kOutputs - 1) / kOutputs;
  const int first = blockIdx.z % groups * kOutputs, image = blockIdx.z / groups;
  const int x0 = blockIdx.x * 64, y0 = blockIdx.y * 16;
  const size_t plane = static_cast<size_t>(s.height) * s.width;
  float sum[kOutputs][kAlong] = {};
  for (int i = 0; i < s.inputs; ++i) {
    load_with_rim<18, 66, 80, 256>(tile, in + (static_cast<size_t>(image) * s.inputs + i) * plane, y0, x0, s,
                                   thread);
    if (thread < kOutputs * 9) {
      const int o = first + thread % kOutputs;
      w[thread / kOutputs][thread % kOutputs] =
          o < s.outputs ? weight[(static_cast<size_t>(o) * s.inputs + i) * 9 + thread / kOutputs] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < 9; ++d) {
      float v[kAlong];
#pragma unroll
      for (int j = 0; j < kAlong; ++j) v[j] = tile[ty + d / 3][tx + 16 * j + d % 3];
#pragma unroll
      for (int o = 0; o < kOutputs; o += 4) {
        const float4 f = *reinterpret_cast<const float4*>(&w[d][o]);
#pragma unroll
        for (int j = 0; j < kAlong; ++j) {
          sum[o][j] += f.x * v[j];
          sum[o + 1][j] += f.y * v[j];
          sum[o + 2][j] += f.z * v[j];
          sum[o + 3][j] += f.w * v[j];
        }
      }
    }
    __syncthreads();
  }
  const int y = y0 + ty;
  if (y >= s.height) return;
#pragma unroll
  for (int o = 0; o < kOutputs; ++o) {
    float* const row =
        out + (static_cast<size_t>(image) * s.outputs + first + o) * plane + static_cast<size_t>(y) * s.width;
#pragma unroll
    for (int j = 0; j < kAlong; ++j) {
      if (first + o < s.outputs && x0 + tx + 16 * j < s.width) row[x0 + tx + 16 * j] = sum[o][j];
    }
  }
}

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_CONV_CONV3X3_CUH_

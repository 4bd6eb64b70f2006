// How steps 3 and 4 share their work: a block's tile, a thread's results, and where a thread finds them.
#ifndef FULLWARP_RECIPES_MATMUL_TILE_SHAPE_CUH_
#define FULLWARP_RECIPES_MATMUL_TILE_SHAPE_CUH_

namespace fullwarp::recipes {

// A block of kThreads makes kRows x kColumns results, kDepth terms at a time; a thread makes 8 x 8 of them,
// as four blocks of 4 x 4 that lie 16 rows and 32 columns apart:
//
//     warp's 32 x 64    columns 0..31   32..63
//     rows  0..15           4x4           4x4      a lane's 4 columns are 16 bytes, one load; the lanes
//     rows 16..31           4x4           4x4      beside it read the 8 next pieces, without conflicts
template <int kRows_, int kColumns_, int kDepth_>
struct TileShape {
  static constexpr int kRows = kRows_, kColumns = kColumns_, kDepth = kDepth_;
  static constexpr int kThreads = kRows * kColumns / 64;
  static constexpr int kWarpsAcross = kColumns / 64;
  // A lies transposed, so that a thread's rows are neighbours; 4 more floats a row spread its stores over the
  // banks.
  static constexpr int kPitchA = kRows + 4;
  static constexpr int kPitchB = kColumns;
  static constexpr int kSharedBytes = kDepth * (kPitchA + kPitchB) * 4;
  static_assert(kRows % 32 == 0 && kColumns % 64 == 0, "whole tiles of a warp");
  static_assert(kThreads % 32 == 0 && kThreads <= 1024, "whole warps in one block");
  static_assert(kThreads % kDepth == 0 && kRows % (kThreads / kDepth) == 0,
                "every thread loads as many of A");
  static_assert(kDepth * kColumns % kThreads == 0, "every thread loads as many of B");
  static_assert(2 * kSharedBytes <= 48 * 1024, "two buffers in static shared memory");

  // Lanes 2 i and 2 i + 1 share their columns: the shared memory serves such pairs together.
  static __device__ int first_row(int thread) {
    return thread / 32 / kWarpsAcross * 32 + (thread % 32 / 16 * 2 + thread % 2) * 4;
  }
  static __device__ int first_column(int thread) {
    return thread / 32 % kWarpsAcross * 64 + thread % 16 / 2 * 4;
  }
};

// Adds a column of 8 values of A times a row of 8 of B.
__device__ __forceinline__ void add_outer_product(float (&sum)[8][8], const float (&a)[8],
                                                  const float (&b)[8]) {
#pragma unroll
  for (int i = 0; i < 8; ++i) {
#pragma unroll
    for (int j = 0; j < 8; ++j) sum[i][j] += a[i] * b[j];
  }
}

// Two pieces of 4, `apart` floats from each other.
__device__ __forceinline__ void read_pieces(float (&out)[8], const float* from, int apart) {
  const float4 x = *reinterpret_cast<const float4*>(from);
  const float4 y = *reinterpret_cast<const float4*>(from + apart);
  out[0] = x.x, out[1] = x.y, out[2] = x.z, out[3] = x.w;
  out[4] = y.x, out[5] = y.y, out[6] = y.z, out[7] = y.w;
}

// Stores the thread's results; 16 bytes at a time where every row of C starts at a multiple of 16 bytes.
__device__ __forceinline__ void store_results(float* c, const float (&sum)[8][8], int row, int column, int m,
                                              int n) {
  const bool vectors = n % 4 == 0 && reinterpret_cast<size_t>(c) % 16 == 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int r = row + i % 4 + i / 4 * 16;
    if (r < m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int first = column + half * 32;
        float* const to = c + static_cast<size_t>(r) * n + first;
        const float* const from = &sum[i][half * 4];
        if (vectors && first + 4 <= n) {
          *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
        } else {
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            if (first + j < n) to[j] = from[j];
          }
        }
      }
    }
  }
}

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_MATMUL_TILE_SHAPE_CUH_

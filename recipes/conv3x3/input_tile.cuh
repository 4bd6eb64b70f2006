// What the steps of the 3 x 3 convolution share, and those of the 3-D one: the sizes, and a tile of the input
// with its rim in shared memory.
#ifndef FULLWARP_RECIPES_CONV3X3_INPUT_TILE_CUH_
#define FULLWARP_RECIPES_CONV3X3_INPUT_TILE_CUH_

namespace fullwarp::recipes {

struct ConvShape {
  int inputs, outputs, height, width;
};

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

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_CONV3X3_INPUT_TILE_CUH_

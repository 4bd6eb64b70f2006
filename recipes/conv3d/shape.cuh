// The sizes of a 3-D convolution.
#ifndef FULLWARP_RECIPES_CONV3D_SHAPE_CUH_
#define FULLWARP_RECIPES_CONV3D_SHAPE_CUH_

namespace fullwarp::recipes {

struct Conv3dShape {
  int inputs, outputs, depth, height, width;
};

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_CONV3D_SHAPE_CUH_

// Direct 3 x 3 x 3 convolution, step 2: three planes of a channel in shared memory, once for kOutputs
// outputs.
//
//     conv3d_shared<8><<<dim3((width + 31) / 32, (height + 7) / 8, batch * depth * ((outputs + 7) / 8)),
//                        dim3(32, 8)>>>(in, weight, out, {inputs, outputs, depth, height, width});
#ifndef FULLWARP_RECIPES_CONV3D_2_SHARED_CUH_
#define FULLWARP_RECIPES_CONV3D_2_SHARED_CUH_

#include "input_tile.cuh"

namespace fullwarp::recipes {

template <int kOutputs>
__global__ void __launch_bounds__(256)
    conv3d_shared(const float* __restrict__ in, const float* __restrict__ weight, float* __restrict__ out,
                  Conv3dShape s) {
  conv3d_tile<kOutputs, 1, 32, 8>(in, weight, out, s);
}

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_CONV3D_2_SHARED_CUH_

// Direct 3 x 3 x 3 convolution, step 3: kAlong results along x and kOutputs outputs in a thread's registers.
//
// A block covers 16 kAlong columns; the kAlong that wastes least of the width is the fastest.
//
//     conv3d_registers<16, 2><<<dim3((width + 31) / 32, (height + 15) / 16,
//                                    batch * depth * ((outputs + 15) / 16)), dim3(16, 16)>>>(
//         in, weight, out, {inputs, outputs, depth, height, width});
#ifndef FULLWARP_RECIPES_CONV3D_3_REGISTERS_CUH_
#define FULLWARP_RECIPES_CONV3D_3_REGISTERS_CUH_

#include "input_tile.cuh"

namespace fullwarp::recipes {

template <int kOutputs, int kAlong>
__global__ void __launch_bounds__(256)
    conv3d_registers(const float* __restrict__ in, const float* __restrict__ weight, float* __restrict__ out,
                     Conv3dShape s) {
  conv3d_tile<kOutputs, kAlong, 16, 16>(in, weight, out, s);
}

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_CONV3D_3_REGISTERS_CUH_

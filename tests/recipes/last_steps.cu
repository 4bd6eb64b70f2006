// The last step of each recipe at sizes that fit its tiles: fullwarp has nothing to say about them.
//
// fullwarp: a = f32[256*64] : uniform(1)
// fullwarp: b = f32[64*256] : uniform(2)
// fullwarp: c = f32[256*256]
// fullwarp: fullwarp::recipes::matmul_pipelined<fullwarp::recipes::TileShape<128, 128, 8>, true><<<(2,2), 256>>>(1, a, b, c, 256, 256, 64)
//
// fullwarp: in = f32[256*128] : iota
// fullwarp: turned = f32[256*128]
// fullwarp: back = f32[256*128]
// fullwarp: transpose_large_tile<float><<<(2,4), 256>>>(in, turned, 256, 128)
// fullwarp: transpose_large_tile<float><<<(4,2), 256>>>(turned, back, 128, 256)
// fullwarp: expect back = in
//
// fullwarp: s_in = f32[65536] : below(2, 3)
// fullwarp: s = f32[1]
// fullwarp: sum_vectors<<<8, 256>>>(s_in, 65536, s)
//
// fullwarp: v_in = f32[2*4*32*64] : uniform(4)
// fullwarp: v_weight = f32[16*4*9] : uniform(5)
// fullwarp: v = f32[2*16*32*64]
// fullwarp: conv3x3_registers<16><<<(1,2,2), (16,16)>>>(v_in, v_weight, v, {i32 4, i32 16, i32 32, i32 64})
#include <cuda_runtime.h>

#include "conv3x3/3_registers.cuh"
#include "matmul/5_pipelined.cuh"
#include "reduction/3_vectors.cuh"
#include "transpose/3_large_tile.cuh"

using namespace fullwarp::recipes;
template __global__ void fullwarp::recipes::matmul_pipelined<TileShape<128, 128, 8>, true>(float, const float*,
                                                                                            const float*, float*, int,
                                                                                            int, int);

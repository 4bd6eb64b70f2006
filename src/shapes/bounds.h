// The least time that any kernel on a GPU can take for an operation: its operations at the peak rate of the
// type, its operands through DRAM once. From data sheets alone (gpu/gpu.h), so that it holds for GPUs on
// which nothing was measured; time_table.h sets it as the lower end of their ranges.
#pragma once

#include "gpu/gpu.h"
#include "shapes/operation.h"

namespace fullwarp::shapes {

// Peak of products of a type, 10^12 operations a second, sums kept in fp32 (int8: int32); 0 where the GPU has
// no tensor-core instruction for the type. fp32 means products without tensor cores.
double peak_tflops(const gpu::Gpu& gpu, Dtype dtype);

// Operands are read from DRAM, as in the measurements; of the result only what L2 cannot hold is written.
// A type without a peak has the bound of its memory traffic alone.
double bound_us(const Operation& operation, const gpu::Gpu& gpu);

Dtype dtype_of(const Operation& operation);

}  // namespace fullwarp::shapes

// cuda_runtime.h for clang with no CUDA toolkit. nvcc includes this header before every source, and so does
// fullwarp (`-include cuda_runtime.h`).
//
// clang ships everything on the device side that is not NVIDIA's: built-in variables, warp intrinsics, device
// overloads of <cmath>. Its own wrapper header drives the toolkit's headers, so it cannot be used here; this
// header includes the same pieces from clang's installation, in the same order, and supplies the rest:
//   vector_types.h, vector_functions.h    float4, dim3, make_float4
//   driver_types.h, cuda_runtime_api.h    the host runtime, declared, never linked
//   fullwarp/native_libdevice.h           __nv_* functions that are one instruction, as that instruction
//   fullwarp/math_overloads.h, atomics.h, intrinsics.h, memory.h   what NVIDIA's headers add to clang's
// All other __nv_* functions stay calls in the PTX; src/libdevice executes them.
#pragma once

#ifndef __CUDA__
#error "these headers stand in for the CUDA toolkit under `clang++ -x cuda`; build with -x cuda"
#endif

#ifndef CUDA_VERSION
#define CUDA_VERSION 13000
#endif
#define CUDART_VERSION CUDA_VERSION
#define __CUDART_API_VERSION CUDA_VERSION
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0

// The forward declarations must precede <cmath>. libstdc++ reads __CUDACC__ to leave out __float128.
#include <__clang_cuda_math_forward_declares.h>
#ifndef __CUDACC__
#define __CUDACC__
#endif
#include <assert.h>
#include <time.h>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <stdlib.h>
#include <string.h>
#include <utility>

#include "host_defines.h"
#include "vector_types.h"
#include "vector_functions.h"

#include <__clang_cuda_builtin_vars.h>

#include "fullwarp/address_space.h"

#pragma push_macro("__THROW")
#undef __THROW
#define __THROW
#include <__clang_cuda_libdevice_declares.h>
#include "fullwarp/native_libdevice.h"
#include <__clang_cuda_device_functions.h>
#include <__clang_cuda_math.h>
#pragma pop_macro("__THROW")

#include "fullwarp/device_calls.h"
#include <__clang_cuda_cmath.h>
typedef unsigned int cuuint32_t;
typedef unsigned long long cuuint64_t;
#define __reduce_add_sync fw_hidden_reduce_add
#define __reduce_min_sync fw_hidden_reduce_min
#define __reduce_max_sync fw_hidden_reduce_max
#define __reduce_and_sync fw_hidden_reduce_and
#define __reduce_or_sync fw_hidden_reduce_or
#define __reduce_xor_sync fw_hidden_reduce_xor
#include <__clang_cuda_intrinsics.h>
#undef __reduce_add_sync
#undef __reduce_min_sync
#undef __reduce_max_sync
#undef __reduce_and_sync
#undef __reduce_or_sync
#undef __reduce_xor_sync
#include <__clang_cuda_complex_builtins.h>

#include "fullwarp/math_overloads.h"
#include "fullwarp/atomics.h"
#include "fullwarp/intrinsics.h"
#include "fullwarp/memory.h"
#include "driver_types.h"
#include "cuda_runtime_api.h"

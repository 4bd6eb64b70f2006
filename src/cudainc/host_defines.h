// CUDA's keywords as clang attributes, for sources that clang parses with no CUDA toolkit at hand.
#pragma once

#ifndef __CUDA__
#error "these headers stand in for the CUDA toolkit under `clang++ -x cuda`; build with -x cuda"
#endif

#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __grid_constant__ __attribute__((grid_constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

#define __forceinline__ __inline__ __attribute__((always_inline))
#if __clang_major__ < 15  // a keyword since; libstdc++'s uses of the word as an attribute are wrapped in bits/
#define __noinline__ __attribute__((noinline))
#endif
#define __cudart_builtin__
#define __device_builtin__
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __align__(n) __attribute__((aligned(n)))
#define __specialization_static static
#define __CUDA_ARCH_HAS_FEATURE__(feature) 0
#define __cluster_dims__(...)
#define __block_size__(...)
#define __maxnreg__(...)
#define __nv_pure__ __attribute__((pure))
#define CUDARTAPI
#define CUDART_CB
#define CUDA_CB
#define CUDAAPI
#if !__has_attribute(grid_constant)
#undef __grid_constant__
#define __grid_constant__
#endif

// nvcc takes `__shared__ alignas(16) float tile[64]`; for clang `alignas` may not follow another specifier, but an
// attribute may. The argument is a type or a number, as alignas has it.
template <class T>
constexpr decltype(sizeof 0) fw_alignment() {
  return alignof(T);
}
template <decltype(sizeof 0) Bytes>
constexpr decltype(sizeof 0) fw_alignment() {
  return Bytes;
}
#define alignas(...) __attribute__((aligned(fw_alignment<__VA_ARGS__>())))

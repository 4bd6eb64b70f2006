#!/bin/sh
# Makes the PTX files of this folder anew from small.cu: by nvcc in its four ways, and by clang with no toolkit.
set -e
cd "$(dirname "$0")"
nvcc -arch=sm_90 -ptx small.cu -o nvcc.ptx
nvcc -arch=sm_90 -lineinfo -ptx small.cu -o nvcc-lineinfo.ptx
nvcc -arch=sm_90 -G -ptx small.cu -o nvcc-G.ptx
nvcc -arch=sm_90 -Xcicc -O0 -ptx small.cu -o nvcc-O0.ptx
header='#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __noinline__ __attribute__((noinline))
struct Index { int x; };
#define threadIdx Index{__nvvm_read_ptx_sreg_tid_x()}
#define __syncthreads() __nvvm_bar_sync(0)
#define atomicAdd(p, v) __nvvm_atom_add_gen_f(p, v)'
for level in 0 2; do
  { echo "$header"; echo '#line 1 "small.cu"'; cat small.cu; } |
    clang-14 -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -nocudainc -nocudalib -Wno-unknown-cuda-version -O$level -g1 -S - -o clang-O$level.ptx
done

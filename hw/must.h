// The programs of this folder end at the first error of the CUDA runtime.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

inline void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(3);
}

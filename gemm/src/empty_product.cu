// A product with k = 0; see empty_product.h.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

#include "empty_product.h"

namespace fullwarp::gemm {
namespace {

__device__ float as_float(float x) { return x; }
__device__ float as_float(__half x) { return __half2float(x); }
__device__ float as_float(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ void put(float* to, float x) { *to = x; }
__device__ void put(__half* to, float x) { *to = __float2half(x); }
__device__ void put(__nv_bfloat16* to, float x) { *to = __float2bfloat16(x); }

template <class T>
__global__ void empty_product(Problem p, EmptyProduct what) {
  const float beta = what.device_beta != nullptr ? *what.device_beta : what.beta;
  const int64_t total = p.m * p.n * p.batch;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < total;
       i += static_cast<int64_t>(gridDim.x) * blockDim.x) {
    const int64_t row = i % p.m, column = i / p.m % p.n, product = i / p.m / p.n;
    const auto index = [&](const Matrix& x) { return product * x.stride + column * x.ld + row; };
    float value = beta == 0 ? 0.0f : beta * as_float(reinterpret_cast<const T*>(p.c.data)[index(p.c)]);
    if (p.bias != 0) value += as_float(reinterpret_cast<const T*>(p.bias)[row]);
    if (what.activation == 1) value = value < 0 ? 0.0f : value;
    if (what.activation == 2) {
      value = 0.5f * value * (1 + tanhf(0.7978845608f * (value + 0.044715f * value * value * value)));
    }
    put(reinterpret_cast<T*>(p.d.data) + index(p.d), value);
  }
}

}  // namespace

cudaError_t run_empty_product(const Problem& p, const EmptyProduct& what, cudaStream_t stream) {
  constexpr int64_t kThreads = 256;
  const int64_t blocks = std::clamp<int64_t>((p.m * p.n * p.batch + kThreads - 1) / kThreads, 1, 4096);
  const dim3 grid(static_cast<unsigned>(blocks));
  switch (p.type) {
    case Type::kBf16:
      empty_product<__nv_bfloat16><<<grid, kThreads, 0, stream>>>(p, what);
      break;
    case Type::kF16:
      empty_product<__half><<<grid, kThreads, 0, stream>>>(p, what);
      break;
    default:
      empty_product<float><<<grid, kThreads, 0, stream>>>(p, what);
      break;
  }
  return cudaGetLastError();
}

}  // namespace fullwarp::gemm

// Everyday CUDA with no include at all, and a host program around it.
// ptx: atom.global.add.f32
// ptx: ld.global.nc.f32
// ptx: shfl.sync.down.b32
// ptx: shfl.sync.bfly.b32
// ptx: vote.sync.ballot.b32
// ptx: redux.sync.add.s32
// ptx: match.any.sync.b32
// ptx: bar.red.popc.u32
// ptx: popc.b32
// ptx: clz.b32
// ptx: brev.b32
// ptx: prmt.b32
// ptx: mul.hi.s32
// ptx: add.rz.f32
// ptx: cvt.rni.s32.f32
// ptx: sin.approx.f32
// ptx: ex2.approx.f32
// ptx: rsqrt.approx.f32
// ptx: ld.global.cg.f32
// ptx: st.global.cs.f32
// ptx: dp4a.s32.s32
// ptx: nanosleep.u32
// ptx: __nv_sinf
// ptx: __nv_powf
// ptx: vprintf
// ptx: __assertfail
// ptx: .maxntid 256
// ptx: ld.const.f32
// none: __nvvm_reflect
// none: __nv_fabsf
// none: __nv_clz
// none: __nv_sincosf
// none: ld.local
#include <algorithm>
#include <cassert>
#include <cmath>
#include <complex>
#include <cstdio>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

__constant__ float weights[9];
__device__ int counter;

template <class T>
__device__ __forceinline__ T square(T x) {
  return x * x;
}

__global__ __launch_bounds__(256, 2) void everyday(const float* __restrict__ in, float* out, int n,
                                                   unsigned long long* flags) {
  extern __shared__ float dynamic[];
  __shared__ float tile[32][33];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.y][threadIdx.x] = in[i];
  dynamic[threadIdx.x] = __ldg(in + i);
  __syncthreads();
  float v = tile[threadIdx.x][threadIdx.y] + dynamic[threadIdx.x ^ 1] * weights[3];
  v = fmaxf(v, 0.f) + fabsf(v) + sinf(v) + __sinf(v) + __expf(v) + rsqrtf(v) + std::max(v, 1.f) + powf(v, 2.5f);
  float s, c;
  sincosf(v, &s, &c);
  v += s * c + std::sqrt(v) + square(v);
  v += __shfl_down_sync(0xffffffffu, v, 16);
  v += __shfl_xor_sync(0xffffffffu, v, 1);
  v += __popc(__ballot_sync(~0u, v > 2)) + __clz(i) + __ffs(i) + __brev(i) + __byte_perm(i, n, 0x3715);
  v += __reduce_add_sync(~0u, (unsigned)n) + __match_any_sync(~0u, i) + __syncthreads_count(v > 1);
  v += __fadd_rz(v, 2.f) + __float2int_rn(v) + __int_as_float(i) + __mulhi(i, n) + __dp4a(i, n, 3);
  v += min(3u, threadIdx.x) + max(n, i) + __ldcg(in + i) + clock64() + __funnelshift_l(i, n, 3);
  __stcs(out + i + 1, v);
  __nanosleep(20);
  __threadfence();
  atomicAdd(out, v);
  atomicMax(&counter, i);
  atomicCAS(flags, 1ull, 2ull);
  atomicExch_block(out, v);
  assert(n > 0);
  if (i == 0) printf("%d %f\n", i, v);
  reinterpret_cast<float4*>(out)[i] = make_float4(v, s, c, std::numeric_limits<float>::max());
}

int main() {
  float *in = nullptr, *out = nullptr;
  cudaMalloc(&in, 1024);
  cudaMallocManaged(&out, 1024);
  std::vector<float> host(256);
  std::sort(host.begin(), host.end());
  cudaMemcpy(in, host.data(), 1024, cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(weights, host.data(), sizeof(weights));
  everyday<<<dim3(1, 2), dim3(32, 8), 128>>>(in, out, 256, nullptr);
  cudaEvent_t event;
  cudaEventCreate(&event);
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  std::unique_ptr<int> owner(new int(max(1, 2)));
  std::map<std::string, std::complex<float>> map;
  std::mt19937 random(7);
  std::cout << cudaGetErrorString(cudaGetLastError()) << properties.major << std::sin(2.0) << rsqrtf(2.f) << "\n";
  assert(*owner == 2);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

// Programmatic dependent launch, rounding modes, and an allocator taken by address, as CCCL has them.
__global__ void dependent(float* x) {
  cudaGridDependencySynchronize();
  x[threadIdx.x] += 1.0f;
  cudaTriggerProgrammaticLaunchCompletion();
}
cudaRoundMode rounding() { return cudaRoundPosInf; }
using Allocate = cudaError_t (*)(void**, size_t);
template <Allocate allocate> struct Allocator {};
using PinnedAllocator = Allocator<cudaMallocHost>;
